from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ir_outcomes.across.gate import GateResult
from ir_outcomes.comparison.holes import Holes
from ir_outcomes.comparison.plan import Plan
from ir_outcomes.samples import write_sample
from tests.helpers.command_line import call

ROOT = Path(__file__).parents[2]
STATUSES = {  # words of the command, exit status
    "pass": (["bm25.run", "bm25-stem.run", "--margins", "2pp,1"], 0),
    "fail": (["bm25.run", "rrf-stem-lsa.run", "--margins", "2pp,1"], 3),
    "inconclusive": (["bm25.run", "bm25-flat.run", "--margins", "0.5pp,0.05"], 4),
}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    (folder / "empty.run").touch()
    return folder


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=folder, env=environment, check=False)


def test_all_statuses_from_a_shell_that_stops_at_errors(sample: Path) -> None:
    lines = {
        name: f"python -m ir_outcomes gate qrels.txt {' '.join(words)} > {name}.txt" for name, (words, _) in STATUSES.items()
    }
    caught = [f"code=0; {lines[name]} || code=$?; echo $code" for name in ("pass", "inconclusive")]
    done = shell("\n".join(["set -e", *caught, lines["fail"], "echo never"]), sample)
    assert (done.stdout.split(), done.returncode) == (["0", "4"], 3)


@pytest.mark.parametrize("name", STATUSES)
def test_the_decision_as_json_and_as_a_summary(name: str, sample: Path, tmp_path: Path) -> None:
    words, status = STATUSES[name]
    target, summary = tmp_path / "gate.json", tmp_path / "summary.md"
    summary.write_text("before\n")
    more: list[str | Path] = ["--format", "json", "--output", target, "--summary", summary, "--queries", "queries.tsv"]
    done = call("gate", "qrels.txt", *words, *more, folder=sample)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")
    found = GateResult.from_json(target.read_text())
    assert (found.status, found.exit_status) == (name, status)
    assert list(found.inputs) == ["qrels.txt", *words[:2]]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in found.inputs.values())
    assert summary.read_text().startswith(f"before\n**{name}: ")
    assert len(found.decisions[0].queries) == (0 if name == "pass" else 10)
    assert all(query.text for query in found.decisions[0].queries)


