"""Many runs: standings, history, rank distributions, agreement of halves."""
