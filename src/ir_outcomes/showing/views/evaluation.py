"""What is shown of checked files."""

from ir_outcomes.evaluation.check import FILE_COLUMNS, CheckResult
from ir_outcomes.formatting import plural
from ir_outcomes.showing.registry import view_of
from ir_outcomes.showing.view import Table, View


@view_of.register
def _check(result: CheckResult) -> View:
    grades = ", ".join(f"{number:,} of {grade}" for grade, number in result.grades.items())
    if all(int(grade) > 0 for grade in result.grades):
        grades += "; only what is relevant is listed, so shares judged say little"
    legend = (
        "known: queries that the qrels have; judged: of the first 10 documents of each list; ties:"
        " documents with the score of the one before"
    )
    return View(
        f"{plural('run', sum(file.queries > 0 for file in result.files[1:]))} and qrels read",
        plural("problem", len(result.problems)),
        tables=(Table.of(FILE_COLUMNS, result.files, legend, f"grades: {grades}"),),
        notes=result.problems,
        most_notes=None,
        background=result.notes,
    )
