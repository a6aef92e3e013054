from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.samples import SUITE_COLLECTIONS, SUITE_SYSTEMS, write_sample, write_suite


def test_the_texts_carry_a_statement_of_whose_they_are(tmp_path: Path) -> None:
    notice = (files("ir_outcomes.samples") / "data" / "NOTICE").read_text("utf-8")
    assert "Debian" in notice
    assert "not covered by the Apache" in " ".join(notice.split())
    assert (tmp_path / "NOTICE") in write_sample(tmp_path)
    assert (tmp_path / "NOTICE").read_text("utf-8") == notice


@pytest.mark.parametrize("folder", ["/dev/null/x", "a\0b"])
def test_a_folder_that_cannot_be_written(folder: str) -> None:
    with pytest.raises(ParameterError, match="the sample cannot be written there"):
        write_suite(folder)


def test_other_content_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("mine")
    with pytest.raises(ParameterError, match=r"qrels\.txt exists with other content"):
        write_sample(tmp_path)
    assert (tmp_path / "qrels.txt").read_text() == "mine"


DATA = files("ir_outcomes.samples") / "data"


def test_all_samples_together_have_at_most_4_mb() -> None:
    assert sum(path.stat().st_size for path in Path(str(DATA)).rglob("*") if path.is_file()) < 4e6


def test_each_collection_of_the_suite_has_the_license_of_its_texts(tmp_path: Path) -> None:
    written = write_suite(tmp_path)
    assert "not covered by the Apache" in " ".join((tmp_path / "NOTICE").read_text("utf-8").split())
    for collection in SUITE_COLLECTIONS:
        assert tmp_path / collection / "LICENSE" in written
        text = " ".join((tmp_path / collection / "LICENSE").read_text("utf-8").split())
        assert "Redistribution and use in source and binary forms" in text
        assert "Copyright (c)" in text
        assert "----" not in text


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> dict[str, iro.Evaluation]:
    folder = tmp_path_factory.mktemp("suite")
    write_suite(folder)
    return {name: _evaluate(folder / name) for name in SUITE_COLLECTIONS}


def _evaluate(folder: Path, ties: Any = "trec") -> iro.Evaluation:
    runs = [folder / f"{system}.run" for system in SUITE_SYSTEMS]
    return iro.evaluate(folder / "qrels.txt", runs, cutoff=50, ties=ties)


def test_ties_of_the_rounded_scores_stand_in_the_order_of_trec_eval(suite: dict[str, iro.Evaluation], tmp_path: Path) -> None:
    write_suite(tmp_path)
    for name, evaluation in suite.items():
        for lengths, again in zip(evaluation, _evaluate(tmp_path / name, "input"), strict=True):
            assert lengths.esl().tolist() == pytest.approx(again.esl().tolist(), nan_ok=True)
