"""`leaderboard`: runs by one row, with the rows and labels of all pairs."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from ir_outcomes.choices import Positive
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import Allow
from ir_outcomes.leaderboards.board import BoardPairs, Leaderboard
from ir_outcomes.leaderboards.ordering import order_of
from ir_outcomes.leaderboards.standings import ScoredSystems, further_measures, standings_of
from ir_outcomes.leaderboards.suites import ScoredCollections
from ir_outcomes.notes import as_notes
from ir_outcomes.pairs.rules import RuleOptions, Rules
from ir_outcomes.statistics.families import level_in_family


def leaderboard(
    source: Evaluation | Mapping[str, Evaluation],
    *,
    measures: Sequence[Any] | str | None = None,
    cutoff: Positive | None = None,
    groups: Mapping[str, str] | None = None,
    allow: Allow = (),
    progress: bool = False,
    **rules: Unpack[RuleOptions],
) -> Leaderboard:
    """Order runs by one row, with the ranks that are possible.

    Parameters
    ----------
    source : Evaluation, or mapping of str to Evaluation
        At least two runs, or systems: of several runs the score is the mean, and ranks, labels and
        intervals are about these runs, as those of `ir_outcomes.compare`. Values of other tools
        (`ir_outcomes.outputs`) are decided by their own measure. Of several collections, by their
        names, scores and rows are unweighted means over those collections, which are fixed.
    measures : sequence of Measure or str, optional
        The first decides the order, the interval, the ranks and which runs are better; others are
        shown beside it. They are measures of ir_measures (see `Evaluation.scores_of`), and
        "coverage", "ranking" (mean search length where the run found something) and "all queries"
        (by query ESL(unanswered="cutoff+1"), by document ASL(missing="cutoff")), which is the
        default, at the cutoff. All are averaged over the answerable queries.
    cutoff : int, optional
        By default the evaluation's. Collections must agree in it.
    groups : mapping of str to str, optional
        Collections of the same group, such as the parts of CQADupStack, are averaged first and
        count as one.
    allow : collection of {"unknown-ids", "rising-scores", "equal-scores"}
        What is meant, and must not stop the board.
    progress : bool
        On stderr.
    **rules
        alpha and correction, of the p-values over all pairs, separately for each row and measure;
        see `ir_outcomes.Rules`.

    Raises
    ------
    ParameterError
        If a setting is invalid, there are fewer than two runs, or a measure is not available or
        named twice.
    MismatchError
        If collections were evaluated in different ways.

    References
    ----------
    Ranks: Al Mohamad, Goeman and van Zwet 2022; Mogstad, Romano, Shaikh and Wilhelm 2024. Labels:
    Lin et al. 2021, sections 4 and 5. Means over collections: see
    `ir_outcomes.compare_collections`; their intervals: Zou and Donner 2008.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(20)}
    >>> good = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> poor = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> board = leaderboard(evaluate(qrels, {"poor": poor, "good": good}))
    >>> [(standing.run, standing.score, standing.ranks) for standing in board.standings]
    [('good', 1.0, RankRange(best=1, worst=1)), ('poor', 2.0, RankRange(best=2, worst=2))]
    >>> board.verdict("good", "poor").label
    'worse on ranking'
    """
    checked = Rules(**rules)
    if checked.margins is not None:
        raise ParameterError("a board has no margins; compare two runs", margins=checked.margins)
    scored: ScoredSystems | ScoredCollections
    if isinstance(source, Mapping):
        scored = ScoredCollections.of(source, measures, cutoff, allow, groups or {})
    elif groups:
        raise ParameterError("groups are of collections; give a mapping of evaluations")
    else:
        scored = ScoredSystems.of(source, measures, cutoff, allow)
    first, *others = scored.first.scores
    ranks, order = order_of(scored.means[0], first.higher_is_better)
    scored = scored.in_order(order)
    means = scored.means
    row, names = scored.first.row, scored.first.names
    rows, collections = scored.compared(checked, progress=progress)
    rows = rows.corrected(checked.correction, checked.alpha)
    labels = rows.labels(scored.first.deciding)
    level = level_in_family(checked.alpha, len(labels), checked.correction)
    pairs = BoardPairs(names, rows, labels, level)
    intervals = scored.intervals(checked.alpha)
    return Leaderboard(
        measure=first.measure,
        higher_is_better=first.higher_is_better,
        alpha=checked.alpha,
        correction=checked.correction,
        standings=standings_of(
            ranks[order], means[0], intervals, pairs, row, scored.scores_of_runs()
        ),
        pairs=pairs,
        measures=further_measures(others, means[1:], pairs),
        n_queries=scored.n_queries,
        n_unanswerable=scored.n_unanswerable,
        settings=scored.settings(checked, len(labels)),
        collections=collections,
        notes=as_notes(dict.fromkeys(scored.notes())),
    )
