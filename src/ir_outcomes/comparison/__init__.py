"""Two runs side by side: outcomes, facets, verdict."""
