"""The page: what stands in it, that it stands alone, and that foreign text stays text."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from handmade import cell, direction, fio, on_disk, run, samples, stalled
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from diskprof.model.metric import Quantity
from diskprof.model.sample import Direction
from diskprof.reports.charts.axes import Scale, TimeAxis
from diskprof.reports.charts.plot import Curve, Facet, Plot
from diskprof.reports.charts.svg import chart
from diskprof.reports.charts.timeline import Steps
from diskprof.reports.render.html import report_html

VOID = {"meta", "br", "hr"}
KNOWN = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "h3",
        "h4",
        "p",
        "strong",
        "em",
        "br",
        "table",
        "thead",
    ),
    *(
        "tbody",
        "tr",
        "th",
        "td",
        "pre",
        "code",
        "ul",
        "li",
        "figure",
        "svg",
        "text",
        "tspan",
        "path",
        "details",
        "summary",
    ),
}


class Page(HTMLParser):
    """The elements of a page, with a check that each is closed in its turn; `texts` by the element they stand in."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self._open[-1] if self._open else "", data.strip()))

    def headings(self, level: int) -> list[str]:
        return [text for tag, text in self.texts if tag == f"h{level}"]


def one() -> Page:
    mixed = run(
        fio("mixed", rw="randrw", read=direction(7_000), write=direction(3_000)), fio("idle", read=direction(5))
    )
    taken = [*samples([7_000, 7_100]), *samples([3_000, 2_900], way=Direction.WRITE), *samples([5], test=1)]
    return Page(report_html([mixed], {mixed.id: taken}))


def test_a_page_has_what_the_markdown_has_and_a_chart_for_each_test_with_a_course() -> None:
    page = one()
    assert page.headings(2) == ["Results", "Findings", "Charts", "Environment", "Commands"]
    assert page.tags.count("figure") == 1, "one interval is no course"
    assert [text for tag, text in page.texts if tag == "text" and ":" in text] == ["mixed: IOPS", "mixed: p99 latency"]
    assert [text for tag, text in page.texts if tag == "tspan"] == ["read", "write"] * 2


