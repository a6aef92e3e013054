"""The notes that keep a reader from misreading a comparison: on its runs, and on its verdict."""

from collections.abc import Iterator

import numpy as np

from ir_outcomes.comparison.facets import POWER, Facet, Means, MeasureMeans
from ir_outcomes.comparison.outcomes import PairedQueries
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.verdict import NO_DIFFERENCE, is_unconfirmed
from ir_outcomes.comparison.wording import (
    counting,
    missing_of_runs,
    of_values,
    over_all_words,
    words_of_test,
)
from ir_outcomes.evaluation.remarks import (
    MANY_MISSING,
    UNEVEN_JUDGING,
    note_on_depth,
    notes_on_documents,
    notes_on_queries,
    unjudged_share,
)
from ir_outcomes.evaluation.systems import System
from ir_outcomes.formatting import listed, moved, percent, places_of, plural, pvalue_in_words, size
from ir_outcomes.notes import Note, note
from ir_outcomes.statistics import design_effect, differences
from ir_outcomes.statistics.corrections import smallest_pvalue
from ir_outcomes.statistics.counts import FEW
from ir_outcomes.statistics.new_runs import LEAST_RUNS
from ir_outcomes.types import LENGTHS, POINTS, RANKS

FEW_QUERIES = 60


def notes_on_input(baseline: System, contender: System, *, positives_only: bool) -> Iterator[Note]:
    """Yield what a careful reader must know about the runs; qrels of relevant documents only say nothing about judging."""
    runs = (*baseline.runs, *contender.runs)
    yield from notes_on_documents(runs)
    for own in notes_on_queries(runs):
        # How much is missing is said by `_about_missing`, which queries these are in the
        # background.
        yield note("missing ids", own.details, own.runs) if own.kind == "missing" else own
    yield from _about_depth(baseline, contender)
    if not positives_only:
        yield from _about_judgments(baseline, contender)


def notes_on_verdict(comparison: Comparison, pair: PairedQueries) -> Iterator[Note]:
    """Yield what a careful reader must know about the verdict."""
    for about in (
        _about_missing,
        _about_identical,
        _about_guard,
        _about_means,
        _about_confirmation,
        _about_blocked,
        _about_cutoffs,
        _about_runs,
        _about_tests,
        _about_few_queries,
        _about_disagreement,
        _about_intervals,
        _about_harm,
        _about_power,
        _about_chances,
    ):
        yield from about(comparison)
    yield from _about_clusters(comparison, pair)


def _about_missing(comparison: Comparison) -> Iterator[Note]:
    n = comparison.n_queries
    what = "values" if of_values(comparison) else "results"
    lacking = []
    for which, missing in missing_of_runs(comparison):
        if missing:
            share = percent(missing / n)
            lacking.append(f"{which} has no {what} for {missing} of {n} queries ({share} %)")
    if lacking:
        kind = "missing"
        if max(comparison.n_missing) > MANY_MISSING * n:
            kind = "many missing"
        yield note(kind, f"{listed(lacking)}; they count as not found.")


def _about_identical(comparison: Comparison) -> Iterator[Note]:
    if comparison.identical:
        text = (
            "A and B have the same documents in the same order for every query; was the new run"
            " written?"
        )
        yield note("identical", text)


def _about_guard(comparison: Comparison) -> Iterator[Note]:
    restricted = comparison.restricted
    if restricted is None or not comparison.verdict.guard:
        return
    says, sign = ("better", 1) if _claimed(comparison) > 0 else ("worse", -1)
    claiming = [
        facet.name for facet in (comparison.coverage, comparison.ranking) if facet.found == says
    ]
    claimed = listed(claiming or ["the search over all queries"])
    verb = "are" if len(claiming) > 1 else "is"
    lost, won = (
        "none" if rank is None else f"{rank:g}"
        for rank in (comparison.outcomes.lost_at, comparison.outcomes.won_at)
    )
    unit = restricted.measured_in
    has = "is" if unit == RANKS else "has"
    found = []
    for what, difference, test in (
        ("the search over all queries", restricted.difference, restricted.test),
        ("what was won and lost by itself", restricted.won_and_lost, restricted.won_and_lost_test),
    ):
        if test.pvalue <= comparison.alpha and test.direction == sign:
            change = f"{has} {moved(difference, unit)} ({pvalue_in_words(test.pvalue)})"
            found.append(f"{what} {change}")
    beyond = f"{counting(restricted)} (median ranks: lost {lost}, won {won})"
    yield note(
        "guard", f"{claimed} {verb} {says}, but {listed(found)}, {beyond}; so it is a trade-off."
    )


