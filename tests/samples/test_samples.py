from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from ir_outcomes.errors import ParameterError
from ir_outcomes.samples import write_sample


def test_the_texts_carry_a_statement_of_whose_they_are(tmp_path: Path) -> None:
    notice = (files("ir_outcomes.samples") / "data" / "NOTICE").read_text("utf-8")
    assert "Debian" in notice
    assert "not covered by the Apache" in " ".join(notice.split())
    assert (tmp_path / "NOTICE") in write_sample(tmp_path)
    assert (tmp_path / "NOTICE").read_text("utf-8") == notice


@pytest.mark.parametrize("folder", ["/dev/null/x", "a\0b", "file"])
def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ParameterError, match="the sample cannot be written there"):
        write_sample(folder)


def test_other_content_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("mine")
    with pytest.raises(ParameterError, match=r"qrels\.txt exists with other content"):
        write_sample(tmp_path)
    assert (tmp_path / "qrels.txt").read_text() == "mine"
