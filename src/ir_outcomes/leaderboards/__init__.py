"""Many runs: tiers, history, rank distributions, agreement of halves."""