def _claimed(comparison: Comparison) -> int:
    """Return what the facets say before the guard, or all queries where neither does: 1 better, -1 worse, 0 nothing."""
    claims = {"better": 1, "worse": -1, "none": 0, "undecided": 0}
    by_facets = claims[comparison.verdict.do_no_harm]
    if by_facets or comparison.all_queries is None:
        return by_facets
    return claims[comparison.all_queries.found]


def _about_means(comparison: Comparison) -> Iterator[Note]:
    """Say which means over all queries go the other way: of reciprocal ranks, and of the measures that were asked for."""
    says = {"better": 1, "worse": -1, "none": 0}[comparison.verdict.direction]
    naive = "MRR" if comparison.reciprocal is not None else "the mean"
    known: list[tuple[str, Means | MeasureMeans]] = [(naive, comparison.naive)]
    known += [(means.measure, means) for means in comparison.measures]
    opposite = []
    for name, means in known:
        t = means.tests["t"]
        is_opposite = says * t.direction * (1 if means.higher_is_better else -1) < 0
        if is_opposite and t.pvalue <= comparison.alpha:
            opposite.append(
                f"{name} {means.baseline:.4f} to {means.contender:.4f} (t,"
                f" {pvalue_in_words(t.pvalue)})"
            )
    if opposite:
        about = ""
        if opposite[0].startswith("MRR"):
            about = " MRR mixes both facets and weighs the first ranks most."
        it = "it" if len(opposite) == 1 else "them"
        yield note(
            "opposite mean", f"{listed(opposite)}.{about} The label does not depend on {it}."
        )


def _about_confirmation(comparison: Comparison) -> Iterator[Note]:
    """Say that all queries do not confirm the one facet that changed, or that nothing can."""
    label = comparison.verdict.label
    changed = label.partition(", unconfirmed")[0]
    whole = comparison.all_queries
    if whole is not None:
        if is_unconfirmed(label):
            yield note("unconfirmed", f"{over_all_words(comparison, whole, 'there ')}.")
    elif not comparison.in_lengths:
        if is_unconfirmed(label):
            measure = comparison.ranking.measured_in
            yield note(
                "unconfirmed",
                f"{measure} is 0, its best value, where nothing is found, so its mean over all "
                f"queries cannot confirm the {changed}.",
            )
    else:
        unknown = "a cutoff the search lengths over all queries are not known: they could not"
        more = "or show that early answers were lost and late ones won."
        if is_unconfirmed(label):
            yield note("unconfirmed", f"without {unknown} confirm the {changed}, {more}")
        else:
            yield note("no confirmation", f"Without {unknown} confirm a direction, {more}")


def _about_blocked(comparison: Comparison) -> Iterator[Note]:
    """Say why a significant difference over all queries is not the label where neither facet decides."""
    whole = comparison.all_queries
    if whole is None or whole.found == "none" or comparison.verdict.label != NO_DIFFERENCE:
        return
    against = [
        facet.name
        for facet in (comparison.coverage, comparison.ranking)
        if _points_against(facet, whole.found)
    ]
    if against:
        verb = "points" if len(against) == 1 else "point"
        change = over_all_words(comparison, whole, "there ")
        yield note(
            "all queries only",
            f"{change}, but {listed(against)} {verb} the other way, so the label has no direction.",
        )


def _points_against(facet: Facet, direction: str) -> bool:
    """Return whether the estimate of a facet, or one of its tests, has the other direction."""
    sign = {"better": 1, "worse": -1}[direction]
    better = 1 if facet.higher_is_better else -1
    raw = [test.direction * better for test in facet.harm_tests if test.pvalue <= facet.alpha]
    return facet.gain * sign < 0 or -sign in raw


def _about_cutoffs(comparison: Comparison) -> Iterator[Note]:
    """Say where the label has another direction; other words for the same direction are no news."""
    if all(at.direction == comparison.verdict.direction for at in comparison.cutoffs):
        return
    where: dict[str, list[str]] = {}
    for at in comparison.cutoffs:
        if at.direction != comparison.verdict.direction:
            where.setdefault(at.label, []).append(str(at.cutoff))
    yield note(
        "other cutoffs", f"{'; '.join(f'{label} at {listed(at)}' for label, at in where.items())}."
    )


