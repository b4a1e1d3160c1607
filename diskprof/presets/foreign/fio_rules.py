"""What becomes of fio's options outside the allow-list when a job of somebody else's is taken over. One table.

An option is dropped where the requests that reach the disk stay the same without it, and refused where they would not: a job
that is not what its author wrote would be a wrong result. What runs a program, changes the machine, or only has a meaning on
another target than the chosen one is refused whatever its value (F26). Nothing in this table ever reaches fio.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct


class Handling(StrEnum):
    """DROPS: left out, with a line that says so. REFUSES: the job is not taken over. ALONE: dropped from a job that has its
    test for itself, refused where others run beside it."""

    DROPS = "drops"
    ALONE = "alone"
    REFUSES = "refuses"


class ForeignRule(Struct, frozen=True):
    """`harmless`: values with which the option changes nothing; it is then left out without a word. `instead`: what to write."""

    handling: Handling
    why: str
    harmless: frozenset[str] = frozenset()
    instead: str = ""


SYNONYMS: Mapping[str, str] = {
    "readwrite": "rw", "blocksize": "bs", "blocksize_range": "bsrange", "blockalign": "ba",
    "blocksize_unaligned": "bs_unaligned", "timeout": "runtime", "io_limit": "io_size", "fileoffset": "offset",
    "iodepth_batch_submit": "iodepth_batch", "iodepth_batch_complete": "iodepth_batch_complete_min",
    "ratemin": "rate_min", "ratecycle": "rate_cycle", "fill_fs": "fill_device", "nr_files": "nrfiles", "iomem": "mem",
    "mem_align": "iomem_align", "wait_for_previous": "stonewall", "disable_bw": "disable_bw_measurement",
    "ss": "steadystate", "ss_dur": "steadystate_duration", "ss_ramp": "steadystate_ramp_time",
    "ss_interval": "steadystate_check_interval", "job_max_open_zones": "max_open_zones",
}  # fmt: skip
"""fio's own other names of an option; several that share one fate have one name here."""

WITHOUT_VALUE = frozenset({
    "bs_unaligned", "norandommap", "time_based", "verify_only", "exitall", "exitall_on_error", "stonewall", "new_group",
    "thread", "group_reporting", "zero_buffers", "refill_buffers", "hipri", "fixedbufs", "registerfiles",
    "sqthread_poll", "userspace_reap", "write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log",
})  # fmt: skip
"""Options that fio takes without a value, which is then 1. Every other one needs a value."""

_OFF = frozenset({"0"})
_HERE = "the target is chosen at run time"
_SHOWN = "it is about what fio prints; diskprof shows its own figures"
_KEPT = "diskprof keeps every sample itself, and writes no other file"
_TAKES_TIME = "diskprof takes every time and percentile it shows"
_REMOVES = "diskprof removes its test files itself"
_CPU = "the kernel chooses the processors and the memory; the disk I/O stays the same"
_SAVES_CPU = "it saves fio some processor time; the disk I/O stays the same"
_ERRORS = "an error ends the test"
_NO_CHECK = "it belongs to a check of data, which is not done"
_NO_REPLAY = "it belongs to the replay of a log"
_NO_ZONES = "it belongs to zones"

_CODE = "it runs a program"
_MACHINE = "it changes the machine around the measurement"
_OTHER_USER = "it changes who fio runs as"
_VERIFY = "it makes the job a check of data, which reads everything back: not a measurement"
_REPLAY = "it replays a log of somebody's I/O, which names its own targets"
_ZONES = "zoned and zone-wise access is not to be had here"
_FOUND_FILES = "it works on whatever files a directory has"
TRIM = "it discards data"
_FULL = "it fills the disk"
ORDER = "it chooses offsets in a way that a preset cannot"
_PATH = "the requests take another way to the disk with it"
_CONTENT = "what is written matters to disks that compress or deduplicate"
_TOGETHER = "it ties the jobs that run side by side to one another"
_ELSEWHERE = "it is about another machine"
_NO_TEST = "it is no test"


def _rules(handling: Handling, groups: Mapping[str, str]) -> Iterator[tuple[str, ForeignRule]]:
    """`groups`: reasons, each with the names it goes for; `name=value,value` lists values that change nothing, `name>text` says
    what to write instead."""
    for why, names in groups.items():
        for entry in names.split():
            name, _, instead = entry.partition(">")
            name, _, values = name.partition("=")
            yield name, ForeignRule(handling, why, frozenset(values.split(",")) if values else frozenset(), instead)


