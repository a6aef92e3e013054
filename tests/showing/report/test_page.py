"""The report page: its data, what it leaves out, and that nothing on it is markup of an input."""

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, get_args

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.pages.lists import texts_of_documents
from ir_outcomes.results import HasPage
from ir_outcomes.showing.charts import facets_of, forest_of
from ir_outcomes.types import Unit
from tests.helpers.comparisons import compare_pair
from tests.helpers.histogram import changes_of
from tests.helpers.many import collection
from tests.helpers.pages import Page
from tests.helpers.results import KINDS, result_of
from tests.helpers.runs import qrels_of, run_of

BAD = "</script><!--<script>alert(1)</script>\u2028&\"'<img src=x onerror=alert(2)>"
GOLD = qrels_of(f"q{number}" for number in range(60))


def island(page: iro.ReportPage) -> dict[str, Any]:
    (found,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', page.html, re.DOTALL
    )
    data: dict[str, Any] = json.loads(found)
    return data


def island_label(page: iro.ReportPage, code: str) -> str:
    return str(island(page)["labels"][ord(code) - ord("a")][0])


def run_with(ranks: list[int]) -> dict[str, dict[str, float]]:
    return run_of(dict(zip(GOLD, ranks, strict=True)), depth=30)


@pytest.fixture(scope="module")
def evaluation() -> iro.Evaluation:
    qrels, runs = collection(3, 40, relevant=2)
    texts = {query: f"words of {query}" for query in qrels}
    return iro.evaluate(
        qrels, list(runs.values()), names=["a", "b", "c"], documents=20, queries=texts
    )


@pytest.mark.parametrize("unit", ["query", "document"])
def test_the_page_holds_the_queries_of_the_comparison(
    evaluation: iro.Evaluation, unit: Unit
) -> None:
    chosen = dataclasses.replace(evaluation, unit=unit)
    comparison = compare_pair(chosen, "a", "b")
    data = island(comparison.to_report(evaluation=chosen))
    (grid,), (own,), queries = data["grids"], data["sets"], comparison.per_query()
    assert own["ids"] == [query.query_id for query in queries]
    assert own["texts"] == [query.text for query in queries]
    assert own["runs"] == grid["runs"] == ["a", "b"]
    ranks = own["columns"]["ranks"]
    for run, column in zip("ab", ranks, strict=True):
        lengths = chosen[run].at(comparison.cutoff)
        expected = lengths.rank if unit == "document" else np.nan_to_num(lengths.esl())
        assert column == expected.tolist()
    assert data["labels"][ord(grid["codes"][0][1]) - ord("a")][0] == comparison.verdict.label
    (pair,) = grid["pairs"]
    assert comparison.restricted is not None
    assert pair["sentence"] == comparison.verdict.sentence
    assert [row["difference"] for row in pair["rows"]] == [
        pytest.approx(part.difference, abs=1e-4)
        for part in (comparison.coverage, comparison.ranking, comparison.restricted)
    ]


def test_queries_of_other_measures_and_of_stored_results_are_given_by_pair(
    evaluation: iro.Evaluation,
) -> None:
    qrels, runs = collection(2, 40)
    names = ["a", "b"]
    scored = iro.evaluate(qrels, runs, names=names, documents=20, measures=["RR"])
    measured = iro.compare_measure(scored, "a", "b", measure="RR")
    for comparison, given in ((measured, scored), (compare_pair(evaluation, "a", "b"), None)):
        data = island(comparison.to_report(evaluation=given))
        assert data["sets"][0]["columns"] is None
        shown = data["grids"][0]["pairs"][0]["given"]
        queries = comparison.per_query()
        assert shown["a"] == [query.baseline for query in queries]
        assert shown["change"] == [query.change for query in queries]
        assert shown["foundB"] == [query.found_contender for query in queries]


