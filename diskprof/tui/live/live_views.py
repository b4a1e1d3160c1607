"""What the Live screen and a result draw of a test: the large chart with its cursor, the cells of a sweep, the kernel's view."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from textual.timer import Timer

from diskprof.model.errors import DiskprofError
from diskprof.model.metric import Quantity
from diskprof.reports.charts.axes import TITLES, LogScale, Scale, TimeAxis
from diskprof.reports.charts.plot import Cursor, Panel, Plot
from diskprof.tui.kit.charts.chart import Chart, is_flat
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.turns import Turns
from diskprof.tui.live.depths import Depths
from diskprof.tui.live.following import Following
from diskprof.tui.live.kernel_lines import KernelWatch, kernel_lines
from diskprof.tui.live.live_lines import chart_curves, highest, phase_note, tile_entries, waiting_words, waits_s
from diskprof.tui.live.live_panes import KernelPane, LatencyTile, Tile
from diskprof.tui.live.moments import distribution, heat_plot, moment, percentile_plot
from diskprof.tui.live.sweep_lines import METRICS, panel_of, panels_of, sweep_lines
from diskprof.tui.shell.base import ModeScreen

_CHART_EVERY_S = 1.0
"""The pace at which large charts are drawn while a run goes: they are half of what watching costs."""
_NONE_CAME_S = 0.15
"""A curve whose turn has come waits that much longer for the next interval, which would draw it anyway."""
_GO_ON_S = 0.005
"""So long keys and clocks have their turn between two steps."""
_FINER_EVERY_S = 0.3
"""A map that is being read is drawn at this pace."""


class View(StrEnum):
    """What the large chart shows, in the order in which the key goes through them."""

    IOPS = "IOPS"
    BANDWIDTH = "bandwidth"
    PERCENTILES = "latency percentiles"
    HEAT = "latency heat map"
    DISTRIBUTION = "latency by percentile"
    """Of all that was measured, so only once there is a result."""


_BESIDE = (View.PERCENTILES, View.HEAT, View.IOPS, View.BANDWIDTH)
"""What stands beside the large chart, the most telling first."""
_CURVES = {View.IOPS: Quantity.IOPS, View.BANDWIDTH: Quantity.BANDWIDTH}
VIEWS = tuple(View)


class CourseScreen(ModeScreen):
    """A screen that shows the test of a run which `following` looks at, in a `#chart` and a `#kernel`.

    What has the class `keyed` has the keys while it is in sight.
    """

    def __init__(self) -> None:
        super().__init__()
        self.following: Following | None = None
        self._view = View.IOPS
        self._scales: dict[tuple[int, bool, Quantity], Scale] = {}
        self._log_scales: dict[str, LogScale] = {}
        self._depths: Depths | None = None
        self._depths_run = ""
        self._turns = Turns()
        self._curve_due: Timer | None = None
        self._reads_on = False
        self._moment: float | None = None
        self._watch: KernelWatch | None = None
        self._cells = True
        self._cell_metric = Quantity.IOPS
        self._panel: int | None = None
        self._tiles: tuple[Tile, ...] = ()

    def _draw(self) -> None:
        """Draw everything; what did not change costs nothing."""
        raise NotImplementedError

    def can(self, action: str) -> bool:
        """Whether an action of COURSE_BINDINGS, or `leave`, can do anything now."""
        following = self.following
        match action:
            case "metric" | "cursor" | "cells" | "panel" if self._shows_kernel:
                # They act on the chart, which is not to be seen.
                return False
            case "metric" | "zoom" | "kernel":
                return following is not None
            case "cursor":
                return following is not None and not self._shows_cells and self._shown_view is not View.DISTRIBUTION
            case "cells":
                return following is not None and bool(following.run.plan.sweep)
            case "panel":
                return self._shows_cells and following is not None and len(panels_of(following.run)) > 1
            case "leave":
                return self._moment is not None or self._shows_kernel or self.has_class("-zoom")
            case _:
                return True

    def _another_test(self) -> None:
        self._moment = None
        self._turns.clear()
        self._read_depths()
        self._draw()
        self.refresh_bindings()

    @property
    def _views(self) -> tuple[View, ...]:
        """What there is to be seen of the test."""
        over = self.following is not None and self.following.record.result is not None
        return tuple(view for view in View if over or view is not View.DISTRIBUTION)

    @property
    def _shown_view(self) -> View:
        """What the large chart shows: the test before may have had a distribution, and the one that goes has none yet."""
        return self._view if self._view in self._views else View.PERCENTILES

    def _scale(self, metric: Quantity, value: float) -> Scale:
        following = self.following
        assert following is not None
        key = (following.shown, following.visible.preparing, metric)
        scale = self._scales[key] = Scale.of(metric, value, self._scales.get(key))
        return scale

    def _read_depths(self) -> None:
        """Read what is new of the distributions, where they are shown; a long test goes on in steps of its own."""
        following = self.following
        if following is None:
            return
        self._read_kernel(following)
        if not (following.going or View.HEAT in (self._shown_view, *self._side_views)):
            return
        place = following.shown, following.visible.preparing
        if self._depths is None or self._depths.place != place or self._depths_run != following.run.id:
            self._depths = Depths(self.store, following.run.id, place[0], preparing=place[1])
            self._depths_run = following.run.id
            self._log_scales.clear()
            self._turns.clear()
        if following.going and self._depths.complete and self._turns.left_s("depths", _CHART_EVERY_S):
            # To unpack distributions is a quarter of what an interval costs, and the whole hardly moves in one.
            return
        if self._reads_on:
            # One step leads to the next already: a second chain of them would leave no time for keys.
            return
        try:
            if self._depths.read():
                self._reads_on = True
                self.set_timer(_GO_ON_S, self._go_on_reading)
        except DiskprofError as error:
            self._depths = None
            self.diskprof.tell(error)

    @property
    def _shows_kernel(self) -> bool:
        return self.has_class("-kernel")

    def _read_kernel(self, following: Following) -> None:
        if not self._shows_kernel:
            return
        place = following.run.id, following.shown, following.visible.preparing
        if self._watch is None or self._watch.place != place:
            self._watch = KernelWatch(self.store, place[0], place[1], preparing=place[2])
        try:
            while self._watch.read():
                pass
        except DiskprofError as error:
            self._watch = None
            self.diskprof.tell(error)

    @property
    def _shows_cells(self) -> bool:
        return self._cells and self.following is not None and bool(self.following.run.plan.sweep)

    def _go_on_reading(self) -> None:
        self._reads_on = False
        if not self.is_current or self.following is None:
            return
        self._read_depths()
        if self._depths is None or self._depths.complete:
            self._turns.clear()
        elif self._turns.left_s("finer", _FINER_EVERY_S):
            return
        self._draw_chart(self.following)

    def _draw_tiles(self, following: Following) -> None:
        if not self._tiles:
            self._tiles = tuple(self.query(Tile))
        for tile in self._tiles:
            waits = waits_s(following.record.planned) > 0 and not following.visible.preparing
            entries = tile_entries(tile.metric, following.visible, waits=waits)
            scale = self._scale(tile.metric, highest(entry.series for entry in entries))
            tile.show(entries, scale, following.span_s)
        slow = highest(entry.series for entry in tile_entries(Quantity.LATENCY, following.visible))
        scale = self._scale(Quantity.LATENCY, slow)
        self.query_one("#tile-latency", LatencyTile).show(following.visible, self._depths, scale, following.span_s)

    @property
    def _side_views(self) -> tuple[View, ...]:
        """What stands beside the large chart where there is room: what it does not show itself."""
        shown = len(self._side_charts) if not self._shows_cells else 0
        return tuple(view for view in _BESIDE if view is not self._shown_view)[:shown]

    @property
    def _side_charts(self) -> tuple[Chart, ...]:
        """The charts for which there is room now, beside the large one."""
        return ()

    def _draw_chart(self, following: Following) -> None:
        chart, track = self.query_one("#chart", Chart), following.visible
        if self._shows_cells:
            self._draw_cells(following, chart)
            return
        if not track.last:
            for each in (chart, *self._side_charts):
                each.say(waiting_words(following))
            return
        note = phase_note(track, following.record.planned)
        if not following.follows or not following.going:
            title = following.record.planned.title
            note = f"{title}, {note}" if note else title
        cursor = None if self._moment is None else moment(track, self._moment, chart.size.width)
        self._draw_view(following, chart, self._shown_view, note, cursor)
        # What happened at the cursor is said once.
        marked = replace(cursor, lines=()) if cursor else None
        for beside, other in zip(self._side_charts, self._side_views, strict=False):
            self._draw_view(following, beside, other, "", marked)

    def _draw_view(self, following: Following, chart: Chart, view: View, note: str, cursor: Cursor | None) -> None:
        track = following.visible
        if view is View.PERCENTILES:
            if self._turns.left_s(chart.id or "", self._pace_s):
                return
            plot = percentile_plot(track, following.span_s, self._log_scales, note)
            chart.show(replace(plot, cursor=cursor))
        elif view is View.HEAT:
            self._draw_heat(following, chart, note, cursor)
        elif view is View.DISTRIBUTION:
            self._draw_distribution(following, chart)
        elif left := self._turns.left_s(chart.id or "", self._pace_s):
            # What comes between two turns is not to wait for the next sample, which may never come.
            self._curve_due = self._curve_due or self.set_timer(left + _NONE_CAME_S, self._draw_due)
        else:
            if self._curve_due:
                self._curve_due.stop()
                self._curve_due = None
            metric = _CURVES[view]
            scale = self._scale(metric, highest(entry.series for entry in tile_entries(metric, track)))
            panel = Panel(scale, chart_curves(metric, track, self._charset))
            axis = TimeAxis(following.span_s)
            chart.show(Plot(TITLES[metric], axis, (panel,), unit=scale.suffix, note=note, cursor=cursor))

    @property
    def _pace_s(self) -> float:
        """How often a chart is drawn: three beside each other have three times the cells, and take their time."""
        going = self.following is not None and self.following.going
        return _CHART_EVERY_S * (2 if self._side_charts else 1) if going else 0.0

    def _draw_due(self) -> None:
        self._curve_due = None
        self._turns.forget("chart")
        if self.is_current and self.following:
            self._draw_chart(self.following)
            # Or curves and figures would be drawn by turns from here on, which is twice the pictures.
            self._turns.forget("chart")

    def _draw_cells(self, following: Following, chart: Chart) -> None:
        run, current, metric = following.run, following.shown, self._cell_metric
        at = panel_of(panels_of(run), current) if self._panel is None else self._panel
        charset, flat = self._charset, is_flat(self.app, self._charset)
        chart.show_lines(lambda width, height: sweep_lines(run, at, metric, current, width, height, charset, flat=flat))

    def _draw_distribution(self, following: Following, chart: Chart) -> None:
        chart.show(distribution(following.record, str(View.DISTRIBUTION)))

    def _draw_kernel(self, following: Following) -> None:
        if self._shows_kernel and (watch := self._watch):
            run, track = following.run, following.visible
            self.query_one("#kernel", KernelPane).tell(lambda width: kernel_lines(run, track, watch, width))

    def _draw_heat(self, following: Following, chart: Chart, note: str, cursor: Cursor | None) -> None:
        """Seldom while the run goes: a map has many colours, and each is sent to the terminal."""
        depths = self._depths
        pace = _FINER_EVERY_S if depths and not depths.complete else self._pace_s
        if self._turns.left_s(chart.id or "", pace):
            return
        if depths is None or not depths.directions:
            reading = depths is not None and not depths.complete
            words = "Reading." if reading else "There is no distribution: ioping gives none at this rate."
            chart.say(words if following.visible.last else waiting_words(following))
            self._turns.forget(chart.id or "")
            return
        chart.show(replace(heat_plot(depths, following.span_s, self._log_scales, note), cursor=cursor))

    def action_metric(self) -> None:
        if self._shows_cells:
            self._cell_metric = METRICS[(METRICS.index(self._cell_metric) + 1) % len(METRICS)]
            self._draw()
            return
        views = self._views
        self._view = views[(views.index(self._view) + 1) % len(views)] if self._view in views else views[0]
        self._turns.clear()
        self._read_depths()
        self._draw()
        self.refresh_bindings()

    def action_kernel(self) -> None:
        self.toggle_class("-kernel")
        self._turns.clear()
        self._read_depths()
        self.call_after_refresh(self._kernel_stands)
        self.refresh_bindings()

    def _kernel_stands(self) -> None:
        """What had the keys may be hidden now, or in sight again."""
        self._draw()
        rest = self.query(".keyed").first()
        if self._shows_kernel and not rest.region.area:
            self.query_one("#kernel", KernelPane).focus(scroll_visible=False)
        elif not isinstance(self.focused, type(rest)):
            rest.focus(scroll_visible=False)

    def action_zoom(self) -> None:
        self.toggle_class("-zoom")
        self._turns.clear()
        self.call_after_refresh(self._draw)
        self.refresh_bindings()

    def action_cells(self) -> None:
        self._cells = not self._cells
        self._moment = None
        self._turns.clear()
        self._read_depths()
        self._draw()
        self.refresh_bindings()

    def action_panel(self) -> None:
        if self.following and (found := panels_of(self.following.run)):
            here = panel_of(found, self.following.shown) if self._panel is None else self._panel
            self._panel = (here + 1) % len(found)
            self._draw_chart(self.following)

    def action_cursor(self, steps: int) -> None:
        following = self.following
        if following is None or not following.visible.last:
            return
        track, chart = following.visible, self.query_one("#chart", Chart)
        spans = track.series("iops", track.directions[0])
        if self._moment is None:
            # The last moment, or the first: from there it goes on.
            self._moment = track.seconds if steps < 0 else 0.0
        else:
            here = spans.at(self._moment)
            column = following.span_s / chart.columns
            step = max(column, here.end - here.start if here else 0.0)
            self._moment = min(track.seconds, max(0.0, self._moment + steps * step))
        here = spans.at(self._moment)
        if here:
            self._moment = min(max(self._moment, here.start), (here.start + here.end) / 2)
        self._turns.clear()
        self._draw_chart(following)
        self.refresh_bindings()

    def action_leave(self) -> None:
        if self._shows_kernel:
            self.action_kernel()
            return
        if self._moment is None and self.has_class("-zoom"):
            self.action_zoom()
            return
        self._moment = None
        self._turns.clear()
        if self.following:
            self._draw_chart(self.following)
        self.refresh_bindings()

    @property
    def _charset(self) -> Charset:
        return self.diskprof.charset
