"""What is shown of each result, by modules that are imported when needed."""

from importlib import import_module
from typing import Any

from ir_outcomes.showing import View
from ir_outcomes.showing import view_of as registered_view_of

# The module that has the views of a module or package of results.
MODULES = {
    "comparison": "comparison",
    "conditions": "conditions",
    "decisions": "evidence",
    "decisions.gate": "gate",
    "evaluation": "evaluation",
    "leaderboards": "leaderboards",
    "tail": "tail",
}


def view_of(result: Any) -> View:
    """Choose what is shown of a result."""
    module = type(result).__module__.removeprefix("ir_outcomes.")
    views = MODULES.get(module) or MODULES.get(module.partition(".")[0])
    if views is not None:
        import_module(f"{__name__}.{views}")
    return registered_view_of(result)
