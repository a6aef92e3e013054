"""The report page: its data, what it leaves out, and that nothing on it is markup of an input."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, get_args

import pytest

import ir_outcomes as iro
from ir_outcomes.showing.charts import changes_of, facets_of, forest_of
from ir_outcomes.showing.report import report_of
from ir_outcomes.showing.report.queries import texts_of_documents
from ir_outcomes.types import Unit
from tests.helpers.many import collection
from tests.helpers.results import KINDS, result_of

BAD = "</script><!--<script>alert(1)</script>\u2028&\"'<img src=x onerror=alert(2)>"


def island(page: iro.ReportPage) -> dict[str, Any]:
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page.html, re.DOTALL)
    assert len(found) == 1
    data: dict[str, Any] = json.loads(found[0])
    return data


@pytest.fixture(scope="module")
def evaluation() -> iro.Evaluation:
    qrels, runs = collection(3, 40, relevant=2)
    texts = {query: f"words of {query}" for query in qrels}
    return iro.evaluate(qrels, list(runs.values()), names=["a", "b", "c"], documents=20, queries=texts)


def pair_of(evaluation: iro.Evaluation, baseline: str = "a", contender: str = "b", **rules: Any) -> iro.Comparison:
    comparison = iro.compare(evaluation, baseline, contender, **rules)
    assert isinstance(comparison, iro.Comparison)
    return comparison


class TestNumbers:
    @pytest.mark.parametrize("unit", ["query", "document"])
    def test_island_holds_the_queries_of_the_comparison(self, evaluation: iro.Evaluation, unit: Unit) -> None:
        chosen = dataclasses.replace(evaluation, unit=unit)
        comparison = pair_of(chosen)
        data = island(comparison.to_report(evaluation=chosen))
        shown = data["comparisons"][0]
        own = data["sets"][shown["set"]]
        queries = comparison.per_query()
        assert own["ids"] == [query.query_id for query in queries]
        assert own["texts"] == [query.text for query in queries]
        for key, name in (("a", "baseline"), ("b", "contender"), ("change", "restricted")):
            expected = [getattr(query, name) for query in queries]
            assert shown[key] == [None if value is None else pytest.approx(value, abs=1e-4) for value in expected]

    def test_only_what_the_page_shows_is_embedded(self, evaluation: iro.Evaluation) -> None:
        data = island(iro.leaderboard(evaluation).to_report(evaluation=evaluation))
        assert set(data) == {"depth", "comparisons", "sets"}
        shown = {"title", "set", "baseline", "contender", "label", "tone", "unit", "cutoff", "horizon", "rel", "measure"}
        assert set(data["comparisons"][0]) <= shown | {"bins", "bin", "by_share", "a", "b", "change", "found"}

    def test_bins_hold_the_queries_that_changed_so_much(self, evaluation: iro.Evaluation) -> None:
        by_query = dataclasses.replace(evaluation, unit="query")
        comparison = pair_of(by_query, cutoff=20)
        changes = changes_of(comparison)
        assert (changes.names[0], changes.names[-1]) == ("lost", "won")
        for query, place in zip(comparison.per_query(), changes.bins, strict=True):
            if query.outcome == "neither":
                assert place == -1
            elif query.outcome == "both":
                gain = -(query.difference or 0.0)
                assert changes.tones[place] == ("better" if gain > 0 else "worse" if gain < 0 else "same")
                assert abs(gain) >= 10 or "10" not in changes.names[place]
            else:
                assert changes.names[place] == query.outcome
        assert not any("10" in name for name in changes_of(pair_of(by_query, cutoff=5)).names)

    def test_bins_go_by_the_share_found_where_most_queries_are_won_or_lost(self) -> None:
        qrels = {f"q{number}": {f"d{place}": 1 for place in range(10)} for number in range(8)}
        found = [(2, 3), (2, 3), (2, 4), (5, 2), (2, 10), (3, 3), (0, 0), (2, 2)]  # of ten documents each

        def run(side: int, last: int) -> dict[str, dict[str, float]]:
            return {
                query: {**{f"d{place}": 9.0 - place for place in range(pair[side])}, f"x{last}": 9.5 if last else 0.0}
                for query, pair in zip(qrels, found, strict=True)
            }

        changes = changes_of(pair_of(iro.evaluate(qrels, {"a": run(0, 1), "b": run(1, 0)}, unit="document")))
        assert changes.by_share
        names = [changes.names[place] if place >= 0 else "neither" for place in changes.bins]
        more = ["10\N{EN DASH}20 more", "10\N{EN DASH}20 more", "20\N{EN DASH}50 more"]
        assert names == [*more, "20\N{EN DASH}50 fewer", "\N{GREATER-THAN OR EQUAL TO}50 more", "higher", "neither", "higher"]
        assert [changes.tones[place] for place in changes.bins[:6]] == ["better"] * 3 + ["worse"] + ["better"] * 2
        one = {query: {"d0": 1} for query in qrels}  # with one relevant document both units show the same
        by_unit = [
            changes_of(pair_of(iro.evaluate(one, {"a": run(0, 1), "b": run(1, 0)}, unit=unit))) for unit in get_args(Unit)
        ]
        assert by_unit[0] == by_unit[-1]

    def test_right_is_better_in_every_chart(self, evaluation: iro.Evaluation) -> None:
        comparisons: Any = iro.compare(evaluation, "a", ["b", "c"])
        forest: Any = forest_of(comparisons)
        for row in forest.rows:
            coverage, ranking = row.estimates
            assert coverage.gain == comparisons[row.section].coverage.difference
            assert ranking.gain == pytest.approx(-comparisons[row.section].ranking.difference)
            assert ranking.low == pytest.approx(-comparisons[row.section].ranking.interval.high)

    def test_page_says_where_lists_end_before_the_cutoff(self) -> None:
        qrels, runs = collection(2, 20)  # ten documents each
        page = iro.report(iro.evaluate(qrels, runs, cutoff=100, documents=20)).html
        assert "cutoff 100 (lists end at 10)" in page
        assert "queries answered within rank 10<" in page

    def test_findings_are_those_that_the_label_rests_on(self) -> None:
        qrels = {f"q{number}": {"gold": 1} for number in range(60)}

        def run(ranks: list[int]) -> dict[str, dict[str, float]]:
            return {
                q: {"gold": -float(rank), **{f"x{n}": -n - 0.5 for n in range(30)}}
                for q, rank in zip(qrels, ranks, strict=True)
            }

        evaluation = iro.evaluate(qrels, {"a": run([5] * 60), "b": run([2] * 55 + [9] * 5)}, cutoff=20)
        up, down = (facets_of(pair_of(evaluation[names], *names)) for names in (["a", "b"], ["b", "a"]))
        assert [row["finding"] for row in up] == ["no finding", "improves", "agrees"]
        assert [row["finding"] for row in down] == ["no finding", "worsens", "agrees"]
        assert [row["estimate"].tone for row in down] == ["same", "worse", "check"]

    def test_collections_have_queries_of_their_own(self, evaluation: iro.Evaluation) -> None:
        evaluations = {"first": evaluation, "second": evaluation.restrict(evaluation.query_ids[:20])}
        data = island(iro.report(evaluations, "a", ["b"]))
        assert [len(own["ids"]) for own in data["sets"]] == [40, 20]
        assert [item["title"] for item in data["comparisons"]] == ["first: b against a", "second: b against a"]

    def test_labels_of_a_leaderboard_are_those_of_its_pairs(self, evaluation: iro.Evaluation) -> None:
        board = iro.leaderboard(evaluation)
        data = island(board.to_report(evaluation=evaluation))
        assert len(data["comparisons"]) == 3
        for item in data["comparisons"]:
            assert item["label"] == board.verdict(item["baseline"], item["contender"]).label

    def test_pairs_of_a_leaderboard_that_do_not_fit_are_counted(self) -> None:
        qrels, runs = collection(3, 300, relevant=2)
        names = [f"run {number}" for number in range(12)]
        pool = list(runs.values())
        several = iro.evaluate(qrels, [pool[number % len(pool)] for number in range(12)], names=names, documents=20)
        page = iro.leaderboard(several).to_report(evaluation=several, max_mb=0.35)
        assert 1 <= len(island(page)["comparisons"]) < 45
        assert "of 45 comparisons are included" in page.html
        assert len(page.html.encode()) <= 350_000

    def test_conditions_and_contenders_are_crossed(self, evaluation: iro.Evaluation) -> None:
        html = (
            iro.compare_collections({"one": evaluation, "two": evaluation.restrict(evaluation.query_ids[:20])}, "a")
            .to_report()
            .html
        )
        matrix = html[html.index('<table class="matrix">') :]
        assert matrix.index('<th scope="row">b</th>') < matrix.index('<th scope="row">c</th>')


class TestRankings:
    def test_lists_are_those_of_the_runs(self) -> None:
        qrels = {"1": {"d9": 2, "d1": 0}, "2": {"d3": 1}}
        scores = {f"d{n}": -99.0 if n == 9 else -n for n in range(30)}
        runs = {"a": {"1": scores, "2": {"d3": 1.0}}, "b": {"1": {"d1": 2.0, "x": 1.0}}}
        page = iro.report(iro.evaluate(qrels, runs, documents=20))
        first, second = island(page)["sets"][0]["rankings"]
        assert [first["ids"][place] for place in first["lists"][1]] == ["d1", "x"]
        assert len(first["lists"][0]) == 20
        grades = {first["ids"][int(place)]: grade for place, grade in first["grades"].items()}
        assert grades == {"d9": 2, "d1": 0}
        assert first["beyond"] == [[[first["ids"].index("d9"), 30]], []]
        assert second["lists"] == [[0], []]

    def test_runs_are_read_again_where_lists_were_not_kept(self, evaluation: iro.Evaluation) -> None:
        qrels, runs = collection(2, 20)
        without = iro.evaluate(qrels, list(runs.values()), names=["a", "b"])
        kept = iro.evaluate(qrels, list(runs.values()), names=["a", "b"], documents=20)
        with pytest.warns(iro.IrOutcomesWarning, match="documents=20"):
            page = iro.report(without)
        assert island(page)["sets"] == island(iro.report(kept))["sets"]

    def test_without_the_evaluation_the_page_says_so(self, evaluation: iro.Evaluation) -> None:
        page = iro.compare(evaluation, "a", "b").to_report()
        assert "made without the evaluation" in page.html
        assert island(page)["sets"][0]["rankings"] is None

    def test_evaluation_of_other_runs_is_refused(self, evaluation: iro.Evaluation) -> None:
        comparison = iro.compare(evaluation, "a", "b")
        with pytest.raises(iro.ParameterError, match="no run is called 'b'"):
            comparison.to_report(evaluation=evaluation[["a", "c"]])
        with pytest.raises(iro.ParameterError, match="lacks the query"):
            comparison.to_report(evaluation=evaluation.restrict(evaluation.query_ids[:3]))

    def test_queries_that_change_most_come_first(self) -> None:
        qrels = {f"q{n}": {"gold": 1} for n in range(200)}
        filler = {f"document-number-{n}": float(-n) for n in range(30)}
        a = {query: {"gold": 1.0, **filler} for query in qrels}
        b = {query: {"gold": 1.0 if n != 150 else -25.5, **filler} for n, query in enumerate(qrels)}
        evaluation = iro.evaluate(qrels, {"a": a, "b": b}, documents=20)
        full = iro.report(evaluation)
        size = len(full.html.encode()) / 1e6
        small = iro.report(evaluation, max_mb=0.8 * size)
        rankings = island(small)["sets"][0]["rankings"]
        assert rankings[150] is not None
        assert 0 < sum(entry is not None for entry in rankings) < 200
        assert "other queries are left out" in small.html
        assert len(small.html.encode()) <= 0.8 * size * 1e6

    @pytest.mark.parametrize("kind", ["pair", "collections", "slices", "board"])
    def test_every_page_takes_texts_and_meets_its_size(self, evaluation: iro.Evaluation, kind: str) -> None:
        plain = dataclasses.replace(evaluation, texts={})
        given: Any = {"one": plain, "two": plain.restrict(plain.query_ids[:20])} if kind == "collections" else plain
        by = {query: f"slice {number % 2}" for number, query in enumerate(plain.query_ids)}
        makers: dict[str, Callable[[], Any]] = {
            "pair": lambda: iro.compare(given, "a", "b"),
            "collections": lambda: iro.compare_collections(given, "a"),
            "slices": lambda: iro.compare_slices(given, by, "a"),
            "board": lambda: iro.leaderboard(given),
        }
        result = makers[kind]()
        texts: dict[str, Any] = {"docs": {"gold": "the text"}, "queries": evaluation.texts}
        with pytest.raises(iro.ParameterError, match=r"the page has 0\.\d+ MB even without any ranked list") as found:
            result.to_report(evaluation=given, max_mb=0.001, **texts)
        least = float(re.findall(r"has (\S+) MB", str(found.value))[0])
        for max_mb in (least, least + 0.05):
            page = result.to_report(evaluation=given, max_mb=max_mb, **texts)
            assert len(page.html.encode()) <= max_mb * 1e6
        assert island(page)["sets"][0]["texts"] == [evaluation.texts[query] for query in island(page)["sets"][0]["ids"]]

    @pytest.mark.parametrize("max_mb", [0, -1, "5", True, float("nan"), float("inf")])
    def test_invalid_size_is_refused(self, evaluation: iro.Evaluation, max_mb: Any) -> None:
        with pytest.raises(iro.ParameterError, match="max_mb"):
            iro.report(evaluation, "a", "b", max_mb=max_mb)


class TestTexts:
    def test_of_a_file(self, tmp_path: Path) -> None:
        docs = tmp_path / "docs.jsonl"
        lines = [
            {"doc_id": "d1", "text": "long " * 200},
            {"_id": "d2", "title": "A title", "text": "and text"},
            {"doc_id": "other", "text": "unused"},
        ]
        docs.write_text("\n".join(map(json.dumps, lines)))
        runs = {name: {"q": {"d1": 2.0, "d2": 1.0}} for name in "ab"}
        texts = island(iro.report(iro.evaluate({"q": {"d1": 1}}, runs, documents=5), docs=docs))["sets"][0]["documents"]
        assert set(texts) == {"d1", "d2"}
        assert texts["d2"] == "A title. and text"
        assert len(texts["d1"]) <= 280
        assert texts["d1"].endswith("long \u2026")

    @pytest.mark.parametrize("line", ["not json", "[1]", '{"text": "no id"}', '{"doc_id": true}'])
    def test_line_that_is_no_document(self, tmp_path: Path, line: str) -> None:
        docs = tmp_path / "docs.jsonl"
        docs.write_text(f'{{"doc_id": "d1", "text": "x"}}\n\n{line}\n')
        evaluation = iro.evaluate({"q": {"d1": 1}}, {name: {"q": {"d1": 2.0}} for name in "ab"}, documents=5)
        with pytest.raises(iro.FormatError, match=r"docs.jsonl, line 3: is not a document.*doc_id"):
            iro.report(evaluation, docs=docs)


class Document(NamedTuple):
    doc_id: str
    title: str
    body: str


@pytest.mark.parametrize("is_built", [True, False])
def test_texts_of_a_dataset_that_is_here(monkeypatch: pytest.MonkeyPatch, is_built: bool) -> None:
    import ir_datasets

    def get_many(ids: list[str]) -> dict[str, Document]:
        assert is_built, "the documents would be downloaded"
        return {"d1": Document("d1", "title of d1", "and body")}

    store = SimpleNamespace(built=lambda: is_built, get_many=get_many)
    dataset = SimpleNamespace(has_docs=lambda: True, docs_store=lambda: store)
    monkeypatch.setattr(ir_datasets, "registry", {"made/up": None})
    monkeypatch.setattr(ir_datasets, "load", lambda name: dataset)
    texts = texts_of_documents(None, {"d1", "x"}, "made/up")
    assert texts == ({"d1": "title of d1 and body"} if is_built else {})
    assert texts_of_documents(None, {"d1"}, "qrels") == {}


class Scripts(HTMLParser):
    """Collects what a browser would run or load."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.scripts: list[dict[str, str | None]] = []
        self.suspicious: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "script":
            self.scripts.append(given)
        names = [name for name in given if name.startswith("on") or name in ("style", "src", "srcset", "srcdoc", "action")]
        links = [given["href"] or "" for name in given if name == "href" and not (given["href"] or "").startswith("#")]
        if names or links or tag in ("img", "iframe", "object", "embed", "link", "base"):
            self.suspicious.append(f"{tag} {given}")


