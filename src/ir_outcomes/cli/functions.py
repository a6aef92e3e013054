"""Functions that only the command line has."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import ir_outcomes as iro
from ir_outcomes.choices import Correction
from ir_outcomes.cli.output import in_options
from ir_outcomes.cli.streams import CALL, UsageError, error_line, note_of_old_file, print_lines


def as_list(result: Any, rows: int | None = None) -> list[Any]:
    """Return the results of a call, which some functions return as a list."""
    return result if isinstance(result, list) else [result]


def per_query(
    result: Any,
    rows: int | None,
    *,
    per_query: Literal["won", "lost", "better", "worse"] | None = None,
) -> list[Any]:
    """List queries instead of the comparison.

    Parameters
    ----------
    per_query
        List these queries instead of the comparison.
    """
    if per_query is None:
        return [result]
    return [comparison.per_query(per_query, rows) for comparison in comparisons_of(result)]


def comparisons_of(result: "iro.Comparison | iro.Comparisons") -> "list[iro.Comparison]":
    """Return the comparisons of a call."""
    return [result] if isinstance(result, iro.Comparison) else list(result)


def to_judge(result: "iro.Holes", rows: int | None, *, to_judge: int | None = None) -> list[Any]:
    """List what to judge first instead of the result.

    Parameters
    ----------
    to_judge
        Write this many pairs of query and document, those to judge first, as TSV instead.
    """
    CALL.options["n"] = ["--to-judge"]
    return [result if to_judge is None else result.to_tsv(to_judge).rstrip()]


def plan(
    evaluation: Any,
    baseline: str,
    contenders: Sequence[str] | str,
    *,
    margins: tuple[float, ...] | None = None,
    alpha: float = 0.05,
    correction: Correction = "holm",
    allow: Sequence[str] = (),
) -> "list[iro.Plan]":
    """Compute how many queries detect differences as large as the margins.

    Parameters
    ----------
    margins
        Differences to detect, of coverage, ranking and all queries, by default 1pp,0.5ranks.
    alpha, correction, allow
        See `ir_outcomes.compare`.
    """
    CALL.options |= {name: ["--margins"] for name in ("coverage", "ranking", "all_queries")}
    rules: dict[str, Any] = {"alpha": alpha, "correction": correction, "allow": allow}
    result = iro.compare(evaluation, baseline, contenders, **rules)
    return [iro.plan(comparison, *(margins or ())) for comparison in comparisons_of(result)]


def summary(result: Any, rows: int | None, *, summary: Path | None = None) -> list[Any]:
    """Append the result to a file, too.

    Parameters
    ----------
    summary
        Append the decision to this file as Markdown.
    """
    if summary is not None:
        from ir_outcomes.showing.formats import as_markdown

        with summary.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(f"{as_markdown(in_options(result), details=True)}\n")
    return [result]


def rank_distribution(
    source: Any,
    *,
    measures: Sequence[str] = (),
    subsets: Sequence[str] = (),
    top_k: int = 5,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    progress: bool = False,
) -> "list[iro.RankDistribution]":
    """Rank the runs by each measure, on all queries and on subsets of them.

    Parameters
    ----------
    measures, top_k, level, resamples, seed
        See `ir_outcomes.rank_distribution`.
    subsets
        NAME=FILE: also rank the runs on the queries in this file, one id on each line.
    """
    from ir_outcomes.cli.words import named_files

    return [
        iro.rank_distribution(
            source,
            measure=measure,
            queries=file,
            condition=name,
            top_k=top_k,
            level=level,
            resamples=resamples,
            seed=seed,
            progress=progress,
        )
        for measure in measures or (None,)
        for name, file in {"": None, **named_files(subsets, "--subset")}.items()
    ]


def evaluate(evaluation: Any, *, path: Path) -> None:
    """Save an evaluation.

    Parameters
    ----------
    path
        The file to write (.npz).
    """
    note_of_old_file(path)
    evaluation.save(path)


def verdict(
    means: Sequence[str] = (),
    *,
    won: int | None = None,
    lost: int | None = None,
    n: int | None = None,
    difference: float | None = None,
    pvalue: float | None = None,
    alpha: float = 0.05,
) -> "iro.SummaryVerdict":
    """Say what published numbers allow to conclude.

    Parameters
    ----------
    means
        Means are refused: they do not say how many queries changed.
    won
        Queries that only the contender answered.
    lost
        Queries that only the baseline answered.
    n
        Number of answerable queries.
    difference
        Mean rank of the contender minus the baseline's, where both answered.
    pvalue
        The p-value of that difference.
    alpha
        Significance level.
    """
    from ir_outcomes.decisions.published import MEANS

    CALL.options |= {"ranking_difference": ["--difference"], "ranking_pvalue": ["--pvalue"]}
    if means:
        raise iro.ParameterError(MEANS)
    if won is None or lost is None:
        raise UsageError("Give --won and --lost, and --n for a label.")
    return iro.verdict_from_summary(won, lost, n, difference, pvalue, alpha=alpha)


def measure(
    qrels: str,
    run: str,
    measures: list[str],
    *,
    places: int = 4,
    by_query: bool = False,
    no_summary: bool = False,
    output_format: Literal["tsv", "jsonl"] = "tsv",
    drop_self: bool = False,
    duplicates: Literal["first", "max"] | None = None,
    allow: Sequence[Literal["unknown-ids", "rising-scores", "equal-scores"]] = (),
) -> None:
    """Evaluate one run, and print what the ir_measures command prints.

    Parameters
    ----------
    qrels
        Qrels: a file, or an ir_datasets id.
    run
        The run: a file, or irds:ID.
    measures
        Measures, such as ESL@100 nDCG@10.
    places
        Number of decimal places, -1 for all.
    by_query
        Print a line for each query.
    no_summary
        With --by_query: do not print the means over all queries.
    output_format
        Format of the lines.
    drop_self
        Remove documents whose id is that of the query.
    duplicates
        What counts of a document that a query has several times.
    allow
        What is meant although it looks like a mistake.
    """
    from ir_outcomes.evaluation.ranking import filtered
    from ir_outcomes.evaluation.remarks import refuse_stops
    from ir_outcomes.evaluation.scores import measure_values

    if no_summary and not by_query:
        raise UsageError("--no_summary (-n) only makes sense with --by_query (-q).")
    if not -1 <= places <= 100:
        raise UsageError(f"--places {places}: must be from -1 to 100.")
    # Measures are separated at white space, but not within the parentheses of one: a path may
    # contain blanks.
    names = [name for text in measures for name in re.findall(r"(?:[^\s(]|\([^)]*\)?)+", text)]
    parsed = tuple(dict.fromkeys(map(iro.parse_measure, names)))
    if not parsed:
        raise UsageError("There is no measure; name at least one, such as ESL@100.")
    judged = iro.as_qrels(qrels)
    ranking = iro.as_run(run, run, duplicates=duplicates)
    ranking = filtered(judged, ranking, drop_self=drop_self)
    refuse_stops([iro.search_lengths(judged, ranking)], allow)
    values = measure_values(judged, parsed, ranking).tolist()
    lines: list[tuple[dict[str, str], float]] = []
    if by_query:
        for number, query in enumerate(judged.query_ids):
            for one, of_queries in zip(parsed, values, strict=True):
                lines.append(({"query_id": query, "measure": str(one)}, of_queries[number]))
    for one, of_queries in zip(parsed, values, strict=True):
        total = one.aggregator()
        for value in of_queries:
            total.add(value)
        head = {"query_id": "all", "measure": str(one)} if by_query else {"measure": str(one)}
        if not no_summary:
            lines.append((head, total.result()))
        if not CALL.quiet and (undefined := sum(map(math.isnan, of_queries))):
            error_line(
                f"{one}: the mean is over {len(of_queries) - undefined} of {len(of_queries)} queries"
            )
    for head, value in lines:
        if output_format == "jsonl":
            print_lines(json.dumps({**head, "value": value if math.isfinite(value) else None}))
        else:
            text = format(value, "" if places < 0 else f".{places}f")
            print_lines("\t".join([*head.values(), text]))


def datasets(dataset: str | None = None) -> None:
    """List the known datasets, or describe one.

    Parameters
    ----------
    dataset
        An ir_datasets id.
    """
    from ir_outcomes.showing.text import as_text
    from ir_outcomes.showing.views.datasets import task_view, tasks_view

    if dataset is None:
        view = tasks_view([iro.load(name) for name in iro.known_tasks()])
    else:
        view = task_view(iro.load(dataset))
    print_lines(as_text(view, rows=None))


def sample(folder: str, *, suite: bool = False) -> None:
    """Write the embedded sample.

    Parameters
    ----------
    folder
        The folder to write to, which is created if it does not exist.
    suite
        Write four small collections with three runs each instead.
    """
    from ir_outcomes.samples import write_sample, write_suite

    for path in write_suite(folder) if suite else write_sample(folder):
        print_lines(str(path))
