"""Finding runs, following them, editing them."""

import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from recorded import FAST, FIRST_START, GONE, make_plan, record_library, record_run, recording

from diskprof.model.advice import on_command_line
from diskprof.model.errors import Refused, RunNotFound, StoreError, UsageError
from diskprof.model.run import Finding, Message, Status, Weight
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.store import Store, this_process

NOW = datetime(2026, 3, 4, tzinfo=UTC)


def bare(store: Store, run_id: str, hours: float = 0.0, tags: tuple[str, ...] = ()) -> str:
    """A run of which nothing happened yet."""
    return store.create_run(
        make_plan(), FAST.environment, run_id=run_id, tags=tags, started_at=FIRST_START + timedelta(hours=hours)
    )


def sample(test: int, at_ns: int) -> Sample:
    return Sample(test, Phase.MEASURING, Direction.READ, at_ns, 1, 1, 4096)


# --- a run from beginning to end -----------------------------------------------------------------------------------


def test_a_new_run_is_running_and_its_tests_wait(store: Store) -> None:
    run = store.run(store.create_run(make_plan(), FAST.environment, tags=("a", "b"), note="n"))
    assert (run.status, run.reason, run.ended_at, run.runner_pid) == (Status.RUNNING, "", None, this_process().pid)
    assert {test.status for test in run.tests} == {Status.PENDING}
    assert (run.tags, run.note, run.findings, run.messages, run.progress) == (("a", "b"), "n", (), (), None)


def test_new_ids_are_eight_letters_that_cannot_be_mistaken(store: Store) -> None:
    ids = [store.create_run(make_plan(), FAST.environment) for _ in range(40)]
    assert len(set(ids)) == 40
    assert {len(run_id) for run_id in ids} == {8}
    assert set("".join(ids)) <= set("23456789abcdefghjkmnpqrstwxyz")


@pytest.mark.parametrize("bad", ["", "UPPER", "a b", "latest", "latest~1", "-x", "é", "a" * 65])
def test_an_id_that_could_not_be_typed_is_refused(store: Store, bad: str) -> None:
    with pytest.raises(UsageError):
        bare(store, bad)


def test_an_id_is_given_once(store: Store) -> None:
    bare(store, "abc")
    with pytest.raises(UsageError, match="already"):
        bare(store, "abc")


def test_the_end_of_a_run_closes_its_tests(store: Store) -> None:
    bare(store, "abc")
    store.begin_test("abc", 0, 10)
    store.finish_test("abc", 0, status=Status.COMPLETE, at_ns=20)
    store.begin_test("abc", 1, 30)
    finding = Finding("rule", Weight.DOUBT, "m", "e", "a")
    store.finish_run("abc", status=Status.CANCELLED, reason="Stopped.", findings=[finding], headline="few words")
    run = store.run("abc")
    assert [test.status for test in run.tests] == [Status.COMPLETE, Status.CANCELLED] + [Status.SKIPPED] * 4
    assert (run.status, run.reason, run.findings) == (Status.CANCELLED, "Stopped.", (finding,))
    assert run.ended_at is not None
    assert store.summaries()[0].headline == "few words"


def test_a_run_ends_once(store: Store) -> None:
    bare(store, "abc")
    store.finish_run("abc", status=Status.COMPLETE)
    with pytest.raises(StoreError, match="ended already"):
        store.finish_run("abc", status=Status.FAILED)
    assert store.run("abc").status is Status.COMPLETE


@pytest.mark.parametrize("status", [Status.PENDING, Status.RUNNING, Status.SKIPPED])
def test_a_run_cannot_end_as_what_is_no_end(store: Store, status: Status) -> None:
    bare(store, "abc")
    with pytest.raises(ValueError, match=status.value):
        store.finish_run("abc", status=status)


def test_a_test_cannot_end_as_what_is_no_end(store: Store) -> None:
    bare(store, "abc")
    with pytest.raises(ValueError, match="running"):
        store.finish_test("abc", 0, status=Status.RUNNING, at_ns=0)