def test_runs_without_results_fail_and_unreadable_ones_are_errors(sample: Path, tmp_path: Path) -> None:
    margins = ("--margins", "2pp,1", "--format", "json")
    done = call("gate", "qrels.txt", "bm25.run", "empty.run", "bm25-stem.run", *margins, folder=sample)
    assert done.returncode == 3
    found = GateResult.from_json(done.stdout)
    assert {decision.contender: decision.status for decision in found.decisions} == {"bm25-stem": "pass", "empty": "fail"}
    assert "is empty" in found.worst.reasons[0]
    done = call("gate", "qrels.txt", "bm25.run", "empty.run", *margins, folder=sample)
    assert (done.returncode, GateResult.from_json(done.stdout).settings) == (3, None)
    done = call("gate", "qrels.txt", "empty.run", "bm25.run", *margins, folder=sample)
    assert (done.returncode, "bm25 cannot be compared" in done.stdout) == (3, True)
    done = call("gate", "empty.run", "bm25.run", "bm25-stem.run", *margins, folder=sample)
    assert (done.returncode, "empty.run: is empty" in done.stderr) == (1, True)
    (tmp_path / "bad.run").write_text("this is no run\n")
    done = call("gate", "qrels.txt", "bm25.run", tmp_path / "bad.run", *margins, folder=sample)
    assert done.returncode == 1
    lines = (sample / "bm25.run").read_text().splitlines(keepends=True)
    (tmp_path / "part.run").write_text("".join(lines[: len(lines) // 2]))
    done = call("gate", "qrels.txt", "bm25.run", tmp_path / "part.run", *margins, folder=sample)
    assert done.returncode == 3
    assert "part has no results for" in GateResult.from_json(done.stdout).decisions[0].reasons[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["qrels.txt", "bm25.run", "bm25-stem.run"], "--margins"),
        (["qrels.txt", "bm25.run", "--margins", "1pp,1"], "at least one RUN"),
        (["qrels.txt", "--suite", "s", "--margins", "1pp,1"], "or else --suite"),
        (["qrels.txt", "bm25.run", "bm25-stem.run", "--baseline", "b", "--margins", "1pp,1"], "or else --suite"),
        (["qrels.txt", "bm25.run", "bm25-stem.run", "--allow-missing", "a@b", "--margins", "1pp,1"], "or else --suite"),
        (["qrels.txt", "bm25.run", "bm25-stem.run", "--margins", "1pp,0"], "must be positive"),
        (["qrels.txt", "bm25.run", "bm25-stem.run", "--margins", "1pp,1", "--max-missing", "2"], "--max-missing"),
    ],
)
def test_wrong_usage(words: list[str], message: str, sample: Path) -> None:
    done = call("gate", *words, folder=sample)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_suite_is_as_good_as_its_worst_collection(sample: Path, tmp_path: Path) -> None:
    for collection, contender in (("first", "bm25-stem"), ("second", "rrf-stem-lsa")):
        folder = tmp_path / collection
        folder.mkdir()
        (folder / "qrels.txt").write_bytes((sample / "qrels.txt").read_bytes())
        (folder / "old.run").write_bytes((sample / "bm25.run").read_bytes())
        (folder / "new.run").write_bytes((sample / f"{contender}.run").read_bytes())
    words = ["gate", "--suite", str(tmp_path), "--baseline", "old", "--margins", "2pp,1", "--format", "json"]
    done = call(*words)
    assert done.returncode == 3
    found = GateResult.from_json(done.stdout)
    assert [(decision.name, decision.status) for decision in found.decisions] == [
        ("new on first", "pass"),
        ("new on second", "fail"),
    ]
    assert len(found.inputs) == 6
    (tmp_path / "first" / "new.run").write_bytes(b"")
    found = GateResult.from_json(call(*words).stdout)
    assert [decision.status for decision in found.decisions] == ["fail", "fail"]
    assert "is empty" in next(decision for decision in found.decisions if decision.condition == "first").reasons[0]


def test_a_run_that_a_collection_of_a_suite_lacks_fails(sample: Path, tmp_path: Path) -> None:
    for collection, runs in (("first", ("old", "new", "release")), ("second", ("old", "release"))):
        folder = tmp_path / collection
        folder.mkdir()
        (folder / "qrels.txt").write_bytes((sample / "qrels.txt").read_bytes())
        for run in runs:
            name = "bm25-stem" if run == "new" else "bm25"
            (folder / f"{run}.run").write_bytes((sample / f"{name}.run").read_bytes())
    words = ["gate", "--suite", str(tmp_path), "--baseline", "old", "--margins", "2pp,1", "--format", "json"]
    words += ["--reference", "release"]
    done = call(*words)
    found = GateResult.from_json(done.stdout)
    assert (done.returncode, [(decision.name, decision.status) for decision in found.decisions]) == (3, [
        ("new on first", "pass"), ("new on second", "fail"),
        ("new against release on first", "pass"), ("new against release on second", "fail"),
    ])  # fmt: skip
    assert found.decisions[1].reasons == ("new cannot be compared on second: new is missing there.",)
    assert call(*words, "--allow-missing", "new@second").returncode == 0
    done = call(*words, "--allow-missing", "new@first")
    assert done.returncode == 3
    done = call(*words, "--allow-missing", "new@secnod")
    assert (done.returncode, "'new@secnod' is no run@collection" in done.stderr) == (1, True)
    (tmp_path / "second" / "new.run").touch()  # an empty run is not missing
    assert call(*words, "--allow-missing", "new@second").returncode == 3
    (tmp_path / "second" / "new.run").unlink()
    (tmp_path / "first" / "extra.run").touch()  # empty where it is, and missing in the other collection
    done = call(*words, "--allow-missing", "new@second")
    failed = {decision.name for decision in GateResult.from_json(done.stdout).decisions if decision.status == "fail"}
    assert (done.returncode, failed) == (3, {
        "extra on first", "extra on second", "extra against release on first", "extra against release on second",
    })  # fmt: skip


def test_a_reference_is_a_second_baseline(sample: Path, tmp_path: Path) -> None:
    words = ("gate", "qrels.txt", "bm25-flat.run", "bm25-stem.run", "--margins", "2pp,1", "--format", "json")
    done = call(*words, "--reference", "bm25.run", folder=sample)
    assert done.returncode == 0
    found = GateResult.from_json(done.stdout)
    assert [decision.name for decision in found.decisions] == ["bm25-stem", "bm25-stem against bm25"]
    assert (found.baseline, found.reference, list(found.inputs)[-1]) == ("bm25-flat", "bm25", "bm25.run")
    done = call(*words, "--reference", "rrf-stem-lsa.run", folder=sample)
    assert done.returncode != 3
    done = call("gate", "qrels.txt", "bm25.run", "rrf-stem-lsa.run", *words[4:], "--reference", "bm25-stem.run", folder=sample)
    assert done.returncode == 3
    done = call(*words, "--reference", "empty.run", folder=sample)
    assert (done.returncode, "bm25-stem cannot be compared: empty.run: is empty" in done.stdout) == (3, True)
    done = call(*words, "--reference", "bm25-flat.run", folder=sample)
    assert (done.returncode, "is the baseline already" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "margins"),
    [
        ("1pp,0.5", (1.0, 0.5)), ("1,0.5", (1.0, 0.5)), ("1pp, 0.5ranks", (1.0, 0.5)), ("0.5ranks,1pp", (1.0, 0.5)),
        ("1,0.5,2", (1.0, 0.5, 2.0)), ("2ranks-all,0.5ranks,1pp", (1.0, 0.5, 2.0)), ("1pp,.5,2 ranks-all", (1.0, 0.5, 2.0)),
        ("1pp,0.5pp", None), ("1,0.5pp", None), ("0.5ranks,1", None), ("1pp,2ranks-all", None), ("1,1,1,1", None), ("1", None),
        ("1pp,,1", None), ("1ms,1", None), ("1pp,0", None), ("1pp,1,-1", None), ("1pp,1,nan", None),
    ],
)  # fmt: skip
def test_margins_are_read_by_their_units(text: str, margins: tuple[float, ...] | None, sample: Path) -> None:
    done = call("gate", "qrels.txt", "bm25.run", "bm25.run", "--margins", text, "--format", "json", folder=sample)
    assert done.returncode == (2 if margins is None else 0)
    if margins is not None:
        assert GateResult.from_json(done.stdout).margins == margins


