"""A read/write map as JSON: its rule, both axes, and its cells."""

from diskprof.analysis.map_found import FoundMap, found_map
from diskprof.analysis.map_search import Place
from diskprof.model.read_write_map import MapRule
from diskprof.model.run import Run
from diskprof.reports.data.json import Json


def map_json(rule: MapRule | None) -> Json | None:
    """The map that a plan draws; null where it draws none. Times are in seconds."""
    if rule is None:
        return None
    return {
        "reads": rule.reads,
        "writes": rule.writes,
        "depth": rule.depth,
        "cell_s": rule.cell_s,
        "most_s": rule.most_s,
        "known": len(rule.known),
    }


def found_map_json(run: Run) -> Json | None:
    """What a run has of its map so far; null of a run that draws none.

    `reads` and `writes` are the rates of the axes, I/Os and bytes a second, null before both ends are known. Latencies are in ns.
    """
    found = found_map(run)
    if found is None:
        return None
    places: list[Place] = []
    if found.axes:
        places = [(x, y) for y in range(len(found.axes.writes)) for x in range(len(found.axes.reads))]
    return {
        "wanted": map_json(found.rule),
        "complete": found.complete,
        "most_reads": found.reads,
        "most_written": found.written,
        "reads": list(found.axes.reads) if found.axes else None,
        "writes": list(found.axes.writes) if found.axes else None,
        "cells": [_cell(found, place) for place in places],
    }


def _cell(found: FoundMap, place: Place) -> Json:
    assert found.axes
    cell = found.cells.get(place)
    return {
        "reads": found.axes.reads[place[0]],
        "written": found.axes.writes[place[1]],
        "state": str(found.state(place)),
        "reads_done": cell and cell.reads,
        "written_done": cell and cell.written,
        "p50": cell and cell.p50,
        "p99": cell and cell.p99,
    }
