import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.command_line import call, call_ir_measures

PAIR = ("compare", "qrels.txt", "bm25.run", "bm25-stem.run")
RUNS = "bm25.run bm25-stem.run bm25-flat.run"
VALUES = "old.csv new.csv -m faithfulness --higher-is-better"


def test_check_says_by_its_status_whether_there_is_a_problem(small: Path, tmp_path: Path) -> None:
    shutil.copy(small / "bm25.run", tmp_path / "new.run")
    words = ("check", small / "qrels.txt", small / "bm25.run", "--format", "json")
    for run, status, kinds in (
        (small / "bm25-stem.run", 0, []),
        (tmp_path / "new.run", 3, ["identical"]),
    ):
        done = call(*words, run)
        assert (done.returncode, done.stderr) == (status, "")
        assert [problem["kind"] for problem in json.loads(done.stdout)["problems"]] == kinds
    assert call(*words, tmp_path / "absent.run").returncode == 1


def test_a_file_that_is_given_again_counts_once(small: Path) -> None:
    done = call(*PAIR, "./bm25-stem.run", "bm25*.run", "--format", "json", folder=small)
    contenders = [item["contender"] for item in json.loads(done.stdout)["items"]]
    assert contenders == ["bm25-stem", "bm25-flat"]
    assert done.stderr == (
        "note: ./bm25-stem.run is given again; it counts once\n"
        "note: bm25-stem.run is given again; it counts once\n"
        "note: a baseline is also among the runs; it is not compared with itself\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["nDCG@10 RR", "AP", "-p", "2"], ["RR", "--places", "-1"], ["Success@10", "-q", "-n"], ["AP", "-q", "-o", "jsonl"],
        ["RR@10", "-q"],
    ],
)  # fmt: skip
def test_measure_prints_what_ir_measures_prints(small: Path, arguments: list[str]) -> None:
    ours = call("measure", "qrels.txt", "bm25.run", *arguments, folder=small)
    theirs = call_ir_measures("qrels.txt", "bm25.run", *arguments, folder=small)
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)
    assert theirs.stdout


def test_measure_with_our_measures(sample: Path) -> None:
    done = call("measure", "qrels.txt", "bm25.run", "ESL@100", "Answered@100 RR", folder=sample)
    assert done.stdout == "ESL@100\t5.1462\nAnswered@100\t0.9030\nRR\t0.6623\n"
    assert done.stderr == "ESL@100: the mean is over 903 of 1000 queries\n"
    lines = call(
        "measure", "qrels.txt", "bm25.run", "ESL@100", "-q", "-o", "jsonl", folder=sample
    ).stdout.splitlines()
    values = [json.loads(line, parse_constant=pytest.fail)["value"] for line in lines]
    assert (len(values), values.count(None)) == (1001, 97)


