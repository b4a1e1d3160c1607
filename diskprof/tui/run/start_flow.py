"""From Enter on the Run screen to a run: what is asked before, other runs on the same disk, and the start itself."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from textual.message import Message

from diskprof.model.advice import on_screen
from diskprof.model.cells import shorten_middle
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.text import clean, split_tags
from diskprof.runner.session import Outlook, Waiting
from diskprof.tui.dialogs.confirm import Answer, Ask
from diskprof.tui.dialogs.form import FormDialog
from diskprof.tui.kit.paragraphs import content_of
from diskprof.tui.run.forms import expectations_of, label_fields, overwrite_fields, raw_devices, typed_names

if TYPE_CHECKING:
    from diskprof.model.device import DeviceTree
    from diskprof.model.expectation import Asked
    from diskprof.model.plan import Plan
    from diskprof.runner.neighbours import Neighbour
    from diskprof.runner.session import Place, SeriesOutlook
    from diskprof.tui.shell.base import ModeScreen

_SEVERAL = (
    Answer("s", "Start the series: one run after the other", "start"),
    Answer("e", "Each disk alone, then all together: what do they share?", "each-disk"),
)
_SPOILS = "two runs on one disk distort each other's results."


class Labels(Struct, frozen=True):
    """What the person adds to a run before its start, as it was typed."""

    tags: str = ""
    note: str = ""
    expect: str = ""
    disk_class: str = ""

    @property
    def words(self) -> str:
        """What was added, behind a colon; empty where nothing was."""
        given = ", ".join(filter(None, (self.tags, self.note, self.expect, self.disk_class)))
        return f": {shorten_middle(given, 36)}" if given else ""


class StartFlow:
    """Asks, waits and starts for `screen`, which calls `go_on` now and then, and `over` with what it gets of it.

    `waiting` is a plan that is queued; `starting` is set until a start has succeeded or failed.
    """

    class Changed(Message):
        """A plan begins to wait, waits for others, waits no more, or is being started."""

    class Left(Message):
        """The person went back from the dialog."""

    @dataclass(eq=False, repr=False)
    class CommandsWanted(Message):
        """Show the commands of what is to be started, then call `back`."""

        outlook: Outlook
        back: Callable[[], None]

    @dataclass(eq=False, repr=False)
    class Started(Message):
        """`plan` is None where there was none, which `error` says. `untraced`: why a watch goes by counters."""

        plan: Plan | None
        run_id: str
        error: DiskprofError | None = None
        untraced: UsageError | None = None

    def __init__(self, screen: ModeScreen) -> None:
        self._screen = screen
        self.starting = False
        self.waiting: Waiting | None = None
        self._outlook: Outlook | None = None
        """What the dialog is about."""
        self._planned: SeriesOutlook | None = None
        """The same, of a series."""
        self._told: set[str] = set()
        """Why requests are not traced."""
        self._labels = Labels()
        self._question: Ask | None = None
        """The last one about what waits."""

    # what is asked

    def begin(self, outlook: Outlook, tree: DeviceTree) -> None:
        """Ask for all that a plan needs before it starts, or say what stands against it. `tree` are the devices now."""
        plan = outlook.plan
        assert plan is not None
        self._outlook, self._labels, self._planned = outlook, Labels(disk_class=plan.disk_class), None
        try:
            others = self._screen.session.neighbours(plan, self._screen.store, tree)
        except DiskprofError as error:
            self._screen.diskprof.tell(error)
            others = ()
        if others and (plan.blocked or plan.raw_devices):
            # What blocks it may be that run, and a device is named when its turn has come.
            self._refuse(f"{others[0].words}: {_SPOILS}", "Start it when that run has ended, or stop that run.")
        elif outlook.nameable:
            self._ask_for_names((outlook,), Waiting(plan, (), outlook.wish.tree))
        elif plan.blocked:
            hazard = next((each for each in plan.blocked if not each.signature), plan.blocked[0])
            self._refuse(hazard.message, on_screen(hazard.advice))
        else:
            self._confirm(Waiting(plan, others, outlook.wish.tree))

    def begin_series(self, planned: SeriesOutlook, tree: DeviceTree) -> None:
        """As `begin`, of a series none of whose plans is blocked by more than what is named at the start."""
        screen, self._labels = self._screen, Labels()
        self._outlook, self._planned = planned.outlooks[0], planned
        others: list[Neighbour] = []
        try:
            for plan in planned.series.plans:
                others += screen.session.neighbours(plan, screen.store, tree)
        except DiskprofError as error:
            screen.diskprof.tell(error)
        each = tuple({other.run_id: other for other in others}.values())
        first = planned.outlooks[0]
        asked = Waiting(planned.series.plans[0], each, first.wish.tree, planned.series)
        if not raw_devices(planned.series.plans):
            self._confirm(asked)
        elif each:
            self._refuse(f"{each[0].words}: {_SPOILS}", "Start it when that run has ended, or stop that run.")
        elif len(planned.outlooks) > 1:
            self._ask_how(planned.outlooks, asked)
        else:
            self._ask_for_names(planned.outlooks, asked)

    def _ask_how(self, outlooks: Sequence[Outlook], asked: Waiting) -> None:
        """Whether devices that are overwritten are tested in turn, or alone and then together; then each is named."""

        def answered(answer: str | None) -> None:
            if answer in ("start", "each-disk"):
                self._ask_for_names(outlooks, asked, each_disk=answer == "each-disk")
            else:
                self._screen.post_message(self.Left())

        nodes = " and ".join(device.node for device in raw_devices([each.plan for each in outlooks if each.plan]))
        self._screen.app.push_screen(
            Ask(
                f"{clean(asked.plan.preset_title)} on {len(outlooks)} devices?",
                f"It overwrites {clean(nodes)}: each is named next.",
                (*_SEVERAL, Answer("esc", "Cancel", "")),
            ),
            answered,
        )

    def _refuse(self, message: str, advice: str) -> None:
        self._screen.notify(clean(advice) or " ", title=clean(message), severity="error", timeout=8, markup=False)

    def _confirm(self, asked: Waiting) -> None:
        from diskprof.tui.run.plan_lines import confirm_lines, series_lines

        told = [f"{other.words}: {_SPOILS}" for other in asked.others]
        start: tuple[Answer, ...] = (Answer("s", "Start", "start"),)
        if asked.series and len(asked.series.plans) > 1:
            start = _SEVERAL
        if asked.others:
            them = "its end" if len(asked.others) == 1 else "their end"
            start = (
                Answer("w", f"Wait for {them}, then start", "wait"),
                Answer("s", "Start anyway (in parallel)", "beside", danger=True),
            )
        lines = confirm_lines(asked.plan, told, self._inner_width, datetime.now().astimezone())
        if asked.series:
            lines = [*series_lines(asked.series, self._inner_width), [], *lines]
        self._screen.app.push_screen(
            Ask(
                f"Start {'a series of ' if asked.series else ''}{clean(asked.plan.preset_title)}?",
                content_of(lines, indent=1),
                (
                    *start,
                    Answer("t", f"Tags, note, expectations, class{self._labels.words}", "labels"),
                    Answer("c", "Show the commands", "commands"),
                    Answer("esc", "Cancel", ""),
                ),
            ),
            functools.partial(self._confirmed, asked),
        )

    @property
    def _inner_width(self) -> int:
        """Cells in a line of a dialog."""
        return min(76, self._screen.size.width * 94 // 100) - 6

    def _confirmed(self, asked: Waiting, answer: str | None) -> None:
        if answer in ("start", "beside"):
            self._start(asked, concurrent=answer == "beside")
        elif answer == "each-disk":
            self._start(asked, each_disk=True)
        elif answer == "wait":
            self._wait(asked)
        elif answer == "labels" and self._outlook:
            self._ask_for_labels(asked, self._outlook)
        elif answer == "commands" and self._outlook:
            self._screen.post_message(self.CommandsWanted(self._outlook, functools.partial(self._confirm, asked)))
        else:
            self._screen.post_message(self.Left())

    def _ask_for_labels(self, asked: Waiting, outlook: Outlook) -> None:
        """Tags, note and expectations as of `diskprof run`; then the question once more."""
        made = [asked]

        def replan(values: Mapping[str, str]) -> tuple[str, DiskprofError] | None:
            """In a thread, as all checks: with other expectations it is another plan."""
            try:
                made.append(self._replanned(asked, outlook, expectations_of(values["expect"]), values["class"]))
            except DiskprofError as error:
                return "expect", error
            return None

        def given(values: dict[str, str] | None) -> None:
            if values is not None:
                self._labels = Labels(values["tags"], values["note"], values["expect"], values["class"])
                self._outlook = replace(outlook, plan=made[-1].plan)
            self._confirm(asked if values is None else made[-1])

        fields = label_fields(self._labels.tags, self._labels.note, self._labels.expect, self._labels.disk_class)
        self._screen.app.push_screen(FormDialog("Tags, note, expectations, class", fields, together=replan), given)

    def _replanned(self, asked: Waiting, outlook: Outlook, expectations: Sequence[Asked], disk_class: str) -> Waiting:
        """What was asked, with other expectations or another class of the disk. Raises DiskprofError."""
        session, planned = self._screen.session, self._planned
        outlooks = planned.outlooks if planned and asked.series else (outlook,)
        plans = tuple(
            session.plan_of(replace(each.wish, expectations=expectations, disk_class=disk_class)) for each in outlooks
        )
        series = replace(asked.series, plans=plans) if asked.series else None
        return replace(asked, plan=plans[0], series=series)

    def _ask_for_names(self, outlooks: Sequence[Outlook], asked: Waiting, *, each_disk: bool = False) -> None:
        """Ask for the name of each device that the plans of `outlooks` write to, and for what is given up on it."""
        from diskprof.tui.run.plan_lines import confirm_lines, each_disk_lines, series_lines

        plans = asked.series.plans if asked.series else (asked.plan,)
        width = self._inner_width - 2
        lines = series_lines(asked.series, width) if asked.series else []
        lines = each_disk_lines(plans, width) if each_disk else lines
        for plan in plans:
            lines = [*lines, *([[]] if lines else []), *confirm_lines(plan, (), width)]
        self._screen.app.push_screen(
            FormDialog(
                f"Overwrite {' and '.join(device.node for device in raw_devices(plans))}?",
                overwrite_fields(plans),
                text=content_of(lines, indent=1),
                danger=True,
            ),
            functools.partial(self._named, outlooks, asked, each_disk),
        )

    def _named(
        self, outlooks: Sequence[Outlook], asked: Waiting, each_disk: bool, typed: dict[str, str] | None
    ) -> None:
        if not typed:
            self._screen.post_message(self.Left())
            return
        plans = [outlook.plan for outlook in outlooks if outlook.plan]

        def named() -> Waiting:
            """In a thread: looks at the devices."""
            permitted = self._screen.session.permitted
            found = tuple(permitted(outlook, typed_names(plans, typed)) for outlook in outlooks)
            return replace(asked, plan=found[0], series=asked.series and replace(asked.series, plans=found))

        self._start(asked, named, each_disk=each_disk)

    # other runs on the same disk

    def _wait(self, waiting: Waiting | None) -> None:
        self.waiting = waiting
        plan = waiting.plan if waiting else None
        self._screen.diskprof.waiting = f"{clean(plan.preset_title)} on {clean(plan.target.path)}" if plan else ""
        self._screen.post_message(self.Changed())

    def ask_about_waiting(self) -> None:
        if self.waiting is None:
            return
        self._question = Ask(
            f"{clean(self.waiting.plan.preset_title)} is queued",
            "\n".join(other.words for other in self.waiting.others),
            (
                Answer("k", "Keep waiting", "keep"),
                Answer("g", "Cancel waiting", "give-up"),
                Answer("s", "Start anyway (in parallel)", "beside", danger=True),
            ),
        )
        self._screen.app.push_screen(self._question, self._asked_about_waiting)

    def _asked_about_waiting(self, answer: str | None) -> None:
        waiting = self.waiting
        if waiting is None or answer not in ("give-up", "beside"):
            return
        self._wait(None)
        if answer == "beside":
            self._start(waiting, concurrent=True)

    def go_on(self, tree: DeviceTree | None) -> None:
        """Start what waits if its turn has come. `tree` are the devices now."""
        waiting = self.waiting
        if waiting is None or self.starting:
            return
        try:
            now = self._screen.session.waiting_now(waiting, self._screen.store, lambda: tree or waiting.tree)
        except DiskprofError as error:
            self._screen.diskprof.tell(error)
            now = replace(waiting, others=())
        if not now.others:
            if self._screen.app.screen is self._question:
                # Its turn has come: there is nothing to answer any more.
                self._question.dismiss(None)
            self._wait(None)
            self._start(waiting)
        elif now is not waiting:
            self._wait(now)

    # the start

    def _start(
        self,
        asked: Waiting,
        named: Callable[[], Waiting] | None = None,
        *,
        concurrent: bool = False,
        each_disk: bool = False,
    ) -> None:
        """Start a plan or a series in a thread, or what `named` makes of it there.

        `each_disk`: the plans of a series each alone, then together.
        """
        self.starting = True
        self._screen.post_message(self.Changed())
        start = functools.partial(self._start_detached, asked, named or (lambda: asked), concurrent, each_disk)
        self._screen.run_worker(start, thread=True, group="start")

    def _start_detached(self, asked: Waiting, named: Callable[[], Waiting], concurrent: bool, each_disk: bool) -> None:
        """It waits for the runner to say that it wrote the run down."""
        from diskprof.fleet.each_disk import start_each_disk

        app, session = self._screen.diskprof, self._screen.session
        try:
            app.place.check()
            # Behind a question the devices are not looked for.
            for plan in asked.series.plans if asked.series else (asked.plan,):
                session.check_there(plan, asked.tree)
            tags, note = split_tags(self._labels.tags), self._labels.note
            ready = named()
            planned = ready.series or ready.plan
            if each_disk and ready.series:
                run_id = start_each_disk(ready.series.plans, app.store_path, tags=tags, note=note)
            else:
                run_id = session.start_detached(planned, app.store_path, tags=tags, note=note, concurrent=concurrent)
        except DiskprofError as error:
            self._screen.post_message(self.Started(asked.plan, "", error))
        else:
            self._screen.post_message(self.Started(asked.plan, run_id))

    def watch(self, place: Place, tree: DeviceTree) -> None:
        """Watch the device of a place in a run of its own, or show the one that does. Nothing is asked: it is in nobody's way."""
        self.starting = True
        self._screen.post_message(self.Changed())
        self._screen.run_worker(functools.partial(self._start_watch, place, tree), thread=True, group="start")

    def _watched_by(self, device: str) -> str:
        """The id of a run in progress that watches the device; empty where there is none."""
        try:
            runs = [self._screen.store.run(run.id) for run in self._screen.diskprof.watcher.state.running]
        except DiskprofError as error:
            self._screen.diskprof.tell(error)
            return ""
        return next((run.id for run in runs if run.plan.watched and run.plan.target.device == device), "")

    def _start_watch(self, place: Place, tree: DeviceTree) -> None:
        app, session = self._screen.diskprof, self._screen.session
        try:
            app.place.check()
            # A directory has to be looked at before its device is known, which is nothing for the screen's thread.
            plan, why = session.watch_plan(place, tree)
            run_id = app.call_from_thread(self._watched_by, plan.target.device)
            if not run_id:
                run_id = session.start_detached(plan, app.store_path, concurrent=True)
        except DiskprofError as error:
            self._screen.post_message(self.Started(None, "", error))
        else:
            self._screen.post_message(self.Started(plan, run_id, untraced=why))

    def _tell_untraced(self, why: UsageError | None) -> None:
        """Once: without a trace there are mean latencies alone."""
        if why and str(why) not in self._told:
            self._told.add(str(why))
            words = f"Mean latencies only. {clean(on_screen(why.hint))}"
            self._screen.app.notify(words, title=clean(why.message), timeout=10, markup=False)

    def over(self, message: Started) -> None:
        """A start has succeeded or failed: show the run, or say why there is none."""
        self.starting = False
        screen = self._screen
        if message.error:
            screen.diskprof.tell(message.error)
            return
        screen.diskprof.watcher.read()
        if screen.is_current:
            screen.diskprof.show_run(message.run_id)
            self._tell_untraced(message.untraced)
        elif message.plan:
            screen.notify(f"{clean(message.plan.preset_title)} has started.", timeout=5, markup=False)
