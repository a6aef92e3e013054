from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ir_outcomes.across.gate import GateResult
from ir_outcomes.comparison.holes import Holes
from ir_outcomes.comparison.plan import Plan
from tests.helpers.command_line import call

ROOT = Path(__file__).parents[2]
MARGINS = ("--margins", "2pp,1", "--format", "json")
STATUSES = {  # words of the command, exit status
    "pass": (["bm25.run", "bm25-stem.run", "--margins", "2pp,1"], 0),
    "fail": (["bm25.run", "rrf-stem-lsa.run", "--margins", "2pp,1"], 3),
    "inconclusive": (["bm25.run", "bm25-flat.run", "--margins", "0.5pp,0.05"], 4),
}


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=folder, env=environment, check=False)


def suite_of(sample: Path, folder: Path, collections: dict[str, dict[str, str]]) -> list[str]:
    """Write collections, each a name for some runs of the sample, and return the words that decide on them."""
    for collection, runs in collections.items():
        (folder / collection).mkdir()
        for name, file in {"qrels.txt": "qrels.txt", **runs}.items():
            shutil.copy(sample / file, folder / collection / name)
    return ["gate", "--suite", str(folder), "--baseline", "old", *MARGINS]


def decided(*words: str | Path, folder: Path | None = None) -> tuple[int, dict[str, str], GateResult]:
    """The exit status, the status of each decision, and the result."""
    done = call(*words, folder=folder)
    found = GateResult.from_json(done.stdout)
    return done.returncode, {decision.name: decision.status for decision in found.decisions}, found


@pytest.mark.parametrize("name", STATUSES)
def test_the_decision_as_json_as_a_summary_and_as_a_page(name: str, sample: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    words, status = STATUSES[name]
    target, summary, page = tmp_path / "gate.json", tmp_path / "summary.md", tmp_path / "report.html"
    summary.write_text("before\n")
    more: list[str | Path] = ["--output", target, "--summary", summary, "--queries", "queries.tsv", "--report", page]
    done = call("gate", "qrels.txt", *words, *more, folder=sample)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")
    found = GateResult.from_json(target.read_text())
    assert (found.status, found.exit_status) == (name, status)
    assert list(found.inputs) == ["qrels.txt", *words[:2]]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in found.inputs.values())
    assert summary.read_text().startswith(f"before\n**{name}: ")
    assert len(found.decisions[0].queries) == (0 if name == "pass" else 10)
    assert all(query.text for query in found.decisions[0].queries)
    assert Path(words[1]).stem in page.read_text()


