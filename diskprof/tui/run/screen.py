"""Run: devices, presets and the plan, side by side; Enter starts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message

from diskprof.config.settings import Settings
from diskprof.model.errors import DiskprofError
from diskprof.model.text import clean
from diskprof.presets.own_copies import edits, own_copy, together
from diskprof.tui.dialogs.form import FormDialog
from diskprof.tui.dialogs.text_page import TextPage
from diskprof.tui.kit.containers import Across, Down
from diskprof.tui.kit.table import Table
from diskprof.tui.run.device_pane import DevicePane
from diskprof.tui.run.draft import Draft
from diskprof.tui.run.forms import expanded, name_field, parameter_fields, slot_fields
from diskprof.tui.run.help_text import HELP_OF_RUN
from diskprof.tui.run.last_choices import LastChoices
from diskprof.tui.run.notice_strip import NoticeStrip
from diskprof.tui.run.own_presets import OwnPresets
from diskprof.tui.run.plan_pane import Build, PlanPane
from diskprof.tui.run.preset_pane import PresetPane
from diskprof.tui.run.question import OpeningQuestion
from diskprof.tui.run.series_choice import SeriesChoice, without
from diskprof.tui.run.start_flow import StartFlow
from diskprof.tui.shell.base import ModeScreen
from diskprof.tui.shell.keynames import with_keys

if TYPE_CHECKING:
    from diskprof.devices.guard.target_doubts import Doubt
    from diskprof.model.preset import Preset
    from diskprof.runner.session import Outlook, SeriesOutlook


class RunScreen(ModeScreen):
    """Wires the panes to one draft: what they post makes another draft, of which a plan is made and shown."""

    MODE: ClassVar[str] = "run"
    CSS_PATH = "run.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-full")]  # noqa: RUF012
    TITLE_OF_HELP: ClassVar[str] = "Run"
    COPIES: ClassVar[str] = "the list of commands"
    HELP: ClassVar[str] = HELP_OF_RUN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "start", "Start", id="run.start", tooltip="Show the plan, then start"),
        Binding("Q", "question", "Ask", id="run.question", key_display="Q", tooltip="What should I run?"),
        Binding(
            "x", "allow", "Allow writing", id="run.allow", tooltip="Allow or forbid overwriting the selected device"
        ),
        Binding(
            "o", "other", "Other target", id="run.other", tooltip="Test another place, or name the targets of a preset"
        ),
        Binding(
            "W", "watch", "Watch", key_display="W", id="run.watch", tooltip="Watch what the device does, without load"
        ),
        Binding("e", "edit", "Edit", id="run.edit", tooltip="Change size, runtime and other parameters"),
        Binding(
            "space",
            "mark",
            "Mark",
            id="run.mark",
            show=False,
            tooltip="Mark a target; a series alternates the marked ones",
        ),
        Binding("v", "variant", "Variant", id="run.variant", tooltip="Next variant of the preset, such as quick"),
        Binding(
            "slash",
            "filter",
            "Filter",
            id="run.filter",
            key_display="/",
            tooltip="Filter presets by name, source, option or vendor",
        ),
        Binding(
            "C",
            "commands",
            "Commands",
            key_display="C",
            id="run.commands",
            tooltip="Show the commands and the fio job file",
        ),
        Binding("w", "save", "Save", id="run.save", tooltip="Save the preset with these parameters as your own"),
        Binding(
            "E", "own", "Own preset", id="run.own", key_display="E", tooltip="Edit, rename or delete your own preset"
        ),
        Binding(
            "i", "import", "Import", id="run.import", tooltip="Create a preset from a pasted command or a job file"
        ),
        Binding(
            "asterisk",
            "favourite",
            "Favourite",
            key_display="*",
            id="run.favourite",
            show=False,
            tooltip="Add to or remove from the favourites",
        ),
        Binding("a", "all", "All devices", id="run.all", tooltip="Show or hide empty loop, ram and zram devices"),
        Binding("escape", "unfilter", "All presets", id="run.unfilter", tooltip="Clear the filter, show all presets"),
        Binding("d", "leftovers", "Leftovers", id="run.leftovers", tooltip="Show and delete leftover test files"),
        Binding("tab", "app.focus_next", "Next pane", id="run.next-pane", show=False, tooltip="The next pane"),
        Binding("right", "pane(1)", "Next pane", id="run.presets", show=False, tooltip="From devices to presets"),
        Binding("left", "pane(-1)", "Pane before", id="run.devices", show=False, tooltip="From presets to devices"),
        Binding("ctrl+r", "rescan", "Rescan", id="run.rescan", show=False, tooltip="Rescan devices and presets"),
    ]

    @dataclass(eq=False, repr=False)
    class Saved(Message):
        """A copy of `original` was written to `path`, or not."""

        original: str
        preset: Preset
        path: str = ""
        error: DiskprofError | None = None

    def __init__(self) -> None:
        super().__init__()
        self.draft = Draft()
        self.notice = NoticeStrip()
        self.devices = DevicePane(lambda: self.plan.device)
        self.presets = PresetPane()
        self.plan = PlanPane()
        self.flow = StartFlow(self)
        self.series = SeriesChoice(self, self.devices, self.flow)
        self.own = OwnPresets(self)
        self.question = OpeningQuestion(self)
        self._began = False
        self._start_when_ready = False
        self._back: Callable[[], object] | None = None
        self._doubted: tuple[Doubt, ...] = ()
        self._going: frozenset[str] = frozenset()
        self.last = LastChoices(self)

    def body(self) -> ComposeResult:
        yield self.notice
        with Across(id="run"):
            with Down(id="choices"):
                yield self.devices
                yield self.presets
            with Down(id="about"):
                yield self.devices.details
                yield self.plan

    def on_mount(self) -> None:
        self.devices.list.focus()
        self.plan.say("Looking for devices.")
        # After the first frame: what these import would only hold it up (F44), in a thread as well. By way of the app, since
        # what is drawn while the app itself is still being mounted is not sent.
        self.app.call_later(self.call_after_refresh, self._begin)

    def _begin(self) -> None:
        if not self._began and self.is_running:
            self._began = True
            self._recall()
            self.devices.begin()
            self.presets.load()
            self.notice.look()
            self.set_interval(1.0, self._tick)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Textual calls the base's handler after this one."""
        self.devices.come_back()

    def on_resize(self, _event: events.Resize) -> None:
        self.call_after_refresh(self._resized)

    def _resized(self) -> None:
        self.devices.show()
        self._show_details()
        self._show_notices()

    def _tick(self) -> None:
        # Behind another screen nothing is looked for: what it takes would be taken from what is measured there.
        if self.is_current:
            if self.devices.tick():
                self._show_details()
            if self.plan.ready:
                self._examine()
        self.flow.go_on(self.devices.device_tree)

    def store_changed(self) -> None:
        going = frozenset(run.id for run in self.diskprof.watcher.state.running)
        if self._going - going:
            # A run that has ended may have been killed; what was in the way, or took up room, may be gone.
            self.notice.look()
            self.plan.forget()
            self._take(self.draft)
        if going != self._going:
            self.devices.worked_on(self._worked_on())
        self._going = going
        self._examine()
        self._prefer()
        self._show_notices()

    def _worked_on(self) -> Mapping[str, str]:
        try:
            return self.session.worked_on(self.store)
        except DiskprofError as error:
            self.diskprof.tell(error)
            return {}

    # what is remembered

    def _recall(self) -> None:
        """Begin with the last target, preset and edits."""
        last = self.last.read()
        self.draft = self.draft.recall(last.variants, last.edits)
        self.devices.remembered = last
        if self.diskprof.settings.preset == Settings().preset:
            # What the configuration says counts more.
            self.presets.first = last.preset
        self._prefer()

    def _prefer(self) -> None:
        recent = dict.fromkeys(run.preset for run in self.diskprof.watcher.state.last)
        self.presets.prefer(self.last.known.favourites, tuple(recent))

    def action_favourite(self) -> None:
        preset = self.presets.preset
        if preset is not None and self.last.toggle_favourite(preset.name):
            self._prefer()

    # the draft, and what would happen

    def _take(self, draft: Draft) -> None:
        """Make `draft` the draft, with what is chosen now, and a plan of it as soon as the cursor rests."""
        self.draft = draft.choose(self.devices.device_tree, self.devices.place, self.presets.preset)
        self.presets.mark(self.draft.edited)
        self.refresh_bindings()
        wish = self.draft.wish
        if wish is None:
            self.plan.forget()
            if self.devices.device_tree is not None and not (self.presets.loaded or self.presets.failed):
                self.plan.say("Reading the presets.")
        elif self.plan.wish_for(wish):
            self._start_when_ready = False
        if self.presets.filtered_out:
            # What was wished for is out of sight: it must not be what Enter starts.
            self._start_when_ready = False
            self.plan.say(with_keys(self, "No preset selected. {run.unfilter} clears the filter."))

    @on(DevicePane.Changed)
    @on(PresetPane.Changed)
    def _choice_changed(self) -> None:
        self._show_details()
        self._take(self.draft)
        self.question.ask_if_wanted()

    @on(DevicePane.Failed)
    @on(PresetPane.Failed)
    def _failed(self, message: DevicePane.Failed | PresetPane.Failed) -> None:
        self.diskprof.tell(message.error)
        if self.devices.device_tree is None or not self.presets.loaded:
            self.plan.show_error(message.error)

    @on(PlanPane.Planned)
    def _planned(self, message: PlanPane.Planned) -> None:
        if plan := message.outlook.plan:
            self.notice.look_in(plan)
            self.presets.take_plan(plan, self.draft.wishes(self.presets.presets))
        self._examine()
        self._show_plan()
        self._show_details()
        self._show_notices()
        self.refresh_bindings()
        if self._start_when_ready:
            self._start_when_ready = False
            self.action_start()

    def _examine(self) -> None:
        self.devices.examine(self.presets.preset.name if self.presets.preset else "")

    def _show_plan(self) -> None:
        if outlook := self.plan.ready:
            wide = not self.has_class("-narrow")
            below: Build = (lambda _width: []) if wide else self.devices.lines
            self._doubted = () if wide else self.devices.doubts
            self.plan.show_outlook(outlook, below, self._doubted, self.series.sentence)

    def _show_details(self) -> None:
        self.devices.show_details()
        if self.has_class("-narrow") and self.devices.doubts != self._doubted:
            self._show_plan()

    @on(NoticeStrip.Changed)
    def _left_behind(self) -> None:
        self._show_notices()
        self.refresh_bindings()

    def _show_notices(self) -> None:
        if not self.is_mounted:
            return
        outlook = self.plan.ready
        plan = outlook.plan if outlook and not outlook.blocked else None
        # A device that is overwritten takes more than a key; a series is told of with the plan.
        startable = None if plan is None or plan.raw_devices or self.series.sentence else plan
        self.notice.show(self.flow.waiting, self.devices.device_tree is not None, startable)

    # what the last line offers

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key that can do nothing for what is chosen is not shown."""
        if action == "leftovers":
            return bool(self.notice.left)
        if action == "allow":
            return self.is_mounted and self.plan.overwrites
        if not self.is_mounted:
            return True
        if action == "variant":
            preset = self.presets.preset
            return preset is not None and bool(preset.variants)
        if action == "own":
            return self.presets.preset is not None and not self.presets.preset.shipped
        if action == "filter":
            return not self.presets.filtering
        if action == "unfilter":
            return self.presets.filtered
        return True

    @property
    def can_copy(self) -> bool:
        # Also in the moment in which the next plan is made, or the last line would flicker.
        return self.plan.outlook is not None and self.plan.outlook.plan is not None

    def copy_text(self) -> Callable[[], str] | None:
        from diskprof.tui.shell.copying import commands_of

        outlook = self.plan.ready
        return functools.partial(commands_of, outlook.plan) if outlook and outlook.plan else None

    # what is looked at

    def action_rescan(self) -> None:
        self.devices.look()
        self.presets.load()
        self.notice.look()

    def action_all(self) -> None:
        shown = self.devices.toggle_all()
        self.app.notify("Empty devices are shown." if shown else "Empty devices are hidden.", timeout=2)

    def action_pane(self, step: int) -> None:
        # At once: the next key may be there already.
        self.set_focus(self.presets.list if step > 0 else self.devices.list)

    @on(Table.PastEnd, "#devices")
    def _below_devices(self, message: Table.PastEnd) -> None:
        """With one device, the down key would do nothing."""
        if message.step > 0:
            self.set_focus(self.presets.list)

    @on(Table.PastEnd, "#presets")
    def _above_presets(self, message: Table.PastEnd) -> None:
        if message.step < 0:
            self.set_focus(self.devices.list)

    def action_filter(self) -> None:
        self.presets.filter()

    def action_unfilter(self) -> None:
        self.presets.unfilter()

    def action_leftovers(self) -> None:
        self.notice.ask_to_remove()

    @on(StartFlow.CommandsWanted)
    def _commands_wanted(self, message: StartFlow.CommandsWanted) -> None:
        self._show_commands(message.outlook, lambda _: message.back())

    def action_commands(self) -> None:
        self._show_commands(self.plan.ready)

    def _show_commands(self, outlook: Outlook | None, closed: Callable[[None], None] | None = None) -> None:
        if outlook and outlook.plan:
            from diskprof.tui.run.plan_lines import commands_text, job_file_of

            text = commands_text(outlook.plan, job_file_of(outlook.wish))
            self.app.push_screen(TextPage("Commands", text), closed)

    # where it works

    def action_watch(self) -> None:
        tree, place = self.devices.device_tree, self.devices.place
        if tree is not None and place is not None and not self.flow.starting:
            self.flow.watch(place, tree)

    def action_other(self) -> None:
        tree, preset = self.devices.device_tree, self.presets.preset
        if tree is None:
            return
        if preset is not None and preset.targets:
            self._name_targets(preset)
            return

        def check(text: str) -> str:
            return self.session.resolve_target(expanded(text), tree).path

        from diskprof.tui.run.target_dialog import TargetDialog, known_targets

        known = known_targets(tree, self.last.known.paths, self.diskprof.watcher.state.last)
        self.app.push_screen(TargetDialog(tree, known, check), self._other_given)

    def _other_given(self, values: dict[str, str] | None) -> None:
        if values:
            self.devices.choose_path(expanded(values["path"]))
            self._take(self.draft)
            self.last.keep(self.draft)

    def _name_targets(self, preset: Preset, then: Callable[[], None] | None = None) -> None:
        """Ask for a path for each target of the preset; `then` follows if the person gave them."""
        tree, outlook = self.devices.device_tree, self.plan.ready
        if tree is None:
            return

        def given(paths: dict[str, str] | None) -> None:
            if paths:
                self._take(self.draft.name_targets(preset, paths))
                if then:
                    then()

        named, suggested = self.draft.shape(preset).named, outlook.suggested if outlook else ""
        fields = slot_fields(self.session, preset, named, tree, suggested)
        self.app.push_screen(FormDialog(f"Targets of {clean(preset.title)}", fields), given)

    def action_allow(self) -> None:
        """Turn writing to the chosen device on or off. It is off again for another device, and after each start."""
        self._take(self.draft.toggle_writing())

    # the preset

    def action_edit(self) -> None:
        preset = self.presets.preset
        if preset is None:
            return

        def edited(values: dict[str, str] | None) -> None:
            if values is not None:
                self.series.take(values)
                self._take(self.draft.edit(preset, without(values)))
                self._show_plan()
                self.last.keep(self.draft)

        settings = self.draft.settings(preset)
        fields = [*parameter_fields(preset, settings), *self.series.fields]
        form = FormDialog(clean(preset.title), fields, together=self.series.check(together(preset, settings)))
        self.app.push_screen(form, edited)

    def action_question(self) -> None:
        self.question.ask()

    def choose_preset(self, preset: Preset, values: Mapping[str, str]) -> None:
        """Choose a preset with `values` for its parameters, in place of its variant and what was edited of it."""
        self.presets.choose(preset.name)
        self._take(self.draft.begin_with(preset, values))
        self.last.keep(self.draft)

    def action_variant(self) -> None:
        preset = self.presets.preset
        if preset is None or not preset.variants:
            return
        draft = self.draft.take_next_variant(preset)
        variant = draft.shape(preset).variant
        if kept := edits(preset, variant, draft.settings(preset)):
            stays = ", ".join(f"{name}, which you edited, stays {value or 'none'}" for name, value in kept.items())
            self.app.notify(f"Variant {clean(variant) or 'default'}: {clean(stays)}.", timeout=5, markup=False)
        self._take(draft)

    def action_save(self) -> None:
        preset = self.presets.preset
        if preset is None:
            return

        def named(values: dict[str, str] | None) -> None:
            if values:
                self._save(preset.name, own_copy(preset, values["name"], self.draft.settings(preset)))

        fields = [name_field(self.presets.presets)]
        self.app.push_screen(FormDialog(f"Save {clean(preset.title)} as your own", fields), named)

    def action_own(self) -> None:
        if preset := self.presets.preset:
            self.own.ask(preset, self.presets.presets)

    @on(OwnPresets.Changed)
    def _own_changed(self, message: OwnPresets.Changed) -> None:
        if message.now:
            self.presets.unfilter()
            self.presets.choose(message.now)
        if self.last.rename_favourite(message.before, message.now):
            self._prefer()
        self.presets.load()

    def action_import(self) -> None:
        from diskprof.presets.own_copies import own_title
        from diskprof.tui.dialogs.import_dialog import ImportDialog

        def made(preset: Preset | None) -> None:
            if preset:
                self._save(preset.name, preset)

        self.app.push_screen(ImportDialog(lambda name: own_title(name, self.presets.presets)), made)

    @work(thread=True, group="save")
    def _save(self, original: str, preset: Preset) -> None:
        try:
            path = self.session.save_preset(preset)
        except DiskprofError as error:
            self.post_message(self.Saved(original, preset, error=error))
            return
        self.post_message(self.Saved(original, preset, str(path)))

    @on(Saved)
    def _saved(self, message: Saved) -> None:
        """The copy is chosen as soon as it is read."""
        if message.error:
            self.diskprof.tell(message.error)
            return
        self._take(self.draft.save_as(message.original, message.preset.name))
        self.app.notify(clean(message.path), title="Saved", timeout=5, markup=False)
        self.presets.unfilter()
        self.presets.choose(message.preset.name)
        self.presets.load()

    # the start

    @on(Table.Chosen)
    def action_start(self) -> None:
        if self.flow.starting:
            return
        if self.flow.waiting:
            self.flow.ask_about_waiting()
            return
        if self.presets.filtered_out:
            words = "No preset matches the filter. {run.unfilter} clears it."
            self.app.notify(with_keys(self, words), timeout=4, markup=False)
            return
        # The cursor may have gone elsewhere by a key that came with this one: the panes say so only after it.
        self._take(self.draft)
        outlook = self.plan.ready
        if outlook is None:
            self._start_when_ready = True
        elif outlook.error:
            self.diskprof.tell(outlook.error)
        elif outlook.missing:
            self._name_targets(outlook.wish.preset, self.action_start)
        else:
            self._back = None
            self.series.begin(outlook, self.devices.device_tree or outlook.wish.tree)

    def action_mark(self) -> None:
        self.devices.mark()
        self._show_plan()
        self._show_notices()

    def start_plan(self, outlook: Outlook, back: Callable[[], object]) -> None:
        """Ask whether to start a plan that was not made here; `back` is called if the person goes back."""
        self._back = back
        if self.flow.waiting:
            self.flow.ask_about_waiting()
        elif not self.flow.starting:
            self.flow.begin(outlook, outlook.wish.tree)

    def start_series(self, planned: SeriesOutlook, back: Callable[[], object]) -> None:
        """As `start_plan`, of a series."""
        self._back = back
        if self.flow.waiting:
            self.flow.ask_about_waiting()
        elif not self.flow.starting:
            self.flow.begin_series(planned, planned.outlooks[0].wish.tree)

    @on(StartFlow.Left)
    def _start_left(self) -> None:
        back, self._back = self._back, None
        if back:
            back()

    @on(StartFlow.Changed)
    def _start_changed(self) -> None:
        if self.flow.starting:
            self.plan.say("Starting.")
        self._show_notices()

    @on(StartFlow.Started)
    def _started(self, message: StartFlow.Started) -> None:
        self._show_plan()
        if not message.error and not (message.plan and message.plan.watched):
            self.last.keep(self.draft)
        self._take(self.draft.forbid_writing())
        self.flow.over(message)
