import hashlib
from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from tests.helpers.comparisons import compare_pair
from tests.helpers.runs import qrels_of, run_of

QUERIES = [f"q{number}" for number in range(200)]


def compared(
    baseline: list[int | None], contender: list[int | None], **settings: Any
) -> iro.Comparison:
    ranks = [dict(zip(QUERIES, run, strict=False)) for run in (baseline, contender)]
    names = ["A", "B"]
    result = compare_pair(
        qrels_of(ranks[0]), *(run_of(run, depth=60) for run in ranks), names=names, **settings
    )
    return result


def test_what_is_equal_or_better_passes() -> None:
    ranks: list[int | None] = [1 + number % 7 for number in range(200)]
    later: list[int | None] = [2 + number % 7 for number in range(200)]
    same, better = (iro.gate(compared(run, ranks), margins=(2.0, 0.5)) for run in (ranks, later))
    assert (same.status, same.exit_status, better.status) == ("pass", 0, "pass")
    assert same.decisions[0].reasons == ("B is identical to A, so no query can have been harmed.",)
    shown = str(same).splitlines()
    assert "coverage, points   +0.00  -2.00 harm excluded" in shown
    assert "! Identical runs: A and B have the same documents in the same order for every" in shown
    assert "did not differ" not in str(same)
    assert "intervals for margins" not in str(same)
    assert "did not differ" in str(better)
    assert (
        same.decisions[0].equivalent,
        same.decisions[0].queries,
        better.decisions[0].equivalent,
    ) == (True, (), False)
    assert better.decisions[0].reasons == (
        (
            "Harm beyond 2 percentage points of coverage, 0.5 ranks of ranking and 1.7 ranks over"
            " all queries is excluded."
        ),
    )


def test_runs_that_find_nothing_fail_and_are_not_identical() -> None:
    """Two queries, no relevant document in either run: equal search lengths say nothing."""
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    baseline, other = {"q1": {"x": 2.0}, "q2": {"y": 2.0}}, {"q1": {"z": 2.0}, "q2": {"w": 2.0}}
    for contender in (other, baseline):
        ev = iro.evaluate(qrels, {"A": baseline, "B": contender}, on_error="keep")
        result = iro.gate(compare_pair(ev, "A", "B"), margins=(0.01, 0.01))
        assert (result.status, result.decisions[0].identical) == ("fail", contender is baseline)
        assert (
            "A and B have no relevant document within the first 100, for any query"
            in result.decisions[0].reasons[0]
        )
    right = {"q1": {"d1": 2.0}, "q2": {"d2": 2.0}}
    decision = iro.gate(
        compare_pair(qrels, right, baseline, names=["A", "B"]), margins=(99.0, 50.0)
    ).decisions[0]
    assert (decision.status, decision.reasons[0].partition(",")[0]) == (
        "fail",
        "B has no relevant document within the first 100",
    )


def test_equal_search_lengths_are_not_identical_runs() -> None:
    """The relevant documents stand at the same ranks, and the others differ: harm was not drawn, and is not excluded."""
    ranks: list[int | None] = [1 + number % 7 for number in range(200)]
    a = run_of(dict(zip(QUERIES, ranks, strict=True)), depth=60)
    b = {
        query: {document.replace("d", "x"): score for document, score in ranked.items()}
        for query, ranked in a.items()
    }
    comparison = compare_pair(
        qrels_of(QUERIES),
        a,
        {q: {d.replace("golx", "gold"): s for d, s in b[q].items()} for q in b},
    )
    decision = iro.gate(comparison, margins=(0.5, 0.1)).decisions[0]
    assert (comparison.ranking.n_nonzero, comparison.coverage.n_nonzero) == (0, 0)
    assert (decision.status, decision.identical, decision.equivalent) == (
        "inconclusive",
        False,
        False,
    )


