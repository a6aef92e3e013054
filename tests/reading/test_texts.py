"""Texts of queries and documents."""

import json
from pathlib import Path

import pytest

import ir_outcomes as iro
from ir_outcomes.reading.texts import document_texts


def test_texts_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    lines = [{"doc_id": 1, "title": " T ", "text": "words " * 200}, {"_id": "2", "text": ""}]
    path.write_text("\n\n".join(map(json.dumps, lines)))
    first, second, third = document_texts(path, {"1", "2"}, "")(["1", "2", "3"])
    assert first is not None
    assert first.startswith("T. words")
    assert (len(first) <= 600, first[-1]) == (True, "…")
    assert (second, third) == (None, None)
    for bad in ("[]", '{"text": "x"}', "{", "[" * 100_000):
        path.write_text(f'{{"doc_id": "1"}}\n\n{bad}\n')
        with pytest.raises(iro.FormatError, match=r"docs.jsonl, line 3: "):
            document_texts(path, set(), "")
