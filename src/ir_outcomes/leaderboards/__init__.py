"""Many runs: order and tiers, the history of the state of the art, rank distributions, agreement of halves of the queries."""