def test_harm_that_is_shown_fails_and_names_its_queries() -> None:
    ranks: list[int | None] = [1 + number % 7 for number in range(200)]
    worse: list[int | None] = [rank + number % 5 for number, rank in enumerate(ranks) if rank]
    worse[17] = 50
    result = iro.gate(compared(ranks, worse, queries={"q17": "a text"}), margins=(2.0, 0.5))
    assert (result.status, result.exit_status) == ("fail", 3)
    decision = result.decisions[0]
    assert [facet.status for facet in decision.facets] == [
        "harm excluded",
        "harm shown",
        "inconclusive",
    ]
    assert len(decision.queries) == 10
    assert (decision.queries[0].query_id, decision.queries[0].text) == ("q17", "a text")
    assert "a text" in result.to_markdown(details=True)
    assert (
        "coverage, points   +0.00 [-1.37, +1.37]  -2.00 harm excluded          -"
        in str(result).splitlines()
    )
    lost = iro.gate(compared(ranks, [*ranks[:150], *[None] * 50]), margins=(2.0, 0.5))
    assert lost.status == "fail"
    assert {query.outcome for query in lost.decisions[0].queries} == {"lost"}


def test_one_rank_on_one_of_400_queries_does_not_make_a_pass() -> None:
    """What was seen is much the same, so the decision is too; and the smallest margins say what 400 queries can show."""
    baseline: list[int | None] = [5] * 400
    for contender in ([None, *baseline[1:]], [None, 6, *baseline[2:]]):
        ranks = [
            {f"q{number}": rank for number, rank in enumerate(run)} for run in (baseline, contender)
        ]
        comparison = compare_pair(
            qrels_of(ranks[0]), *(run_of(run, depth=100) for run in ranks), names=["A", "B"]
        )
        result = iro.gate(comparison, margins=(2.0, 0.5))
        assert result.status == "inconclusive"
        assert result.smallest_margins == pytest.approx((0.6895, 0.973, 0.981), abs=1e-3)
        _, ranking, over_all = result.decisions[0].facets
        assert ranking.interval == pytest.approx((-0.97, 0.98), abs=0.01)
        assert over_all.smallest_margin == comparison.restricted.smallest_margin  # type: ignore[union-attr]
        assert "If the runs did not differ on any query, harm beyond 0.69 points," in " ".join(
            str(result).split()
        )
        assert (
            iro.GateResult.from_json(result.to_json()).smallest_margins == result.smallest_margins
        )


def test_harm_is_not_excluded_by_few_queries_that_agree() -> None:
    """Coverage by document of ten queries that lose nothing: the adjusted Wald interval of the facet would be [-2, 2]."""
    qrels = {f"q{number}": {f"d{place}": 1 for place in range(20)} for number in range(30)}
    run = {query: {f"d{place}": 20.0 - place for place in range(20)} for query in qrels}
    other = {query: {**ranked, "x": 0.5} for query, ranked in run.items()}
    comparison = compare_pair(qrels, run, other, unit="document")
    coverage = comparison.coverage
    assert coverage.interval is not None
    assert coverage.interval.low > -5
    # That of one in 30 queries, 100 points.
    assert coverage.margin_interval == pytest.approx((-12.96, 12.96), abs=0.01)
    assert iro.gate(comparison, margins=(10.0, 9.0)).decisions[0].facets[0].status == "inconclusive"


def test_margins_need_the_range_of_a_measure() -> None:
    queries = {f"q{number}": 0.4 + number % 5 / 10 for number in range(200)}
    a, b = ({query: {"nDCG@10": value} for query, value in queries.items()} for _ in range(2))
    compared_by_values = iro.compare_outputs(a, b, margins=(5.0, 0.1))
    assert compared_by_values.ranking.margin_interval == pytest.approx((-0.0196, 0.0196), abs=1e-4)
    of_a, of_b = ({query: {"mine@10": value} for query, value in queries.items()} for _ in range(2))
    without = iro.compare_outputs(of_a, of_b, higher_is_better=True)
    assert (without.ranking.margin_interval, without.ranking.smallest_margin) == (None, None)
    with pytest.raises(ParameterError, match="the largest possible value of mine@10 is not known"):
        iro.compare_outputs(of_a, of_b, higher_is_better=True, margins=(5.0, 0.1))
    with pytest.raises(ParameterError, match="the largest possible value of mine@10 is not known"):
        iro.gate(without, margins=(5.0, 0.1))


