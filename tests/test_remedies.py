"""What messages advise is typed: each remedy is taken from its message, and works.

A case provokes a message, finds the remedy in it and follows it: the command then succeeds and no
longer says so. Advice has the words of the place where it is read, so the command line names options
and Python names arguments.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ir_outcomes as iro
from tests.helpers.command_line import call

PACKAGE = Path(iro.__file__).parent
N = 60  # queries
SHOWN = (0, 3, 4)  # exit statuses of commands that write a result


def lines_of_run(rank_of: Callable[[int], int], depth: int = 10) -> str:
    """Write a run that ranks the relevant document of each query there."""
    return "".join(
        f"q{n} Q0 {f'd{n}' if rank == rank_of(n) else f'x{n}.{rank}'} {rank} {-rank} t\n"
        for n in range(N)
        for rank in range(1, depth + 1)
    )


def of_queries(line: str, query: str = "q{n}") -> str:
    """Write a line for each query."""
    return "".join(
        line.replace("Q", query).format(
            n=n, half=n % 2, five=n // 5, turn=n % 5, third=n % 3, rest=n % 3 / 4
        )
        for n in range(N)
    )


FILES = {
    "q.txt": of_queries("Q 0 d{n} 1\nQ 0 x{n}.9 0\n"),
    "graded.txt": of_queries("Q 0 d{n} 2\nQ 0 x{n}.9 1\nQ 0 x{n}.8 0\n"),
    "exchanged.txt": of_queries("d{n} 0 Q 1\n"),
    "turns.txt": of_queries("Q 0 d{n} 1\n", "talk{five}::{turn}"),
    "a.run": lines_of_run(lambda n: 3),
    "b.run": lines_of_run(lambda n: 1 + n % 3),
    "short.run": lines_of_run(lambda n: 2, depth=5),
    "turns-a.run": of_queries("Q Q0 x 1 2 t\nQ Q0 d{n} 2 1 t\n", "talk{five}::{turn}"),
    "turns-b.run": of_queries("Q Q0 d{n} 1 2 t\n", "talk{five}::{turn}"),
    "rising.run": of_queries("Q Q0 x 1 1 t\nQ Q0 d{n} 2 2 t\n"),
    "equal.run": of_queries("Q Q0 x 2 1 t\nQ Q0 d{n} 1 1 t\n"),
    "tied.run": of_queries("Q Q0 a 1 2 t\nQ Q0 d{n} 2 2 t\nQ Q0 z 3 1 t\n"),
    "contradicting.run": of_queries("Q Q0 x 1 {half} t\nQ Q0 d{n} 2 .5 t\n"),
    "unknown.run": of_queries("Q Q0 other{n} 1 2 t\n"),
    "half.run": "".join(f"q{n} Q0 d{n - n % 2} 1 2 t\n" for n in range(N)),
    "self.run": of_queries("Q Q0 Q 1 9 t\nQ Q0 d{n} 2 8 t\n"),
    "three.run": of_queries("Q d{n} 5\nQ x 1\n"),
    "twice.run": of_queries("Q Q0 d{n} 1 1 t\nQ Q0 d{n} 2 .5 t\n"),
    "old.csv": "query_id,nDCG@10,P@5\n" + of_queries("Q,0.{half}5,0.{third}\n"),
    "new.csv": "query_id,nDCG@10,P@5\n" + of_queries("Q,0.{third}5,0.{half}\n"),
    "few.csv": "query_id,nDCG@10\n" + "".join(f"q{n},0.{n % 3}5\n" for n in range(50)),
    "systems.csv": "query_id,run,nDCG@10\n" + of_queries("Q,a,0.{half}\nQ,b,0.{third}\n"),
    "grades-old.csv": "query_id,grade\n" + of_queries("Q,{half}\n"),
    "grades-new.csv": "query_id,grade\n" + of_queries("Q,{third}\n"),
    "marked.csv": "query_id,grade\n" + of_queries("Q,{rest}\n") + "q60,-1\n",
    "trials.csv": "query_id,accuracy\n" + of_queries("Q,{half}\nQ,1\n"),
    "filters.csv": "query_id,filter,accuracy\n" + of_queries("Q,strict,{half}\nQ,loose,1\n"),
    "cases-old.csv": "case_id,query,accuracy\n" + of_queries("case{n},Q,{half}\n"),
    "cases-new.csv": "case_id,query,accuracy\n" + of_queries("case{n},Q,{rest}\n", "q{five}.{n}"),
    "cases-other.csv": "case_id,query,accuracy\n" + of_queries("other{n},Q,{rest}\n"),
    "keys.csv": "key,accuracy\n" + of_queries("Q,{half}\n"),
    "history.csv": "id,date,one,two\na,2020-01-01,.1,.2\nb,2020-02-01,.2,.3\n",
    "kinds.tsv": of_queries("Q\tkind {half}\n"),
    "queries.tsv": "".join(f"q{n}\t{'word ' * (1 + n % 2)}\n" for n in range(N)),
    "docs.jsonl": '{"doc_id": "d0", "text": "words"}\n',
}
for seed in range(1, 6):
    FILES[f"seed_{seed}.run"] = lines_of_run(lambda n: 1 + n * seed % 7)  # noqa: B023  # called at once


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files, a suite of runs with different depths, one of values, and saved evaluations."""
    folder = tmp_path_factory.mktemp("remedies")
    for name, content in FILES.items():
        (folder / name).write_text(content)
    for suite, of_second in (("suite", "a.run"), ("depths", "short.run")):
        for name, first in (("one", "a.run"), ("two", of_second)):
            files = {"qrels.txt": "q.txt", "a.run": first, "b.run": first.replace("a.", "b.")}
            (folder / suite / name).mkdir(parents=True)
            for file, content in files.items():
                text = FILES[content].replace("q", "q" if name == "one" else "p")
                (folder / suite / name / file).write_text(text)
    call("evaluate", "q.txt", "a.run", "b.run", "-o", "ev.npz", folder=folder)
    call("evaluate", "q.txt", "a.run", "short.run", "-o", "depth.npz", folder=folder)
    seeds = [f"seed_{seed}.run" for seed in range(1, 6)]
    words = ("--replicates", "by:_", "-o", "seeds.npz")
    call("evaluate", "q.txt", "a.run", *seeds, *words, folder=folder)
    return folder