def test_bins_hold_the_queries_that_changed_so_much(evaluation: iro.Evaluation) -> None:
    by_query = dataclasses.replace(evaluation, unit="query")
    comparison = compare_pair(by_query, "a", "b", cutoff=20)
    changes = changes_of(comparison)
    for query, place in zip(comparison.per_query(), changes.bins, strict=True):
        if query.outcome == "neither":
            assert place == -1
        elif query.outcome == "both":
            gain = -(query.difference or 0.0)
            assert changes.tones[place] == (
                "better" if gain > 0 else "worse" if gain < 0 else "same"
            )
            assert abs(gain) >= 10 or "10" not in changes.names[place]
        else:
            assert changes.names[place] == query.outcome
    assert not any(
        "10" in name for name in changes_of(compare_pair(by_query, "a", "b", cutoff=5)).names
    )


def test_bins_go_by_the_share_found_where_most_queries_are_won_or_lost() -> None:
    qrels = {f"q{number}": {f"d{place}": 1 for place in range(10)} for number in range(8)}
    # Of ten documents each.
    found = [
        (2, 3),
        (2, 3),
        (2, 4),
        (5, 2),
        (2, 10),
        (3, 3),
        (0, 0),
        (2, 2),
    ]
    runs = {
        name: {
            query: {
                **{f"d{place}": 9.0 - place for place in range(pair[side])},
                f"x{1 - side}": 9.5 * (1 - side),
            }
            for query, pair in zip(qrels, found, strict=True)
        }
        for side, name in enumerate("ab")
    }
    changes = changes_of(compare_pair(iro.evaluate(qrels, runs, unit="document"), "a", "b"))
    assert changes.by_share
    names = [changes.names[place] if place >= 0 else "neither" for place in changes.bins]
    more = ["10\N{EN DASH}20 more", "10\N{EN DASH}20 more", "20\N{EN DASH}50 more"]
    assert names == [
        *more,
        "20\N{EN DASH}50 fewer",
        "\N{GREATER-THAN OR EQUAL TO}50 more",
        "fewer above",
        "neither",
        "fewer above",
    ]
    assert [changes.tones[place] for place in changes.bins[:6]] == ["better"] * 3 + ["worse"] + [
        "better"
    ] * 2
    # With one relevant document all units show the same.
    one = {query: {"d0": 1} for query in qrels}
    by_unit = [
        changes_of(compare_pair(iro.evaluate(one, runs, unit=unit), "a", "b"))
        for unit in get_args(Unit)
    ]
    units = [unit.what.removeprefix("search length, ") for unit in by_unit]
    assert units == ["ranks", "irrelevant documents above"]
    assert by_unit[0]._replace(what="") == by_unit[-1]._replace(what="")


def test_right_is_better_and_each_facet_has_the_tone_of_its_own_finding() -> None:
    evaluation = iro.evaluate(
        GOLD, {"a": run_with([5] * 60), "b": run_with([2] * 55 + [9] * 5)}, cutoff=20
    )
    for names, found in ((("a", "b"), "better"), (("b", "a"), "worse")):
        comparison = compare_pair(evaluation, *names)
        rows = facets_of(comparison)
        assert [row["finding"] for row in rows] == ["", found, found]
        assert [row["estimate"].tone for row in rows] == ["same", found, found]
        forest: Any = forest_of(iro.compare(evaluation, names[0], [names[1]]))
        (row,) = forest.rows
        assert [own.tone for own in row.estimates] == ["same", found]  # not that of the label
        ranking: Any = comparison.ranking
        assert row.estimates[1][:3] == pytest.approx(
            (-ranking.difference, -ranking.interval.high, -ranking.interval.low)
        )


def test_collections_have_queries_of_their_own_and_are_crossed_with_contenders(
    evaluation: iro.Evaluation,
) -> None:
    given = {"first": evaluation, "second": evaluation.restrict(evaluation.query_ids[:20])}
    page = iro.report(given, "a")
    data = island(page)
    assert [len(own["ids"]) for own in data["sets"]] == [40, 20]
    assert [(grid["name"], grid["runs"]) for grid in data["grids"]] == [
        (name, ["a", "b", "c"]) for name in given
    ]
    assert data["matrix"]["columns"] == list(given)
    assert [run for run, _ in data["matrix"]["rows"]] == ["b", "c"]
    label, _, _, pair = data["matrix"]["rows"][0][1][0]
    assert pair == ["first", "a", "b"]
    assert label == compare_pair(evaluation, "a", "b").verdict.label