def test_not_significant_is_not_a_pass() -> None:
    ranks = [5 + number % 3 for number in range(20)], [5 + (number * 7) % 4 for number in range(20)]
    comparison = compared(*ranks, margins=(1.0, 0.1))  # type: ignore[arg-type]
    result = iro.gate(comparison)
    assert (comparison.verdict.label, result.status, result.exit_status) == (
        "no significant difference",
        "inconclusive",
        4,
    )
    needed = result.decisions[0].facets[1].needed
    assert needed is not None
    assert (needed.queries or 0) > 20
    assert f"about {needed.queries} queries" in " ".join(result.decisions[0].reasons)


def test_dependent_queries_are_settled_by_clusters() -> None:
    """40 conversations of 5 turns: the number needed is that of a plan, in conversations."""
    baseline = {f"c{number}::{turn}": 4 for number in range(40) for turn in range(5)}
    contender = {
        query: rank + (-1 if int(query[1:].split("::")[0]) % 2 else 1)
        for query, rank in baseline.items()
    }
    runs = (run_of(ranks, depth=60) for ranks in (baseline, contender))
    comparison = compare_pair(qrels_of(baseline), *runs, clusters="by:::")
    decision = iro.gate(comparison, margins=(10.0, 0.1, 0.2)).decisions[0]
    needed = iro.plan(comparison, ranking=0.1).ranking.to_pass
    assert needed is not None
    assert decision.facets[1].needed == needed
    assert f"about {needed.queries} clusters of queries like these" in decision.reasons[0]
    assert "there are 40)" in decision.reasons[0]
    assert "95 % intervals for margins by cluster (40), which allow for rare large losses" in str(
        iro.gate(comparison, margins=(10.0, 0.1, 0.2))
    )


def test_files_are_compared_before_a_gate_decides() -> None:
    call: Any = iro.gate
    with pytest.raises(ParameterError, match=r"as in gate\(compare\(qrels, baseline, contenders\)"):
        call("qrels.txt", "bm25.run", "new.run")


def test_all_queries_have_a_margin() -> None:
    # Answers at rank 1 are lost and others won at rank 50: both facets are within wide margins, all
    # queries lose 4.9 ranks.
    baseline: list[int | None] = [*[1] * 20, *[None] * 20, *[3] * 160]
    contender: list[int | None] = [*[None] * 20, *[50] * 20, *[3] * 160]
    comparison = compared(baseline, contender, cutoff=60)
    passed = iro.gate(comparison, margins=(20.0, 5.0))
    over_all = passed.decisions[0].facets[2]
    assert (passed.status, over_all.name, over_all.difference, over_all.n) == (
        "pass",
        "all queries",
        4.9,
        200,
    )
    assert over_all.margin == pytest.approx(5.0 * 0.8 + 0.2 * 60)
    for margin, status in ((9.0, "pass"), (4.9, "inconclusive"), (2.0, "fail")):
        result = iro.gate(comparison, margins=(20.0, 5.0, margin))
        decision = result.decisions[0]
        assert (result.margins, result.status, decision.facets[2].margin) == (
            (20.0, 5.0, margin),
            status,
            margin,
        )
        again = compared(baseline, contender, cutoff=60, margins=(20.0, 5.0, margin))
        assert (again.verdict.non_inferior, iro.gate(again).status) == (status == "pass", status)
        assert decision.reasons[0].startswith("All queries: a loss of") == (status != "pass")
        assert {query.restricted for query in decision.queries} == (
            {60.0} if status != "pass" else set()
        )
    needed = iro.gate(comparison, margins=(20.0, 5.0, 6.0)).decisions[0].facets[2].needed
    assert needed is not None
    assert (needed.queries, needed.upper) == (91, 104)
    qrels = {f"q{number}": {"a": 1, "b": 1} for number in range(60)}
    first = {
        query: {"a": 9.0, "x": 8.0, "b": 7.0} if number % 3 else {"x": 1.0}
        for number, query in enumerate(qrels)
    }
    second = {query: {"x": 9.0, "a": 8.0} for query in qrels}
    by_document = compare_pair(qrels, first, second, unit="document", cutoff=20)
    margin = iro.gate(by_document, margins=(3.0, 0.5)).decisions[0].facets[2].margin
    # A third is found by both; the longer list has three documents.
    assert margin == pytest.approx(0.5 / 3 + 0.03 * 3)