class Case(NamedTuple):
    """A command, what it advises, and the command that follows it."""

    words: str
    remedy: str  # regular expression; its first group is what is typed
    followed: str = ""  # with {} for the remedy; by default behind the words


SEEDS = " ".join(f"seed_{seed}.run" for seed in range(1, 6))
DEEPER = r"give the depth that all share, (--cutoff 5)"
AS_PRINTED = r"or (--missing retrieved) for equation 3"
COMMANDS = [
    # What stops, and notes on runs.
    Case("compare q.txt a.run rising.run", r"pass (--allow rising-scores)"),
    Case("compare q.txt a.run rising.run", "put (#rank) behind", "compare q.txt a.run rising.run{}"),
    Case("compare q.txt a.run equal.run", r"pass (--allow equal-scores)"),
    Case("compare q.txt a.run equal.run", "put (#rank) behind", "compare q.txt a.run equal.run{}"),
    Case("compare q.txt a.run unknown.run", r"pass (--allow unknown-ids)"),
    Case("gate q.txt a.run b.run rising.run --margins 1pp,1", r"put (#rank) behind",
         "gate q.txt a.run b.run rising.run{} --margins 1pp,1"),
    Case("compare q.txt a.run contradicting.run", r"ranks: (#rank) behind",
         "compare q.txt a.run contradicting.run{}"),
    Case("compare q.txt a.run three.run", r"say it as FILE#rank or FILE(#score)",
         "compare q.txt a.run three.run{}"),
    Case("compare q.txt a.run twice.run", r"pass (--duplicates first) or"),
    Case("compare q.txt a.run twice.run", r"or (--duplicates max)"),
    Case("check q.txt a.run twice.run", r"pass (--duplicates first) or"),
    Case("compare exchanged.txt a.run b.run", r"(exchange) query and document",
         "compare q.txt a.run b.run"),
    Case("compare q.txt a.run self.run", r"pass (--drop-self)"),
    Case("check q.txt a.run self.run", r"pass (--drop-self)", "compare q.txt a.run self.run {}"),
    Case("compare graded.txt a.run b.run", r"see (--rel 2)"),
    Case("check graded.txt a.run b.run --details", r"see (--rel 2)",
         "compare graded.txt a.run b.run {}"),
    Case("compare q.txt a.run short.run --details", r"compare with (--cutoff 5)"),
    Case("leaderboard q.txt a.run short.run --cutoff 10 --details", "common depth: (--cutoff 5)",
         "leaderboard q.txt a.run short.run {}"),
    Case("compare turns.txt turns-a.run turns-b.run", r"pass (--clusters by:::)"),
    Case(f"compare q.txt a.run {SEEDS} --details", r"pass (--replicates by:_)"),
    Case("compare q.txt a.run tied.run --details", r"pass (--ties input)"),
    Case("compare q.txt a.run b.run --ties expected", r"use one of '(trec)'",
         "compare q.txt a.run b.run --ties {}"),
    Case("compare q.txt a.run old.csv", "with (compare-outputs)", "{} old.csv new.csv -m P@5"),
    Case("compare-outputs q.txt a.run", r"runs and qrels are for (compare)",
         "{} q.txt a.run b.run"),
    # Options that need another one, or a value.
    Case("compare q.txt a.run b.run --queries queries.tsv", r"is for (--per-query) or",
         "compare q.txt a.run b.run --queries queries.tsv {} lost"),
    Case("compare q.txt a.run b.run --queries queries.tsv", r"or (--report)",
         "compare q.txt a.run b.run --queries queries.tsv {} page.html"),
    Case("compare q.txt a.run b.run --docs docs.jsonl", r"is for (--report)",
         "compare q.txt a.run b.run --docs docs.jsonl {} page.html"),
    Case("compare q.txt a.run b.run --plot-kind facets", r"is for (--plot);",
         "compare q.txt a.run b.run --plot-kind facets {} p.svg"),
    Case("compare q.txt a.run b.run --caption X", r"are for (--format latex)"),
    Case("compare q.txt a.run b.run --details --format csv", r"is for (--format text)",
         "compare q.txt a.run b.run --details {}"),
    Case("compare q.txt a.run b.run -o out.foo", r"use (\.json),",
         "compare q.txt a.run b.run -o out{}"),
    Case("evaluate q.txt a.run b.run -o out.foo", r"use (\.npz)\.", "evaluate q.txt a.run b.run -o out{}"),
    Case("compare q.txt a.run b.run --margins 1pp 2", r"such as (\S+) or",
         "compare q.txt a.run b.run --margins {}"),
    Case("compare q.txt a.run b.run --margins 1pp 2", r" or (\S+)\. Numbers",
         "compare q.txt a.run b.run --margins {}"),
    Case("datasets msmarco-document/dev more", r"error: (\S+): this command takes fewer",
         "datasets msmarco-document/dev"),
    Case("tail rrie q.txt a.run b.run short.run", r"(give one) beside", "tail rrie q.txt a.run b.run"),
    Case("measure q.txt a.run -n RR", r"with (--by_query)"),
    Case("verdict 0.3 0.4", r"give (--won) and --lost \(and --n\)",
         "verdict {} 20 --lost 9 --n 100"),
    Case("sota-history history.csv", r"name its column with (--score)", "sota-history history.csv {} one"),
    Case("sota-history history.csv --score one --until x", r"a date such as (\S+)",
         "sota-history history.csv --score one --until {}"),
    Case("compare-slices q.txt a.run b.run --by length", r"pass (--queries)",
         "compare-slices q.txt a.run b.run --by length {} queries.tsv"),
    Case("compare-judges a.run b.run --judge p=q.txt", r"with one, call (compare)",
         "{} q.txt a.run b.run"),
    Case("compare-judges a.run b.run --judge p=q.txt --judge m=graded.txt", r"with the same (--unit)",
         "compare-judges a.run b.run --judge p=q.txt --judge m=graded.txt {} query"),
    # Measures.
    Case("compare q.txt a.run b.run -m P(rel=2)", r"write (P\(rel=2\)@10)",
         "compare q.txt a.run b.run -m '{}'"),
    Case("compare q.txt a.run b.run -m ESLL@5", r"did you mean (ESL@5)",
         "compare q.txt a.run b.run -m {}"),
    Case("compare q.txt a.run b.run -m quality", r"such as (\S+) or", "compare q.txt a.run b.run -m {}"),
    Case("compare q.txt a.run b.run -m ASL(missing=cutoff)@9", r"need quotes: (missing='cutoff')",
         'compare q.txt a.run b.run -m "ASL({})@9"'),
    Case("compare q.txt a.run b.run -m ASL", r"or (ASL\(missing='retrieved'\)) for",
         'compare q.txt a.run b.run -m "{}"'),
    Case("rank-distribution q.txt half.run b.run -m ESL@9", r"use (ESL\S+) or RR",
         'rank-distribution q.txt half.run b.run -m "{}"'),
    # Saved evaluations.
    Case("compare ev.npz a -m RR@3", r"pass (--measure RR@3) to evaluate",
         "evaluate q.txt a.run b.run {} -o again.npz"),
    Case("holes ev.npz a", r"give (QRELS and the runs)", "holes q.txt a.run b.run"),
    Case("holes q.txt a.run b.run --judged-only", r"(--judged-only) removed",
         "holes q.txt a.run b.run"),
    Case("compare ev.npz a --rel 2", r"(leave out) options on how", "compare ev.npz a"),
    Case("agreement seeds.npz", r"choose (one of each) by name", "agreement seeds.npz a seed_1"),
    Case("agreement seeds.npz", r"evaluate them without (--replicates)",
         f"evaluate q.txt a.run {SEEDS} -o again.npz"),
    # Depth.
    *(
        Case(f"{command} q.txt a.run short.run", remedy)
        for command in ("reordering", *(f"tail {name}" for name in
                        ("rrie", "headroom", "length-changes", "length-distributions")))
        for remedy in (DEEPER, AS_PRINTED)
    ),
    # Collections.
    Case("compare-collections depths", r"pass (--cutoff 5)"),
    Case("compare-collections depths", r"pass (--allow cutoff) if"),
    Case("compare-collections suite", r"another one with (--baseline)",
         "compare-collections suite {} b"),
    Case("leaderboard --suite depths", r"pass (--cutoff 5)"),
    Case("leaderboard suite --suite suite", r"or else (--suite) FOLDER", "leaderboard {} suite"),
    # Values.
    Case("compare-outputs old.csv few.csv -m nDCG@10", r"pass (--allow missing-values)"),
    Case("compare-outputs old.csv new.csv", r"\((\S+), P@5\); choose one with --measure",
         "compare-outputs old.csv new.csv --measure {}"),
    Case("gate --outputs old.csv new.csv --margins .1", r"choose one with (--measure)",
         "gate --outputs old.csv new.csv --margins .1 {} P@5"),
    Case("compare-outputs grades-old.csv grades-new.csv --margins .1", r"or (--lower-is-better)",
         "compare-outputs grades-old.csv grades-new.csv {}"),
    Case("gate --outputs grades-old.csv grades-new.csv --margins .5 --higher-is-better",
         r"such as (--range) 0 1",
         "gate --outputs grades-old.csv grades-new.csv --margins .5 --higher-is-better {} 0 2"),
    Case("compare-outputs marked.csv grades-old.csv --higher-is-better", r"pass (--range -1 1)",
         "compare-outputs marked.csv grades-old.csv --higher-is-better {} --allow missing-values"),
    Case("compare-outputs trials.csv trials.csv --names a --names b", r"pass (--trials mean)"),
    Case("compare-outputs filters.csv filters.csv --names a --names b", r"such as (--where \S+)"),
    Case("compare-outputs systems.csv systems.csv", r"such as (--names a --names b)"),
    Case("compare-outputs cases-old.csv cases-other.csv --id case_id", r"another column \((--id)\)",
         "compare-outputs cases-old.csv cases-other.csv {} query"),
    Case("compare-outputs cases-old.csv cases-new.csv", r"(--id case_id) if the same"),
    Case("compare-outputs keys.csv keys.csv --names a --names b", r"name it with (--id)",
         "compare-outputs keys.csv keys.csv --names a --names b {} key"),
    Case("plan --outputs old.csv new.csv -m P@5", r"such as (--margins \S+)"),
    Case("gate --outputs old.csv new.csv -m P@5 --margins 1pp,1", r"such as (--margins \S+)",
         "gate --outputs old.csv new.csv -m P@5 {}"),
    # Gates.
    Case("gate --suite suite --margins 1pp,2", r"with (--baseline) NAME",
         "gate --suite suite --margins 1pp,2 {} b"),
    Case("gate q.txt a.run a.run --margins 1pp,2", r"give (--names) that tell",
         "gate q.txt a.run a.run --margins 1pp,2 {} a --names b"),
    Case("gate q.txt a.run b.run --margins 1pp,2 --max-missing 2", r"such as (\S+)",
         "gate q.txt a.run b.run --margins 1pp,2 --max-missing {}"),
    # What else there is.
    *(
        Case(words, r"More \([^)]*\)+: (--details)")
        for words in (
            "compare q.txt a.run b.run", "compare q.txt a.run b.run short.run",
            "compare-slices q.txt a.run b.run --by kinds.tsv", "compare-collections suite",
            "compare-judges a.run b.run --judge p=q.txt --judge m=graded.txt@2 --unit query",
            "holes q.txt a.run b.run", "plan q.txt a.run b.run", "leaderboard q.txt a.run b.run",
            "gate q.txt a.run b.run --margins 1pp,1", "check graded.txt a.run b.run",
            "agreement q.txt a.run b.run --splits 5",
            "compare-outputs old.csv new.csv -m nDCG@10",
        )
    ),
    Case(f"compare q.txt a.run b.run {SEEDS} --rows 1", r"more rows: (--rows 6)",
         f"compare q.txt a.run b.run {SEEDS} {{}}"),
]  # fmt: skip


