"""Commands that are made from signatures offer what they take."""

import pytest
from cyclopts import Group

import ir_outcomes as iro
from ir_outcomes.cli.build import Made
from ir_outcomes.cli.commands import COMMANDS
from ir_outcomes.cli.signatures import options_of
from tests.helpers.command_line import made


def test_a_page_needs_results_that_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = COMMANDS["holes"]
    monkeypatch.setitem(COMMANDS, "holes", entry._replace(page=True))
    with pytest.raises(TypeError, match=r"holes.*HasPage"):
        Made("holes")


def test_a_command_offers_what_it_takes_and_nothing_else() -> None:
    every = options_of(iro.evaluate, Group("Options"))
    for name, entry in COMMANDS.items():
        assert set(entry.takes) <= set(every), name
        assert set(entry.takes) <= set(made(name).options), name
    for name in ("holes", "tail rrie", "tail headroom"):
        assert "measures" not in made(name).options
    assert {"measures", "replicates", "alpha"} <= set(made("compare").options)
    assert made("compare-collections").options["allow"] != every["allow"]  # also a cutoff