def test_margins_that_no_harm_can_exceed_are_refused() -> None:
    ranks: list[int | None] = [1 + number % 7 for number in range(200)]
    comparison = compared(ranks, [*ranks[1:], 3], cutoff=50)
    for margins, most in (
        ((100.0, 0.5), "100 percentage points of coverage"),
        ((5.0, 49.0), "49 ranks of ranking"),
        ((5.0, 0.5, 50.0), "50 ranks over all queries"),
        ((60.0, 30.0), "50 ranks over all queries, and these imply a margin of 60"),
    ):
        with pytest.raises(ParameterError, match=f"no run can lose more than {most}"):
            iro.gate(comparison, margins=margins)
    with pytest.raises(ParameterError, match="no run can lose more than 100 percentage points"):
        compared(ranks, ranks, margins=(100.0, 0.5))
    nothing = compared(ranks, [None] * 200, cutoff=50)  # a failure comes first
    assert iro.gate(nothing, margins=(60.0, 49.0)).status == "fail"


def test_notes_of_the_comparison_stand_under_the_decision() -> None:
    """What makes a harmless run fail, and what a pass hides: unequal judging first, then another label at another cutoff."""
    qrels: dict[str, dict[str, int]] = {
        query: {"gold": 1} | {f"d{place}": 0 for place in range(60)} for query in QUERIES
    }
    a = run_of({query: 1 + number % 3 for number, query in enumerate(QUERIES)}, depth=60)
    b = {
        query: {**{f"x{place}": 200.0 - place for place in range(9)}, **ranked}
        for query, ranked in a.items()
    }
    harmed = iro.gate(compare_pair(qrels, a, b, names=["A", "B"]), margins=(2.0, 0.5))
    assert harmed.status == "fail"
    assert (
        harmed.decisions[0]
        .notes[0]
        .startswith("Judged unequally: 0 % of the top 10 of A and 90 % of B are unjudged")
    )
    assert "! Judged unequally: 0 % of the top 10 of A and 90 %" in str(harmed)
    late = run_of(
        {query: 12 if number < 20 else 2 for number, query in enumerate(QUERIES)}, depth=60
    )
    early = run_of(dict.fromkeys(QUERIES, 2), depth=60)
    passed = iro.gate(compare_pair(qrels, early, late, names=["A", "B"]), margins=(9.0, 5.0))
    assert (passed.status, passed.decisions[0].label) == ("pass", "worse on ranking")
    assert (
        passed.decisions[0]
        .notes[0]
        .startswith("Worse, within the margins: worse on coverage at 10,")
    )
    assert "! Worse, within the margins: worse on coverage at 10," in str(passed)


def test_a_copy_among_several_is_named() -> None:
    runs = {
        name: run_of(
            {q: 1 + n % 7 - (n % 7 > 5 and name == "B") for n, q in enumerate(QUERIES)}, 20
        )
        for name in "ABC"
    }
    result = iro.gate(
        iro.compare(iro.evaluate(qrels_of(QUERIES), runs, cutoff=20), "A"), margins=(5.0, 2.0)
    )
    assert [decision.status for decision in result.decisions] == ["pass", "pass"]
    assert "C: C is identical to A, so no query can have been harmed." in " ".join(
        str(result).split()
    )
    assert "did not differ" in str(result)