@pytest.mark.parametrize("index", [-1, 6])
def test_a_test_that_is_not_planned_is_an_error(store: Store, index: int) -> None:
    bare(store, "abc")
    with pytest.raises(StoreError, match="no test"):
        store.begin_test("abc", index, 0)
    with pytest.raises(StoreError, match="no test"):
        store.finish_test("abc", index, status=Status.FAILED, at_ns=0)
    with pytest.raises(StoreError, match="no test"):
        store.document("abc", index)


def test_a_run_that_is_not_there_is_an_error_everywhere(store: Store) -> None:
    bare(store, "abcd")
    for call in (
        lambda: store.run("abc"),
        lambda: store.runner("abc"),
        lambda: store.samples("abc"),
        lambda: store.system_samples("abc"),
        lambda: store.document("abc", 0),
        lambda: store.set_tags("abc", ()),
        lambda: store.set_note("abc", ""),
        lambda: store.delete("abc"),
        lambda: store.begin_test("abc", 0, 0),
        lambda: store.append("abc"),
        lambda: store.finish_test("abc", 0, status=Status.FAILED, at_ns=0),
        lambda: store.finish_run("abc", status=Status.FAILED),
        lambda: store.run("\udcff"),
    ):
        with pytest.raises(RunNotFound):
            call()


# --- lists -----------------------------------------------------------------------------------------------------------


def test_summaries_are_newest_first_and_complete(store: Store) -> None:
    runs = record_library(store)
    summaries = store.summaries()
    assert [summary.id for summary in summaries] == list(reversed(list(runs.values())))
    by_id = {summary.id: summary for summary in summaries}
    first = by_id[runs["first"]]
    assert (first.preset, first.preset_title, first.target) == ("quick", "Quick check", "/mnt/data")
    assert (first.device, first.hostname) == ("Samsung SSD 980 PRO 1TB", "db-01")
    assert (first.tags, first.note) == (("baseline",), "Before the firmware update.")
    assert first.headline
    for summary in summaries:
        run = store.run(summary.id)
        assert (summary.status, summary.started_at, summary.tags, summary.note) == (
            run.status,
            run.started_at,
            run.tags,
            run.note,
        )
        if run.ended_at is None:
            assert summary.duration_s is None
        else:
            assert summary.duration_s == pytest.approx((run.ended_at - run.started_at).total_seconds())


def test_summaries_can_be_limited(store: Store) -> None:
    for number in range(5):
        bare(store, f"r{number}", number, tags=(f"t{number}",))
    assert [(summary.id, summary.tags) for summary in store.summaries(limit=2)] == [("r4", ("t4",)), ("r3", ("t3",))]
    assert store.summaries(limit=0) == []
    assert len(store.summaries(limit=99)) == 5


def test_one_run_those_in_progress_and_their_number_are_read_without_the_list(store: Store) -> None:
    runs = record_library(store)
    summaries = {summary.id: summary for summary in store.summaries()}
    assert store.count() == len(summaries)
    assert {run_id: store.summary(run_id) for run_id in summaries} == summaries
    assert store.running() == [each for each in summaries.values() if each.status is Status.RUNNING]
    assert store.running()
    store.discard(runs["first"], NOW)
    assert store.count() == len(summaries) - 1
    with pytest.raises(RunNotFound):
        store.summary(runs["first"])


def test_the_tags_of_a_list_are_those_of_its_runs(store: Store) -> None:
    for number in range(3):
        bare(store, f"r{number}", number, tags=(f"t{number}", "all"))
    store.finish_run("r1", status=Status.COMPLETE)
    store.discard("r1", NOW)
    assert [(each.id, each.tags) for each in store.summaries()] == [("r2", ("t2", "all")), ("r0", ("t0", "all"))]
    assert [(each.id, each.tags) for each in store.trash()] == [("r1", ("t1", "all"))]


def test_a_list_reads_no_json(store: Store) -> None:
    bare(store, "abc")
    with sqlite3.connect(store.path) as raw:
        raw.execute("UPDATE detail SET plan = 'spoiled', environment = 'spoiled'")
    raw.close()
    assert store.summaries()[0].id == "abc"
    with pytest.raises(StoreError, match="plan cannot be read"):
        store.run("abc")


