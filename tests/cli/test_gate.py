import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclopts import Token

from ir_outcomes import GateResult
from ir_outcomes.cli.signatures import margins_of
from tests.helpers.command_line import call

ROOT = Path(__file__).parents[2]
MARGINS = ("--margins", "2pp,1", "--format", "json")
WIDE = ("--margins", "10pp,5", *MARGINS[2:])  # what 150 queries can settle
STATUSES = {  # words of the command, exit status
    "pass": (["bm25.run", "bm25-stem.run", "--margins", "2pp,1"], 0),
    "fail": (["bm25.run", "rrf-stem-lsa.run", "--margins", "2pp,1"], 3),
    "inconclusive": (["bm25.run", "bm25-flat.run", "--margins", "0.5pp,0.05"], 4),
}


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{variables.get('PATH', os.environ['PATH'])}"
    environment = {**os.environ, **variables, "PATH": path}
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, cwd=folder, env=environment
    )


def decided(
    *words: str | Path, folder: Path | None = None
) -> tuple[int, dict[str, str], GateResult]:
    """The exit status, the status of each decision, and the result."""
    done = call(*words, folder=folder)
    found = GateResult.from_json(done.stdout)
    return done.returncode, {decision.name: decision.status for decision in found.decisions}, found


@pytest.mark.parametrize("name", STATUSES)
def test_the_decision_as_json_as_a_summary_and_as_a_page(
    name: str, sample: Path, tmp_path: Path
) -> None:
    words, status = STATUSES[name]
    target, summary, page = (tmp_path / file for file in ("gate.json", "summary.md", "page.html"))
    summary.write_text("before\n")
    more = ("--output", target, "--summary", summary, "--report", page, "--queries", "queries.tsv")
    assert call("gate", "qrels.txt", *words, *more, folder=sample) == (status, "", "")
    found = GateResult.from_json(target.read_text())
    assert (found.status, found.exit_status) == (name, status)
    assert list(found.inputs) == ["qrels.txt", *words[:2]]
    assert summary.read_text().startswith(f"before\n**{name}: ")
    n_queries = 0 if name == "pass" else 10
    assert [bool(query.text) for query in found.decisions[0].queries] == [True] * n_queries
    assert Path(words[1]).stem in page.read_text()


def test_runs_without_results_fail_and_unreadable_ones_are_errors(small: Path) -> None:
    runs = ("bm25.run", "empty.run", "bm25-stem.run")
    status, decisions, _ = decided("gate", "qrels.txt", *runs, *WIDE, folder=small)
    assert (status, decisions) == (3, {"bm25-stem": "pass", "empty": "fail"})
    for qrels, status in (("qrels.txt", 3), ("empty.run", 1)):
        done = call("gate", qrels, "empty.run", "bm25.run", *WIDE, folder=small)
        assert (done.returncode, "empty.run: is empty" in done.stderr) == (status, True)


def test_a_suite_is_as_good_as_its_worst_collection(small: Path, tmp_path: Path) -> None:
    for collection, new in (("first", "bm25-stem.run"), ("second", "")):
        (tmp_path / collection).mkdir()
        files = {"qrels.txt": "qrels.txt", "old.run": "bm25.run", "release.run": "bm25.run"}
        for name, file in (files | ({"new.run": new} if new else {})).items():
            shutil.copy(small / file, tmp_path / collection / name)
    words = ["gate", "--suite", str(tmp_path), "--baseline", "old", *WIDE, "--reference", "release"]
    status, decisions, found = decided(*words)
    assert (status, len(found.inputs), decisions) == (3, 7, {
        "new on first": "pass", "new on second": "fail",
        "new against release on first": "pass", "new against release on second": "fail",
    })  # fmt: skip
    assert call(*words, "--allow", "new@second").returncode == 0
    (tmp_path / "second" / "new.run").touch()  # an empty run is not missing
    assert call(*words, "--allow", "new@second").returncode == 3


def test_contenders_select_among_runs_and_are_required(small: Path) -> None:
    words = ("gate", "qrels.txt", "bm25.run", "bm25*.run", *WIDE, "--contender", "bm25-stem")
    status, decisions, found = decided(*words, folder=small)
    assert (status, decisions, found.settings.family) == (0, {"bm25-stem": "pass"}, 1)
    assert call(*words, "--contender", "new", folder=small).returncode in (2, 3)


