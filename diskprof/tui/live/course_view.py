"""What Live and a result show of a test: the large chart with its cursor, the cells of a sweep or the trials of a search, the
kernel's view."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from msgspec.structs import replace
from textual.binding import Binding, BindingType
from textual.timer import Timer

from diskprof.analysis.load_curve import found_curve
from diskprof.model.errors import DiskprofError
from diskprof.model.metric import Quantity
from diskprof.model.run import Run
from diskprof.reports.charts.axes import TITLES, LogScale, Scale, TimeAxis
from diskprof.reports.charts.plot import Cursor, Facet, Plot, highest
from diskprof.reports.content.curve_report import curve_picture, knee_note
from diskprof.reports.content.map_report import FIGURES
from diskprof.tui.kit.charts.chart import ChartPane, is_flat
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.redraw_pace import Turns
from diskprof.tui.kit.textual_fixes import set_timer
from diskprof.tui.live.depths import Depths
from diskprof.tui.live.kernel_lines import kernel_lines
from diskprof.tui.live.latency_plots import course_plot, distribution, heat_plot, moment, percentile_plot
from diskprof.tui.live.limit_lines import limit_lines, search_height
from diskprof.tui.live.live_lines import chart_curves, phase_note, tile_entries, waiting_words, waits_s
from diskprof.tui.live.live_panes import DeviceTile, KernelPane, LatencyTile, Tile
from diskprof.tui.live.map_lines import map_height, map_lines
from diskprof.tui.live.run_reader import RunReader, Snapshot
from diskprof.tui.live.sweep_lines import METRICS, panel_of, panels_of, sweep_lines
from diskprof.tui.shell.base import ModeScreen

_CHART_EVERY_S = 1.0
"""Seconds between two drawings of a large chart during a run: they are half of the cost of watching."""
_NONE_CAME_S = 0.15
"""Seconds that a chart whose turn has come waits for the next interval, which would draw it anyway."""
_GO_ON_S = 0.005
"""Seconds between two steps of reading, in which keys and timers are served."""
_FINER_EVERY_S = 0.3
"""Seconds between two drawings of a heat map that is being read."""


class View(StrEnum):
    """What the large chart shows, in the order of the key that switches it."""

    COURSE = "IOPS and latency"
    BANDWIDTH = "bandwidth"
    PERCENTILES = "latency percentiles"
    HEAT = "latency heat map"
    DISTRIBUTION = "latency by percentile"
    """Of all that was measured, so only once there is a result."""


_BESIDE = (View.PERCENTILES, View.HEAT, View.COURSE)
"""What is beside the large chart where there is room for two more."""
_ALONE_BESIDE = (View.HEAT, View.COURSE)
"""The one chart beside it where there is room for one: the course has the percentiles then."""
VIEWS = tuple(View)
_CURVE_INKS = ("quiet", "read", "strong")


COURSE_BINDINGS: tuple[BindingType, ...] = (
    Binding(
        "m",
        "course('metric')",
        "Metric",
        id="live.metric",
        tooltip="Another chart: IOPS and latency, bandwidth, percentiles, heat map",
    ),
    Binding(
        "K",
        "course('kernel')",
        "Kernel",
        key_display="K",
        id="live.kernel",
        tooltip="The kernel's view of the device and the machine, beside fio's",
    ),
    Binding(
        "V",
        "course('cells')",
        "Overview",
        key_display="V",
        id="live.sweep",
        tooltip="The cells of the sweep or the trials of the search, or the course of the test that is chosen",
    ),
    Binding(
        "X",
        "course('panel')",
        "Other view",
        key_display="X",
        id="live.panel",
        tooltip="The cells at other values of the axes that stand still; of a search its trials or the load curve",
    ),
    Binding(
        "left",
        "course('cursor', -1)",
        "Cursor",
        id="live.earlier",
        show=False,
        tooltip="Read off an earlier moment of the chart",
    ),
    Binding(
        "right",
        "course('cursor', 1)",
        "Cursor",
        id="live.later",
        show=False,
        tooltip="Read off a later moment of the chart",
    ),
    Binding(
        "shift+left",
        "course('cursor', -10)",
        "Cursor",
        id="live.much-earlier",
        show=False,
        tooltip="Read off a moment ten steps earlier",
    ),
    Binding(
        "shift+right",
        "course('cursor', 10)",
        "Cursor",
        id="live.much-later",
        show=False,
        tooltip="Read off a moment ten steps later",
    ),
    Binding("z", "course('zoom')", "Zoom", id="live.zoom", tooltip="Show the chart alone, or everything again"),
    Binding(
        "enter",
        "course('open')",
        "Open",
        id="live.open",
        show=False,
        tooltip="Show the chart of the test alone; in a sweep or a search, the course of the cell or trial",
    ),
)
"""What the keys of every screen with such a chart do."""


def _panels(run: Run) -> int:
    """How many pictures there are of all tests together: those of a sweep; of a search its trials and the load curve."""
    if run.plan.search:
        return 2 if found_curve(run) else 1
    return len(panels_of(run))


def _is_of_many(seen: Snapshot) -> bool:
    """Whether the result of the run is that of all its tests together: a sweep, a search for a limit, a map."""
    return bool(seen.run.plan.sweep) or seen.run.plan.search is not None


class CourseView:
    """What a screen shows of the test that `reader` looks at, in its `#chart` and `#kernel`, and in the charts of `beside`.

    What has the class `keyed` has the keys while it is in sight. `draw` draws the whole screen.
    """

    def __init__(
        self, screen: ModeScreen, draw: Callable[[], None], beside: Callable[[], tuple[ChartPane, ...]] = lambda: ()
    ) -> None:
        self.screen, self._draw, self._beside = screen, draw, beside
        self._reader: RunReader | None = None
        self.snapshot: Snapshot | None = None
        self.moment: float | None = None
        """What the cursor of the chart reads off, in seconds since the test began."""
        self._view = View.COURSE
        self._scales: dict[tuple[int, bool, Quantity], Scale] = {}
        self._log_scales: dict[str, LogScale] = {}
        self._scaled_for: Depths | None = None
        self._turns = Turns()
        self._curve_due: Timer | None = None
        self.reads_on = False
        """Whether a step of reading leads to the next already."""
        self._as_cells = True
        self._cell_metric: Quantity | None = None
        self._map_figure = 0
        self._panel_at: int | None = None
        self._tiles: tuple[Tile, ...] = ()
        self._before: Snapshot | None = None
        """The test before the current one, as it was last seen."""

    # what is read

    def follow(self, run_id: str | None) -> None:
        """Look at this run from now on. Raises StoreError."""
        before, self._reader, self.snapshot = self.snapshot, None, None
        self._before = None
        if run_id is None:
            return
        self._reader = RunReader(self.screen.store, run_id)
        self.snapshot = self._reader.snapshot
        if before is None or before.run.id != run_id:
            self._scales.clear()
            self.moment = self._panel_at = None
            self._as_cells = True

    def read(self) -> None:
        """Read what is new of the run. Raises StoreError."""
        if self._reader is None or self.snapshot is None:
            return
        before, self.snapshot = self.snapshot, self._reader.read()
        if before.test != self.snapshot.test:
            self.moment = None
            self._before = before if before.track.last else None
        if before.going and not self.snapshot.going and _is_of_many(self.snapshot):
            # The result of a sweep is its cells, that of a search its trials, whatever was looked at meanwhile.
            self._as_cells = True
            self._turns.clear()

    def choose(self, test: int | None) -> None:
        """Show one test; None: follow the current one. Raises StoreError."""
        if self._reader:
            self.snapshot = self._reader.choose(test)

    def another_test(self) -> None:
        """Draw everything of the test that is looked at now."""
        self.moment = None
        self._anew()

    def anew(self) -> None:
        """Everything is drawn next time, whether or not it is its turn."""
        self._turns.clear()

    def _anew(self) -> None:
        self._turns.clear()
        self.read_more()
        self._draw()
        self.screen.refresh_bindings()

    def read_more(self) -> None:
        """Read what is new of the distributions and of the kernel's view, where they are shown.

        Of a long test it takes some time: that goes on in steps of its own.
        """
        reader, seen = self._reader, self.snapshot
        if reader is None or seen is None:
            return
        try:
            if self._shows_kernel or (seen.going and self.screen.has_class("-wide")):
                self.snapshot = reader.read_kernel()
        except DiskprofError as error:
            self.snapshot = reader.snapshot
            self.screen.diskprof.tell(error)
        if not (seen.going or View.HEAT in (self._shown_view, *self._side_views)):
            return
        self.snapshot = reader.open_depths()
        if self.snapshot.depths is not self._scaled_for:
            self._scaled_for = self.snapshot.depths
            self._log_scales.clear()
            self._turns.clear()
        if self.reads_on:
            # A second chain of steps would leave no time for keys.
            return
        try:
            if reader.read_depths():
                self.reads_on = True
                set_timer(self.screen, _GO_ON_S, self._go_on_reading)
        except DiskprofError as error:
            self.snapshot = reader.snapshot
            self.screen.diskprof.tell(error)

    def _go_on_reading(self) -> None:
        self.reads_on = False
        if not self.screen.is_current or self.snapshot is None:
            return
        self.read_more()
        if (depths := self.snapshot.depths) is None or depths.complete:
            self._turns.clear()
            if self.snapshot.going:
                # The figures of the whole test are known only now.
                self.draw_tiles(self.snapshot)
        elif self._turns.left_s("finer", _FINER_EVERY_S):
            return
        self.draw_chart()

    def catch_up(self) -> None:
        """Go on where the steps of reading have stopped, as while another screen was shown, and show what they read."""
        if self.snapshot is None or self.reads_on:
            return
        depths = self.snapshot.depths
        if depths is None or not depths.complete:
            self.read_more()
        self.draw_tiles(self.snapshot)

    # what can be done

    def can(self, action: str) -> bool:
        """Whether an action of COURSE_BINDINGS, or `leave`, can do anything now."""
        seen = self.snapshot
        match action:
            case "metric" | "cursor" | "cells" | "panel" | "open" if self._shows_kernel:
                # They act on the chart, which is not to be seen.
                return False
            case "metric" if self.shows_cells and seen is not None and seen.run.plan.limit:
                return False
            case "metric" | "zoom" | "kernel" | "open":
                return seen is not None
            case "cursor":
                return seen is not None and not self.shows_cells and self._shown_view is not View.DISTRIBUTION
            case "cells":
                return seen is not None and _is_of_many(seen)
            case "panel":
                return self.shows_cells and seen is not None and _panels(seen.run) > 1
            case "leave":
                return self._over_it or self._shows_kernel
            case _:
                return True

    @property
    def _over_it(self) -> bool:
        """Whether a cursor, the zoom or the course of a cell is over what is shown first."""
        seen = self.snapshot
        cell = seen is not None and _is_of_many(seen) and not self._as_cells
        return self.moment is not None or self.screen.has_class("-zoom") or cell

    @property
    def _views(self) -> tuple[View, ...]:
        """What there is to be seen of the test."""
        over = self.snapshot is not None and self.snapshot.record.result is not None
        return tuple(view for view in View if over or view is not View.DISTRIBUTION)

    @property
    def _shown_view(self) -> View:
        """What the large chart shows; no distribution of an unfinished test, even if one was chosen for the test before."""
        return self._view if self._view in self._views else View.PERCENTILES

    def _scale(self, seen: Snapshot, metric: Quantity, value: float) -> Scale:
        key = (seen.test, seen.track.preparing, metric)
        scale = self._scales[key] = Scale.of(metric, value, self._scales.get(key))
        return scale

    @property
    def _shows_kernel(self) -> bool:
        return self.screen.has_class("-kernel")

    @property
    def shows_cells(self) -> bool:
        """Whether all tests are shown at once: the cells of a sweep, the trials of a search."""
        return self._as_cells and self.snapshot is not None and _is_of_many(self.snapshot)

    def grid_height(self, each: int) -> int | None:
        """The lines of the cells of a sweep, each so many lines high, or of a search; None while the kernel's view or the zoom has
        their place."""
        if self.snapshot is None or self._shows_kernel or self.screen.has_class("-zoom"):
            return None
        if self.snapshot.run.plan.limit:
            return search_height(self.snapshot.run)
        if self.snapshot.run.plan.read_write_map:
            return map_height(self.snapshot.run)
        found = panels_of(self.snapshot.run)
        return 2 + each * max((len(panel.rows.values) for panel in found), default=0)

    def draw_tiles(self, seen: Snapshot) -> None:
        if not self._tiles:
            self._tiles = tuple(self.screen.query(Tile))
        waits = waits_s(seen.record.planned) > 0 and not seen.track.preparing
        for tile in self._tiles:
            tile.show(tile_entries(tile.metric, seen.track), waits=waits)
        self.screen.query_one("#tile-latency", LatencyTile).show(seen.track, seen.depths)
        if self.screen.has_class("-wide"):
            self.screen.query_one("#tile-device", DeviceTile).show(seen.run, seen.kernel)

    @property
    def _side_views(self) -> tuple[View, ...]:
        """What is beside the large chart where there is room: what it does not show itself."""
        shown = len(self._beside()) if not self.shows_cells else 0
        views = _BESIDE if shown > 1 else _ALONE_BESIDE
        return tuple(view for view in views if view is not self._shown_view)[:shown]

    def draw_chart(self) -> None:
        seen = self.snapshot
        if seen is None:
            return
        chart, track = self.screen.query_one("#chart", ChartPane), seen.track
        if self.shows_cells:
            self._draw_cells(seen, chart)
            return
        note = phase_note(track, seen.record, seen.run.plan)
        if not track.last:
            if self._before is None or not (seen.follows and seen.going):
                for each in (chart, *self._beside()):
                    each.say(waiting_words(seen))
                return
            # Until the current test has a figure.
            seen, track = self._before, self._before.track
            note = f"{seen.record.title}, the last test"
        else:
            if self._before:
                # The first figure of the current test does not wait for its turn.
                self._before = None
                self._turns.clear()
            if not seen.follows or not seen.going:
                title = seen.record.title
                note = f"{title}, {note}" if note else title
        cursor = None if self.moment is None else moment(track, self.moment, chart.size.width)
        self._draw_view(seen, chart, self._shown_view, note, cursor)
        # What happened at the cursor is said once.
        marked = replace(cursor, lines=()) if cursor else None
        for beside, other in zip(self._beside(), self._side_views, strict=False):
            self._draw_view(seen, beside, other, "", marked)

    def _draw_view(self, seen: Snapshot, chart: ChartPane, view: View, note: str, cursor: Cursor | None) -> None:
        track = seen.track
        if view is View.PERCENTILES:
            if self._turns.left_s(chart.id or "", self._pace_s):
                return
            plot = percentile_plot(track, seen.span_s, self._log_scales, note)
            chart.show(replace(plot, cursor=cursor))
        elif view is View.HEAT:
            self._draw_heat(seen, chart, note, cursor)
        elif view is View.DISTRIBUTION:
            self._draw_distribution(seen, chart)
        elif left := self._turns.left_s(chart.id or "", self._pace_s):
            # What comes between two turns is not to wait for the next sample, which may never come.
            self._curve_due = self._curve_due or set_timer(self.screen, left + _NONE_CAME_S, self._draw_due)
        else:
            if self._curve_due:
                self._curve_due.stop()
                self._curve_due = None
            metric = Quantity.BANDWIDTH if view is View.BANDWIDTH else Quantity.IOPS
            curves = chart_curves(metric, track, self._charset)
            scale = self._scale(seen, metric, highest(curves))
            rate = Facet(scale, curves)
            seconds, scales = seen.span_s, self._log_scales
            if view is View.BANDWIDTH or View.PERCENTILES in self._side_views:
                # Percentiles beside it are not drawn once more below it.
                axis = TimeAxis(seconds)
                chart.show(Plot(TITLES[metric], axis, (rate,), unit=scale.suffix, note=note, cursor=cursor))
            else:
                chart.show_for(
                    lambda height: replace(course_plot(rate, track, seconds, scales, note, height), cursor=cursor)
                )

    @property
    def _pace_s(self) -> float:
        """How often a chart is drawn: three beside each other have three times the cells, and take their time."""
        going = self.snapshot is not None and self.snapshot.going
        return _CHART_EVERY_S * (2 if self._beside() else 1) if going else 0.0

    def _draw_due(self) -> None:
        self._curve_due = None
        self._turns.forget("chart")
        if self.screen.is_current and self.snapshot:
            self.draw_chart()
            # Or curves and figures would be drawn by turns from here on, which is twice the pictures.
            self._turns.forget("chart")

    def _draw_cells(self, seen: Snapshot, chart: ChartPane) -> None:
        run, current, metric = seen.run, seen.test, self._metric_of(seen.run)
        if run.plan.limit and (curve := found_curve(run)) and self._panel_at != 0:
            chart.show(curve_picture(curve, _CURVE_INKS, knee_note(curve)))
            return
        if run.plan.limit:
            chart.show_lines(lambda width, height: limit_lines(run, current, width, height))
            return
        if run.plan.read_write_map:
            self._draw_map(run, current, chart)
            return
        at = panel_of(panels_of(run), current) if self._panel_at is None else self._panel_at
        charset, flat = self._charset, is_flat(self.screen.app, self._charset)
        chart.show_lines(lambda width, height: sweep_lines(run, at, metric, current, width, height, charset, flat=flat))

    def _draw_map(self, run: Run, current: int, chart: ChartPane) -> None:
        figure, charset, flat = self._map_figure, self._charset, is_flat(self.screen.app, self._charset)
        chart.show_lines(lambda width, height: map_lines(run, figure, current, width, height, charset, flat=flat))

    def _draw_distribution(self, seen: Snapshot, chart: ChartPane) -> None:
        chart.show(distribution(seen.record, str(View.DISTRIBUTION)))

    def draw_kernel(self, seen: Snapshot) -> None:
        if self._shows_kernel and (watch := seen.kernel):
            self.screen.query_one("#kernel", KernelPane).tell(lambda width: kernel_lines(seen, watch, width))

    def _draw_heat(self, seen: Snapshot, chart: ChartPane, note: str, cursor: Cursor | None) -> None:
        """Less often during a run: a map has many colours, and each is sent to the terminal."""
        depths = seen.depths
        pace = _FINER_EVERY_S if depths and not depths.complete else self._pace_s
        if self._turns.left_s(chart.id or "", pace):
            return
        if depths is None or not depths.directions:
            reading = depths is not None and not depths.complete
            words = "Reading." if reading else "There is no distribution: ioping gives none at this rate."
            chart.say(words if seen.track.last else waiting_words(seen))
            self._turns.forget(chart.id or "")
            return
        chart.show(replace(heat_plot(depths, seen.span_s, self._log_scales, note), cursor=cursor))

    def act(self, action: str, steps: int = 0) -> None:
        """Carries out an action of COURSE_BINDINGS, or `leave`: takes away what was put over the chart last."""
        match action:
            case "metric":
                self._metric()
            case "kernel":
                self._kernel()
            case "cells":
                self._as_cells = not self._as_cells
                self.another_test()
            case "panel":
                self._panel()
            case "cursor":
                self._cursor(steps)
            case "zoom":
                self._zoom()
            case "open" if self.shows_cells:
                self._as_cells = False
                self.another_test()
            case "open":
                self._zoom()
            case "leave":
                self._leave()

    def _metric_of(self, run: Run) -> Quantity:
        """Of the cells of a sweep: what was chosen, before that what its rounds are about."""
        first = run.plan.rounds and run.plan.rounds.metric.quantity
        return self._cell_metric or (first if first in METRICS else Quantity.IOPS)

    def _metric(self) -> None:
        if self.shows_cells and (seen := self.snapshot):
            if seen.run.plan.read_write_map:
                self._map_figure = (self._map_figure + 1) % len(FIGURES)
            else:
                self._cell_metric = METRICS[(METRICS.index(self._metric_of(seen.run)) + 1) % len(METRICS)]
            self._draw()
            return
        views = self._views
        self._view = views[(views.index(self._view) + 1) % len(views)] if self._view in views else views[0]
        self._anew()

    def _kernel(self) -> None:
        self.screen.toggle_class("-kernel")
        self._turns.clear()
        self.read_more()
        self.screen.call_after_refresh(self._kernel_stands)
        self.screen.refresh_bindings()

    def _kernel_stands(self) -> None:
        """What had the keys may be hidden now, or in sight again."""
        self._draw()
        rest = self.screen.query(".keyed").first()
        if self._shows_kernel and not rest.region.area:
            self.screen.query_one("#kernel", KernelPane).focus(scroll_visible=False)
        elif not isinstance(self.screen.focused, type(rest)):
            rest.focus(scroll_visible=False)

    def _zoom(self) -> None:
        self.screen.toggle_class("-zoom")
        self._turns.clear()
        self.screen.call_after_refresh(self._draw)
        self.screen.refresh_bindings()

    def _panel(self) -> None:
        if self.snapshot and (count := _panels(self.snapshot.run)):
            run, test = self.snapshot.run, self.snapshot.test
            first = count - 1 if run.plan.limit else panel_of(panels_of(run), test)
            here = first if self._panel_at is None else self._panel_at
            self._panel_at = (here + 1) % count
            self.draw_chart()

    def _cursor(self, steps: int) -> None:
        seen = self.snapshot
        if seen is None or not seen.track.last:
            return
        track, chart = seen.track, self.screen.query_one("#chart", ChartPane)
        spans = track.timeline("iops", track.directions[0])
        if self.moment is None:
            # The last moment, or the first: from there it goes on.
            self.moment = track.seconds if steps < 0 else 0.0
        else:
            here = spans.at(self.moment)
            column = seen.span_s / chart.columns
            step = max(column, here.end - here.start if here else 0.0)
            self.moment = min(track.seconds, max(0.0, self.moment + steps * step))
        here = spans.at(self.moment)
        if here:
            self.moment = min(max(self.moment, here.start), (here.start + here.end) / 2)
        self._turns.clear()
        self.draw_chart()
        self.screen.refresh_bindings()

    def _leave(self) -> None:
        if self._shows_kernel:
            self._kernel()
            return
        if self.moment is None and self.screen.has_class("-zoom"):
            self._zoom()
            return
        if self.moment is None:
            self._as_cells = True
            self.another_test()
            return
        self.moment = None
        self._turns.clear()
        self.draw_chart()
        self.screen.refresh_bindings()

    @property
    def _charset(self) -> Charset:
        return self.screen.diskprof.charset