def test_runs_of_one_moment_are_listed_in_the_order_they_were_made(store: Store) -> None:
    for name in ("aa", "bb", "cc"):
        bare(store, name)
    assert [summary.id for summary in store.summaries()] == ["cc", "bb", "aa"]
    assert store.resolve("latest") == "cc"


def test_a_clock_that_was_set_back_gives_no_negative_duration(store: Store) -> None:
    bare(store, "abc")
    store.finish_run("abc", status=Status.COMPLETE, ended_at=FIRST_START - timedelta(hours=1))
    assert store.summaries()[0].duration_s == 0


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def named(store: Store) -> Store:
    bare(store, "abcd2345", 0, tags=("baseline", "disk"))
    bare(store, "abce2345", 1, tags=("disk",))
    bare(store, "xyz23456", 2)
    bare(store, "disk", -1)
    return store


@pytest.mark.parametrize(
    ("name", "run_id"),
    [
        ("abcd2345", "abcd2345"),
        ("abcd", "abcd2345"),
        ("ABCD", "abcd2345"),
        ("x", "xyz23456"),
        ("baseline", "abcd2345"),
        ("latest", "xyz23456"),
        ("latest~0", "xyz23456"),
        ("latest~1", "abce2345"),
        ("latest~3", "disk"),
        ("disk", "disk"),
    ],
)
def test_a_run_answers_to_its_names(named: Store, name: str, run_id: str) -> None:
    assert named.resolve(name) == run_id


def test_a_tag_means_the_newest_run_with_it_before_the_beginning_of_an_id(named: Store) -> None:
    named.set_tags("abcd2345", ["x", "shared"])
    named.set_tags("abce2345", ["shared"])
    assert named.resolve("x") == "abcd2345"
    assert named.resolve("shared") == "abce2345"


def test_an_ambiguous_beginning_names_the_candidates(named: Store) -> None:
    with pytest.raises(RunNotFound, match="More than one run") as caught:
        named.resolve("abc")
    assert "abcd2345" in caught.value.hint
    assert "abce2345" in caught.value.hint


@pytest.mark.parametrize(
    "name", ["", "nothing", "latest~", "latest~-1", "latest~x", "Latest", "abcd23456", "%", "a_c", "'"]
)
def test_a_name_of_nothing_names_the_newest_runs(named: Store, name: str) -> None:
    with pytest.raises(RunNotFound) as caught:
        named.resolve(name)
    assert "xyz23456" in caught.value.hint


def test_going_back_too_far_says_how_far_one_can_go(named: Store) -> None:
    with pytest.raises(RunNotFound, match="only 4") as caught:
        named.resolve("latest~4")
    assert "latest~3" in caught.value.hint


@pytest.mark.parametrize("name", ["latest", "abc", "\udcff"])
def test_an_empty_store_says_how_to_begin(store: Store, name: str) -> None:
    with pytest.raises(RunNotFound) as caught:
        store.resolve(name)
    assert "diskprof run" in caught.value.hint


def test_candidates_are_harmless_to_a_terminal(store: Store) -> None:
    from msgspec.structs import replace

    plan = make_plan()
    plan = replace(plan, target=replace(plan.target, path="/mnt/\x1b[31mred"))
    store.create_run(plan, FAST.environment)
    with pytest.raises(RunNotFound) as caught:
        store.resolve("?")
    assert "\x1b" not in caught.value.hint


# --- following -------------------------------------------------------------------------------------------------------


def test_a_cursor_gives_every_sample_once(store: Store) -> None:
    bare(store, "abc")
    seen: list[Sample] = []
    cursor = 0
    for step in range(5):
        store.append("abc", samples=[sample(step, 2 * step), sample(step, 2 * step + 1)])
        batch = store.samples("abc", after=cursor)
        seen += batch.samples
        cursor = batch.last
    assert [one.at_ns for one in seen] == list(range(10))
    assert store.samples("abc", after=cursor).samples == ()
    assert store.samples("abc", after=cursor).last == cursor