def test_all_pairs_of_a_leaderboard_have_their_labels() -> None:
    qrels, runs = collection(3, 100, relevant=2)
    names = [f"run {number}" for number in range(42)]
    several = iro.evaluate(qrels, 14 * list(runs.values()), names=names, documents=20)
    board = iro.leaderboard(several)

    @cache
    def label_of(a: int, b: int) -> str:
        return board.verdict(names[a], names[b]).label

    page = board.to_report(evaluation=several, max_mb=0.5)
    assert len(page.html.encode()) <= 500_000
    data = island(page)
    (grid,) = data["grids"]
    labels = {chr(ord("a") + place): str(label[0]) for place, label in enumerate(data["labels"])}
    assert grid["runs"] == [standing.run for standing in board.standings]
    for a, row in zip(grid["runs"], grid["codes"], strict=True):
        for b, code in zip(grid["runs"], row, strict=True):
            if code != ".":
                # Every third run is the same, under another name.
                assert labels[code] == label_of(names.index(a) % 3, 3 + names.index(b) % 3)
    assert sum(code != "." for row in grid["codes"] for code in row) == 42 * 41


def test_a_dot_is_a_mean_on_a_board_and_a_difference_elsewhere() -> None:
    evaluation = iro.evaluate(*collection(3, 30), documents=20)
    board = iro.leaderboard(evaluation).to_report(evaluation=evaluation)
    several = iro.report(evaluation, evaluation.names[0])
    assert [island(page)["forest"]["last"] for page in (board, several)] == ["tier", "label"]


@pytest.mark.parametrize("order", ["wins", "measure"])
def test_what_orders_the_runs_stands_beside_their_tiers(order: Any) -> None:
    runs = {"a": run_with([5] * 60), "b": run_with([2] * 55 + [9] * 5)}
    board = iro.leaderboard(iro.evaluate(GOLD, runs), order=order)
    labels = [row["label"] for row in island(board.to_report())["forest"]["rows"]]
    wins = ["", ""]
    if order == "wins":
        wins = [f", won - lost {own.net_wins:+d}" for own in board.standings]
        assert len(set(wins)) > 1
    tiers = [f"tier {own.tier}" for own in board.standings]
    assert labels == [tier + own for tier, own in zip(tiers, wins, strict=True)]


def test_there_is_no_box_for_a_label_where_there_is_none(evaluation: iro.Evaluation) -> None:
    by = {query: query[-1] for query in evaluation.query_ids}
    slices = iro.compare_slices(evaluation, "a", by=by).to_report(evaluation=evaluation)
    pair = compare_pair(evaluation, "a", "b").to_report(evaluation=evaluation)
    boxes = [re.findall(r'<span class="label[^>]*>([^<]*)<', page.html) for page in (slices, pair)]
    assert boxes == [[], [compare_pair(evaluation, "a", "b").verdict.label]]


def test_the_page_opens_on_the_best_row_that_has_changes() -> None:
    same = run_with([5] * 60)
    runs = {
        "base": same,
        "a copy": same,
        "worse": run_with([9] * 60),
        "better": run_with([2] * 60),
    }
    page = iro.report(iro.evaluate(GOLD, runs, documents=20))
    assert island(page)["opening"] == ["", "base", "better"]
    without = {name: run for name, run in runs.items() if name != "better"}
    assert island(iro.report(iro.evaluate(GOLD, without, documents=20)))["opening"] == [
        "",
        "base",
        "worse",
    ]
    board = iro.evaluate(GOLD, runs, documents=20)
    page = iro.leaderboard(board).to_report(evaluation=board)
    assert island(page)["opening"] == ["", "a copy", "better"]


