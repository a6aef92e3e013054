"""Many runs: order and tiers, the history of the state of the art, rank distributions, agreement of halves of the queries."""

from ir_outcomes.leaderboards.agreement import Agreement, agreement
from ir_outcomes.leaderboards.board import Leaderboard, leaderboard
from ir_outcomes.leaderboards.history import SotaHistory, sota_history
from ir_outcomes.leaderboards.stability import RankCorrelation, RankDistribution, rank_correlation, rank_distribution

__all__ = [
    "Agreement",
    "Leaderboard",
    "RankCorrelation",
    "RankDistribution",
    "SotaHistory",
    "agreement",
    "leaderboard",
    "rank_correlation",
    "rank_distribution",
    "sota_history",
]
