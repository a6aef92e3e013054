"""Values that people had in public reports and files: each command or snippet gives what is right."""

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

FIELD = Path(__file__).parents[1] / "field"
CASES = tomllib.loads((FIELD / "values.toml").read_text())["case"]


def folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def found_at(document: Any, path: str) -> Any:
    """Follow a path such as standings[m1].score; a name in brackets is that of an item."""
    for part in re.findall(r"[^.\[\]]+", path):
        if isinstance(document, list) and not part.isdigit():
            document = next(item for item in document if part in item.values())
        else:
            document = document[int(part) if isinstance(document, list) else part]
    return document


def first_text(stdout: str, stderr: str) -> str:
    """Return the text before the first blank line, the first note, and what was warned of."""
    first_note = re.search(r"(?s)(?:^|\n)!(.*?)(?=\n\n|\n!|\Z)", stdout)
    return " ".join([stdout.split("\n\n")[0], stderr, first_note[1] if first_note else ""])


def problems(right: dict[str, Any], status: int, stdout: str, stderr: str) -> list[str]:
    """Return in what an outcome differs from one that is right."""
    wrong = [] if status == right["status"] else [f"status {status}"]
    for key, text in (("says", stdout + stderr), ("first", first_text(stdout, stderr))):
        for words in right.get(key, ()):
            choices = [words] if isinstance(words, str) else words
            if not any(folded(choice) in folded(text) for choice in choices):
                wrong.append(f"{key} none of {choices}")
        wrong += [word for word in right.get(f"{key}_not", ()) if folded(word) in folded(text)]
    numbers, texts = right.get("numbers", {}), right.get("equals", {})
    if (numbers or texts) and not wrong:
        document = json.loads(stdout)
        found = {path: found_at(document, path) for path in [*numbers, *texts]}
        wrong += [path for path, text in texts.items() if found[path] != text]
        wrong += [
            path
            for path, number in numbers.items()
            if found[path] != pytest.approx(number, rel=1e-6, abs=1e-6)
        ]
    return wrong


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_public_cases(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "case"
    shutil.copytree(FIELD / case["folder"], folder)
    if "command" in case:
        if "gate --outputs" in case["command"]:
            pytest.xfail("gate takes no values yet")
        _, *words = shlex.split(case["command"])
        outcome = call(*words, folder=folder)
    else:
        monkeypatch.chdir(folder)
        with contextlib.redirect_stdout(io.StringIO()) as stdout:
            exec(case["python"], {})
        outcome = Done(0, stdout.getvalue(), "")
    found = [problems(right, *outcome) for right in case["right"]]
    assert [] in found, (found, outcome)
