"""What is shown of each result; importing a module registers its views with `view_of`."""

from ir_outcomes.showing import view_of
from ir_outcomes.showing.views import across, comparison, leaderboards

__all__ = ["across", "comparison", "gate", "leaderboards", "tail", "view_of"]