WRONG_USAGE = (  # a command, and what its message names
    ("measure qrels.txt bm25.run RR -p -2", "--places -2"),
    ("measure qrels.txt bm25.run \0", "no measure"),
    ("compare qrels.txt bm25.run bm25-stem.run --alpha 5", "--alpha 5"),
    ("compare qrels.txt RUNS --plot x.png --plot-kind changes", "--plot-kind changes"),
    ("compare-measure qrels.txt bm25.run RUNS -m RR", "compare-measure"),
    ("compair", "compair"),
    ("tail qrels.txt bm25.run bm25-stem.run", "length-changes"),
    ("tail rrie no no no --plot p.png", "--plot"),
    ("compare qrels.txt RUNS --jobs 0", "--jobs 0"),
    ("compare qrels.txt - -", "Standard input"),
    ("compare qrels.txt bm25.run bm25-stem.run --names  --names b", "''"),
    ("compare qrels.txt RUNS --cutoff 99999999999", "--cutoff 99999999999"),
    ("rank-distribution qrels.txt RUNS --top 9999999999", "--top 9999999999"),
    ("compare qrels.txt RUNS --clusters by:+", "--clusters by:+"),
    ("compare qrels.txt RUNS --clusters by:<::>", "--clusters 'by:<::>'"),  # < is the shell's
    ("compare qrels.txt RUNS -m NumRet", "--lower-is-better"),
    ("verdict --n 3 --won 1 --lost 1 --difference nan --pvalue 1", "--difference nan"),
    ("compare qrels.txt bm25.run bm25-stem.run --names b", "--names b"),
    # before any file is opened
    ("compare no no no --ties other", "--ties"),
    ("compare no no no --cutoff 5 --cutoff 10", "--cutoff"),
    ("compare no no no --format csv --format json", "--format"),
    ("compare no no no --margins 1pp,1 --margins 2pp,1", "--margins is given more than once"),
    ("compare no no no --judged-only --judged-only", "--judged-only"),
    ("compare no no no --cutoff 1.5", "'1.5' is not a whole number"),
    ("compare no no no --alpha x", "'x' is not a number"),
    ("compare-judges no --judge a=no --judge a=no", "--judge"),
    ("compare-judges no --judge a --judge b", "NAME=FILE"),
    ("leaderboard no", "RUNS is missing"),
    ("leaderboard no no --outputs -k 3", "--cutoff: leave it out"),
    ("verdict --n 3", "--won"),
    ("gate no no no", "--margins"),
    ("gate no no --margins 1pp,1", "RUNS is missing"),
    ("suite no", "suite"),
    ("plan qrels.txt bm25.run bm25-stem.run -m nDCG@10", "--outputs"),
    ("plan qrels.txt bm25.run bm25-stem.run --lower-is-better", "--outputs"),
    ("plan qrels.txt bm25.run bm25-stem.run -k 10 --margins 2pp,10", "--margins 10"),
    ("plan --outputs VALUES --margins .05,.1", "--margins"),
    ("plan --outputs VALUES --range 0 1 --margins 3", "--margins"),
    ("gate no --suite no --margins 1pp,1", "--suite"),
    ("gate no no no --baseline no --margins 1pp,1", "--suite"),
    ("gate no no no --margins 1pp,1 --reference no", "--reference"),
    ("compare no no no --plot p.xyz", "p.xyz"),
    ("compare no no no --output .", "directory"),
    ("compare no no no --output -", "--output"),
    ("gate no no no --margins 1,1 --summary nowhere/x", "nowhere"),
    ("report qrels.txt bm25.run bm25-stem.run --max-mb 0", "--max-mb 0"),
    ("report no no no --max-mb nan", "--max-mb nan"),
    ("compare no no no --format csv --rows 1", "--rows"),
    ("leaderboard no no no -o no.html --rows 1", "--rows"),
    ("compare no no no --lower-is-better", "--measure"),
    ("gate no no no --margins 1pp,1 --higher-is-better", "--measure"),
    ("rank-distribution no no no -m RR@10 -k 3", "--cutoff"),
    ("compare no no no --per-query won --details", "--details"),
    ("compare no no no --per-query won --alpha .1", "--alpha"),
    ("compare no no no no --per-query won --correction none", "--correction"),
    ("compare no no no --per-query won --margins 1pp,1", "--margins"),
    ("compare qrels.txt bm25.run bm25-stem.run --names b --names b\0", "called b;"),
    # What is missing, and an example
    ("compare qrels.txt bm25.run", "RUNS is missing"),
    ("gate qrels.txt bm25.run b.run", "--margins is missing. For example: ir-outcomes gate"),
    ("compare-slices qrels.txt bm25.run b.run", "--by is missing. For example: ir-outcomes"),
    ("sample", "FOLDER is missing. For example: ir-outcomes sample sample"),
)
BAD_INPUT = (
    ("report qrels.txt bm25.run bm25-stem.run --docs no", "no: no such file"),
    # An argument is named as its option only where a message names an argument.
    ("compare qrels.txt bm25.run cutoff=10.run", "cutoff=10.run: no such file"),
    ("compare qrels.txt no.run bm25.run", "no.run: neither a file nor the name of a run"),
    ("compare qrels.txt bm26 RUNS", "did you mean bm25?"),
)


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        *((command, 2, message) for command, message in WRONG_USAGE),
        *((command, 1, message) for command, message in BAD_INPUT),
    ],
)
def test_what_goes_wrong_is_said_with_its_status(
    small: Path, command: str, status: int, message: str
) -> None:
    command = command.replace(" RUNS", f" {RUNS}").replace("VALUES", VALUES)
    done = call(*(word.replace("\0", " ") for word in command.split(" ")), folder=small)
    assert (done.returncode, done.stdout) == (status, "")
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_the_installed_program() -> None:
    program = Path(sys.executable).with_name("ir-outcomes")
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: ir-outcomes ")


def test_the_layout_says_what_orders_the_documents(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 a 1 1 t\nq1 Q0 b 2 2 t\n")
    runs = ("a.run#rank", "a.run#score", "--names", "rank", "--names", "score")
    options = ("--allow", "rising-scores", "--format", "json")
    done = call("leaderboard", "qrels.txt", *runs, *options, folder=tmp_path)
    scores = {item["run"]: item["score"] for item in json.loads(done.stdout)["standings"]}
    assert scores == {"rank": 1.0, "score": 2.0}