def _about_depth(baseline: System, contender: System) -> Iterator[Note]:
    first = baseline.runs[0]
    cutoff = first.cutoff or 0
    depths = [run.depth for run in (*baseline.runs, *contender.runs)]
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
        runs = "both" if len(depths) == 2 else "all"
        returned += f"; compare with `cutoff={max(min(depths), 1)}`, which {runs} reach"
    yield note(
        "depth",
        f"{returned}. Over all queries the search length of what is not found is"
        f" {min(cutoff, max(depths)) + 1}, so a gain may stay unconfirmed.",
    )


def _unjudged_share(system: System, depth: int) -> float | None:
    """Return the mean share of unjudged documents of the runs; None where it is not known."""
    shares = [unjudged_share(run, depth) for run in system.runs]
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if len(known) == len(shares) else None


def _about_judgments(baseline: System, contender: System) -> Iterator[Note]:
    first = baseline.runs[0]
    if first.judged_only:
        return
    shares: dict[int, str] = {}
    biased: dict[str, str] = {}  # the facet, and what says so
    cutoff = first.cutoff or 0
    for depth, facet in ((10, "ranking"), (cutoff, "coverage")):
        of_a = _unjudged_share(baseline, depth)
        of_b = _unjudged_share(contender, depth)
        if depth <= cutoff and of_a is not None and of_b is not None:
            shares[depth] = (
                f"{percent(of_a, 0)} % of the top {depth} of A and {percent(of_b, 0)} % of B"
            )
            if abs(of_a - of_b) > UNEVEN_JUDGING:
                biased[facet] = shares[depth]
    if biased:
        yield note(
            "judged unequally",
            f"{next(iter(biased.values()))} are unjudged, which can bias {listed(list(biased))}:"
            " see `judged_only=True`.",
        )
    if shares:
        yield note("unjudged", f"Unjudged documents: {'; '.join(shares.values())}.")


def _about_tests(comparison: Comparison) -> Iterator[Note]:
    for facet in (comparison.coverage, comparison.ranking):
        tests = (facet.tests[name] for name in (facet.test, "t") if name in facet.tests)
        for about in dict.fromkeys(test.note for test in tests if test.note):
            yield note("about a test", f"{facet.name.capitalize()}: {about}.")


def _about_few_queries(comparison: Comparison) -> Iterator[Note]:
    """Say where a difference can be missed because few queries differ, or there are few queries."""
    # What tests rest on: clusters, where queries come in clusters.
    noun = "query" if comparison.settings.n_clusters is None else "cluster"
    coverage = comparison.coverage
    ranking = comparison.ranking
    few = [(facet, facet.decides.n_nonzero) for facet in (coverage, ranking) if facet.n_nonzero]
    impossible = []
    for facet, differing in few:
        smallest = smallest_pvalue(differing)
        if smallest > facet.detectable_level:
            differ = "differs" if differing == 1 else "differ"
            number = f"{plural(noun, differing)} that {differ}"
            impossible.append(f"{facet.name} with {number} (smallest possible p {smallest:.2g})")
    if impossible:
        yield note(
            "few differences",
            f"nothing could be significant at {coverage.detectable_level:.2g} on"
            f" {listed(impossible)}.",
        )
    differing = ranking.decides.n_nonzero
    if ranking.test == ranking.mean_test == "signflip" and differing:
        if differing < FEW:
            number = f"only {plural(noun, differing)}"
        else:
            number = f"{differing} clusters of unequal size"
        yield note(
            "sign flips",
            f"Ranking: the runs differ on {number}, too few for the t test "
            f"({pvalue_in_words(ranking.tests['t'].pvalue)}); the sign-flip test decides instead.",
        )
    missed = [facet for facet, _ in few if facet.n < FEW_QUERIES and facet.pvalue > facet.alpha]
    if missed and not impossible:
        counts = listed([f"{facet.name} ({facet.n})" for facet in missed])
        yield note(
            "few queries", f"no significant difference of {counts} says little; see the intervals."
        )


def _about_disagreement(comparison: Comparison) -> Iterator[Note]:
    """Say that the tests of the mean and of the signed ranks see different things; without a significant one it is no news."""
    ranking = comparison.ranking
    mean = ranking.tests[ranking.mean_test]
    wilcoxon = ranking.tests["wilcoxon"]
    by_mean, by_ranks = (
        test.pvalue <= ranking.alpha and test.direction != 0 for test in (mean, wilcoxon)
    )
    shown = f"{words_of_test(mean)}, {words_of_test(wilcoxon)}"
    if by_mean and by_ranks and mean.direction != wilcoxon.direction:
        yield note(
            "contradiction",
            f"most queries change in one direction, the mean in the other ({shown}); a few queries"
            " with large changes do this.",
        )
    elif by_mean and not by_ranks:
        yield note("few large changes", f"{shown}.")
    elif by_ranks and not by_mean and ranking.mean_test == "t":
        yield note("most rankings", f"{shown}; a few queries with large changes hide it.")


