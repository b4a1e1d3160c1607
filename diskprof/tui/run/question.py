"""What should I run? A question in plain words, whose answer chooses a preset with values for this disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diskprof.model.text import clean
from diskprof.presets.questions import Question, Suggestion, suggestion, vendor_of
from diskprof.tui.dialogs.confirm import Answer, Ask
from diskprof.tui.shell.keynames import with_keys

if TYPE_CHECKING:
    from diskprof.presets.questions import DiskFacts
    from diskprof.tui.run.screen import RunScreen

TITLE = "What should I run?"
_WATCH = "watch"
_TEXT = "Each answer chooses a preset, with values for this disk. Only watching begins at once; the rest is started as usual."


def _answers(facts: DiskFacts) -> tuple[Answer, ...]:
    vendor = vendor_of(facts)
    promise = (
        f"Does it keep what {vendor} promises?" if vendor else "How much load does it take within a latency I need?"
    )
    return (
        Answer("s", "Is it slow now? Watch it, without loading it", _WATCH),
        Answer("d", "What can this disk do, in half a minute?", Question.GENERAL.value),
        Answer("c", "Which of two disks is better?", Question.COMPARE.value),
        Answer("p", promise, Question.PROMISE.value),
        Answer("b", "Is it good for a database?", Question.DATABASE.value),
        Answer("l", "Is it good for a log that is synced (WAL, etcd)?", Question.LOG.value),
        Answer("f", "Is it good for backups and other large files?", Question.BACKUP.value),
        Answer("e", "How long does its speed last?", Question.LASTING.value),
    )


class OpeningQuestion:
    """Asks on `screen`, and chooses there."""

    def __init__(self, screen: RunScreen) -> None:
        self._screen = screen
        self._wanted = False

    def ask(self) -> None:
        """Ask, as soon as there are devices and presets."""
        screen = self._screen
        self._wanted = screen.devices.device_tree is None or not screen.presets.loaded
        if self._wanted:
            return
        facts = self._facts()

        def answered(value: str | None) -> None:
            if value == _WATCH:
                screen.action_watch()
            elif value:
                question = Question(value)
                self._take(question, suggestion(question, facts))

        screen.app.push_screen(Ask(TITLE, _TEXT, _answers(facts)), answered)

    def ask_if_wanted(self) -> None:
        """Ask now if the key came before there was anything to choose, unless the person has gone elsewhere since."""
        wanted, self._wanted = self._wanted, False
        if wanted and self._screen.is_current:
            self.ask()

    def _facts(self) -> DiskFacts:
        """Of the chosen place; the room as in its plan, where there is one."""
        devices, outlook = self._screen.devices, self._screen.plan.ready
        device, tree = devices.device, devices.device_tree
        assert tree is not None
        plan = outlook.plan if outlook else None
        room = plan.target.free_bytes if plan else None
        if room is None and device and device.mounts:
            room = device.mounts[0].free_bytes
        return self._screen.session.disk_facts(device, tree, room)

    def _take(self, question: Question, suggested: Suggestion) -> None:
        screen = self._screen
        if screen.presets.filtered:
            screen.presets.unfilter()
        preset = next((each for each in screen.presets.presets if each.name == suggested.preset), None)
        if preset is None:
            screen.notify(f"There is no preset {suggested.preset}.", severity="warning", markup=False)
            return
        screen.choose_preset(preset, suggested.settings)
        values = " ".join(f"{name}={value}" for name, value in suggested.settings.items())
        then = "{run.start} starts it."
        if question is Question.COMPARE:
            then = "Mark both disks with {run.mark}, then {run.start}: the runs alternate."
        elif question is Question.PROMISE and not suggested.settings:
            then = "{run.edit} edits it, {run.start} starts it."
        title = f"{clean(preset.title)}{f': {values}' if values else ''}"
        screen.notify(with_keys(screen, f"{suggested.why} {then}"), title=title, timeout=10, markup=False)
