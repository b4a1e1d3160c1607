"""From Enter on the Run screen to a run: what is asked before, other runs on the same disk, and the start itself."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message

from diskprof.model.advice import on_screen
from diskprof.model.errors import DiskprofError
from diskprof.model.text import clean
from diskprof.runner.session import Outlook, Waiting
from diskprof.tui.dialogs.confirm import Answer, Ask
from diskprof.tui.dialogs.form import Form
from diskprof.tui.kit.painted import Line
from diskprof.tui.kit.paragraphs import content_of
from diskprof.tui.run.forms import overwrite_fields, typed_names
from diskprof.tui.run.notices import waiting_notice
from diskprof.tui.run.noticing import Noticing

if TYPE_CHECKING:
    from diskprof.model.device import DeviceTree
    from diskprof.model.plan import Plan
    from diskprof.runner.neighbours import Neighbour

_SPOILS = "two runs on one disk spoil each other's figures."


class Starter(Noticing):
    """Starts what a subclass has planned, once the person has agreed to it."""

    @dataclass(eq=False, repr=False)
    class Started(Message):
        plan: Plan
        run_id: str | None
        error: DiskprofError | None = None

    def __init__(self) -> None:
        super().__init__()
        self._starting = False
        self._waiting: Waiting | None = None

    # for the subclass

    def started(self) -> None:
        """A start has succeeded or failed: what stands on the screen may be shown again."""

    def action_commands(self) -> None:
        """Show the commands of the plan."""

    # what is asked

    def begin(self, outlook: Outlook) -> None:
        """Ask for all that a plan needs before it starts, or say what stands against it."""
        plan = outlook.plan
        assert plan is not None
        others = self._others(plan)
        if others and (plan.blocked or plan.raw_devices):
            # What blocks it may be that run, and a device is named when its turn has come.
            self._refuse(f"{others[0].words}: {_SPOILS}", "Start again when that run is over, or stop it.")
        elif outlook.nameable:
            self._ask_for_names(outlook)
        elif plan.blocked:
            hazard = next((each for each in plan.blocked if not each.signature), plan.blocked[0])
            self._refuse(hazard.message, on_screen(hazard.advice))
        else:
            self._confirm(outlook, plan, others)

    def _others(self, plan: Plan) -> Sequence[Neighbour]:
        if self.device_tree is None:
            return ()
        try:
            return self.session.neighbours(plan, self.store, self.device_tree)
        except DiskprofError as error:
            self.diskprof.tell(error)
            return ()

    def _refuse(self, message: str, advice: str) -> None:
        self.notify(clean(advice) or " ", title=clean(message), severity="error", timeout=8, markup=False)

    def _confirm(self, outlook: Outlook, plan: Plan, others: Sequence[Neighbour]) -> None:
        told = [f"{other.words}: {_SPOILS}" for other in others]
        start: tuple[Answer, ...] = (Answer("s", "Start", "start"),)
        if others:
            them = "its end" if len(others) == 1 else "their end"
            start = (
                Answer("w", f"Wait for {them}, then start", "wait"),
                Answer("s", "Start beside it all the same", "beside", danger=True),
            )
        from diskprof.tui.run.plan_lines import confirm_lines

        self.app.push_screen(
            Ask(
                f"Start {clean(plan.preset_title)}?",
                content_of(confirm_lines(plan, told, self._inner_width), indent=1),
                (*start, Answer("c", "Show the commands", "commands"), Answer("esc", "Back", "")),
            ),
            functools.partial(self._confirmed, Waiting(plan, others, outlook.wish.tree)),
        )

    @property
    def _inner_width(self) -> int:
        """Cells in a line of a dialog."""
        return min(76, self.size.width * 94 // 100) - 6

    def _confirmed(self, asked: Waiting, answer: str | None) -> None:
        if answer in ("start", "beside"):
            self._start(asked.plan, lambda: asked.plan, asked.tree, concurrent=answer == "beside")
        elif answer == "wait":
            self._wait(asked)
        elif answer == "commands":
            self.action_commands()

    def _ask_for_names(self, outlook: Outlook) -> None:
        plan = outlook.plan
        assert plan is not None
        nodes = " and ".join(device.node for device in plan.raw_devices)
        from diskprof.tui.run.plan_lines import confirm_lines

        self.app.push_screen(
            Form(
                f"Overwrite {nodes}?",
                overwrite_fields(plan),
                text=content_of(confirm_lines(plan, (), self._inner_width - 2), indent=1),
                danger=True,
            ),
            functools.partial(self._named, outlook),
        )

    def _named(self, outlook: Outlook, typed: dict[str, str] | None) -> None:
        plan = outlook.plan
        if typed and plan is not None:
            names = typed_names(plan, typed)
            self._start(plan, lambda: self.session.permitted(outlook, names), outlook.wish.tree, concurrent=False)

    # other runs on the same disk

    def _wait(self, waiting: Waiting | None) -> None:
        self._waiting = waiting
        plan = waiting.plan if waiting else None
        self.diskprof.waiting = f"{clean(plan.preset_title)} on {clean(plan.target.path)}" if plan else ""
        self.show_notices()

    @property
    def waits(self) -> bool:
        return self._waiting is not None

    def ask_about_waiting(self) -> None:
        if self._waiting is None:
            return
        title = clean(self._waiting.plan.preset_title)
        self.app.push_screen(
            Ask(
                f"{title} waits for its turn",
                "\n".join(other.words for other in self._waiting.others),
                (
                    Answer("k", "Keep waiting", "keep"),
                    Answer("g", "Give it up", "give-up"),
                    Answer("s", "Start beside it all the same", "beside", danger=True),
                ),
            ),
            self._asked_about_waiting,
        )

    def _asked_about_waiting(self, answer: str | None) -> None:
        waiting = self._waiting
        if waiting is None or answer not in ("give-up", "beside"):
            return
        self._wait(None)
        if answer == "beside":
            self._start(waiting.plan, lambda: waiting.plan, waiting.tree, concurrent=True)

    def go_on_waiting(self) -> None:
        """Start what waits if its turn has come; to be called now and then."""
        waiting = self._waiting
        if waiting is None or self._starting:
            return
        try:
            now = self.session.waiting_now(waiting, self.store, lambda: self.device_tree or waiting.tree)
        except DiskprofError as error:
            self.diskprof.tell(error)
            now = replace(waiting, others=())
        if now.others:
            self._waiting = now
            self.show_notices()
        else:
            self._wait(None)
            self._start(waiting.plan, lambda: waiting.plan, waiting.tree, concurrent=False)

    def _tick(self) -> None:
        super()._tick()
        self.go_on_waiting()

    def notices(self, width: int) -> list[Line]:
        lines = super().notices(width)
        if self._waiting:
            words = " and ".join(f"{other.title} on {other.target}" for other in self._waiting.others)
            lines.insert(0, waiting_notice(self._waiting.plan, words, self.key_of("start"), width))
        return lines

    # the start

    def _start(self, plan: Plan, ready: Callable[[], Plan], tree: DeviceTree, *, concurrent: bool) -> None:
        """Start what `ready` gives for `plan`, which was made on the devices of `tree`, in a thread."""
        self._starting = True
        self.say("Starting.")
        self._start_detached(plan, ready, tree, concurrent)

    @work(thread=True, group="start")
    def _start_detached(self, plan: Plan, ready: Callable[[], Plan], tree: DeviceTree, concurrent: bool) -> None:
        """It waits for the runner to say that it wrote the run down."""
        try:
            self.diskprof.place.check()
            # Behind a question the devices are not looked for.
            self.session.check_there(plan, tree)
            run_id = self.session.start_detached(ready(), self.diskprof.store_path, concurrent=concurrent)
        except DiskprofError as error:
            self.post_message(self.Started(plan, None, error))
            return
        self.post_message(self.Started(plan, run_id))

    @on(Started)
    def _started(self, message: Started) -> None:
        self._starting = False
        self.started()
        if message.error:
            self.diskprof.tell(message.error)
        elif message.run_id:
            self.diskprof.watcher.read()
            if self.is_current:
                self.diskprof.show_run(message.run_id)
            else:
                self.notify(f"{clean(message.plan.preset_title)} has started.", timeout=5, markup=False)