def test_most_harm_is_that_of_the_facet_that_failed() -> None:
    """Coverage fails; the largest change of ranking is no harm that decided."""
    ranks: list[int | None] = [3] * 200
    contender: list[int | None] = [*[None] * 30, *[55] * 2, *[3] * 168]
    result = iro.gate(compared(ranks, contender, cutoff=60), margins=(5.0, 5.0, 50.0))
    decision = result.decisions[0]
    assert [facet.status for facet in decision.facets] == [
        "harm shown",
        "harm excluded",
        "harm excluded",
    ]
    assert {query.outcome for query in decision.queries} == {"lost"}
    assert set(decision.harms) == {"found by A at 3, not by B"}
    assert "B, most harm on coverage: q0 (found by A at 3, not by B); q1" in str(result)
    ranked = iro.gate(
        compared(ranks, [*[55] * 30, *[3] * 170], cutoff=60), margins=(5.0, 2.0, 50.0)
    ).decisions[0]
    assert set(ranked.harms) == {"ranked 3, now 55"}
    everywhere = iro.gate(
        compared(ranks, [*[55] * 30, *[3] * 170], cutoff=60), margins=(5.0, 50.0, 2.0)
    ).decisions[0]
    assert set(everywhere.harms) == {"52 more ranks"}
    qrels = {query: {"a": 1, "b": 1} for query in QUERIES}
    both = {query: {"a": 9.0, "b": 8.0, "x": 7.0} for query in QUERIES}
    one = {query: {"a": 9.0, "x": 8.0, "y": 7.0} for query in QUERIES}
    found = iro.gate(
        compare_pair(qrels, both, one, unit="document", cutoff=3), margins=(5.0, 1.0)
    ).decisions[0]
    assert set(found.harms) == {"100 % found, now 50 %"}


def test_a_run_that_lacks_queries_fails() -> None:
    ranks = dict.fromkeys(QUERIES[:100], 1)
    comparison = compare_pair(
        qrels_of(ranks), run_of(ranks), run_of(dict.fromkeys(QUERIES[:90], 1)), names=["A", "B"]
    )
    assert comparison.n_missing == (0, 10)
    result, allowed = (
        iro.gate(comparison, margins=(50.0, 5.0), max_missing=share) for share in (0.05, 0.1)
    )
    assert (result.status, allowed.status) == ("fail", "pass")
    expected = (
        "B has no results for 10 of the 100 answerable queries (10.0 %); at most 5.0 % may be"
        " missing."
    )
    assert result.decisions[0].reasons[0] == expected


def test_the_worst_decision_is_that_of_the_whole() -> None:
    ranks: list[int | None] = [1 + number % 7 for number in range(200)]
    worse = [rank + 3 + number % 2 for number, rank in enumerate(ranks) if rank]
    runs = {
        name: run_of(dict(zip(QUERIES, run, strict=True)), depth=60)
        for name, run in (("B", ranks), ("C", worse))
    }
    evaluation = iro.evaluate(qrels_of(QUERIES), {"A": runs["B"], **runs})
    several = iro.gate(iro.compare(evaluation, "A"), margins=(2.0, 0.5))
    assert [decision.status for decision in several.decisions] == ["pass", "fail"]
    assert (several.status, several.worst.name) == ("fail", "C")
    suite = iro.gate(
        iro.compare_collections({"first": evaluation, "second": evaluation}, "A"),
        margins=(2.0, 0.5),
    )
    assert [decision.name for decision in suite.decisions] == [
        "B on first",
        "B on second",
        "C on first",
        "C on second",
    ]
    assert (suite.status, suite.worst.name) == ("fail", "C on first")
    assert str(suite).startswith("fail: 2 contenders on 2 collections against A: 2 fail, 2 pass")


