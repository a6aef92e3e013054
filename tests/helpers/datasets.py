"""Datasets of ir_datasets that need no download."""

from pathlib import Path
from types import SimpleNamespace

import ir_datasets
from ir_datasets.formats import TrecQrels, TrecScoredDocs, TsvQueries


def local(path: Path) -> SimpleNamespace:
    """Return a file in the form that ir_datasets' readers take."""
    return SimpleNamespace(path=lambda: str(path), stream=lambda: path.open("rb"))


def register(folder: Path) -> str:
    """Register datasets with files in a folder; the rankings have an order, none, one document a query, or are missing."""
    contents = {
        "queries.tsv": "q1\tfirst query\nq2\tsecond query\n",
        "qrels.txt": "q1 0 a 1\nq2 0 b 1\n",
        "top.run": "q1 Q0 x 1 2.0 t\nq1 Q0 a 2 1.0 t\nq2 Q0 b 1 1.0 t\n",
        "zero.run": "q1 Q0 x 1 0 t\nq1 Q0 a 2 0 t\n",
        "single.run": "q1 Q0 x 1 0 t\nq2 Q0 a 1 0 t\n",
    }
    for name, text in contents.items():
        (folder / name).write_text(text)
    rankings = {
        "tiny": "top.run",
        "unordered": "zero.run",
        "single": "single.run",
        "broken": "missing.run",
    }
    for name, run in rankings.items():
        dataset = ir_datasets.Dataset(
            TsvQueries(local(folder / "queries.tsv"), lang="en"),
            TrecQrels(local(folder / "qrels.txt"), {1: "relevant"}),
            TrecScoredDocs(local(folder / run)),
        )
        ir_datasets.registry.register(f"ir-outcomes-test/{name}", dataset)
    return "ir-outcomes-test/tiny"
