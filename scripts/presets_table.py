"""Writes the table of shipped presets into docs/presets.md. With --check it only tells whether the table is up to date."""

import sys
from itertools import groupby
from pathlib import Path

from diskprof.model.preset import Preset
from diskprof.presets.library import load_library
from diskprof.presets.resolve import ResolvedPreset, expand_defaults
from diskprof.reports.content.preset_words import expand_variant, promise_words, time_needed, writes

DOCUMENT = Path(__file__).parents[1] / "docs" / "presets.md"
BEGIN, END = "<!-- presets: begin -->\n", "<!-- presets: end -->\n"


def row(preset: Preset) -> str:
    """One line of the table."""
    resolved = expand_defaults(preset)
    quick = [expand_variant(preset, variant.name) for variant in preset.variants if variant.name == "quick"]
    cells = (
        ", ".join(f"`{name}`" for name in (preset.name, *preset.aliases)),
        preset.title,
        f"{len(resolved.tests)}{' cells' if preset.sweep else ''}",
        time(resolved),
        time(quick[0]) if quick else "",
        "yes" if writes(resolved) else "no",
        ", ".join(f"{parameter.name} {parameter.default or '(empty)'}" for parameter in preset.parameters),
        preset.source,
    )
    return f"| {' | '.join(cells)} |"


def time(resolved: ResolvedPreset) -> str:
    """How long it takes, in words."""
    text = str(time_needed(resolved))
    for sign, words in (("<", "at most "), (">", "more than "), ("?", "until done")):
        text = text.replace(sign, words)
    return text


def promises(presets: list[Preset]) -> str:
    """Every promise of the shipped presets; one that several presets make, or of several kinds of disk, is there once."""
    rows: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for preset in presets:
        for promise in preset.expectations:
            names, where = rows.setdefault((promise.test, promise_words(promise)), ({}, {}))
            names[f"`{preset.name}`"] = None
            where |= {value: None for _, value in promise.when}
    lines = [
        f"| {', '.join(names)} | `{test}` | {', '.join(where)} | {words} |"
        for (test, words), (names, where) in rows.items()
    ]
    return "| Presets | Test | Tier | Promise |\n|---|---|---|---|\n" + "\n".join(lines) + "\n"


def table() -> str:
    """The shipped presets by category, and what is promised, in Markdown."""
    parts = []
    presets = [preset for preset in load_library(Path("/nonexistent")).presets if preset.shipped]
    for category, shelf in groupby(presets, key=lambda preset: preset.category):
        parts.append(
            f"### {category.heading}\n\n"
            "| Preset | What it measures | Tests | Time | Quick | Writes | Parameters | Source |\n"
            "|---|---|---:|---|---|---|---|---|\n" + "\n".join(map(row, shelf)) + "\n"
        )
    parts.append(f"### What is promised\n\n{promises(presets)}")
    return "\n".join(parts)


def renewed(document: str) -> str:
    """`document` with the table between its marks as it should be."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def main() -> int:
    document = DOCUMENT.read_text(encoding="utf-8")
    wanted = renewed(document)
    if "--check" in sys.argv[1:]:
        if document != wanted:
            print("docs/presets.md is out of date: python scripts/presets_table.py", file=sys.stderr)
        return int(document != wanted)
    DOCUMENT.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
