from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.comparison import Comparisons
from ir_outcomes.errors import MissingDependency, ParameterError
from tests.helpers.runs import qrels_of, run_of

EVIL = '<script>alert("x")</script> & 100% $run_1$ \\x {y} #~^'


@pytest.fixture(scope="module")
def several() -> Comparisons:
    rng = np.random.default_rng(1)
    queries = [f"q{n}" for n in range(50)]
    runs = {
        name: run_of({q: int(r) if r <= 12 else None for q, r in zip(queries, rng.geometric(p, 50), strict=True)})
        for name, p in (("A", 0.2), (EVIL, 0.3), ("C", 0.4), *((f"D{n}", 0.2 + n / 20) for n in range(6)))
    }
    result = iro.compare(qrels_of(queries), runs.pop("A"), runs, names=["A", *runs])
    assert isinstance(result, Comparisons)
    return result


def test_every_picture_draws_on_the_axes_it_is_given(several: Comparisons, tmp_path: Path) -> None:
    for kind in ("facets", "outcomes", "ranks", "differences"):
        ax = Figure().subplots()
        assert several[1].plot(kind, ax=ax) is ax
        path = tmp_path / f"{kind}.png"
        several[1].plot(kind).figure.savefig(path)
        assert path.stat().st_size > 5000
    assert len(several.plot("outcomes").get_yticks()) == len(several)
    assert len(several.plot("facets").get_legend().get_texts()) == len(several)


def test_facet_plot_puts_better_up_and_to_the_right() -> None:
    queries = [f"q{n}" for n in range(20)]
    worse = {q: 5 if n > 3 else None for n, q in enumerate(queries)}
    found = iro.compare(qrels_of(queries), run_of(worse), run_of(dict.fromkeys(queries, 2)), names=["A", "B"])
    ax = found.plot("facets")
    (label,) = [text for text in ax.texts if text.get_text() == "B"]
    assert label.xy == (20.0, 3.0)


def test_wrong_pictures(several: Comparisons) -> None:
    with pytest.raises(ParameterError, match="must be one of outcomes, ranks, differences, facets"):
        several.plot("pie")
    with pytest.raises(ParameterError, match="is for one comparison"):
        several.plot("ranks")


def test_missing_packages_are_named(several: Comparisons, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependency, match=r"pip install 'ir-outcomes\[plot\]'"):
        several.plot("facets")
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingDependency, match=r"pip install 'ir-outcomes\[pandas\]'"):
        several.to_frame()