def test_runs_without_results_fail_and_unreadable_ones_are_errors(sample: Path, tmp_path: Path) -> None:
    status, decisions, found = decided("gate", "qrels.txt", "bm25.run", "empty.run", "bm25-stem.run", *MARGINS, folder=sample)
    assert (status, decisions) == (3, {"bm25-stem": "pass", "empty": "fail"})
    assert "empty has no results for 1000 of the 1000 answerable queries (100.0 %)" in found.worst.reasons[0]
    status, _, found = decided("gate", "qrels.txt", "empty.run", "bm25.run", *MARGINS, folder=sample)
    assert (status, "empty has no results" in found.worst.reasons[0]) == (3, True)
    done = call("gate", "empty.run", "bm25.run", "bm25-stem.run", *MARGINS, folder=sample)
    assert (done.returncode, "empty.run: is empty" in done.stderr) == (1, True)
    (tmp_path / "bad.run").write_text("this is no run\n")
    assert call("gate", "qrels.txt", "bm25.run", tmp_path / "bad.run", *MARGINS, folder=sample).returncode == 1
    lines = (sample / "bm25.run").read_text().splitlines(keepends=True)
    (tmp_path / "part.run").write_text("".join(lines[: len(lines) // 2]))
    status, _, found = decided("gate", "qrels.txt", "bm25.run", tmp_path / "part.run", *MARGINS, folder=sample)
    assert (status, "part has no results for" in found.worst.reasons[0]) == (3, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["qrels.txt", "bm25.run", "bm25-stem.run"], "--margins"),
        (["qrels.txt", "bm25.run", "--margins", "1pp,1"], "at least one RUN"),
        (["qrels.txt", "--suite", "s", "--margins", "1pp,1"], "or else --suite"),
        (["qrels.txt", "bm25.run", "bm25-stem.run", "--baseline", "b", "--margins", "1pp,1"], "or else --suite"),
        (["qrels.txt", "bm25.run", "bm25-stem.run", "--margins", "1pp,1", "--max-missing", "2"], "--max-missing"),
        (["qrels.txt", "a.run", "b.run", "--margins", "1pp,1", "--reference", "a.run"], "is the baseline already"),
    ],
)
def test_wrong_usage(words: list[str], message: str, sample: Path) -> None:
    done = call("gate", *words, folder=sample)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_suite_is_as_good_as_its_worst_collection(sample: Path, tmp_path: Path) -> None:
    collections = {"first": "bm25-stem.run", "second": "rrf-stem-lsa.run"}
    words = suite_of(sample, tmp_path, {name: {"old.run": "bm25.run", "new.run": new} for name, new in collections.items()})
    status, decisions, found = decided(*words)
    assert (status, decisions, len(found.inputs)) == (3, {"new on first": "pass", "new on second": "fail"}, 6)
    (tmp_path / "first" / "new.run").write_bytes(b"")
    _, decisions, found = decided(*words)
    assert set(decisions.values()) == {"fail"}
    assert "new has no results" in next(decision for decision in found.decisions if decision.condition == "first").reasons[0]


def test_a_run_that_a_collection_of_a_suite_lacks_fails(sample: Path, tmp_path: Path) -> None:
    both = {"old.run": "bm25.run", "release.run": "bm25.run"}
    words = suite_of(sample, tmp_path, {"first": {**both, "new.run": "bm25-stem.run"}, "second": both})
    words += ["--reference", "release"]
    status, decisions, found = decided(*words)
    assert (status, decisions) == (3, {
        "new on first": "pass", "new on second": "fail",
        "new against release on first": "pass", "new against release on second": "fail",
    })  # fmt: skip
    assert found.decisions[1].reasons == ("new cannot be compared on second: new is missing there.",)
    assert call(*words, "--allow-missing", "new@second").returncode == 0
    assert call(*words, "--allow-missing", "new@first").returncode == 3
    done = call(*words, "--allow-missing", "new@secnod")
    assert (done.returncode, "'new@secnod' is no run@collection" in done.stderr) == (1, True)
    (tmp_path / "second" / "new.run").touch()  # an empty run is not missing
    assert call(*words, "--allow-missing", "new@second").returncode == 3
    (tmp_path / "second" / "new.run").unlink()
    (tmp_path / "first" / "extra.run").touch()  # empty where it is, and missing in the other collection
    _, decisions, _ = decided(*words, "--allow-missing", "new@second")
    assert {name for name, status in decisions.items() if status == "fail"} == {
        "extra on first", "extra on second", "extra against release on first", "extra against release on second",
    }  # fmt: skip


def test_a_reference_is_a_second_baseline(sample: Path) -> None:
    words = ("gate", "qrels.txt", "bm25-flat.run", "bm25-stem.run", *MARGINS)
    status, decisions, found = decided(*words, "--reference", "bm25.run", folder=sample)
    assert (status, list(decisions)) == (0, ["bm25-stem", "bm25-stem against bm25"])
    assert (found.baseline, found.reference, list(found.inputs)[-1]) == ("bm25-flat", "bm25", "bm25.run")
    words = ("gate", "qrels.txt", "bm25.run", "rrf-stem-lsa.run", *MARGINS)
    assert call(*words, "--reference", "bm25-stem.run", folder=sample).returncode == 3
    status, decisions, found = decided(*words, "--reference", "empty.run", folder=sample)
    assert (status, decisions["rrf-stem-lsa against empty"]) == (3, "fail")
    assert "empty has no results" in found.decisions[-1].reasons[0]


def test_the_baseline_can_be_named_and_runs_of_a_folder_are_compared_once(sample: Path, tmp_path: Path) -> None:
    for name in ("bm25.run", "bm25-flat.run", "bm25-stem.run"):
        shutil.copy(sample / name, tmp_path)
    for words in (["bm25", str(tmp_path)], [str(tmp_path / "bm25.run"), str(tmp_path)]):
        _, decisions, _ = decided(
            "gate", "qrels.txt", *words, *MARGINS, "--reference", tmp_path / "bm25-flat.run", folder=sample
        )
        assert list(decisions) == ["bm25-stem", "bm25-stem against bm25-flat"]


@pytest.mark.parametrize(
    ("text", "margins"),
    [
        ("1pp,0.5ranks", (1, 0.5)), ("0.5ranks,1pp", (1, 0.5)), ("1,0.5,2", (1, 0.5, 2)), ("2ranks-all,1pp,0.5", None),
        ("2ranks-all,1pp,0.5 ranks", (1, 0.5, 2)),
        ("1pp,1pp", None), ("1", None), ("1pp,,1", None), ("1ms,1", None), ("1pp,0", None), ("1pp,1,nan", None),
    ],
)  # fmt: skip
def test_margins_are_read_by_their_units(text: str, margins: tuple[float, ...] | None, small: Path) -> None:
    done = call("gate", "qrels.txt", "bm25.run", "bm25.run", "--margins", text, "--format", "json", folder=small)
    assert done.returncode == (2 if margins is None else 0)
    if margins is not None:
        assert GateResult.from_json(done.stdout).margins == margins


def test_options_come_before_the_settings_of_a_suite(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / f"{name}.run").write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 2\n")
    collection = {"qrels": "qrels.txt", "runs": {"old": "old.run", "new": "new.run"}, "rel": 2, "cutoff": 5}
    (tmp_path / "suite.json").write_text(json.dumps({"collections": {"one": collection}}))
    words = ["gate", "--suite", str(tmp_path / "suite.json"), "--baseline", "old", *MARGINS]
    for options, expected in (([], (2, 5)), (["--rel", "1", "--cutoff", "7"], (1, 7))):
        settings: Any = decided(*words, *options)[2].settings
        assert (settings.rel, settings.cutoff) == expected


def test_clusters_are_the_unit_of_the_decision(small: Path, tmp_path: Path) -> None:
    queries = dict.fromkeys(line.split()[0] for line in (small / "qrels.txt").read_text().splitlines())
    clusters = tmp_path / "clusters.tsv"
    clusters.write_text("".join(f"{query}\tc{place // 3}\n" for place, query in enumerate(queries)))
    words = ("gate", "qrels.txt", "bm25.run", "bm25-flat.run", "--margins", "0.5pp,0.05", "--clusters", clusters)
    _, _, found = decided(*words, "--format", "json", folder=small)
    settings: Any = found.settings
    assert settings.n_clusters == 50
    assert "clusters of queries like these" in found.worst.reasons[0]


def run_of_action(name: str, sample: Path, folder: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    """Run the last step of the action in a folder."""
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    step = action["runs"]["steps"][-1]
    assert set(re.findall(r"inputs\.([\w-]+)", str(action["runs"]))) == set(action["inputs"])
    assert "${{" not in step["run"]
    words, _ = STATUSES[name]
    inputs = {
        "QRELS": str(sample / "qrels.txt"), "BASELINE": str(sample / words[0]), "RUNS": f"{sample / words[1]}\n",
        "MARGINS": words[3], "OPTIONS": "", "INCONCLUSIVE": "fail", "JSON": "gate.json", "REPORT": "",
        "GITHUB_STEP_SUMMARY": "summary", "GITHUB_OUTPUT": "output", **changed,
    }  # fmt: skip
    assert set(step["env"]) <= set(inputs)
    return shell(f"set -eo pipefail\n{step['run']}", folder, **inputs)


def test_the_script_of_the_action(sample: Path, tmp_path: Path) -> None:
    options = {"OPTIONS": f"--queries {sample / 'queries.tsv'}", "INCONCLUSIVE": "pass"}
    for name, (_, status) in STATUSES.items():
        done = run_of_action(name, sample, tmp_path, JSON=f"{name}.json", **options)
        assert done.returncode == (0 if name == "inconclusive" else status), done.stderr
        assert json.loads((tmp_path / f"{name}.json").read_text())["kind"] == "GateResult"
    assert (tmp_path / "output").read_text().split() == [f"status={name}" for name in STATUSES]
    assert re.findall(r"^\*\*(\w+): ", (tmp_path / "summary").read_text(), re.MULTILINE) == list(STATUSES)


def test_files_of_the_workspace_do_not_run_in_place_of_modules(sample: Path, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    steps = [step["run"] for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"] if "run" in step]
    for name in ("numpy", "pip", "ir_outcomes", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("import os\nprint('hostile')\nos._exit(0)\n")
    done = run_of_action("fail", sample, tmp_path, PYTHONPATH="")
    assert (done.returncode, "hostile" in done.stdout) == (3, False), done.stderr
    assert shell(steps[0].replace(" install ", " --version #"), tmp_path).stdout.startswith("pip ")


def test_holes_and_plans(sample: Path) -> None:
    words = ("qrels.txt", "bm25.run", "bm25-stem.run", "--cutoff", "10")
    found = Holes.from_json(call("holes", *words, "--format", "json", folder=sample).stdout)
    assert found.settings.cutoff == 10
    assert call("holes", *words, "--to-judge", "3", folder=sample).stdout == found.to_tsv(3)
    planned = Plan.from_json(call("plan", *words, "--margins", "2pp,1", "--format", "json", folder=sample).stdout)
    assert (planned.coverage.effect, planned.ranking.effect) == (2.0, 1.0)
    done = call("plan", "qrels.txt", "bm25.run", "bm25-stem.run", "bm25-flat.run", folder=sample)
    assert done.stdout.count("Queries needed for 80 % power") == 2
    assert "By default the differences to detect are 1 percentage point" in done.stdout


def test_a_suite_names_its_runs(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text('[collections.one]\nqrels = "qrels.txt"\nruns = {old = "a.run", new = "b.run"}\n')
    done = call("gate", "--suite", tmp_path / "suite.toml", "--baseline", "old", *MARGINS, "--name", "x")
    assert (done.returncode, "a suite names its runs itself" in done.stderr) == (2, True)
