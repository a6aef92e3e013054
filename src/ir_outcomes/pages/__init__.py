"""What a page holds: collected from results and evaluations, before it is drawn."""