def test_lists_are_those_of_the_runs() -> None:
    qrels = {"1": {"d9": 2, "d1": 0}, "2": {"d3": 1}}
    scores = {f"d{n}": -99.0 if n == 9 else -n for n in range(30)}
    runs = {"a": {"1": scores, "2": {"d3": 1.0}}, "b": {"1": {"d1": 2.0, "x": 1.0}}}
    page = iro.report(iro.evaluate(qrels, runs, documents=20))
    first, second = island(page)["sets"][0]["rankings"]
    assert [first["ids"][place] for place in first["lists"][1]] == ["d1", "x"]
    assert len(first["lists"][0]) == 20
    assert {first["ids"][int(place)]: grade for place, grade in first["grades"].items()} == {
        "d9": 2,
        "d1": 0,
    }
    assert first["beyond"] == [[[first["ids"].index("d9"), 30]], []]
    assert second["lists"] == [[0], []]
    with pytest.warns(iro.IrOutcomesWarning, match="documents=20"):  # the runs are read again
        again = iro.report(iro.evaluate(qrels, list(runs.values()), names=["a", "b"]))
    assert island(again)["sets"] == island(page)["sets"]
    assert "(lists end at 30)" in page.html
    (pair,) = island(page)["grids"][0]["pairs"]
    assert pair["rows"][0]["explanation"] == "queries answered within rank 30"


def test_an_evaluation_that_lacks_something(evaluation: iro.Evaluation) -> None:
    comparison = compare_pair(evaluation, "a", "b")
    without = comparison.to_report()
    assert "made without the evaluation" in without.html
    assert island(without)["sets"][0]["rankings"] is None
    assert (
        "stored without its queries"
        in iro.Comparison.from_json(comparison.to_json()).to_report(evaluation=evaluation).html
    )
    slices = iro.compare_slices(
        evaluation, "a", by={query: f"{n % 2}" for n, query in enumerate(evaluation.query_ids)}
    )
    for result, given, message in (
        (comparison, evaluation[["a", "c"]], "no run is called 'b'"),
        (comparison, evaluation.restrict(evaluation.query_ids[:3]), "lacks the query"),
        (slices, {"x": evaluation}, "evaluation lacks '0'; give a mapping"),
    ):
        with pytest.raises(iro.ParameterError, match=message):
            result.to_report(evaluation=given)


def test_queries_that_change_most_come_first() -> None:
    evaluation = iro.evaluate(
        GOLD, {"a": run_with([1] * 60), "b": run_with([1] * 45 + [9] + [1] * 14)}, documents=20
    )
    full = len(iro.report(evaluation).html.encode())
    small = iro.report(evaluation, max_mb=full / 1e6 - 0.005)
    rankings = island(small)["sets"][0]["rankings"]
    assert rankings[45] is not None
    assert 0 < sum(entry is not None for entry in rankings) < 60
    assert "other queries are left out" in small.html
    assert len(small.html.encode()) <= full - 5000


def test_by_default_the_first_hundred_lists_may_make_a_page_larger() -> None:
    """Long ids fill the 0.5 MB early, or not at all."""
    for width, n_kept in ((400, 100), (1, 300)):
        run = {
            str(query): {f"{query}-{place}-{'x' * width}": 20.0 - place for place in range(20)}
            for query in range(300)
        }
        qrels = {query: {next(iter(ranked)): 1} for query, ranked in run.items()}
        reverse = {
            query: dict(zip(ranked, reversed(ranked.values()), strict=True))
            for query, ranked in run.items()
        }
        several = iro.evaluate(qrels, {"a": run, "b": reverse}, documents=20)
        page = iro.report(several)
        rankings = island(page)["sets"][0]["rankings"]
        assert sum(entry is not None for entry in rankings) == n_kept
        words = " ".join(page.html.split())
        assert ("200 other queries are left out, to keep the page small" in words) == (
            n_kept == 100
        )
        limited = iro.report(several, max_mb=0.5)
        assert len(limited.html.encode()) <= 500_000
    everything = iro.report(several, max_mb=5)
    assert "other queries are left out" not in everything.html


