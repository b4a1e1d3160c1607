"""Sweeps for programs."""

from typing import Any

from diskprof.analysis.sweep import Panel, best, grids, limits, measured, panels
from diskprof.model.plan import Plan
from diskprof.model.run import DirectionResult, Run, TestRecord

Json = dict[str, Any]


def axes_json(plan: Plan) -> Json | None:
    """What a plan sweeps, null where it sweeps nothing."""
    if not plan.sweep:
        return None
    return {
        "axes": [{"option": option, "values": list(values)} for option, values in plan.sweep],
        "cells": sum(bool(test.cell) for test in plan.tests),
    }


def sweep_json(run: Run) -> Json | None:
    """A run's sweep, null where nothing is swept: axes, every cell in short, and what the panels say.

    A cell without figures failed, was stopped or is yet to come; `status` says which.
    """
    found = grids(run)
    if not found:
        return None
    axes = {axis.option: axis.values for grid in found for axis in grid.axes}
    return {
        "axes": [{"option": option, "values": list(values)} for option, values in axes.items()],
        "cells": [_cell(grid.name, test) for grid in found for test in grid.cells.values()],
        "panels": [_panel(panel) for grid in found for panel in panels(grid)],
    }


def _cell(sweep: str, test: TestRecord) -> Json:
    result = measured(test)
    return {
        "sweep": sweep,
        "test": test.name,
        "cell": dict(test.planned.cell),
        "status": str(test.status),
        **{str(direction): _direction(part) for direction, part in (result.directions if result else ())},
    }


def _direction(result: DirectionResult) -> Json:
    return {
        "iops": result.iops,
        "bandwidth_bytes_per_s": result.bandwidth_bytes_per_s,
        "latency_mean_ns": result.latency.mean,
        "latency_p99_ns": result.latency.p99,
    }


def _panel(panel: Panel[TestRecord]) -> Json:
    """Reads and writes together. `limits` is null where the data show none; block sizes are in bytes."""
    shown = limits(panel)
    return {
        "sweep": panel.name,
        "fixed": dict(panel.fixed),
        "rows": panel.rows.option,
        "columns": panel.columns.option if panel.columns else None,
        "best": [
            {
                panel.rows.option: value,
                "iops": one.iops,
                "iops_at": one.iops_at or None,
                "bandwidth_bytes_per_s": one.bandwidth,
                "bandwidth_at": one.bandwidth_at or None,
                "enough": one.enough or None,
            }
            for value, one in zip(panel.rows.values, best(panel), strict=True)
            if one
        ],
        "limits": (
            {
                "iops": shown.iops,
                "iops_up_to_bytes": shown.iops_up_to,
                "bandwidth_bytes_per_s": shown.bandwidth,
                "bandwidth_from_bytes": shown.bandwidth_from,
            }
            if shown
            else None
        ),
    }
