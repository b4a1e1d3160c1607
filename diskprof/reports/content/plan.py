"""What will happen, in words: a plan in a sentence, and its amounts."""

from diskprof.model.plan import Plan
from diskprof.model.preset import EngineName
from diskprof.model.target import TargetKind
from diskprof.model.units import format_duration, format_size


def plan_sentence(plan: Plan) -> str:
    """What a run will do, in words: where, how long, how much it writes, what stays behind."""
    return f"{_what(plan)}, takes {time_words(plan)}{_written(plan)}."


def time_words(plan: Plan) -> str:
    """`about 34 s`; `up to 34 s` where a test may end before its time."""
    return f"{'up to' if plan.may_end_early else 'about'} {format_duration(plan.seconds)}"


def written_words(plan: Plan) -> str:
    """`nothing`, `1 GiB`; `about 1.2 GiB` where time ends a test that writes."""
    if not plan.bytes_written:
        return "nothing"
    return f"{'' if plan.writes_exact else 'about '}{format_size(plan.bytes_written)}"


def space_words(plan: Plan) -> str:
    return f"{format_size(plan.space_needed)}, freed afterwards" if plan.space_needed else "none"


def _what(plan: Plan) -> str:
    target = plan.target
    if plan.raw_devices:
        return f"Overwrites the device {' and '.join(device.node for device in plan.raw_devices)}"
    if target.kind is not TargetKind.DIRECTORY:
        # A plan that writes without permission does not start, but its sentence is read.
        verb = "Overwrites" if plan.bytes_written and not plan.others else "Reads"
        return f"{verb} {'the device ' if target.kind is TargetKind.DEVICE else ''}{target.path}"
    if plan.test_file:
        verb = (
            "Reads and writes" if any(test.writes for test in plan.tests if test.engine is EngineName.FIO) else "Reads"
        )
        where = " and ".join(each.path for each in plan.targets)
        return (
            f"{verb} a {format_size(plan.test_file.size_bytes)} test file in {'each of ' if plan.others else ''}{where}"
        )
    return f"Reads a temporary file of {format_size(plan.space_needed)} in {target.path}"


def _written(plan: Plan) -> str:
    if not plan.bytes_written:
        return ", writes nothing"
    after = ""
    if plan.space_needed:
        after = f", removes {'them' if len(plan.test_files) > 1 else 'it'} afterwards"
    return f", writes {written_words(plan)}{after}"
