"""Files that people had in public reports and questions: each command or snippet gives what is right.

A case is a command or a snippet that is run in a copy of its folder; the head of cases.toml says what
the keys mean. Variants are other cases of the same kinds, which were not in any report.
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

from tests.helpers.command_line import Done, call

FIELD = Path(__file__).parent / "field"
CASES = [
    case
    for name in ("cases.toml", "variants.toml")
    for case in tomllib.loads((FIELD / name).read_text(encoding="utf-8"))["case"]
]


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


def outcome_of(case: dict[str, Any], folder: Path) -> Done:
    if "python" in case:
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as stdout:
            exec(case["python"], {})
        return Done(0, stdout.getvalue(), "")
    done = Done(0, "", "")
    for command in case["command"].split(" && "):
        program, *words = shlex.split(command)
        assert program == "ir-outcomes"
        done = call(*words, folder=folder)
        if done.returncode:
            break
    return done


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
@pytest.mark.filterwarnings("ignore::ir_outcomes.IrOutcomesWarning")
def test_public_cases(case: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    if "folder" in case:
        shutil.copytree(FIELD / case["folder"], folder, dirs_exist_ok=True)
    for name, text in case.get("files", {}).items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    outcome = outcome_of(case, folder)
    found = []
    for right in case["right"]:
        try:
            found.append(differences(right, *outcome))
        except (KeyError, IndexError, StopIteration, ValueError) as error:
            found.append([repr(error)])
    assert [] in found, (found, outcome)