def test_samples_can_be_read_test_by_test(store: Store) -> None:
    bare(store, "abc")
    bare(store, "def")
    store.append("def", samples=[sample(1, 99)])
    store.append("abc", samples=[sample(0, 1), sample(1, 2), sample(1, 3), sample(2, 4)])
    batch = store.samples("abc", test=1)
    assert [one.at_ns for one in batch.samples] == [2, 3]
    assert store.samples("abc", test=1, after=batch.last).samples == ()
    assert [one.at_ns for one in store.samples("abc", after=batch.last).samples] == [4]
    assert store.samples("abc", test=5).samples == ()


def test_messages_stay_in_order(store: Store) -> None:
    bare(store, "abc")
    messages = [Message(9 - number, str(number)) for number in range(9)]
    for message in messages:
        store.append("abc", messages=[message])
    assert store.run("abc").messages == tuple(messages)


def test_a_screen_sees_a_run_grow(store: Store) -> None:
    watcher = Store.open(store.path)
    cursor, sizes, changes = 0, [], set()
    for run_id in recording(store):
        batch = watcher.samples(run_id, after=cursor)
        cursor = batch.last
        sizes.append(len(batch.samples))
        changes.add(watcher.change_counter())
    assert sum(sizes) == len(store.samples(run_id).samples) > 100
    assert len(changes) == len(sizes)
    watcher.close()


def test_the_change_counter_tells_of_every_commit_and_of_nothing_else(store: Store) -> None:
    with Store.open(store.path) as other:
        seen = [store.change_counter()]
        for act in (
            lambda: bare(store, "abc"),
            lambda: other.set_note("abc", "theirs"),
            lambda: store.set_note("abc", "ours"),
            lambda: other.append("abc", samples=[sample(0, 0)]),
        ):
            act()
            seen.append(store.change_counter())
        assert sorted(set(seen)) == seen
        store.summaries()
        store.run("abc")
        other.summaries()
        assert store.change_counter() == seen[-1]


def test_a_refused_write_is_no_change(store: Store) -> None:
    before = store.change_counter()
    with pytest.raises(RunNotFound):
        store.set_note("abc", "")
    assert store.change_counter() == before


# --- what a person edits ---------------------------------------------------------------------------------------------


def test_tags_are_split_at_blanks_and_commas_each_once_and_in_order(store: Store) -> None:
    bare(store, "abc", tags=("z",))
    store.set_tags("abc", [" b ", "a", "", "b", "  ", "two words,a"])
    assert store.run("abc").tags == store.summaries()[0].tags == ("b", "a", "two", "words")
    store.set_tags("abc", [])
    assert store.run("abc").tags == ()


@pytest.mark.parametrize("tag", ["latest", " latest~2"])
def test_a_tag_cannot_take_a_name_that_means_something_else(store: Store, tag: str) -> None:
    bare(store, "abc", tags=("kept",))
    with pytest.raises(UsageError, match="cannot be a tag"):
        store.set_tags("abc", ["new", tag])
    assert store.run("abc").tags == ("kept",)