class TestSafety:
    def test_markup_of_inputs_is_text(self, tmp_path: Path) -> None:
        qrels = {BAD: {BAD: 1}, "q2": {"d": 1}}
        runs = {f"{BAD}{name}": {BAD: {BAD: 1.0, f"{BAD}x": 2.0}, "q2": {"d": 1.0}} for name in "ab"}
        evaluation = iro.evaluate(qrels, runs, documents=5, queries={BAD: BAD, "q2": "x"})
        page = iro.report(evaluation, docs={BAD: BAD}, slices={BAD: BAD}, command=BAD)
        found = Scripts(page.html)
        assert found.scripts == [{"type": "application/json", "id": "data"}, {}]
        assert found.suspicious == []
        assert "\u2028" not in page.html
        own = island(page)["sets"][0]
        visible = BAD.replace("\u2028", "\\u2028")
        assert own["ids"][0] == own["texts"][0] == own["slices"][0] == visible
        assert own["documents"] == {visible: BAD.replace("\u2028", " ")}  # first words, separated by spaces

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_result_has_a_page(self, kind: str) -> None:
        page = result_of(kind).to_report()
        found = Scripts(page.html)
        assert len(found.scripts) == 2
        assert found.suspicious == []
        assert "\x1b" not in page.html
        assert "\u202e" not in page.html

    def test_policy_allows_only_what_is_on_the_page(self, evaluation: iro.Evaluation) -> None:
        html = iro.report(evaluation, "a", "b").html
        policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)[0].replace("&#39;", "'")
        assert policy.startswith("default-src 'none'; ")
        for tag in ("script", "style"):
            content = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)[0]
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy
        assert "unsafe" not in policy
        assert "http" not in html.replace("http-equiv", "")