@pytest.mark.parametrize("kind", ["pair", "collections", "slices", "board"])
def test_every_page_takes_texts_and_meets_its_size(evaluation: iro.Evaluation, kind: str) -> None:
    plain: Any = dataclasses.replace(evaluation, texts={})
    given: Any = (
        {"one": plain, "two": plain.restrict(plain.query_ids[:20])}
        if kind == "collections"
        else plain
    )
    makers: dict[str, Callable[[], Any]] = {
        "pair": lambda: iro.compare(given, "a", "b"),
        "collections": lambda: iro.compare_collections(given, "a"),
        "slices": lambda: iro.compare_slices(
            given, "a", by={query: query[-1] for query in plain.query_ids}
        ),
        "board": lambda: iro.leaderboard(given),
    }
    result = makers[kind]()
    texts: dict[str, Any] = {"docs": {"gold": "the text"}, "queries": evaluation.texts}
    with pytest.raises(
        iro.ParameterError, match=r"the page has 0\.\d+ MB even without any ranked list"
    ) as found:
        result.to_report(evaluation=given, max_mb=0.001, **texts)
    least = float(re.findall(r"has (\S+) MB", str(found.value))[0])
    for max_mb in (least, least + 0.05):
        page = result.to_report(evaluation=given, max_mb=max_mb, **texts)
        assert len(page.html.encode()) <= max_mb * 1e6
    assert island(page)["sets"][0]["texts"] == [
        evaluation.texts[query] for query in island(page)["sets"][0]["ids"]
    ]


@pytest.mark.parametrize("max_mb", [0, -1, "5", True, float("nan"), float("inf")])
def test_invalid_size_is_refused(evaluation: iro.Evaluation, max_mb: Any) -> None:
    with pytest.raises(iro.ParameterError, match="max_mb"):
        iro.report(evaluation, "a", "b", max_mb=max_mb)
    with pytest.raises(iro.ParameterError, match="margins are for one collection"):
        iro.report({"x": evaluation}, "a", margins=(1.0, 0.5))


def test_texts_of_a_file(tmp_path: Path) -> None:
    docs = tmp_path / "docs.jsonl"
    lines = [
        {"doc_id": "d1", "text": "long " * 200},
        {"_id": "d2", "title": "A title", "text": "and text"},
        {"doc_id": "other", "text": "unused"},
    ]
    docs.write_text("\n".join(map(json.dumps, lines)))
    evaluation = iro.evaluate(
        {"q": {"d1": 1}}, {name: {"q": {"d1": 2.0, "d2": 1.0}} for name in "ab"}, documents=5
    )
    texts = island(iro.report(evaluation, docs=docs))["sets"][0]["documents"]
    assert texts == {"d1": texts["d1"], "d2": "A title. and text"}
    assert len(texts["d1"]) <= 600
    assert texts["d1"].endswith("long \u2026")
    for line in ("not json", "[1]", '{"text": "no id"}', '{"doc_id": true}'):
        docs.write_text(f'{{"doc_id": "d1", "text": "x"}}\n\n{line}\n')
        with pytest.raises(iro.FormatError, match=r"docs.jsonl, line 3: is not a document.*doc_id"):
            iro.report(evaluation, docs=docs)


class Document(NamedTuple):
    doc_id: str
    title: str
    body: str


@pytest.mark.parametrize("is_built", [True, False])
def test_texts_of_a_dataset_that_is_here(monkeypatch: pytest.MonkeyPatch, is_built: bool) -> None:
    document = Document("d1", "title of d1", "and body")
    store = SimpleNamespace(built=lambda: is_built, get_many=lambda ids: {"d1": document})
    dataset = SimpleNamespace(has_docs=lambda: True, docs_store=lambda: store)
    monkeypatch.setattr("ir_datasets.registry", {"made/up": None})
    monkeypatch.setattr("ir_datasets.load", lambda name: dataset)
    assert texts_of_documents(None, {"d1", "x"}, "made/up") == (
        {"d1": "title of d1 and body"} if is_built else {}
    )
    assert texts_of_documents(None, {"d1"}, "qrels") == {}


def test_markup_of_inputs_is_text() -> None:
    qrels = {BAD: {BAD: 1}, "q2": {"d": 1}}
    runs = {f"{BAD}{name}": {BAD: {BAD: 1.0, f"{BAD}x": 2.0}, "q2": {"d": 1.0}} for name in "ab"}
    evaluation = iro.evaluate(qrels, runs, documents=5, queries={BAD: BAD, "q2": "x"})
    page = iro.report(evaluation, docs={BAD: BAD}, slices={BAD: BAD}, command=BAD)
    found = Page(page.html)
    assert found.scripts == [{"type": "application/json", "id": "data"}, {}]
    assert found.suspicious == []
    assert "\u2028" not in page.html
    own = island(page)["sets"][0]
    visible = BAD.replace("\u2028", "\\u2028")
    assert own["ids"][0] == own["texts"][0] == own["slices"][0] == visible
    # First words, separated by spaces.
    assert own["documents"] == {visible: BAD.replace("\u2028", " ")}


