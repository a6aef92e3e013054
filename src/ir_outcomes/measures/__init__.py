"""ESL, ASL, Answered and Outcome as ir_measures measures, the provider that evaluates them, and named baselines."""