def test_deleting_leaves_nothing_of_the_run_and_everything_of_the_others(store: Store) -> None:
    runs = [record_run(store, "mixed-70-30", run_id=name, tags=("t",)) for name in ("aa", "bb", "cc")]
    before = store.run("cc"), store.samples("cc"), store.document("cc", 0)
    store.delete("bb")
    assert [summary.id for summary in store.summaries()] == [runs[2], runs[0]]
    assert (store.run("cc"), store.samples("cc"), store.document("cc", 0)) == before
    with sqlite3.connect(store.path) as raw:
        tables = [name for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for table in set(tables) - {"run", "series", "fleet", "fleet_member", "figure_kind"}:
            assert raw.execute(f"SELECT count(DISTINCT run) FROM {table}").fetchone()[0] in (0, 2)
    raw.close()


def test_deleting_a_large_run_gives_its_space_back(store: Store) -> None:
    record_run(store, runtime_s=60, run_id="large")
    record_run(store, "ioping-seek", run_id="small")
    store.close()
    before = store.path.stat().st_size
    with Store.open(store.path) as again:
        again.delete("large")
        assert again.run("small").status is Status.COMPLETE
    assert store.path.stat().st_size < before / 4


def test_a_run_under_way_is_not_deleted(store: Store) -> None:
    bare(store, "abc")
    with pytest.raises(Refused, match="is in progress") as caught:
        store.delete("abc")
    assert "diskprof stop abc" in on_command_line(caught.value.hint)
    store.finish_run("abc", status=Status.COMPLETE)
    store.delete("abc")
    assert store.summaries() == []


def test_a_run_whose_runner_is_dead_can_be_deleted(store: Store) -> None:
    store.create_run(make_plan(), FAST.environment, run_id="abc", runner=GONE)
    store.delete("abc")
    assert store.summaries() == []


# --- The trash -------------------------------------------------------------------------------------------------------


def _ended(store: Store, *ids: str) -> None:
    for run_id in ids:
        bare(store, run_id, tags=(f"tag-{run_id}",))
        store.finish_run(run_id, status=Status.COMPLETE)


def test_what_is_in_the_trash_is_nowhere_else(store: Store) -> None:
    _ended(store, "aa", "bb", "cc")
    store.discard("cc", NOW)
    assert [summary.id for summary in store.summaries()] == ["bb", "aa"]
    assert [summary.id for summary in store.summaries(limit=1)] == ["bb"]
    assert store.resolve("latest") == "bb"
    for name in ("cc", "c", "tag-cc", "latest~2"):
        with pytest.raises(RunNotFound):
            store.resolve(name)
    with pytest.raises(RunNotFound, match="is in the trash") as caught:
        store.resolve("cc")
    assert on_command_line(caught.value.hint) == "To restore it: diskprof undelete cc"
    for look in (store.run, store.samples, lambda run_id: store.set_tags(run_id, ["x"])):
        with pytest.raises(RunNotFound):
            look("cc")
    assert [(summary.id, summary.tags) for summary in store.trash()] == [("cc", ("tag-cc",))]


def test_runs_come_back_from_the_trash_as_they_were(store: Store) -> None:
    _ended(store, "aa", "bb", "cc", "dd")
    before = store.summaries()
    store.discard("aa", NOW)
    for run_id in ("bb", "dd"):
        store.discard(run_id, NOW + timedelta(seconds=1))
    assert [summary.id for summary in store.trash()] == ["dd", "bb", "aa"]
    assert store.last_discarded() == ("bb", "dd")
    assert [store.resolve_in_trash(name) for name in ("latest", "a", "tag-bb")] == ["dd", "aa", "bb"]
    with pytest.raises(RunNotFound, match="no run 'cc' in the trash"):
        store.resolve_in_trash("cc")
    for run_id in ("bb", "dd", "aa"):
        store.restore(run_id)
    assert store.summaries() == before and store.trash() == [] and store.last_discarded() == ()
    with pytest.raises(RunNotFound, match="The trash is empty"):
        store.resolve_in_trash("latest")


def test_the_trash_empties_after_a_week_while_no_run_is_under_way(store: Store) -> None:
    _ended(store, "aa", "bb", "cc")
    store.discard("aa", NOW)
    store.discard("bb", NOW + timedelta(days=1))
    assert store.empty_trash(NOW + timedelta(days=6, hours=23)) == 0
    bare(store, "going")
    assert store.empty_trash(NOW + timedelta(days=7)) == 0
    store.finish_run("going", status=Status.COMPLETE)
    assert store.empty_trash(NOW + timedelta(days=7)) == 1
    assert [summary.id for summary in store.trash()] == ["bb"]
    store.delete("bb")
    assert store.trash() == []
    assert [summary.id for summary in store.summaries()] == ["going", "cc"]


def test_a_run_in_progress_is_not_put_into_the_trash(store: Store) -> None:
    bare(store, "abc")
    with pytest.raises(Refused, match="is in progress"):
        store.discard("abc", NOW)
    assert store.trash() == []