class TestFile:
    def test_same_inputs_give_the_same_bytes(self, evaluation: iro.Evaluation, tmp_path: Path) -> None:
        paths = [tmp_path / name for name in ("one.html", "two.html")]
        for path in paths:
            iro.report(evaluation, "a", "b", path=path)
        assert paths[0].read_bytes() == paths[1].read_bytes()
        assert paths[0].read_bytes() == iro.report(evaluation, "a", "b").html.encode()

    def test_inputs_are_named_with_their_hashes(self, tmp_path: Path) -> None:
        qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
        qrels.write_text("q 0 d 1\n")
        run.write_text("q Q0 d 1 1.0 a\n")
        (tmp_path / "b.run").write_text("q Q0 d 1 1.0 b\n")
        command = f"ir-outcomes report {qrels} {run} --docs={run} -o ./out/page.html msmarco/dev"
        html = iro.report(iro.evaluate(qrels, [run, tmp_path / "b.run"], documents=5), inputs=[qrels], command=command).html
        for path in (qrels, run):
            assert html.count(hashlib.sha256(path.read_bytes()).hexdigest()) == 1
        assert str(tmp_path) not in html
        assert "ir-outcomes report qrels.txt a.run --docs=a.run -o page.html msmarco/dev" in html


@pytest.mark.realdata
def test_size_of_msmarco(real_data: Path) -> None:
    folder = real_data / "msmarco-doc-dev"
    evaluation = iro.evaluate(folder / "qrels.txt", [folder / "bm25.run.gz", folder / "bm25+rm3.run.gz"], documents=20)
    page = iro.report(evaluation)
    assert len(page.html.encode()) <= 3_000_000
    assert len(island(page)["sets"][0]["ids"]) == 5193


def test_restored_result_without_queries(evaluation: iro.Evaluation) -> None:
    comparison = iro.compare(evaluation, "a", "b")
    restored = iro.Comparison.from_json(comparison.to_json())
    assert "stored without its queries" in report_of(restored, evaluation=evaluation).html
