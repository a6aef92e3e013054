"""What each verdict becomes when the runs are swapped."""

MIRRORED = {
    "better on both facets": "worse on both facets",
    "better without harm": "worse without gain",
    "worse on both facets": "better on both facets",
    "worse without gain": "better without harm",
    "trade-off": "trade-off",
    "no significant difference": "no significant difference",
}