@pytest.mark.parametrize(
    ("text", "margins"),
    [
        ("0.5ranks,1pp", (1, 0.5)), ("1,0.5,2", (1, 0.5, 2)), ("2ranks-all,1pp,0.5 ranks", (1, 0.5, 2)), ("1", (1,)),
        ("2ranks-all,1pp,0.5", None), ("1pp,1pp", None), ("1pp,,1", None), ("1ms,1", None), ("1pp,0", None), ("1pp,nan", None),
        ("1pp", None),
        ("1.2.3,1", None), (".5,2.", (0.5, 2)), ("\uff11,1", None),
    ],
)  # fmt: skip
def test_margins_are_read_by_their_units(text: str, margins: tuple[float, ...] | None) -> None:
    if margins is None:
        with pytest.raises(ValueError, match="write two positive numbers"):
            margins_of(None, [Token(value=text)])
    else:
        assert margins_of(None, [Token(value=text)]) == margins


@pytest.fixture
def step(small: Path) -> dict[str, str]:
    """Inputs of the step that decides."""
    baseline, run, _, margins, *_ = STATUSES["inconclusive"][0]
    return {
        "QRELS": str(small / "qrels.txt"), "BASELINE": str(small / baseline), "RUNS": f"{small / run}\n",
        "MARGINS": margins, "OPTIONS": f"--queries {small / 'queries.tsv'}", "INCONCLUSIVE": "pass", "REPORT": "",
        "JSON": "gate.json", "CONTENDERS": Path(run).stem, "GITHUB_STEP_SUMMARY": "summary", "GITHUB_OUTPUT": "output",
        "PYTHONPATH": "", "COMMENT": "false", "PULL_REQUEST": "7", "GITHUB_REPOSITORY": "some/project", "GH_TOKEN": "token",
    }  # fmt: skip


def action() -> Any:
    return pytest.importorskip("yaml").safe_load((ROOT / "action.yml").read_text())


def act(step: dict[str, str], folder: Path, **inputs: str) -> int:
    """The status of the step, which runs no file of the workspace."""
    *_, decide = action()["runs"]["steps"]
    assert set(decide["env"]) <= set(step)
    done = shell(f"set -eo pipefail\n{decide['run']}", folder, **{**step, **inputs})
    assert "hostile" not in done.stdout, done.stderr
    return done.returncode


