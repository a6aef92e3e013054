"""What is shown of judges: whether their findings hold by a reference, and the queries on which they disagree."""

from ir_outcomes.across.result import ConditionsComparison
from ir_outcomes.formatting import plural
from ir_outcomes.showing import Table, texts
from ir_outcomes.table_columns import (
    INTERVAL_BY_UNIT,
    PVALUE,
    SIGNED_BY_UNIT,
    Column,
    attributes,
)

MOST_FLIPS = 10  # queries on which judges disagree that are listed


def answers_table(result: ConditionsComparison) -> Table:
    """Show for each run and judge whether its findings hold."""
    answers: dict[tuple[str, str], dict[str, str]] = {}
    for audit in result.audits:
        answers.setdefault((audit.contender, audit.judge), {})[audit.facet] = audit.answer
    facets = list(dict.fromkeys(audit.facet for audit in result.audits))
    lines = [(*of, *(own.get(facet) for facet in facets)) for of, own in answers.items()]
    explained = (
        f"finding: the judge's difference, significant or not; wrong: by {result.reference} it is"
        f" significantly another on the same queries; holds: corrected by {result.reference} it is"
        " significant with the same sign; not corrected for the number of findings"
    )
    return Table.of_texts(
        texts("run", "judge", *facets),
        lines,
        explained,
        title=f"Do the findings hold by {result.reference}?",
    )


_AUDIT = (
    Column("judge"),
    Column("facet", heading="of"),
    Column("judge_difference", heading="judge's", form=SIGNED_BY_UNIT),
    Column("reference_difference", heading="labels'", form=SIGNED_BY_UNIT),
    Column("bias_p", heading="bias p", form=PVALUE),
    Column("corrected", form=SIGNED_BY_UNIT),
    Column("corrected_interval", heading="interval", form=INTERVAL_BY_UNIT),
    Column("answer", heading="finding"),
)


def audits_table(result: ConditionsComparison, run: str) -> Table:
    """Show the differences of each judge of one contender, with what the reference says of them."""
    audits = [audit for audit in result.audits if audit.contender == run]
    on_run = f" on {run}" if len(audits) < len(result.audits) else ""
    return Table.of(
        _AUDIT,
        audits,
        "of: coverage, percentage points; all queries, lower is better; or a measure. judge's:"
        f" difference by the judge over all queries; labels': by {result.reference} over the"
        " queries that it labeled; corrected: over all queries, from both, where a query without a"
        " relevant document counts as no difference; not corrected for the number of findings",
        title=f"Do the findings{on_run} hold by {result.reference}?",
    )


def flips_table(result: ConditionsComparison) -> Table:
    """Show the first queries on which judges disagree about the direction."""
    columns = (
        *attributes("run=contender", "query=query_id"),
        Column("better for", lambda flip: ", ".join(flip.better)),
        Column("worse for", lambda flip: ", ".join(flip.worse)),
        Column("text"),
    )
    more = ""
    if len(result.flips) > MOST_FLIPS:
        more = f"the first {MOST_FLIPS}; all are in the JSON"
    title = f"Judges disagree about the direction on {plural('query', len(result.flips))}"
    return Table.of(columns, result.flips[:MOST_FLIPS], more, title=title)
