"""From the words of `diskprof run` to a plan, and what it says while it is queued."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from diskprof.cli.saying import say
from diskprof.model.advice import on_command_line
from diskprof.model.errors import PresetError, UsageError
from diskprof.model.plan import Plan, WritePermission
from diskprof.model.text import clean
from diskprof.runner.session import Company, Session, Wish

if TYPE_CHECKING:
    from diskprof.model.preset import Preset
    from diskprof.runner.neighbours import Neighbour


class Request(Struct, frozen=True):
    """The options of a plan: `--set`, `--target` and `--expect` as they were typed, and what may be done to a raw device.

    `disk_class` is the class that the disk is said to be of, empty where it is found out.
    """

    preset: str
    target: str | None
    settings: Sequence[str] = ()
    targets: Sequence[str] = ()
    expectations: Sequence[str] = ()
    variant: str = ""
    allow_write: bool = False
    overwrite: Sequence[str] = ()
    confirm: Sequence[str] = ()
    disk_class: str = ""


def plan_of(session: Session, request: Request) -> Plan:
    """The plan of a request; what there is to say of the preset goes to stderr. Raises DiskprofErrors."""
    from diskprof.analysis.expectations import asked_expectation
    from diskprof.presets.disk_classes import disk_class
    from diskprof.presets.resolve import settings_of

    settings = pairs(request.settings, "--set", "--set size=256m --set runtime=5")
    slots = pairs(request.targets, "--target", "--target cache=/mnt/a --target nocache=/mnt/b")
    if len(slots) < len(request.targets):
        raise UsageError("--target names the same place twice.", "Give each name one path: --target cache=/mnt/a")
    expectations = [asked_expectation(text) for text in request.expectations]
    preset = preset_of(request, several=bool(slots))
    tree = session.scan()
    target = None if request.target is None else session.resolve_target(request.target, tree)
    named = {slot: session.resolve_target(path, tree) for slot, path in slots.items()}
    wish = Wish(
        preset,
        None,
        tree,
        settings_of(preset, request.variant, settings),
        permission=WritePermission(request.allow_write, tuple(request.overwrite)),
        expectations=expectations,
        disk_class=disk_class(request.disk_class).name if request.disk_class else "",
    )
    return session.make_plan(wish, target, named, say)


def limit_plan_of(
    session: Session,
    request: Request,
    promises: Sequence[str],
    by: str | None,
    depth: int | None,
    curve: int | None = None,
) -> Plan:
    """The plan of a search for what keeps `promises`; the preset of the request is its load, perhaps with the name of a test of it
    (`oltp-70-30:oltp`). Raises DiskprofErrors."""
    from diskprof.presets.limit_text import keep_text
    from diskprof.presets.limit_trials import searching

    preset_name, colon, test = request.preset.rpartition(":")
    named = preset_name if colon and not Path(request.preset).exists() else request.preset
    preset = preset_of(replace(request, preset=named))
    tree = session.scan()
    target = None if request.target is None else session.resolve_target(request.target, tree)
    settings = pairs(request.settings, "--set", "--set size=256m --set bs=16k")
    for name, given in (("keep", promises), ("by", by), ("depth", depth), ("curve", curve)):
        if given and name in settings:
            raise UsageError(f"--{name} and --set {name} set the same.", f"Omit --set {name}.")
    search = searching(preset, test if named != request.preset else "", keep_text(promises), by, depth, curve)
    for name in settings:
        if preset.parameter(name) and not search.parameter(name):
            raise UsageError(
                f"{name} of {preset.name} does not count in a search for a limit: its trials set it.",
                f"Omit --set {name}.",
            )
    wish = Wish(
        search,
        None,
        tree,
        settings,
        permission=WritePermission(request.allow_write, tuple(request.overwrite)),
    )
    return session.make_plan(wish, target, {}, say)


def preset_of(request: Request, *, several: bool = False) -> "Preset":
    """The preset that a request names, with `several` targets; what there is to say of it goes to stderr. Raises UsageError."""
    from diskprof.presets.library import choose, library_for

    library = library_for(request.preset)
    try:
        preset, notes = choose(library, request.preset, several=several)
    except PresetError:
        raise
    except UsageError as error:
        raise _unknown(request, error) from None
    for note in notes:
        say(note)
    for notice in library.notices:
        if notice.path == preset.path:
            say(notice.message)
    return preset


def plan_in_turn(session: Session, company: Company, request: Request) -> Plan:
    """The plan of a request, made anew where another run was in its way and has been waited for. Raises what refuses it."""
    return session.plan_in_turn(lambda: plan_of(session, request), company, tell_of_waiting)


def tell_of_waiting(other: "Neighbour") -> None:
    say(f"{other.words}. Queued; Ctrl+C cancels.")


def _unknown(request: Request, error: UsageError) -> UsageError:
    """`error`, that there is no such preset, in other words where what was named can only be the target."""
    path = Path(request.preset)
    try:
        # What writes, as the quick check does, is refused on a disk.
        what, usual = ("a directory", "quick") if path.is_dir() else ("a disk", "vps-randread-qd32")
        if not path.is_dir() and not path.is_block_device():
            return error
    except (OSError, ValueError):
        return error
    from diskprof.presets.library import preset_names

    swapped = request.target if request.target in preset_names() else None
    command = shlex.join(["diskprof", "run", swapped or usual, request.preset])
    return UsageError(
        f"{clean(request.preset)} is {what}, not a preset.",
        f"The preset comes first: {clean(command)}\n{on_command_line(error.hint)}",
    )


def pairs(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    """NAME=VALUE texts of `option` by name. Raises UsageError."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{option} {text}: not NAME=VALUE.", f"For example: {example}")
        found[name.strip()] = value.strip()
    return found
