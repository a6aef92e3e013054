"""Random small runs and qrels: few documents, few score levels, so that ties, gaps and empty queries abound."""

from typing import get_args

from hypothesis import strategies as st

from ir_outcomes.choices import Ties

DOCUMENTS = ["a", "b", "c", "d", "é", "z", "d10", "d9", "a-rather-long-document-id"]
QUERIES = ["q1", "q2", "q10", "ü"]

scores = st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 2.0, -3.5, 1e30])
rankings = st.dictionaries(st.sampled_from(DOCUMENTS), scores, max_size=7)
runs = st.dictionaries(st.sampled_from([*QUERIES, "only-in-run"]), rankings, max_size=4)
judgments = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 3), max_size=5)
qrels = st.dictionaries(st.sampled_from(QUERIES), judgments, min_size=1, max_size=4)
cutoffs = st.one_of(st.none(), st.integers(1, 8))
settings = st.fixed_dictionaries(
    {
        "cutoff": cutoffs,
        "rel": st.integers(1, 3),
        "ties": st.sampled_from(get_args(Ties)),
        "judged_only": st.booleans(),
    }
)
