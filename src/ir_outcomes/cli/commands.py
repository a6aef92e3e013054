"""The table of commands.

A command is made from a function: its keyword-only arguments are the options, and the help of an
option is the first sentence about the argument in the docstring.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

# What can be said about reading, by what a command makes of it.
RANKS = ("cutoff", "rel", "ties", "judged_only", "drop_self", "duplicates", "n_jobs")
RUNS = (*RANKS, "names", "allow")
VERDICTS = (*RUNS, "unit", "clusters")
MEASURES = ("measures", "higher_is_better")
EVERYTHING = (*VERDICTS, *MEASURES, "replicates", "queries")


class Effect(NamedTuple):
    """Options that have no effect unless one of others is given."""

    options: tuple[str, ...]
    needs: tuple[str, ...] = ()
    beside: str = ""  # ... where this one is given, else always


OF_LISTS = Effect(("alpha", "correction", "margins", "details"), ("plot", "report"), "per_query")


class Command(NamedTuple):
    """How the command line reaches a function."""

    function: str  # its name in `functions`, else in ir_outcomes
    summary: str
    examples: tuple[str, ...]
    words: str = (
        "plain"  # in `words`: what makes the first arguments of the function from the words
    )
    takes: tuple[str, ...] = ()  # arguments on reading that are options
    values: bool = False  # whether files can be values of other tools, by --outputs
    keeps: Mapping[str, Any] = {}  # arguments of `evaluate` that the function needs
    requires: tuple[str, ...] = ()  # arguments that are options without a default
    then: str = "as_list"  # what is written of the result
    figures: tuple[str, ...] = ()
    result: bool = True  # whether there is a result to write
    page: bool = False
    effects: tuple[Effect, ...] = ()


COMMANDS = {
    "check": Command(
        "check",
        "Find what in the files would change results.",
        ("check qrels.txt *.run",),
        "files",
    ),
    "compare": Command(
        "compare",
        "Compare runs with a baseline on coverage and ranking.",
        (
            "compare qrels.txt bm25.run bm25-stem.run --cutoff 100",
            "compare qrels.txt bm25.run bm25-stem.run -m nDCG@10 -m RR@10",
            "compare qrels.txt bm25.run bm25-stem.run --per-query lost",
        ),
        "pair",
        takes=EVERYTHING,
        then="per_query",
        figures=("facets", "changes"),
        page=True,
        effects=(Effect(("queries",), ("per_query", "report")), OF_LISTS),
    ),
    "compare-outputs": Command(
        "compare_outputs",
        "Compare runs by per-query values of other tools.",
        (
            "compare-outputs bm25.tsv bm25-stem.tsv --qrels qrels.txt",
            "compare-outputs bm25.tsv bm25-stem.tsv -m RR --per-query lost",
        ),
        "values",
        then="per_query",
        figures=("facets", "changes"),
        page=True,
    ),
    "verdict": Command(
        "verdict",
        "Say what published numbers allow to conclude.",
        (
            "verdict --won 20 --lost 9",
            "verdict --n 100 --won 20 --lost 9 --difference 0.5 --pvalue 0.03",
        ),
    ),
    "compare-slices": Command(
        "compare_slices",
        "Compare runs on slices of the queries.",
        (
            "compare-slices qrels.txt *.run --by length --queries queries.tsv",
            "compare-slices --outputs old.csv new.csv -m nDCG@10 --by kinds.tsv",
        ),
        "pair",
        takes=(*VERDICTS, *MEASURES, "queries"),
        values=True,
        figures=("forest",),
        page=True,
    ),
    "compare-judges": Command(
        "compare_judges",
        "Compare runs under the qrels of several judges.",
        ("compare-judges *.run --judge me=qrels.txt --judge llm=llm.txt@2",),
        "judges",
        takes=(*VERDICTS, *MEASURES, "queries"),
        figures=("forest",),
        page=True,
        effects=(Effect(("queries",), ("report",)),),
    ),
    "compare-collections": Command(
        "compare_collections",
        "Compare systems on several collections.",
        ("compare-collections suite --baseline bm25",),
        "collections",
        takes=(*RANKS, "unit", "clusters", "queries", *MEASURES),
        values=True,
        figures=("forest",),
        page=True,
        effects=(Effect(("queries",), ("report",)),),
    ),
    "holes": Command(
        "holes",
        "Show how far verdicts depend on unjudged documents.",
        ("holes qrels.txt bm25.run bm25-stem.run --cutoff 10 --to-judge 20",),
        "pair",
        takes=VERDICTS,
        keeps={"documents": "cutoff"},
        then="to_judge",
    ),
    "plan": Command(
        "plan",
        "Show how many queries it takes to detect a difference.",
        ("plan qrels.txt bm25.run bm25-stem.run --margins 2pp,1ranks",),
        "pair",
        takes=(*VERDICTS, *MEASURES, "replicates"),
        values=True,
        effects=(Effect(MEASURES, ("outputs",)),),  # runs are planned on their rows
    ),
    "gate": Command(
        "gate",
        "Decide whether runs may replace the baseline: 0 pass, 3 fail, 4 inconclusive.",
        (
            "gate qrels.txt bm25.run bm25-stem.run --margins 2pp,1",
            "gate --suite suite --baseline bm25 --margins 2pp,1",
            "gate --outputs old.csv new.csv -m nDCG@10 --margins 0.01",
        ),
        "gate",
        keeps={"on_error": "keep"},
        requires=("margins",),
        takes=(*RANKS, "names", "unit", "clusters", "replicates", "queries", *MEASURES),
        values=True,
        then="summary",
        page=True,
    ),
    "report": Command(
        "compare",
        "Write an HTML page with every query behind a verdict.",
        ("report qrels.txt bm25.run bm25-stem.run -o report.html",),
        "pair",
        takes=EVERYTHING,
        values=True,
        result=False,
        page=True,
    ),
    "evaluate": Command(
        "evaluate",
        "Evaluate runs once, into a file that stands for them.",
        ("evaluate qrels.txt *.run -o board.npz",),
        "board",
        takes=(*VERDICTS, *MEASURES, "replicates"),
        result=False,
    ),
    "leaderboard": Command(
        "leaderboard",
        "Order runs by one row, with the ranks that are possible.",
        (
            "leaderboard qrels.txt *.run --measure nDCG@10 --plot standings.pdf",
            "leaderboard --suite suite --measure nDCG@10",
        ),
        "board_or_suite",
        takes=EVERYTHING,
        values=True,
        figures=("standings", "verdicts"),
        page=True,
        effects=(Effect(("queries",), ("report",)),),
    ),
    "sota-history": Command(
        "sota_history",
        "Find the submissions that took first place.",
        ("sota-history leaderboard.csv --until 2021-02-15",),
        figures=("history",),
    ),
    "rank-distribution": Command(
        "rank_distribution",
        "Rank the runs on bootstrap resamples of the queries.",
        ("rank-distribution qrels.txt *.run -m RR@10 -m nDCG@10",),
        "board",
        takes=(*RUNS, "clusters", *MEASURES),
        values=True,
        effects=(Effect(("cutoff",), beside="measures"),),  # which have their own
        figures=("ranks",),
    ),
    "agreement": Command(
        "agreement",
        "Count how often verdicts agree on halves of queries.",
        ("agreement qrels.txt *.run --splits 10",),
        "board",
        takes=(*VERDICTS, *MEASURES),
        values=True,
    ),
    "reordering": Command(
        "reordering",
        "Show how runs are reordered by another measure.",
        ("reordering qrels.txt *.run",),
        "board",
        takes=(*RUNS, "measures"),
    ),
    "tail length-distributions": Command(
        "length_distributions",
        "Count relevant documents by search length.",
        ("tail length-distributions qrels.txt bm25.run rrf-stem-lsa.run",),
        "board",
        takes=RUNS,
    ),
    "tail length-changes": Command(
        "length_changes",
        "Count relevant documents by the change of their search length.",
        ("tail length-changes qrels.txt bm25.run rrf-stem-lsa.run --bins 9",),
        "pair",
        takes=RUNS,
        figures=("changes",),
    ),
    "tail rrie": Command(
        "rrie",
        "Show the reduction in error at the top and over all relevant documents.",
        ("tail rrie qrels.txt bm25.run rrf-stem-lsa.run",),
        "pair",
        takes=RUNS,
    ),
    "tail headroom": Command(
        "headroom",
        "Count queries by what the best run leaves to gain.",
        ("tail headroom qrels.txt bm25.run rrf-stem-lsa.run",),
        "board",
        takes=RUNS,
        figures=("headroom",),
    ),
    "measure": Command(
        "measure",
        "Evaluate one run, like the ir_measures command.",
        (
            "measure qrels.txt bm25.run ESL@100 Answered@100 nDCG@10",
            "measure qrels.txt bm25.run RR@10 -q -n",
        ),
        result=False,
    ),
    "datasets": Command(
        "datasets",
        "List the known datasets, or describe one.",
        ("datasets msmarco-document/dev",),
        result=False,
    ),
    "sample": Command(
        "sample",
        "Write the embedded sample, to try everything offline.",
        ("sample sample", "sample --suite suite"),
        result=False,
    ),
}