@pytest.mark.action
def test_the_action_runs_the_gate_and_no_file_of_the_workspace(
    small: Path, tmp_path: Path, step: dict[str, str]
) -> None:
    install, decide = [step for step in action()["runs"]["steps"] if "run" in step]
    assert {*re.findall(r"inputs\.([\w-]+)", str(action()["runs"]))} == {*action()["inputs"]}
    assert "${{" not in decide["run"]
    for name in ("numpy", "pip", "ir_outcomes", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("import os\nprint('hostile')\nos._exit(0)\n")
    assert act(step, tmp_path) == 0
    assert act(step, tmp_path, INCONCLUSIVE="fail") == 4
    (tmp_path / "none.run").touch()
    assert act(step, tmp_path, RUNS="none.run", CONTENDERS="none") == 3
    assert GateResult.from_json((tmp_path / "gate.json").read_text()).status == "fail"
    summaries = re.findall(r"^\*\*(\w+): ", (tmp_path / "summary").read_text(), re.MULTILINE)
    assert summaries == ["inconclusive", "inconclusive", "fail"]
    outputs = (tmp_path / "output").read_text().split()
    assert outputs == [f"status={status}" for status in summaries]
    # Nothing is decided, although a decision of an earlier call is there, and some of these end
    # with status 0 by themselves.
    for inputs in ({"RUNS": "--version"}, {"RUNS": "-h"}, {"OPTIONS": "--help"}, {"RUNS": ""}):
        assert act(step, tmp_path, **inputs) in (1, 2), inputs
    run = Path(step["RUNS"].strip())
    kept = run.read_bytes()
    for target in (str(run), str(tmp_path)):  # a run, a folder
        assert act(step, tmp_path, JSON=target) == 2
    assert run.read_bytes() == kept
    (tmp_path / "other.html").write_text("<html>")
    assert act(step, tmp_path, REPORT="other.html") == 2
    assert act(step, tmp_path, CONTENDERS="absent") in (2, 3)
    assert shell(install["run"].replace(" install ", " --version #"), tmp_path).stdout.startswith(
        "pip "
    )


@pytest.mark.action
def test_the_action_comments_on_the_pull_request_and_updates_report_and_decision(
    tmp_path: Path, step: dict[str, str]
) -> None:
    """With values of another tool, and a program that stands in for gh: it writes down its arguments."""
    (tmp_path / "bin").mkdir()
    stand_in = tmp_path / "bin" / "gh"
    stand_in.write_text(
        '#!/bin/bash\nprintf "%s\\n" "$@" > posted\ncp "${@: -1}" comment.md\nexit 1\n'
    )
    stand_in.chmod(0o755)
    for name, value in (("old", 0.5), ("new", 0.505)):
        lines = [f"q{number},{value}" for number in range(400)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,faithfulness", *lines]))
    step |= {
        "QRELS": "", "BASELINE": "old.csv", "RUNS": "new.csv", "CONTENDERS": "new", "REPORT": "gate.html", "COMMENT": "true",
        "OPTIONS": "--outputs -m faithfulness --higher-is-better --range 0 1",
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
    }  # fmt: skip
    assert act(step, tmp_path, MARGINS="0.02", PULL_REQUEST="") == 0  # a push, not a pull request
    assert not (tmp_path / "posted").exists()
    for status, margin in (("pass", "0.02"), ("inconclusive", "0.0001")):
        assert act(step, tmp_path, MARGINS=margin) == 0  # although it could not be posted
        words = " ".join((tmp_path / "posted").read_text().split()[:-1])
        assert words == (
            "pr comment 7 --repo some/project --edit-last --create-if-none --body-file"
        )
        assert (tmp_path / "comment.md").read_text().startswith(f"**{status}: ")
        assert f"<title>{status}: " in (tmp_path / "gate.html").read_text()
        assert GateResult.from_json((tmp_path / "gate.json").read_text()).status == status


def test_a_saved_evaluation_stands_for_qrels_and_runs(small: Path, tmp_path: Path) -> None:
    names = ("bm25", "bm25-stem", "rrf-stem-lsa")
    words = [small / file for file in ("qrels.txt", *(f"{name}.run" for name in names))]
    saved = tmp_path / "board.npz"
    assert call("evaluate", *words, "-o", saved).returncode == 0
    status, decisions, _ = decided("gate", *words, *WIDE)
    for chosen in (names, names[:1]):
        assert decided("gate", saved, *chosen, *WIDE)[:2] == (status, decisions)
    assert list(decisions) == list(names[1:])


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("bm25.run bm25.run", 2),
        ("bm25.run ./bm25.run", 2),
        ("bm25.run link.run", 2),
        ("bm25.run stem.run stem.run", 2),
        ("bm25.run ./stem.run link.run", 2),
        ("bm25.run stem.run --reference stem.run", 2),
        ("bm25.run ./stem.run link.run --reference stem.run", 2),
        ("one/bm25.run one", 2),
        # A copy is another run, and so is the same file under another name.
        ("bm25.run copy.run", 0),
        ("bm25.run bm25.run --names old --names new", 0),
    ],
)
def test_no_run_passes_against_itself(words: str, status: int, small: Path, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    for file, source in {
        "bm25.run": "bm25",
        "copy.run": "bm25",
        "one/bm25.run": "bm25",
        "stem.run": "bm25-stem",
    }.items():
        shutil.copy(small / f"{source}.run", tmp_path / file)
    (tmp_path / "link.run").symlink_to("bm25.run" if words == "bm25.run link.run" else "stem.run")
    done = call("gate", small / "qrels.txt", *words.split(), *WIDE[:2], folder=tmp_path)
    assert (done.returncode, "identical" in done.stdout) == (status, status == 0)


def test_no_values_pass_against_themselves(small: Path) -> None:
    values = "--outputs old.csv new.csv -m faithfulness --higher-is-better --range 0 1"
    words = (*values.split(), "--margins", ".9")
    assert call("gate", *words, folder=small).returncode == 0
    assert call("gate", *words, "--reference", "new.csv", folder=small).returncode == 2
