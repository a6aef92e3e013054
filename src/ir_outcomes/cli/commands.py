"""The commands for one run and for two: compare, compare-outputs, measure, datasets, sample."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ir_outcomes.cli.output import QRELS, Format, save_picture, stdout_or
from ir_outcomes.errors import ParameterError

app = typer.Typer(
    name="ir-outcomes",
    help="Is this run really better, and in which way?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class Which(str, Enum):
    """Which queries are listed."""

    won = "won"
    lost = "lost"
    better = "better"
    worse = "worse"


@app.command()
def compare(
    qrels: QRELS,
    baseline: Annotated[
        str, typer.Argument(help="run A: a file, irds:<dataset id>, irds: for the dataset's own, or best", show_default=False)
    ],
    runs: Annotated[
        list[str], typer.Argument(help="run B, or several, or a directory of runs", metavar="RUN...", show_default=False)
    ],
    cutoff: Annotated[
        int | None, typer.Option("--cutoff", "-k", help="ranks beyond it do not count; by default the dataset's, or 100")
    ] = None,
    rel: Annotated[int | None, typer.Option(help="least grade of a relevant document; by default the dataset's, or 1")] = None,
    unit: Annotated[str, typer.Option(help="auto, query or document")] = "auto",
    ties: Annotated[str, typer.Option(help="order among equal scores: trec, msmarco or input")] = "trec",
    judged_only: Annotated[bool, typer.Option("--judged-only", help="remove unjudged documents first")] = False,
    alpha: Annotated[float, typer.Option(help="level of tests, intervals and verdict")] = 0.05,
    test: Annotated[str, typer.Option(help="deciding test of ranking: t, wilcoxon, sign or signflip")] = "t",
    coverage_test: Annotated[str, typer.Option(help="deciding test of coverage: exact or midp")] = "exact",
    correction: Annotated[str, typer.Option(help="holm, bonferroni, fdr_bh, tukey (all pairs) or none")] = "holm",
    margins: Annotated[str | None, typer.Option(help="non-inferiority margins, such as 1pp,0.5")] = None,
    all_pairs: Annotated[bool, typer.Option("--all-pairs", help="compare every two runs, not all with the baseline")] = False,
    seed: Annotated[int, typer.Option(help="of sampled tests")] = 0,
    queries: Annotated[
        str | None, typer.Option(help="text of the queries, a file of lines with id, tab, text", show_default=False)
    ] = None,
    per_query: Annotated[Which | None, typer.Option(help="list these queries instead")] = None,
    top: Annotated[int | None, typer.Option(help="list at most so many queries", min=1)] = None,
    on: Annotated[
        str | None,
        typer.Option("--measure", help="compare on this measure of ir_measures instead of ranks", show_default=False),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="how to write the result")] = Format.text,
    output: Annotated[Path | None, typer.Option(help="write to this file instead of stdout", show_default=False)] = None,
    picture: Annotated[
        Path | None, typer.Option("--plot", help="draw both facets to this .png, .pdf or .svg", show_default=False)
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="runs evaluated at a time; -1 for one per processor")] = 1,
    cache: Annotated[
        Path | None, typer.Option(help="keep what is found in the runs in this directory, for next time", show_default=False)
    ] = None,
) -> None:
    """Compare runs with a baseline: outcomes, both facets, verdict."""
    from ir_outcomes.comparison import Comparisons
    from ir_outcomes.comparison import compare as compare_runs
    from ir_outcomes.reading.files import read_texts
    from ir_outcomes.showing import csv_, json_
    from ir_outcomes.showing.views.comparison import queries_view

    options: dict[str, Any] = {
        "alpha": alpha,
        "test": test,
        "coverage_test": coverage_test,
        "correction": correction,
        "margins": None if margins is None else _margins(margins),
        "seed": seed,
    }
    if on is not None:
        _refuse_beside_measure(
            {
                "--cutoff": cutoff is not None,
                "--unit": unit != "auto",
                "--ties": ties != "trec",
                "--judged-only": judged_only,
                "--all-pairs": all_pairs,
                "--queries": queries is not None,
                "--jobs": jobs != 1,
                "--cache": cache is not None,
            }
        )
        result = _compare_on(on, qrels, [baseline, *runs], {"rel": rel or 1, **options})
    else:
        result = compare_runs(
            qrels,
            baseline,
            runs if len(runs) > 1 or all_pairs else runs[0],
            cutoff=cutoff,
            rel=rel,
            unit=cast("Any", unit),  # compare checks the choices, and names what is allowed
            ties=cast("Any", ties),
            judged_only=judged_only,
            all_pairs=all_pairs,
            texts=None if queries is None else read_texts(queries),
            n_jobs=jobs,
            cache=cache,
            progress=jobs != 1 and sys.stderr.isatty(),
            **options,
        )
    if picture is not None:
        from ir_outcomes.showing.figures import blank_figure

        save_picture(result.plot("facets", ax=blank_figure()), picture)
    several = list(result) if isinstance(result, Comparisons) else [result]
    with stdout_or(output) as write:
        if per_query is not None:
            for each in several:
                rows = [query._asdict() for query in each.per_query(per_query.value, top)]
                if form is Format.text:
                    write(queries_view(each.per_query(per_query.value, top), each))
                elif form in (Format.json, Format.jsonl):
                    write(json.dumps(rows, ensure_ascii=False) if form is Format.json else json_.write_lines(rows))
                elif form is Format.csv:
                    write(csv_.write(rows))
                else:
                    raise ParameterError(f"--per-query cannot be written as {form.value}; use text, json, jsonl or csv")
        else:
            _write_result(result, form, write)


@app.command(name="compare-outputs")
def compare_outputs(
    baseline: Annotated[str, typer.Argument(help="what a tool wrote for run A, query by query", show_default=False)],
    contenders: Annotated[
        list[str], typer.Argument(help="the same for run B, or several", metavar="RUN...", show_default=False)
    ],
    measure: Annotated[str | None, typer.Option(help="which measure; by default RR or ESL", show_default=False)] = None,
    qrels: Annotated[str | None, typer.Option(help="tell which queries are answerable", show_default=False)] = None,
    rel: Annotated[int, typer.Option(help="least grade of a relevant document")] = 1,
    higher_is_better: Annotated[
        bool | None, typer.Option("--higher-is-better/--lower-is-better", help="of an unknown measure", show_default=False)
    ] = None,
    alpha: Annotated[float, typer.Option(help="level of tests, intervals and verdict")] = 0.05,
    test: Annotated[str, typer.Option(help="deciding test of ranking: t, wilcoxon, sign or signflip")] = "t",
    correction: Annotated[str, typer.Option(help="holm, bonferroni, fdr_bh or none")] = "holm",
    name: Annotated[
        list[str] | None,
        typer.Option(help="name of each output, baseline first; chooses in a file of several", show_default=False),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="how to write the result")] = Format.text,
    output: Annotated[Path | None, typer.Option(help="write to this file instead of stdout", show_default=False)] = None,
) -> None:
    """Compare runs by the per-query values that trec_eval -q, ir_measures -q or PyTerrier wrote."""
    from ir_outcomes.comparison import compare_outputs as compare_values

    result = compare_values(
        baseline,
        contenders if len(contenders) > 1 else contenders[0],
        measure=measure,
        qrels=qrels,
        rel=rel,
        higher_is_better=higher_is_better,
        alpha=alpha,
        test=cast("Any", test),
        correction=cast("Any", correction),
        names=tuple(name) if name else None,
    )
    with stdout_or(output) as write:
        _write_result(result, form, write)


@app.command()
def measure(
    qrels: QRELS,
    run: Annotated[str, typer.Argument(help="run file, or irds:<dataset id>", show_default=False)],
    measures: Annotated[list[str], typer.Argument(help="such as ESL@100 nDCG@10", metavar="MEASURE...", show_default=False)],
    places: Annotated[int, typer.Option("--places", "-p", help="decimal places; -1 for all")] = 4,
    by_query: Annotated[bool, typer.Option("--by_query", "-q", help="a line for each query")] = False,
    no_summary: Annotated[bool, typer.Option("--no_summary", "-n", help="with -q: no line for all queries")] = False,
    output_format: Annotated[str, typer.Option("--output_format", "-o", help="tsv or jsonl")] = "tsv",
    provider: Annotated[str | None, typer.Option(help="evaluate with this ir_measures provider", show_default=False)] = None,
) -> None:
    """Evaluate one run: the arguments and the output of the ir_measures command, with our measures known.

    How many queries a search length is the mean of goes to stderr. In JSON lines an undefined or infinite value is null.
    """
    import ir_measures
    from ir_measures.util import Metric

    from ir_outcomes.measures import parse_measure
    from ir_outcomes.reading import as_qrels, as_run

    if no_summary and not by_query:
        raise typer.BadParameter("--no_summary (-n) only makes sense with --by_query (-q)")
    if output_format not in ("tsv", "jsonl"):
        raise typer.BadParameter(f"--output_format {output_format}: must be tsv or jsonl")
    providers = ir_measures.providers.registry
    if provider is not None and provider not in providers:
        raise typer.BadParameter(f"--provider {provider}: must be one of {', '.join(providers)}")
    if output_format == "jsonl" and places != 4:
        typer.echo("--places is ignored when using --output jsonl", err=True)

    chosen = list(dict.fromkeys(parse_measure(name) for names in measures for name in _names_in(names)))
    evaluator: Any = ir_measures if provider is None else providers[provider]
    totals = {each: each.aggregator() for each in chosen}
    undefined = dict.fromkeys(chosen, 0)
    queries = as_qrels(qrels)
    for metric in evaluator.iter_calc(chosen, queries.to_dict(), as_run(run).to_dict()):
        totals[metric.measure].add(metric.value)
        undefined[metric.measure] += math.isnan(metric.value)
        if by_query:
            typer.echo(_metric_line(metric, output_format, places, with_query=True))
    if not no_summary:
        for each in chosen:
            summary = Metric(query_id="all", measure=each, value=totals[each].result())
            typer.echo(_metric_line(summary, output_format, places, with_query=by_query))
    for each in chosen:
        if undefined[each]:
            defined = len(queries.query_ids) - undefined[each]
            typer.echo(f"{each}: the mean is over {defined} of {len(queries.query_ids)} queries", err=True)


@app.command()
def datasets(
    dataset: Annotated[str | None, typer.Argument(help="an ir_datasets id", metavar="[ID]", show_default=False)] = None,
) -> None:
    """List the known datasets, or say of one how it is evaluated and what is on this machine; nothing is fetched."""
    from ir_outcomes.reading import known_tasks, load
    from ir_outcomes.showing.views.tasks import task_view, tasks_view

    with stdout_or(None) as write:
        if dataset is None:
            write(tasks_view([load(name) for name in known_tasks()]))
        else:
            write(task_view(load(dataset)))


@app.command()
def sample(folder: Annotated[Path, typer.Argument(help="where to write; made if need be", show_default=False)]) -> None:
    """Write the embedded sample, four runs over 1000 queries and their qrels, so that everything can be tried offline."""
    from ir_outcomes.samples import write_sample

    for path in write_sample(folder):
        typer.echo(path)


def _refuse_beside_measure(given: dict[str, bool]) -> None:
    """Refuse what would change nothing where another measure is compared."""
    useless = [option for option, is_given in given.items() if is_given]
    if useless:
        raise ParameterError(f"{', '.join(useless)} cannot go with --measure: say it in the measure, such as nDCG@10")


def _compare_on(measure: str, qrels: str, runs: list[str], options: dict[str, Any]) -> Any:
    """Evaluate the runs with ir_measures, and compare what comes out."""
    import ir_measures

    from ir_outcomes.comparison import compare_outputs
    from ir_outcomes.measures import parse_measure
    from ir_outcomes.reading import as_qrels, as_run

    chosen = parse_measure(measure)
    judgments, tables = as_qrels(qrels), [as_run(run) for run in runs]
    outputs = [list(ir_measures.iter_calc([chosen], judgments.to_dict(), table.to_dict())) for table in tables]
    names = tuple(table.name for table in tables)
    contenders = outputs[1:] if len(outputs) > 2 else outputs[1]
    return compare_outputs(outputs[0], contenders, qrels=judgments, names=names, **options)


def _write_result(result: Any, form: Format, write: Callable[[Any], None]) -> None:
    from ir_outcomes.comparison import Comparisons

    if form is Format.json:
        write(result.to_json(indent=2))
    elif form is Format.jsonl:
        write("\n".join(each.to_json() for each in (result if isinstance(result, Comparisons) else [result])))
    elif form is not Format.text:
        write(getattr(result, f"to_{form.value}")())
    else:
        write(result.view())


def _names_in(text: str) -> list[str]:
    """Split names of measures at white space, but not within the brackets of one: a path may hold blanks."""
    return re.findall(r"(?:[^\s(]|\([^)]*\)?)+", text)


def _metric_line(metric: Any, output_format: str, places: int, *, with_query: bool) -> str:
    if output_format == "jsonl":
        value = metric.value if math.isfinite(metric.value) else None
        fields = {"query_id": metric.query_id} if with_query else {}
        return json.dumps({**fields, "measure": str(metric.measure), "value": value})
    value = format(metric.value, "" if places == -1 else f".{places}f")
    return "\t".join([metric.query_id, str(metric.measure), value] if with_query else [str(metric.measure), value])


def _margins(text: str) -> tuple[float, float]:
    try:
        coverage, ranking = (float(part.strip().removesuffix("pp").removesuffix("ranks")) for part in text.split(","))
    except ValueError:
        raise ParameterError(
            f"--margins {text!r}: write two numbers, percentage points of coverage and ranks, such as 1pp,0.5"
        ) from None
    return coverage, ranking
