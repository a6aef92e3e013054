from __future__ import annotations

import pickle

import pytest

from ir_outcomes.errors import FormatError, IrOutcomesError, IrOutcomesWarning, MissingDependency, UnreadableFile, escaped, some


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢 👍🏽 a\u200cb", "plain é 漢 👍🏽 a\u200cb"),
        ("\x1b[31m", r"\x1b[31m"),
        ("\x00\x07\x7f\x85\x9b", r"\x00\x07\x7f\x85\x9b"),
        ("a\tb\nc\rd", r"a\tb\nc\rd"),
        ("\u202eabc\u2066\u2028\ufeff\u200f", r"\u202eabc\u2066\u2028\ufeff\u200f"),
        ("caf\udce9 \ud800", r"caf\xe9 \ud800"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_control_characters_are_shown_as_escapes(text: str, shown: str) -> None:
    assert escaped(text) == shown
    assert escaped(shown) == shown


@pytest.mark.parametrize("kind", [IrOutcomesError, UnreadableFile, MissingDependency, IrOutcomesWarning])
def test_no_message_contains_a_control_character(kind: type[Exception]) -> None:
    assert str(kind("\x1b]0;title\x07: no such file\n  next line")) == "\\x1b]0;title\\x07: no such file\n  next line"


def test_a_format_error_escapes_the_file_and_the_text() -> None:
    error = FormatError("a\nb\x1b.run", "is wrong", line=3, text="q\x1b1")
    assert str(error) == "a\\nb\\x1b.run, line 3: is wrong\n  'q\\x1b1'"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert some(["q\x1b", "b"]) == r"q\x1b, b"
