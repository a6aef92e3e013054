"""What can be true of qrels and search lengths in files of anybody."""

from typing import Any

import numpy as np

from ir_outcomes.arguments import check_positive
from ir_outcomes.choices import LARGEST
from ir_outcomes.evaluation.lengths import (
    FLAGS,
    PER_ATOM,
    PER_QUERY,
    SearchLengths,
    by_first_occurrence,
    unless_independent,
)
from ir_outcomes.evaluation.ranking import DIGEST
from ir_outcomes.evaluation.search import JUDGED_DEPTH
from ir_outcomes.reading.qrels import Qrels


def fits(**conditions: Any) -> None:
    """Raise `ValueError` for the first condition that does not hold everywhere."""
    for name, condition in conditions.items():
        if not np.all(condition):
            raise ValueError(f"impossible {name}")


def check_qrels(qrels: Qrels) -> None:
    """Check that judgments belong to the queries, each document once."""
    n_judgments = len(qrels.grades)
    sizes = np.diff(qrels.offsets)
    fits(
        queries=len({*qrels.query_ids}) == len(qrels.query_ids) == len(sizes),
        offsets=qrels.offsets.dtype == np.int64 and qrels.offsets[0] == 0,
        judgments=(sizes >= 0) & (qrels.offsets[-1] == n_judgments),
        grades=qrels.grades.dtype == np.int64,
        docids=qrels.docids.dtype.kind == "S" and qrels.docids.shape == qrels.grades.shape,
    )
    docids = [docid.decode() for docid in qrels.docids.tolist()]
    pairs = set(zip(qrels.codes.tolist(), docids, strict=True))
    fits(docids=all(docids), judgments=len(pairs) == n_judgments)


def check_run(run: SearchLengths, qrels: Qrels) -> None:
    """Check shapes, kinds and ranges of arrays, and that counts fit together."""
    check_positive("rel", run.rel)
    check_positive("cutoff", run.cutoff, none_allowed=True)
    n_queries = len(run.query_ids)
    kinds = {"unjudged": np.uint8, "digests": np.uint8, **dict.fromkeys(FLAGS, np.bool_)}
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(PER_ATOM, (int(run.offsets[-1]),))
    shapes |= dict.fromkeys(PER_QUERY, (n_queries,)) | {"digests": (n_queries, DIGEST)}
    for name, shape in shapes.items():
        array = getattr(run, name)
        fits(**{name: array.shape == shape and array.dtype == kinds.get(name, np.int32)})
    found = run.rank > 0
    retrieved = run.retrieved[run.query]
    last = run.rank - 1 + run.level_size
    within = min(JUDGED_DEPTH, run.cutoff or JUDGED_DEPTH)
    top = np.minimum(run.retrieved, within)
    n_relevant = np.bincount(run.query[found & (last <= within)], minlength=n_queries)
    n_judged = np.bincount(qrels.codes[qrels.grades >= 0], minlength=n_queries)
    is_whole = run.cutoff is None
    has_documents = run.retrieved > 0
    by_one_order = run.ties != "expected"
    fits(
        rank=(run.rank >= 0) & (run.rank <= retrieved),
        level_size=(run.level_size >= 1) & (found | (run.level_size == 1)),
        last=~found | (last <= retrieved) | (not is_whole),
        retrieved=(run.retrieved >= 0) & (run.retrieved <= (run.cutoff or LARGEST)),
        longest=run.longest is None or (run.retrieved <= run.longest) & (run.longest <= LARGEST),
        unjudged=run.unjudged <= np.maximum(top - n_relevant, 0),
        judged=(run.unjudged >= top - n_judged) | (not by_one_order),
        judged_only=not run.judged_only or ((run.unjudged == 0) & (run.retrieved <= n_judged)),
        listed=run.listed | ~has_documents,
        digests=run.digests.any(axis=1) == has_documents,
        reordered=~run.reordered | (run.answerable & has_documents),
        against_ranks=~run.against_ranks | run.listed,
        rising=~run.rising | run.against_ranks,
        retrieves_itself=~run.retrieves_itself | (has_documents & (not run.drop_self)),
        below_itself=~run.below_itself | (run.retrieves_itself & run.answerable),
        unknown_ids=not run.unknown_ids or ~found,
        ignored=list(run.ignored) == sorted({*run.ignored} - {*run.query_ids}),
    )
    _check_levels(run)
    if run.clusters is not None:
        codes = by_first_occurrence(run.clusters)
        fits(
            kind=run.clusters.dtype == np.int64,
            clusters=np.array_equal(codes, run.clusters)
            and unless_independent(codes, run.answerable) is not None,
        )


def _check_levels(run: SearchLengths) -> None:
    """Check that no two documents, or tie levels, stand at one rank."""
    order = np.lexsort((run.rank, run.query))
    order = order[run.rank[order] > 0]
    query, rank, size = run.query[order], run.rank[order], run.level_size[order]
    together = query[1:] == query[:-1]
    same = together & (rank[1:] == rank[:-1])
    fits(
        rank=~together | same | (rank[1:] >= rank[:-1] + size[:-1]),
        same=~same | ((size[1:] == size[:-1]) & (run.ties == "expected")),
        level=run.level_relevant <= run.level_size,
        alone=(run.level_size == 1) | (run.ties == "expected"),
    )
