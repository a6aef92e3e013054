from importlib.resources import files
from pathlib import Path

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.samples import (
    RERANKED,
    SEEDS,
    SUITE_COLLECTIONS,
    SUITE_SYSTEMS,
    write_sample,
    write_suite,
)

DATA = Path(str(files("ir_outcomes.samples") / "data"))


@pytest.mark.parametrize("folder", ["/dev/null/x", "a\0b"])
def test_a_folder_that_cannot_be_written(folder: str) -> None:
    with pytest.raises(ParameterError, match="the sample cannot be written there"):
        write_suite(folder)


def test_other_content_is_not_replaced_and_nothing_written_beside_it(tmp_path: Path) -> None:
    (tmp_path / "bm25.run").write_text("mine")
    with pytest.raises(ParameterError, match=r"bm25\.run exists with other content"):
        write_sample(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["bm25.run"]
    (tmp_path / "bm25.run").unlink()
    assert write_sample(tmp_path) == write_sample(tmp_path)


def test_samples_carry_the_licenses_of_their_texts_and_have_at_most_4_mb(tmp_path: Path) -> None:
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) < 4e6
    assert (tmp_path / "sample" / "NOTICE") in write_sample(tmp_path / "sample")
    notice = (tmp_path / "sample" / "NOTICE").read_text("utf-8")
    assert "Debian" in notice
    written = write_suite(tmp_path)
    for text in (notice, (tmp_path / "NOTICE").read_text("utf-8")):
        assert "not covered by the Apache" in " ".join(text.split())
    for collection in SUITE_COLLECTIONS:
        assert tmp_path / collection / "LICENSE" in written
        text = " ".join((tmp_path / collection / "LICENSE").read_text("utf-8").split())
        assert "Redistribution and use in source and binary forms" in text
        assert "Copyright (c)" in text
        assert "----" not in text


def test_seeds_order_the_first_documents_of_a_run_anew(tmp_path: Path) -> None:
    write_sample(tmp_path)
    stem = iro.read_run(tmp_path / "bm25-stem.run")
    seeds = [iro.read_run(path) for path in sorted((tmp_path / "seeds").glob("*.run"))]
    assert [run.name for run in seeds] == [f"reranker_{seed}" for seed in range(1, SEEDS + 1)]
    for run in seeds:
        assert run.query_ids == stem.query_ids
        for query in range(0, len(stem.query_ids), 100):
            start, end = stem.offsets[query : query + 2]
            own, others = stem.docids[start:end], run.docids[start:end]
            assert set(own[:RERANKED]) == set(others[:RERANKED])
            assert own[RERANKED:].tolist() == others[RERANKED:].tolist()
    assert len({run.docids.tobytes() for run in seeds}) == SEEDS
    assert (DATA / "reranker.xz").stat().st_size < 200_000


def test_ties_of_the_rounded_scores_stand_in_the_order_of_trec_eval(tmp_path: Path) -> None:
    write_suite(tmp_path)
    for name in SUITE_COLLECTIONS:
        runs = [tmp_path / name / f"{system}.run" for system in SUITE_SYSTEMS]
        ranked, listed = (
            iro.evaluate(tmp_path / name / "qrels.txt", runs, cutoff=50, ties=ties)
            for ties in ("trec", "input")
        )
        for lengths, again in zip(ranked, listed, strict=True):
            assert lengths.esl().tolist() == pytest.approx(again.esl().tolist(), nan_ok=True)