FIO_RULES: Mapping[str, ForeignRule] = dict((
    *_rules(Handling.DROPS, {
        _HERE: "filename directory filename_format unique_filename=1 filetype allow_file_create=1 "
        "allow_mounted_write=0",
        _SHOWN: "unit_base significant_figures disk_util=1 unified_rw_reporting=none,0 per_job_logs bwavgtime "
                "iopsavgtime stats=1 block_error_percentiles=0",
        _KEPT: "write_bw_log write_lat_log write_iops_log write_hist_log write_iolog log_avg_msec log_hist_msec "
               "log_hist_coarseness log_max_value log_offset log_prio log_compression log_compression_cpus log_entries "
               "log_store_compressed log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id log_window_value "
               "log_issue_time job_start_clock_id",
        _TAKES_TIME: "clat_percentiles lat_percentiles slat_percentiles percentile_list "
                     "gtod_reduce=0 gtod_cpu disable_lat=0 disable_clat=0 disable_slat=0 "
                     "disable_bw_measurement=0 clocksource",
        "a slow request shows in the result; it does not end the test": "max_latency=0",
        _REMOVES: "unlink=0",
        "it is about how files are made before the test": "create_serialize create_fsync",
        _CPU: "cpus_allowed cpumask cpus_allowed_policy numa_cpu_nodes numa_mem_policy mem=malloc iomem_align "
              "hugepage-size gpu_dev_id gpu_dev_ids softrandommap=0 thp=0",
        _SAVES_CPU: "fixedbufs=0 registerfiles=0 nonvectored=0 userspace_reap=0 sqthread_poll_cpu",
        _ERRORS: "continue_on_error=none,0 ignore_error error_dump=0 exitall_on_error=0",
        _NO_CHECK: "do_verify verify_interval verify_offset verify_pattern verify_pattern_interval verify_fatal verify_dump "
                   "verify_async verify_async_cpus verify_backlog verify_backlog_batch experimental_verify verify_state_save "
                   "verify_state_load trim_verify_zero trim_backlog trim_backlog_batch verifysort verifysort_nr "
                   "verify_header_seed verify_write_sequence",
        _NO_REPLAY: "read_iolog_chunked replay_no_stall replay_redirect replay_scale replay_align replay_time_scale "
                    "replay_skip merge_blktrace_scalars merge_blktrace_iters",
        _NO_ZONES: "read_beyond_wp max_open_zones ignore_zone_limits zone_reset_threshold zone_reset_frequency zonecapacity "
        "recover_zbd_write_error",
        "diskprof runs the jobs of a test as threads of one process": "thread",
        "fio has it for a profile alone, and ignores it here": "threads",
        "diskprof goes on until the runtime or the amount is done": "steadystate steadystate_duration "
            "steadystate_ramp_time steadystate_check_interval",
        "it only places the data on a disk that takes such hints": "write_hint=none fdp=0 fdp_pli dataplacement=none "
            "plid_select plids dp_scheme",
    }),
    *_rules(Handling.ALONE, {
        _TOGETHER: "exitall=0 exit_what flow=0 flow_id flow_sleep flow_watermark prio prioclass nice=0 cmdprio cmdprio_class "
                   "priohint",
    }),
    *_rules(Handling.REFUSES, {
        _CODE: "exec_prerun exec_postrun profile program arguments std_redirect grace_time",
        _MACHINE: "ioscheduler cgroup cgroup_weight cgroup_nodelete lockmem=0",
        _OTHER_USER: "uid gid",
        _VERIFY: "verify=0,none,null verify_only=0 verify_mode",
        _REPLAY: "read_iolog merge_blktrace_file",
        _ZONES: "zonemode=none zonesize=0 zonerange=0 zoneskip=0",
        _FOUND_FILES: "opendir",
        TRIM: "trim_percentage=0 num_range",
        _FULL: "fill_device=0",
        "it writes behind what a file has": "file_append=0",
        "it lets the jobs wait for one another at the file": "lockfile=none",
        "it makes files and measures nothing": "create_only=0",
        ORDER: "ba bs_unaligned=0 bs_is_seq_rand=0 rw_sequencer offset_align=0 "
                "sprandom=0",
        "it holds back requests that overlap": "serialize_overlap=0",
        "it makes a new file for every loop": "unlink_each_loop=0",
        "it keeps the job going with the depth that it found": "latency_run=0",
        "it burns processor time between requests": "thinkcycles=0 thinkcycles_spin=0",
        _PATH: "hipri=0 hipri_percentage=0 sqthread_poll=0 force_async=0 uncached=0 nowait=0 io_submit_mode=inline "
               "atomic=0 pre_read=0 fsync_on_close=0>end_fsync sync_file_range write_barrier=0 rate_ignore_thinktime=0 "
               "cmdprio_percentage=0 cmdprio_bssplit readfua=0 writefua=0 write_mode=write md_per_io_size=0 "
               "pi_act pi_chk apptag",
        _CONTENT: "buffer_pattern>zero_buffers dedupe_global=0 dedupe_mode=repeat dedupe_working_set_percentage",
    }),
))  # fmt: skip
"""Every option of a job that a preset may not use and that fio has for files and devices, by its first name."""

CLIENT_RULES: Mapping[str, ForeignRule] = dict((
    *_rules(Handling.DROPS, {
        _SHOWN: "output-format minimal append-terse terse-version eta eta-interval eta-newline debug idle-prof",
        _KEPT: "output bandwidth-log latency-log status-interval aux-path",
        "diskprof gives fio what it needs": "alloc-size max-jobs warnings-fatal",
        "a test that only reads is run so in any case": "readonly",
    }),
    *_rules(Handling.REFUSES, {
        _CODE: "profile trigger trigger-file trigger-timeout trigger-remote daemonize",
        _ELSEWHERE: "server client remote-config",
        _NO_TEST: "version help cmdhelp enghelp showcmd parse-only cpuclock-test crctest memcpytest inflate-log "
                  "merge-blktrace-only",
        "it picks some jobs of a file: take the others out of it": "section",
    }),
))  # fmt: skip
"""Options of fio itself, which stand on a command line only."""

CLIENT_WITH_VALUE = frozenset({
    "output", "latency-log", "output-format", "eta", "eta-interval", "eta-newline", "debug", "section", "inflate-log",
    "alloc-size", "profile", "max-jobs", "terse-version", "daemonize", "client", "remote-config", "idle-prof",
    "status-interval", "trigger-file", "trigger-timeout", "trigger", "trigger-remote", "aux-path",
})  # fmt: skip
"""Those that take the next word as their value where it does not stand behind a =."""
