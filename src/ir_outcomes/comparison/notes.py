"""Notes on the runs and on the verdict of a comparison."""

from collections.abc import Iterator, Sequence

from ir_outcomes.comparison.result import Comparison
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.remarks import (
    UNEVEN_JUDGING,
    note_on_depth,
    notes_on_documents,
    notes_on_missing,
    notes_on_queries,
    notes_on_unanswerable,
    unjudged_share,
)
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.search import JUDGED_DEPTH
from ir_outcomes.formatting import listed, percent, plural, pvalue_in_words
from ir_outcomes.notes import Note, note
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.verdict import SIGNS, meaning_of
from ir_outcomes.statistics.estimate import smallest_pvalue
from ir_outcomes.statistics.papers import binomial_test
from ir_outcomes.statistics.runs import LEAST_RUNS

NAMED_QUERIES = 3  # of those that change most
SystemRuns = Sequence[SearchLengths]
UNCLEAR = 0.2  # p-value of a sign test above which no direction is to be seen


def notes_on_input(
    baseline: SystemRuns, contender: SystemRuns, *, positives_only: bool
) -> Iterator[Note]:
    """Yield what a careful reader must know about the runs."""
    runs = (*baseline, *contender)
    yield from notes_on_documents(runs)
    yield from notes_on_unanswerable(runs)
    for about in notes_on_queries(runs):
        # How much is missing is said by `_about_missing`, which queries these are in the
        # background.
        is_missing = about.kind == "missing"
        yield note("missing ids", about.details, about.runs) if is_missing else about
    yield from _about_depth(runs)
    if not positives_only:
        yield from _about_judgments(baseline, contender)


def notes_on_measures(
    baseline: SystemRuns, contender: SystemRuns, measures: Sequence[str]
) -> Iterator[Note]:
    """Say that measures without a cutoff are of lists of different depths."""
    whole = [measure for measure in measures if "@" not in measure]
    of_a, of_b = (max(run.depth for run in runs) for runs in (baseline, contender))
    if whole and of_a != of_b:
        yield note(
            "measure depth", f"{listed(whole)} of lists of {of_a} (A) and {of_b} (B) documents."
        )


def notes_on_values(scores: Scores) -> Iterator[str]:
    """Say how values of another tool are compared, and what is known of them."""
    unknown = "tie rule is that"
    if scores.cutoff is None and scores.kind != "value":
        unknown = "tie rule and cutoff are those"
    yield (
        f"Compared on values of {scores.measure} as they were written; the {unknown} of the tool"
        " that wrote them."
    )
    if scores.kind == "gain":
        yield (
            f"Coverage is the share of queries with {scores.measure} above zero, ranking the mean"
            f" of {scores.measure} where both runs are above zero."
        )
    if scores.n_unanswerable is None and scores.kind != "value":
        yield (
            "Without qrels, queries that have no relevant document cannot be told apart: they count"
            " as unanswered."
        )
    yield from scores.notes_on_output()


def notes_on_verdict(comparison: Comparison) -> Iterator[Note]:
    """Yield what a careful reader must know about the verdict."""
    for about in (
        _about_missing,
        _about_cutoffs,
        _about_means,
        _about_few_changes,
        _about_runs,
        _about_few_differences,
        _about_clusters,
        _about_chances,
    ):
        yield from about(comparison)


def _about_missing(comparison: Comparison) -> Iterator[Note]:
    if comparison.settings.ties == "unknown":  # a note on the values says what is left out
        return
    names = [
        name if n_runs == 1 else f"a run of {name}"
        for name, n_runs in zip("AB", comparison.n_runs, strict=True)
    ]
    missing = dict(zip(names, comparison.n_missing, strict=True))
    yield from notes_on_missing(missing, comparison.n_queries)


def sides_of(row: Row) -> tuple[tuple[str, int], tuple[str, int]]:
    """How many queries or clusters are better and worse, in words."""
    names = ("higher", "lower") if row.higher_is_better else ("shorter", "longer")
    return (names[0], row.better), (names[1], row.worse)


def counted_in(comparison: Comparison) -> str:
    """Return what a row counts as better and worse: a query, or a cluster of queries."""
    return "query" if comparison.settings.n_clusters is None else "cluster"


def _about_means(comparison: Comparison) -> Iterator[Note]:
    """Say which means over all queries are significant in the opposite direction."""
    side = SIGNS[comparison.verdict.direction]
    named = [(row.name, row) for row in comparison.measures]
    if comparison.reciprocal is not None:
        named.insert(0, ("MRR", comparison.naive))
    texts = [
        f"{name} {row.baseline:.4f} to {row.contender:.4f} ({pvalue_in_words(row.pvalue, comparison.alpha)})"
        for name, row in named
        if row.gain * side < 0 and row.pvalue <= comparison.alpha
    ]
    if texts:
        yield note("opposite mean", f"{listed(texts)}.")


