"""Comparisons as flat rows, and the rows as CSV, JSON lines, data frame, LaTeX and HTML.

Names of runs and queries come from strangers: LaTeX and HTML escape everything.
"""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ir_outcomes.comparison.facets import Facet
from ir_outcomes.comparison.outcomes import OUTCOMES
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.errors import MissingDependency

Row = Mapping[str, Any]

_FACETS = ("coverage", "ranking", "reciprocal_rank")


def row_of(comparison: Comparison) -> dict[str, Any]:
    """Flatten a comparison: one value for each column, None where there is none; units are those of `Comparison`."""
    row: dict[str, Any] = {
        "baseline": comparison.baseline,
        "contender": comparison.contender,
        "n_queries": comparison.n_queries,
        "n_unanswerable": comparison.n_unanswerable,
        "cutoff": comparison.cutoff,
        "rel": comparison.rel,
        "unit": comparison.unit,
        "ties": comparison.ties,
    }
    for outcome in OUTCOMES:
        row[outcome] = getattr(comparison.outcomes, outcome)
    for outcome in OUTCOMES:
        row[f"{outcome}_fraction"] = comparison.outcomes.fractions.get(outcome)
    for name in _FACETS:
        facet: Facet | None = getattr(comparison, name)
        if facet is None:
            continue
        low, high = facet.interval or (None, None)
        row |= {
            f"{name}_baseline": facet.baseline,
            f"{name}_contender": facet.contender,
            f"{name}_difference": facet.difference,
            f"{name}_low": low,
            f"{name}_high": high,
            f"{name}_effect": facet.effect_size,
            f"{name}_test": facet.test,
            f"{name}_p": facet.pvalue,
            f"{name}_p_corrected": facet.pvalue_corrected,
            f"{name}_detectable": facet.detectable,
        }
    row |= {
        "ranking_ratio": comparison.ranking.ratio,
        "naive_baseline": comparison.naive.baseline,
        "naive_contender": comparison.naive.contender,
        "naive_difference": comparison.naive.difference,
        **{f"naive_p_{name}": pvalue for name, pvalue in comparison.naive.pvalues.items()},
        "alpha": comparison.alpha,
        "correction": comparison.settings.correction,
        "family": comparison.settings.family,
        "verdict": comparison.verdict.label,
        "strict": comparison.verdict.strict,
        "do_no_harm": comparison.verdict.do_no_harm,
        "non_inferior": comparison.verdict.non_inferior,
    }
    return row


def as_csv(rows: Sequence[Row]) -> str:
    """Write rows as CSV with a header; empty for None."""
    stream = io.StringIO()
    columns = dict.fromkeys(column for row in rows for column in row)
    writer = csv.DictWriter(stream, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().rstrip("\n")


def as_json_lines(rows: Iterable[Row]) -> str:
    """Write each row as a line of JSON; null for None."""
    return "\n".join(json.dumps(dict(row), ensure_ascii=False, allow_nan=False) for row in rows)


def as_frame(rows: Iterable[Row]) -> Any:
    """Make a pandas data frame of rows.

    Raises
    ------
    MissingDependency
        If pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingDependency("a data frame needs pandas: pip install 'ir-outcomes[pandas]'") from None
    return pd.DataFrame(list(rows))


def as_latex(comparisons: Sequence[Comparison]) -> str:
    r"""Write comparisons as a LaTeX table with the columns of Table 2 of Lin et al. 2021, and the verdict.

    Needs ``\usepackage{booktabs}``.
    """
    lines = [
        r"\begin{tabular}{llrrrrrrrrrl}",
        r"\toprule",
        r"\multicolumn{2}{c}{Runs} & (1) & \multicolumn{3}{c}{(2)} & \multicolumn{4}{c}{(3)} & & \\",
        r"\cmidrule(lr){1-2}\cmidrule(lr){4-6}\cmidrule(lr){7-10}",
        r"$A$ & $B$ & neither & $A$ wins & $B$ wins & $p$ & both & $A$ ESL & $B$ ESL & $p$ & $\Delta$ & verdict \\",
        r"\midrule",
    ]
    for each in comparisons:
        shares = [percent(each.outcomes.fractions.get(outcome)) for outcome in OUTCOMES]
        cells = [
            tex(each.baseline),
            tex(each.contender),
            *shares[:3],
            _tex_pvalue(each.coverage.pvalue_corrected),
            shares[3],
            fixed(each.ranking.baseline, 2),
            fixed(each.ranking.contender, 2),
            _tex_pvalue(each.ranking.pvalue_corrected),
            f"${fixed(each.naive.difference, 4)}$",
            tex(each.verdict.label),
        ]
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", *(f"% {line}" for line in _caption(comparisons))]
    return "\n".join(lines)


def as_html(comparisons: Sequence[Comparison]) -> str:
    """Write comparisons as an HTML table with their sentences and notes."""
    headings = ("A", "B", "neither", "lost", "won", "both", "coverage", "p", "A length", "B length", "p", "verdict")
    rows = []
    for each in comparisons:
        facets = each.coverage, each.ranking
        cells = [
            each.baseline,
            each.contender,
            *(percent(each.outcomes.fractions.get(outcome), "%") for outcome in OUTCOMES),
            "-" if facets[0].difference is None else f"{facets[0].difference:+.2f} pp",
            f"{facets[0].pvalue_corrected:.3g}",
            fixed(facets[1].baseline, 2),
            fixed(facets[1].contender, 2),
            f"{facets[1].pvalue_corrected:.3g}",
            each.verdict.label,
        ]
        rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    sentences = "".join(f"<li>{html.escape(each.verdict.sentence)}</li>" for each in comparisons)
    said = dict.fromkeys(note for each in comparisons for note in each.notes)
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in said)
    caption = html.escape(" ".join(_caption(comparisons)))
    return (
        f'<table class="ir-outcomes"><caption>{caption}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table><ul>{sentences}</ul>"
        f"<details><summary>Notes</summary><ul>{notes}</ul></details>"
    )


def _caption(comparisons: Sequence[Comparison]) -> list[str]:
    if not comparisons:
        return []
    first = comparisons[0]
    settings = first.settings
    return [
        f"{first.n_queries} queries, cutoff {settings.cutoff or 'unknown'}, rel {settings.rel}, unit {settings.unit}, "
        f"ties {settings.ties}.",
        f"p corrected by {settings.correction} over {settings.family} comparisons.",
        "Search lengths are means over what both runs found, lower is better; those of A differ from row to row.",
    ]


def percent(share: float | None, sign: str = r"\%") -> str:
    """Write a share in percent."""
    return "-" if share is None else f"{100 * share:.1f}{sign}"


def fixed(value: float | None, places: int, sign: str = "") -> str:
    """Write a number with so many decimal places, or a dash; ``sign="+"`` writes the sign of positive ones too."""
    return "-" if value is None else f"{value:{sign}.{places}f}"


def _tex_pvalue(pvalue: float) -> str:
    if pvalue >= 0.0001:
        return f"{pvalue:.4f}"
    mantissa, _, exponent = f"{pvalue:.1e}".partition("e")
    return rf"${mantissa}\times 10^{{{int(exponent)}}}$"


_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
}  # fmt: skip


def tex(text: str) -> str:
    """Escape text for LaTeX."""
    return "".join(_TEX.get(character, character) for character in text)
