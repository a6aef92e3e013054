"""Options that are made from a signature: names, kinds, defaults, help."""

import inspect
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack

import pytest
from cyclopts import App, Group

import ir_outcomes as iro
from ir_outcomes.cli.build import Made
from ir_outcomes.cli.commands import COMMANDS
from ir_outcomes.cli.signatures import options_of, parameter, word_type

GROUP = Group("Options")


class Shared(TypedDict, total=False):
    level: float
    kind: Literal["a", "b"]


def function(
    first: str,
    *,
    rel: int | None = None,
    by: Mapping[str, str] | str | os.PathLike[str],
    names: Sequence[str | None] | None = None,
    judged_only: bool = False,
    higher_is_better: bool | None = None,
    allow: Collection[Literal["x", "y"]] = (),
    margins: tuple[float, ...] | None = None,
    progress: bool = False,
    **rules: Unpack[Shared],
) -> None:
    """Do something.

    Parameters
    ----------
    first : str
        Not an option.
    rel : int
        See `ir_outcomes.evaluate`, whose default holds.
    by : path
        A file, or ``length``. More is said here.
    names, allow : sequence
        Both are lists.
    judged_only, higher_is_better, margins, level, kind
        The rest.
    """


def test_options_have_the_names_of_arguments() -> None:
    options = options_of(function, GROUP)
    assert list(options) == [
        "rel", "by", "names", "judged_only", "higher_is_better", "allow", "margins", "level", "kind",
    ]  # fmt: skip
    assert options["by"].text == "A file, or length."
    assert options["allow"].text == options["names"].text == "Both are lists."
    assert options["rel"].text == options_of(iro.evaluate, GROUP)["rel"].text != ""


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (int | None, int), (float, float), (int | float, int), (bool | None, bool), (str, str), (Any, str),
        (Mapping[str, str] | str | os.PathLike[str] | None, str), (Sequence[str] | str | None, list[str]),
        (Sequence[Any] | str, list[str]), (Literal["a"] | None, Literal["a"]), (Collection[Literal["a"]], list[Literal["a"]]),
        (tuple[float, ...], list[float]), (tuple[str, str], tuple[str, str]), (Sequence[str] | str | os.PathLike[str], str),
    ],
)  # fmt: skip
def test_words_are_of_the_kind_that_an_annotation_names(annotation: Any, kind: Any) -> None:
    assert word_type(annotation) == kind


def test_words_become_arguments() -> None:
    given: dict[str, Any] = {}
    options = options_of(function, GROUP)

    def command(**arguments: Any) -> None:
        given.update(
            {name: value for name, value in arguments.items() if value != options[name].default}
        )

    parameters = [parameter(name, option) for name, option in options.items()]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    app = App(result_action="return_value")
    app.default(command)
    words = "--rel 2 --by length --names a --names b --judged-only --lower-is-better --allow y"
    app(
        [*words.split(), "--margins", "1ranks,2pp", "--level", "0.1", "--kind", "b"],
        exit_on_error=False,
    )
    assert given == {
        "rel": 2, "by": "length", "names": ["a", "b"], "judged_only": True, "higher_is_better": False,
        "allow": ["y"], "margins": (2.0, 1.0), "level": 0.1, "kind": "b",
    }  # fmt: skip


def test_a_page_needs_results_that_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = COMMANDS["holes"]
    monkeypatch.setitem(COMMANDS, "holes", entry._replace(page=True))
    with pytest.raises(TypeError, match=r"holes.*HasPage"):
        Made("holes")


def test_a_command_offers_what_it_takes_and_nothing_else() -> None:
    every = options_of(iro.evaluate, GROUP)
    for name, entry in COMMANDS.items():
        assert set(entry.takes) <= set(every), name
        assert set(entry.takes) <= set(Made(name).options), name
    for name in ("holes", "tail rrie", "tail headroom"):
        assert "measures" not in Made(name).options
    assert {"measures", "replicates", "alpha"} <= set(Made("compare").options)
    assert Made("compare-collections").options["allow"] != every["allow"]  # also a cutoff