def _about_few_changes(comparison: Comparison) -> Iterator[Note]:
    """Say where a few queries decide against the direction of most of them."""
    carrying = meaning_of(comparison.verdict.label).rows
    for row in comparison.deciding:
        pvalue = binomial_test(row.better, row.worse).pvalue
        against = (row.better - row.worse) * row.gain < 0
        if row.name not in carrying or row.found == "none" or not (against or pvalue > UNCLEAR):
            continue
        (gain, better), (loss, worse) = sides_of(row)
        differ, queries = str(row.differ), ""
        if comparison.settings.n_clusters is not None:
            differ, queries = plural("cluster", row.differ), " queries"
        yield note(
            "few decide",
            f"{row.on}: of {differ} that differ, {better} are {gain}, {worse} {loss} (sign test"
            f" {pvalue_in_words(pvalue)}); largest{queries}: {', '.join(_largest_changes(comparison, row))}.",
        )


def _largest_changes(comparison: Comparison, row: Row) -> list[str]:
    """The ids of the queries that change most in a row that decides."""
    changes = {
        query.query_id: abs(change)
        for query in comparison.queries or ()
        if (change := query.change_in(row.name)) is not None
    }
    return sorted(changes, key=lambda query: -changes[query])[:NAMED_QUERIES]


def _about_few_differences(comparison: Comparison) -> Iterator[Note]:
    """Say on which rows so few queries differ that nothing could be significant."""
    level = comparison.settings.first_level
    rows = [
        f"{row.name} ({row.differ}, smallest possible p {smallest_pvalue(row.differ):.2g})"
        for row in comparison.deciding
        if row.differ and smallest_pvalue(row.differ) > level
    ]
    if rows:
        units = plural(counted_in(comparison), 2).removeprefix("2 ")
        yield note("few differences", f"too few {units} differ for significance on {listed(rows)}.")


def _about_clusters(comparison: Comparison) -> Iterator[Note]:
    n_clusters = comparison.settings.n_clusters
    if n_clusters is None:
        return
    whole = comparison.all_queries or comparison.coverage
    text = (
        f"{plural('query', comparison.n_queries)} in {plural('cluster', n_clusters)}, which are the"
        " unit of every p-value and interval; where changes inside of clusters cancel out, this"
        " makes p smaller."
    )
    yield note("clusters", f"{text} {whole.differ} clusters differ over all queries.")


def _about_cutoffs(comparison: Comparison) -> Iterator[Note]:
    """Say where the direction is the opposite one."""
    opposite = {"better": "worse", "worse": "better"}.get(comparison.verdict.direction)
    labels: dict[str, list[str]] = {}
    for at in comparison.cutoffs:
        if at.direction == opposite:
            labels.setdefault(at.label, []).append(str(at.cutoff))
    if labels:
        text = "; ".join(f"{label} at {listed(cutoffs)}" for label, cutoffs in labels.items())
        yield note("other cutoffs", f"{text}.")


def _about_depth(runs: SystemRuns) -> Iterator[Note]:
    first = runs[0]
    cutoff = first.cutoff or 0
    depths = [run.depth for run in runs]
    if min(depths) >= cutoff:
        return
    if min(depths) == max(depths):
        if not first.judged_only:  # what remains is as deep as the judgments go
            yield note_on_depth(depths[0], cutoff)
        return
    returned = f"A returns at most {plural('document', depths[0])}, B {depths[-1]}"
    if len(depths) > 2:
        returned = f"the runs return at most {min(depths)} to {max(depths)} documents"
    if first.judged_only:
        returned = f"without unjudged documents {returned}"
    else:
        runs_in_words = "both" if len(depths) == 2 else "all"
        returned += f"; compare with `cutoff={max(min(depths), 1)}`, which {runs_in_words} reach"
    yield note("depth", f"{returned}.")


def _about_judgments(baseline: SystemRuns, contender: SystemRuns) -> Iterator[Note]:
    """Say which share of the first documents of both systems is unjudged."""
    if baseline[0].judged_only:
        return
    of_a, of_b = map(_unjudged_share, (baseline, contender))
    if of_a is None or of_b is None:
        return
    kind = "judged unequally" if abs(of_a - of_b) > UNEVEN_JUDGING else "unjudged"
    text = f"{percent(of_a, 0)} % of the top {JUDGED_DEPTH} of A, {percent(of_b, 0)} % of B are unjudged."
    yield note(kind, text)


def _unjudged_share(runs: SystemRuns) -> float | None:
    """Mean share of unjudged documents of the runs, None where it is unknown."""
    shares = [unjudged_share(run) for run in runs]
    if None in shares:
        return None
    return sum(share for share in shares if share is not None) / len(shares)


def _about_runs(comparison: Comparison) -> Iterator[Note]:
    """Say of which systems so few runs are known that nothing follows for a new one."""
    systems = [f"{name} has {n}" for name, n in comparison.systems if 1 < n < LEAST_RUNS]
    if systems:
        yield note(
            "few runs",
            f"{listed(systems)}; the label is about these runs, and nothing follows for a new one,"
            f" which takes {LEAST_RUNS} runs.",
        )


def _about_chances(comparison: Comparison) -> Iterator[Note]:
    """Say how often some label errs where comparisons are not corrected."""
    settings = comparison.settings
    if (
        settings.family > 1
        and settings.correction == "none"
        and comparison.verdict.direction != "none"
    ):
        at_least_once = min(1.0, settings.alpha * settings.family)
        yield note(
            "chances",
            f"The {settings.family} comparisons of this call are not corrected: with no true"
            " difference at all, at least one of them says better or worse up to about"
            f" {percent(at_least_once, 0)} % of the time.",
        )