def _about_intervals(comparison: Comparison) -> Iterator[Note]:
    for name, facet, interval, neutral in (
        ("Coverage: the interval", comparison.coverage, comparison.coverage.interval, 0),
        ("Ranking: the interval", comparison.ranking, comparison.ranking.interval, 0),
        (
            "Ranking: the interval of the ratio",
            comparison.ranking,
            comparison.ranking.ratio_interval,
            1,
        ),
    ):
        if interval is None:
            continue
        excludes = interval.low > neutral or interval.high < neutral
        if excludes != (facet.pvalue <= facet.alpha):
            verb = "excludes" if excludes else "includes"
            value = str(neutral or "zero")
            yield note(
                "intervals",
                f"{name} {verb} {value}, but the test ({pvalue_in_words(facet.pvalue)}) decides.",
            )


def _about_harm(comparison: Comparison) -> Iterator[Note]:
    """Say which losses the intervals leave possible."""
    losses = []
    excluded = []
    for facet in (comparison.coverage, comparison.ranking):
        if facet.worst_case is None:
            continue
        if facet.higher_is_better:
            loss = -facet.worst_case
        else:
            loss = facet.worst_case
        if loss > 0:
            losses.append(f"{size(loss, places_of(facet.measured_in))} {_unit_of(facet)}")
        else:
            excluded.append(facet.name)
    if losses:
        yield note("possible loss", f"A loss of up to {listed(losses)} cannot be ruled out.")
    if excluded:
        level = percent(1 - comparison.alpha, 0)
        yield note(
            "excluded loss", f"Any loss of {listed(excluded)} is excluded at the {level} % level."
        )


def _about_power(comparison: Comparison) -> Iterator[Note]:
    """Say how small a difference would be found."""
    found = []
    unknown = []
    for facet in (comparison.coverage, comparison.ranking):
        if facet.detectable is not None:
            n = comparison.settings.n_clusters or facet.n
            is_exact = n >= 200 and facet.decides.n_nonzero >= FEW and facet.test in ("t", "exact")
            size_found = f"{facet.detectable:.2f} {_unit_of(facet)}"
            found.append(size_found if is_exact else f"about {size_found}")
        elif facet.name == "coverage" and (facet.test == "exact" or facet.deviation):
            unknown.append(
                "On coverage not even 100 percentage points would be found with"
                f" {percent(POWER, 0)} % power."
            )
        elif facet.deviation == 0:
            unknown.append(
                f"{facet.name.capitalize()} has no spread, so it is not known which difference"
                " would be found."
            )
    if found:
        power = percent(POWER, 0)
        yield note(
            "power",
            f"Smallest true difference that would be found with {power} % power: {listed(found)}.",
        )
    for text in unknown:
        yield note("power", text)


def _unit_of(facet: Facet) -> str:
    """Return the unit of a facet in words."""
    if facet.measured_in == POINTS:
        return "points of coverage"
    if facet.measured_in in LENGTHS:
        return facet.measured_in
    return f"of {facet.measured_in}"


def _about_runs(comparison: Comparison) -> Iterator[Note]:
    """Say of which systems so few runs are known that nothing follows for a new one."""
    few = [f"{name} has {n}" for name, n in comparison.systems if 1 < n < LEAST_RUNS]
    if few:
        yield note(
            "few runs",
            f"{listed(few)}; the label is about these runs, and nothing follows for a new one,"
            f" which takes {LEAST_RUNS} runs.",
        )


def _about_clusters(comparison: Comparison, pair: PairedQueries) -> Iterator[Note]:
    if comparison.settings.n_clusters is None or pair.clusters is None:
        return
    n = len(pair.query_ids)
    n_clusters = len(np.unique(pair.clusters))
    text = (
        f"{plural('query', n)} in {plural('cluster', n_clusters)}, which are the unit of every test"
        " and interval"
    )
    changes = pair.all_queries or (pair.found_baseline, pair.found_contender)
    effect = design_effect(differences(*changes), pair.clusters)
    if effect:
        independent = f"{n / effect:.0f} independent queries (design effect {effect:.2f})"
        text += f"; for the mean over all queries they are as good as {independent}"
    yield note("clusters", f"{text}. The naive tests take queries as independent.")


def _about_chances(comparison: Comparison) -> Iterator[Note]:
    """Say how often some label says better or worse where several comparisons are not corrected."""
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
