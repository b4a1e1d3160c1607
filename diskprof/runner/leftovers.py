"""Test files that a runner could not remove: it was killed, the power failed, or the file system did not let it."""

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from diskprof.devices.scan.mounts import MountEntry, may_hang, mount_by_name, read_mountinfo
from diskprof.model.errors import Refused, UsageError
from diskprof.model.plan import Plan
from diskprof.model.target import TargetKind
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.runner.carry.marks import Found, found_in, look_at
from diskprof.runner.carry.testfile import FILE_NAME, is_ours, remove_directory
from diskprof.store import Store, is_alive, is_elsewhere


class Leftover(Struct, frozen=True):
    """The private directory of a run that is over, still there; `size_bytes` is what its test files take up on the disk.

    One that is not `known` to the store was found by its name; `run_id` is what its mark says, or empty.
    """

    run_id: str
    directory: str
    size_bytes: int
    known: bool = True
    store: str = ""

    @property
    def origin(self) -> str:
        """Words for the run that made it."""
        if not self.run_id:
            return "an unknown run"
        return f"run {clean(self.run_id)}" + (f" of {clean(self.store)}" if self.store else "")


def leftovers(store: Store, places: Iterable[str] = (), *, patient: bool = True) -> Iterator[Leftover]:
    """What runs of this store left behind, and what is found in `places` by its name, as far as it can be seen from here.

    Unless `patient`, nothing is asked of file systems that may not answer: a server's that is gone.
    """
    doubtful = [] if patient else [entry for entry in read_mountinfo() if may_hang(entry)]
    known = set()
    for run_id, directory in store.test_directories():
        # Another user's directory cannot be seen, nor could the files in it be removed; a failed device cannot be asked.
        with suppress(OSError):
            if not is_ours(directory) or mount_by_name(directory, doubtful):
                continue
            known.add(directory)
            if Path(directory).is_dir() and not _may_live(store, run_id):
                yield Leftover(run_id, directory, sum(path.lstat().st_blocks * 512 for path in _files_in(directory)))
    for place in dict.fromkeys(places):
        # Where a run worked once there need be no directory any more.
        with suppress(OSError):
            for found in () if mount_by_name(place, doubtful) else found_in(place):
                if found.directory not in known and not found.objection:
                    known.add(found.directory)
                    yield _unknown(found, store)


def _unknown(found: Found, store: Store) -> Leftover:
    run_id, where = (found.mark.run_id, found.mark.store) if found.mark else ("", "")
    elsewhere = where if where != str(store.path) else ""
    return Leftover(run_id, found.directory, found.size_bytes, known=False, store=elsewhere)


def left_alone(places: Sequence[str]) -> Iterator[str]:
    """A line for each private directory in `places` that may be in use. Raises UsageError for a place that cannot be listed."""
    for place in places:
        try:
            found = list(found_in(place))
        except OSError as error:
            raise UsageError(f"{clean(place)} cannot be searched: {error.strerror}.", "Give a directory.") from None
        for each in found:
            if each.objection:
                yield f"{clean(each.directory)} not removed: {each.objection}."


def beside(plan: Plan, store: Store) -> list[str]:
    """The directories of a plan, and those on the same file systems where runs of this store worked."""
    mounts = read_mountinfo()
    own = [target.path for target in plan.targets if target.kind is TargetKind.DIRECTORY]
    file_systems = {_number(path, mounts) for path in own}
    return [*own, *(path for path in store.targets() if _number(path, mounts) in file_systems)]


def _number(path: str, mounts: Sequence[MountEntry]) -> tuple[int, int] | None:
    mount = mount_by_name(path, mounts)
    return (mount.major, mount.minor) if mount else None


def notice(store: Store, places: Sequence[str] = ()) -> str:
    """A line about what killed runs left behind, for the start of a command; empty where nothing is left."""
    found = list(leftovers(store, places, patient=False))
    if not found:
        return ""
    size = format_size(sum(each.size_bytes for each in found))
    files = "a test file" if len(found) == 1 else f"{len(found)} test files"
    unknown = dict.fromkeys(str(Path(each.directory).parent) for each in found if not each.known)
    where = "".join(f" {shlex.quote(clean(path))}" for path in unknown)
    return f"Leftover of killed or failed runs: {files} ({size}). List and remove: diskprof clean{where}"


def remove(store: Store, leftover: Leftover) -> None:
    """Removes the file and its private directory. Raises Refused while a run may still use it, DiskprofError where it fails."""
    if leftover.known:
        objection = f"run {leftover.run_id} is using it" if _may_live(store, leftover.run_id) else ""
    else:
        found = look_at(Path(leftover.directory))
        objection = found.objection if found else ""
    user = _user_of(leftover.directory)
    if objection or user:
        raise Refused(
            f"{clean(leftover.directory)} not removed: {objection or f'{user} is using it'}.",
            "Try again later.",
        )
    remove_directory(leftover.directory)


def _files_in(directory: str) -> list[Path]:
    return [path for path in Path(directory).iterdir() if FILE_NAME.fullmatch(path.name)]


def _may_live(store: Store, run_id: str) -> bool:
    """Whether the runner of a run may live: here, or where it cannot be seen from here."""
    runner = store.runner(run_id)
    return is_alive(runner) or is_elsewhere(runner)


def _user_of(directory: str) -> str:
    """Who has the directory or a file in it open: an engine that is stuck in the kernel outlives even SIGKILL. "" if nobody can
    be seen."""
    wanted = set()
    with suppress(OSError):
        for path in (Path(directory), *_files_in(directory)):
            status = path.lstat()
            wanted.add((status.st_dev, status.st_ino))
    for process in Path("/proc").iterdir():
        if wanted and process.name.isdigit() and not wanted.isdisjoint(_files_of(process)):
            return f"process {process.name}"
    return ""


def _files_of(process: Path) -> Iterator[tuple[int, int]]:
    try:
        numbers = os.listdir(process / "fd")  # noqa: PTH208
    except OSError:
        return
    for number in numbers:
        link = process / "fd" / number
        with suppress(OSError):
            # Only names of test files are looked at: a file of a dead server would hang.
            if "/.diskprof-" in str(link.readlink()):
                status = link.stat()
                yield status.st_dev, status.st_ino