def test_results_with_queries_behind_them_have_a_page() -> None:
    with_page = set()
    for kind in KINDS:
        result = result_of(kind)
        if not isinstance(result, HasPage):
            assert not hasattr(result, "to_report")
            continue
        page = result.to_report()
        found = Page(page.html)
        assert (len(found.scripts), found.suspicious) == (2, [])
        assert not {"\x1b", "\u202e"} & set(page.html)
        with_page.add(type(result).__name__)
    assert with_page == {
        "Comparison",
        "Comparisons",
        "ConditionsComparison",
        "GateResult",
        "Leaderboard",
    }


def test_policy_allows_only_what_is_on_the_page(evaluation: iro.Evaluation) -> None:
    html = iro.report(evaluation, "a", "b").html
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)[0].replace(
        "&#39;", "'"
    )
    assert policy.startswith("default-src 'none'; ")
    for tag in ("script", "style"):
        content = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)[0]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert "http" not in html.replace("http-equiv", "")


def test_inputs_are_named_with_their_hashes_and_give_the_same_bytes(tmp_path: Path) -> None:
    qrels, run, path = (tmp_path / name for name in ("qrels.txt", "a.run", "page.html"))
    qrels.write_text("q 0 d 1\n")
    run.write_text("q Q0 d 1 1.0 a\n")
    (tmp_path / "b.run").write_text("q Q0 d 1 1.0 b\n")
    options: dict[str, Any] = {
        "inputs": [qrels], "command": f"ir-outcomes report {qrels} {run} --docs={run} -o ./out/page.html msmarco/dev",
    }  # fmt: skip
    evaluation = iro.evaluate(qrels, [run, tmp_path / "b.run"], documents=5)
    html = iro.report(evaluation, path=path, **options).html
    assert path.read_bytes() == html.encode() == iro.report(evaluation, **options).html.encode()
    for given in (qrels, run):
        assert html.count(hashlib.sha256(given.read_bytes()).hexdigest()) == 1
    assert f'<pre tabindex="0">{options["command"]}</pre>' in html


@pytest.mark.realdata
def test_size_of_msmarco(real_data: Path) -> None:
    folder = real_data / "msmarco-doc-dev"
    evaluation = iro.evaluate(
        folder / "qrels.txt", [folder / "bm25.run.gz", folder / "bm25+rm3.run.gz"], documents=20
    )
    page = iro.report(evaluation)
    assert len(page.html.encode()) <= 3_000_000
    assert len(island(page)["sets"][0]["ids"]) == 5193


@pytest.mark.realdata
def test_size_of_eight_runs_is_that_of_the_docs(real_data: Path) -> None:
    folder = real_data / "msmarco-doc-dev"
    evaluation = iro.evaluate(folder / "qrels.txt", sorted(folder.glob("*.run.gz")), documents=20)
    text = " ".join((Path(__file__).parents[3] / "docs/report.md").read_text("utf-8").split())
    words = r"has (\S+) MB with the lists of more than (\d+) queries, and (\S+) MB with all"
    ((small, more_than, large),) = re.findall(words, text)
    for limit, size in ((None, small), (5, large)):
        page = iro.report(evaluation, "bm25", max_mb=limit)
        assert f"{len(page.html.encode()) / 1e6:.1f}" == size
        kept = sum(entry is not None for entry in island(page)["sets"][0]["rankings"])
        assert kept == 5193 if limit else kept > int(more_than)


def test_what_the_page_is_made_of_has_lines_that_can_be_read() -> None:
    folder = Path(iro.__file__).parent / "showing" / "report"
    lines = [
        line
        for ending in ("js", "css", "jinja")
        for path in folder.glob(f"*.{ending}")
        for line in path.read_text("utf-8").splitlines()
    ]
    assert [line for line in lines if len(line) > 120] == []
    assert len(lines) <= 1900