def test_a_page_stands_alone() -> None:
    page = one()
    assert set(page.tags) <= KNOWN
    assert not [one for one in page.attributes if one[1] in ("src", "href") or one[1].startswith("on")]
    assert ("meta", "content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes


def test_several_runs_share_charts_and_are_called_by_their_tags() -> None:
    runs = [
        run(fio(read=direction(iops)), run_id=run_id, tags=(tag,))
        for iops, run_id, tag in ((100, "aaaaaaaa", "before"), (200, "bbbbbbbb", "after"))
    ]
    text = report_html(runs, {"aaaaaaaa": samples([100, 120]), "bbbbbbbb": samples([200, 220])})
    page = Page(text)
    assert page.headings(2)[:2] == ["Overview", "Charts"]
    assert "Charts" not in page.headings(3)
    assert [text for tag, text in page.texts if tag == "text" and ":" in text] == [
        "randread: IOPS",
        "randread: p99 latency",
    ]
    assert [text for tag, text in page.texts if tag == "tspan"] == ["before", "after"] * 2
    assert [value for tag, name, value in page.attributes if tag == "path" and name == "class"] == [
        "axis",
        "run-0",
        "run-1",
    ] * 2
    assert "Comparison of before and after" in [text for tag, text in page.texts if tag == "title"]
    assert page.tags.count("details") == 2, "each run in full is folded: the comparison is what is read"
    assert not [name for tag, name, _ in page.attributes if tag == "details"]


def test_verdicts_have_colours() -> None:
    runs = [
        run(fio(read=direction(iops)), run_id=tag, tags=(tag,)) for iops, tag in ((100, "a"), (200, "b"), (50, "c"))
    ]
    text = report_html(runs, {})
    assert '<td class="good">better</td>' in text
    assert '<td class="right bad">-50%</td>' in text
    assert '<td class="bad">worse</td>' in text


def test_the_chart_of_large_blocks_is_of_bandwidth() -> None:
    large = [run(fio("seq", block=1 << 20, read=direction(100, block=1 << 20)), run_id=each) for each in ("x", "y")]
    page = Page(report_html(large, {one.id: samples([100, 120]) for one in large}))
    assert "seq: MB/s" in [text for tag, text in page.texts if tag == "text"]


def test_a_sweep_has_its_tables_and_no_chart_of_each_cell() -> None:
    swept = run(cell(100, {"bs": "4k"}, read=direction(100)), cell(90, {"bs": "8k"}, read=direction(90)))
    assert "svg" not in Page(report_html([swept], {swept.id: samples([100, 100])})).tags


def test_foreign_text_is_text() -> None:
    evil = '</style><b>"&amp;<script>alert(1)</script>'
    machine = replace(on_disk(model=evil, serial=evil), hostname=evil)
    tested = run(fio(evil, read=direction(10)), environment=machine, tags=(evil,), note=evil)
    page = Page(report_html([tested], {tested.id: samples([10, 20])}))
    assert set(page.tags) <= KNOWN
    assert evil in next(text for tag, text in page.texts if tag == "title")
    assert sum(evil in text for _, text in page.texts) > 3


def test_of_nothing_there_is_no_page() -> None:
    with pytest.raises(ValueError, match="nothing to report"):
        report_html([], {})


@pytest.mark.parametrize(("around", "still_s"), [(8, 4.0), (400, 200.0)])
def test_a_disk_that_stood_still_has_a_curve_that_lies_low_for_as_long(around: int, still_s: float) -> None:
    taken = stalled(around, still_s, around)
    one = run(fio("still", read=direction(400)))
    page = report_html([one], {one.id: taken})
    (path, *_) = re.findall(r'<path class="read" d="([^"]+)"', page)
    points = [tuple(map(float, point.split())) for point in re.split("[ML]", path) if point]
    low = [x for x, y in points if y > 125]
    whole = points[-1][0] - points[0][0]
    assert (max(low) - min(low)) / whole == pytest.approx(0.5, abs=0.05)


def plot(text: str, values: list[float | None], seconds: float) -> Plot:
    steps = Steps(values)
    return Plot(
        text, TimeAxis(seconds), (Facet(Scale.of(Quantity.IOPS, steps.highest), (Curve(text, steps, "read"),)),)
    )


def test_a_curve_has_a_gap_where_there_is_no_figure() -> None:
    drawn = chart(plot("x", [1.0, 2.0, None, 4.0, 3.0], 1.25))
    (path,) = (one for one in ElementTree.fromstring(drawn).iter("path") if one.get("class") == "read")
    words = (path.get("d") or "").replace("L", " L").replace("M", " M").split()
    assert [word[0] for word in words if word[0] in "ML"] == ["M", "L", "M", "L"]


def test_the_axes_begin_at_zero_and_have_round_labels() -> None:
    drawn = chart(plot("x", [60.0, 117.0], 4.3))
    root = ElementTree.fromstring(drawn)
    assert [one.text for one in root.iter("text") if one.text] == ["x", "0", "60", "120", "0", "1", "2", "3", "4 s"]
    (path,) = (one for one in root.iter("path") if one.get("class") == "read")
    assert path.get("d") == "M64.0 76.0L468.0 26.6"


def test_a_time_of_less_than_a_second_ends_the_axis() -> None:
    root = ElementTree.fromstring(chart(plot("x", [60.0, 117.0], 0.5)))
    assert [one.text for one in root.iter("text") if one.text][-2:] == ["0", "0.5 s"]


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 0.0]])
def test_no_course_is_no_chart(values: list[float]) -> None:
    one = run(fio(read=direction(10)))
    assert "svg" not in Page(report_html([one], {one.id: samples(values)})).tags


@given(st.text(max_size=20), st.lists(st.none() | st.floats(0, 1e12), max_size=600))
def test_any_chart_is_well_formed(text: str, values: list[float | None]) -> None:
    assert ElementTree.fromstring(chart(plot(text, values, 10.0))).tag == "svg"