def test_a_run_that_a_collection_lacks_fails() -> None:
    run = run_of(dict.fromkeys(QUERIES, 2))
    present = {"first": "ABC", "second": "AC", "third": "C"}
    there = {
        name: iro.evaluate(qrels_of(QUERIES), dict.fromkeys(runs, run))
        for name, runs in present.items()
    }
    found = iro.compare_collections(there, "A")
    result = iro.gate(found, margins=(2.0, 0.5))
    failed = {
        decision.name: decision.reasons
        for decision in result.decisions
        if decision.status == "fail"
    }
    assert {name: reason for name, (reason,) in failed.items()} == {
        "B on second": "B is missing on second, so nothing can be compared.",
        "B on third": "A and B are missing on third, so nothing can be compared.",
        "C on third": "A is missing on third, so nothing can be compared.",
    }
    allowed = [f"{run}@{name}" for run, name in found.missing]
    for allow, status in ((allowed, "pass"), (allowed[1:], "fail")):
        assert iro.gate(found, margins=(2.0, 0.5), allow_missing=allow).status == status
    with pytest.raises(
        ParameterError, match="allow_missing: 'B@secnod' is no run@collection; they are A@first"
    ):
        iro.gate(found, margins=(2.0, 0.5), allow_missing=["B@secnod"])
    selected = iro.gate(
        found,
        margins=(2.0, 0.5),
        contenders=["C", "D"],
        collections=["fourth"],
        allow_missing=["A@third"],
    )
    assert {decision.name: decision.status for decision in selected.decisions} == {
        "C on fourth": "fail", "C on first": "pass", "C on second": "pass",
        "D on fourth": "fail", "D on first": "fail", "D on second": "fail", "D on third": "fail",
    }  # fmt: skip
    assert selected.decisions[0].reasons == (
        "A and C are missing on fourth, so nothing can be compared.",
    )
    with pytest.raises(ParameterError, match="leaves nothing to decide on"):
        iro.gate(
            found,
            margins=(2.0, 0.5),
            contenders=["D"],
            allow_missing=[f"{run}@{name}" for run in "AD" for name in there],
        )


def test_a_reference_keeps_small_losses_from_adding_up() -> None:
    """Every night loses a rank, which is inside the margin; the release three nights ago is not."""
    runs = {
        f"night {n}": run_of(
            {query: 5 + number % 7 + n for number, query in enumerate(QUERIES)}, depth=60
        )
        for n in range(4)
    }
    evaluation = iro.evaluate(qrels_of(QUERIES), runs, cutoff=30)
    nightly, release, other = (
        iro.compare(evaluation, *pair)
        for pair in (("night 2", "night 3"), ("night 0", "night 3"), ("night 0", "night 1"))
    )
    assert iro.gate(nightly, margins=(2.0, 2.0)).status == "pass"
    result = iro.gate(nightly, reference=release, margins=(2.0, 2.0))
    assert (result.status, result.baseline, result.reference) == ("fail", "night 2", "night 0")
    statuses = [(decision.name, decision.status) for decision in result.decisions]
    assert statuses == [("night 3", "pass"), ("night 3 against night 0", "fail")]
    assert [row["baseline"] for row in result.rows()] == ["night 2", "night 0"]
    assert iro.GateResult.from_json(result.to_json()) == result
    with pytest.raises(ParameterError, match="the same contenders"):
        iro.gate(nightly, reference=other, margins=(2.0, 2.0))


def test_rules_are_checked_and_inputs_hashed(tmp_path: Path) -> None:
    comparison = compared([1] * 5, [1] * 5)
    for settings, message in (
        ({}, "a gate needs margins"),
        ({"margins": (1.0, 0.0)}, "must be two or three positive numbers"),
        ({"margins": (1.0, 1.0), "max_missing": 1.0}, "must be a share of the queries"),
    ):
        with pytest.raises(ParameterError, match=message):
            iro.gate(comparison, **settings)
    path = tmp_path / "qrels"
    path.write_bytes(b"content")
    a = {f"q{number}": {"recip_rank": 1 / (1 + number % 4)} for number in range(100)}
    result = iro.gate(iro.compare_outputs(a, a), margins=(5.0, 1.0), inputs=[path])
    assert result.inputs == {str(path): hashlib.sha256(b"content").hexdigest()}
    assert (
        result.status,
        "not known without a cutoff" in " ".join(result.decisions[0].reasons),
    ) == ("inconclusive", True)


@pytest.mark.realdata
def test_a_naive_test_passes_where_the_gate_does_not(real_data: Path) -> None:
    folder = real_data / "msmarco-doc-dev"
    result = compare_pair(
        folder / "qrels.txt", folder / "bm25.run.gz", folder / "wordnet_all.run.gz"
    )
    assert result.naive.pvalues["t"] > 0.05
    low, high = result.ranking.interval or (0, 0)
    assert iro.gate(result, margins=(1.0, 0.01)).status == "fail"
    assert low < 0.05 < high
    assert iro.gate(result, margins=(1.0, 0.05)).status == "inconclusive"