@cache
def said(words: str, folder: Path) -> tuple[int, str]:
    """Run a command; return its status and what it says, on one line."""
    typed = [re.sub(r"^['\"]|['\"]$", "", word) for word in re.findall(r'"[^"]*"|\S+', words)]
    done = call(*typed, folder=folder)
    return done.returncode, " ".join((done.stderr + done.stdout).split())


@pytest.mark.parametrize("case", COMMANDS, ids=lambda case: f"{case.words}: {case.remedy}")
def test_what_a_command_advises_works_when_typed(case: Case, folder: Path) -> None:
    _, message = said(case.words, folder)
    found = re.search(case.remedy, message)
    assert found is not None, message
    assert "`" not in message  # which stands around arguments of Python
    followed = (case.followed or f"{case.words} {{}}").format(found[1])
    status, answer = said(followed, folder)
    assert status in SHOWN, answer
    assert found[0] not in answer


class Call(NamedTuple):
    """A call of Python, and the argument that its message advises."""

    function: str  # of ir_outcomes
    arguments: tuple[Any, ...]
    argument: str  # with its value where the message leaves that open
    options: Mapping[str, Any] = {}
    taken_by: str = ""  # the function that takes the argument, where it is another one


GRADES = ("grades-old.csv", "grades-new.csv")
# Each kind of value; the command line writes options for the arguments of the same messages.
CALLS = [
    Call("compare", ("q.txt", "a.run", "rising.run"), "allow"),
    Call("compare", ("q.txt", "a.run", "twice.run"), "duplicates"),
    Call("compare", ("turns.txt", "turns-a.run", "turns-b.run"), "clusters"),
    Call("compare", ("q.txt", "a.run", SEEDS.split()), "replicates"),
    Call("compare", ("q.txt", "a.run", "short.run"), "cutoff"),
    Call("compare_slices", ("ev.npz", "a"), "queries='queries.tsv'", {"by": "length"}, "evaluate"),
    Call("gate", ("ev.npz", "a"), "margins"),
    Call("holes", ("ev.npz", "a"), "documents", {}, "evaluate"),
    Call("compare", ("ev.npz", "a"), "measures", {"measures": ["RR@3"]}, "evaluate"),
    Call("compare_outputs", ("filters.csv", "filters.csv"), "where", {"names": ["a", "b"]}),
    Call("compare_outputs", ("systems.csv", "systems.csv"), "names"),
    Call("compare_outputs", GRADES, "higher_is_better"),
    Call("compare_outputs", GRADES, "range=(0, 2)", {"higher_is_better": True, "margins": (0.1,)}),
    Call("sota_history", ("history.csv",), "score='one'"),
]  # fmt: skip


