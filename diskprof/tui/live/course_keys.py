"""The keys of every screen that shows the course of a test."""

from textual.binding import Binding, BindingType

COURSE_BINDINGS: tuple[BindingType, ...] = (
    Binding("m", "metric", "Metric", id="live.metric", tooltip="Another chart: IOPS, bandwidth, percentiles, heat map"),
    Binding(
        "k",
        "kernel",
        "Kernel",
        id="live.kernel",
        tooltip="The kernel's view of the device and the machine, beside fio's",
    ),
    Binding(
        "v",
        "cells",
        "Sweep",
        id="live.sweep",
        tooltip="The cells of the sweep, or the course of the test that is chosen",
    ),
    Binding(
        "x", "panel", "Other cells", id="live.panel", tooltip="The cells at other values of the axes that stand still"
    ),
    Binding(
        "left",
        "cursor(-1)",
        "Cursor",
        id="live.earlier",
        show=False,
        tooltip="Read off an earlier moment of the chart",
    ),
    Binding(
        "right", "cursor(1)", "Cursor", id="live.later", show=False, tooltip="Read off a later moment of the chart"
    ),
    Binding(
        "shift+left",
        "cursor(-10)",
        "Cursor",
        id="live.much-earlier",
        show=False,
        tooltip="Read off a moment ten steps earlier",
    ),
    Binding(
        "shift+right",
        "cursor(10)",
        "Cursor",
        id="live.much-later",
        show=False,
        tooltip="Read off a moment ten steps later",
    ),
    Binding("z", "zoom", "Zoom", id="live.zoom", tooltip="Show the chart alone, or everything again"),
)
"""What the keys of every screen with such a chart do."""