def test_options_come_before_the_settings_of_a_suite(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / f"{name}.run").write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 2\n")
    collection = {"qrels": "qrels.txt", "runs": {"old": "old.run", "new": "new.run"}, "rel": 2, "cutoff": 5}
    (tmp_path / "suite.json").write_text(json.dumps({"collections": {"one": collection}}))
    words = ["gate", "--suite", str(tmp_path / "suite.json"), "--baseline", "old", "--margins", "2pp,1", "--format", "json"]
    for options, expected in (([], (2, 5)), (["--rel", "1", "--cutoff", "7"], (1, 7))):
        settings = GateResult.from_json(call(*words, *options).stdout).settings
        assert settings is not None
        assert (settings.rel, settings.cutoff) == expected


def test_the_report_is_written_beside_it(sample: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    page = tmp_path / "report.html"
    words, status = STATUSES["fail"]
    done = call("gate", "qrels.txt", *words, "--report", page, folder=sample)
    assert done.returncode == status
    assert "rrf-stem-lsa" in page.read_text()


def test_the_script_of_the_action(sample: Path, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    step = action["runs"]["steps"][-1]
    assert set(re.findall(r"inputs\.([\w-]+)", str(action["runs"]))) == set(action["inputs"])
    assert "${{" not in step["run"]
    for name, (words, status) in STATUSES.items():
        inputs = {
            "QRELS": "qrels.txt", "BASELINE": words[0], "RUNS": f"{words[1]}\n", "MARGINS": words[3],
            "OPTIONS": "--queries queries.tsv", "INCONCLUSIVE": "pass", "JSON": str(tmp_path / f"{name}.json"), "REPORT": "",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "GITHUB_OUTPUT": str(tmp_path / "output"),
        }  # fmt: skip
        assert set(step["env"]) <= set(inputs)
        done = shell(f"set -eo pipefail\n{step['run']}", sample, **inputs)
        assert done.returncode == (0 if name == "inconclusive" else status), done.stderr
        assert json.loads((tmp_path / f"{name}.json").read_text())["kind"] == "GateResult"
    assert (tmp_path / "output").read_text().split() == [f"status={name}" for name in STATUSES]
    assert re.findall(r"^\*\*(\w+): ", (tmp_path / "summary").read_text(), re.MULTILINE) == list(STATUSES)


def test_files_of_the_workspace_do_not_run_in_place_of_modules(sample: Path, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    steps = [step["run"] for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"] if "run" in step]
    for name in ("numpy", "pip", "ir_outcomes", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("import os\nprint('hostile')\nos._exit(0)\n")
    words, status = STATUSES["fail"]
    files = {"QRELS": sample / "qrels.txt", "BASELINE": sample / words[0], "RUNS": sample / words[1]}
    inputs = {
        **{name: str(path) for name, path in files.items()}, "MARGINS": words[3], "OPTIONS": "", "INCONCLUSIVE": "fail",
        "JSON": "gate.json", "REPORT": "", "GITHUB_STEP_SUMMARY": "summary", "GITHUB_OUTPUT": "output", "PYTHONPATH": "",
    }  # fmt: skip
    done = shell(f"set -eo pipefail\n{steps[-1]}", tmp_path, **inputs)
    assert (done.returncode, "hostile" in done.stdout) == (status, False), done.stderr
    done = shell(steps[0].replace(" install ", " --version #"), tmp_path)
    assert done.stdout.startswith("pip ")


def test_holes_and_plans_on_the_command_line(sample: Path) -> None:
    words = ("qrels.txt", "bm25.run", "bm25-stem.run", "--cutoff", "10")
    done = call("holes", *words, "--format", "json", folder=sample)
    assert (done.returncode, done.stderr) == (0, "")
    found = Holes.from_json(done.stdout)
    assert found.settings.cutoff == 10
    done = call("holes", *words, "--to-judge", "3", folder=sample)
    assert done.stdout == found.to_tsv(3)
    assert len(done.stdout.splitlines()) == 3
    done = call("plan", *words, "--margins", "2pp,1", "--format", "json", folder=sample)
    planned = Plan.from_json(done.stdout)
    assert (planned.coverage.effect, planned.ranking.effect) == (2.0, 1.0)
    done = call("plan", "qrels.txt", "bm25.run", "bm25-stem.run", "bm25-flat.run", folder=sample)
    assert done.stdout.count("Queries needed for 80 % power") == 2
    assert "are the defaults, 1 percentage point and 0.5 ranks" in done.stderr