def said_by(call: Call, **more: Any) -> str:
    """Return the error of a call, or all that its result shows."""
    try:
        result = getattr(iro, call.function)(*call.arguments, **{**call.options, **more})
    except iro.IrOutcomesError as error:
        return f"error: {error}"
    return str(result.to_text(details=True))


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.function} {call.argument}")
def test_what_python_advises_works(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    name, _, value = call.argument.partition("=")
    message = " ".join(said_by(call).split())
    found = re.search(f"`{name}(?:=([^`]+))?`", message)
    assert found is not None, message
    more = {name: ast.literal_eval(value or found[1])}
    if call.taken_by:
        getattr(iro, call.taken_by)("q.txt", ["a.run", "b.run"], **more)
        return
    answer = " ".join(said_by(call, **more).split())
    assert not answer.startswith("error"), answer
    assert found[0] not in answer


def test_the_last_line_in_python_is_a_call(folder: Path) -> None:
    result = iro.compare(folder / "ev.npz", "a", "b")
    found = re.search(r"More \(.*\): (to_text\(details=True\))$", str(result))
    assert found is not None
    assert result.to_text(details=True).startswith(str(result).splitlines()[0])


def named_in_messages() -> Iterator[str]:
    """Find the arguments that texts of the package name in backticks."""
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        described = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and id(node) not in described:
                yield from re.findall(r"`(\w+)[=`]", str(node.value))


# Named without advice to pass them, or called otherwise on the command line (`all_queries`).
NO_ADVICE = {"all_queries", "ax", "by", "columns", "contender", "long", "max_mb", "replace"}


def test_no_advice_is_left_out() -> None:
    """A message that names another argument needs a case above."""
    of_commands = " ".join(case.remedy for case in COMMANDS).replace("-", "_")
    typed = {call.argument.partition("=")[0] for call in CALLS}
    named = {name for name in named_in_messages() if f"__{name}" not in of_commands}
    assert named - typed - NO_ADVICE == set()
