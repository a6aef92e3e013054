"""Files that people had in public reports and questions: each command or snippet gives what is right.

The cases stand beside the real runs (``../shared/field/cases.toml``, whose head says what the keys
mean); a command is run in a copy of its folder.
"""

import contextlib
import io
import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REAL_DATA
from tests.helpers.command_line import call

FIELD = REAL_DATA.parent / "field"
CASES = (
    tomllib.loads((FIELD / "cases.toml").read_text())["case"]
    if (FIELD / "cases.toml").is_file()
    else []
)
# Not right yet. A case that became right must leave this set.
WRONG = {"60-solved-or-not", "72-correct-or-not", "91-name-the-runs", "92-other-labels"}


def folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def at(document: Any, path: str) -> Any:
    """Follow a path such as standings[m1].score; a name in brackets is that of an item."""
    for part in re.findall(r"[^.\[\]]+", path):
        if isinstance(document, list) and not part.isdigit():
            document = next(item for item in document if part in item.values())
        else:
            document = document[int(part) if isinstance(document, list) else part]
    return document


def numbers_in(document: Any) -> list[float]:
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list):
        return [number for part in document for number in numbers_in(part)]
    return [document] if isinstance(document, (int, float)) else []


def is_close(found: Any, wanted: Any) -> bool:
    number, tolerance = wanted if isinstance(wanted, list) else (wanted, None)
    if tolerance is not None:
        return bool(found == pytest.approx(number, abs=tolerance))
    return bool(found == pytest.approx(number, rel=1e-6, abs=1e-6))


def measured(stdout: str) -> dict[str, float]:
    """Return the values of the lines that `measure` prints: query, measure, value."""
    rows = [line.split() for line in stdout.splitlines()]
    return {f"{' '.join(row[:-2])} {row[-2]}": float(row[-1]) for row in rows if len(row) >= 3}


def first_text(stdout: str, stderr: str) -> str:
    """Return the text before the first blank line, the first note, and what was warned of."""
    note = re.search(r"(?s)(?:^|\n)!(.*?)(?=\n\n|\n!|\Z)", stdout)
    return " ".join([stdout.split("\n\n")[0], stderr, note[1] if note else ""])


def differences(right: dict[str, Any], status: int, stdout: str, stderr: str) -> list[str]:
    """Return in what an outcome differs from one that is right."""
    allowed = right["status"] if isinstance(right["status"], list) else [right["status"]]
    wrong = [] if status in allowed else [f"status {status}"]
    for key, text in (("says", stdout + stderr), ("first", first_text(stdout, stderr))):
        for words in right.get(key, ()):
            choices = [words] if isinstance(words, str) else words
            if not any(folded(choice) in folded(text) for choice in choices):
                wrong.append(f"{key} none of {choices}")
        wrong += [
            f"{key} {words}"
            for words in right.get(f"{key}_not", ())
            if folded(words) in folded(text)
        ]
    if "lines" in right and not wrong:
        found = measured(stdout)
        wrong += [
            line
            for line, value in right["lines"].items()
            if found.get(line) != pytest.approx(value, abs=1e-4)
        ]
    if right.keys() & {"numbers", "equals", "anywhere"} and not wrong:
        document = json.loads(stdout)
        for path, wanted in {**right.get("numbers", {}), **right.get("equals", {})}.items():
            value = at(document, path)
            is_right = value == wanted if isinstance(wanted, str) else is_close(value, wanted)
            wrong += [] if is_right else [f"{path}: {value}"]
        there = numbers_in(document)
        wrong += [
            f"nowhere {number}"
            for number in right.get("anywhere", ())
            if not any(is_close(value, number) for value in there)
        ]
    return wrong


def outcome_of(case: dict[str, Any], folder: Path) -> tuple[int, str, str]:
    if "python" in case:
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as stdout:
            exec(case["python"], {})
        return 0, stdout.getvalue(), ""
    done = None
    for command in case["command"].split(" && "):
        program, *words = shlex.split(command)
        assert program == "ir-outcomes"
        done = call(*words, folder=folder)
        if done.returncode:
            break
    assert done is not None
    return done


def parameter(case: dict[str, Any]) -> Any:
    marks = [pytest.mark.realdata]
    if case["id"] in WRONG:
        marks.append(pytest.mark.xfail(reason="not right yet", strict=True))
    return pytest.param(case, id=case["id"], marks=marks)


@pytest.mark.parametrize("case", [parameter(case) for case in CASES])
@pytest.mark.filterwarnings("ignore::ir_outcomes.IrOutcomesWarning")
def test_public_cases(case: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "case"
    shutil.copytree(FIELD / case["folder"], folder, copy_function=shutil.copyfile)
    folder.chmod(0o755)
    outcome = outcome_of(case, folder)
    found = []
    for right in case["right"]:
        try:
            found.append(differences(right, *outcome))
        except (KeyError, IndexError, StopIteration, ValueError) as error:
            found.append([repr(error)])
    assert [] in found, (found, outcome)


@pytest.mark.realdata
def test_the_cases_that_are_not_right_yet_exist() -> None:
    assert {case["id"] for case in CASES} >= WRONG
