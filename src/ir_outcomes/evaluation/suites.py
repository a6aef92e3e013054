"""Evaluations of several collections, and the settings that they share."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation, evaluations_of
from ir_outcomes.formatting import listed


def collections_of(
    evaluations: Mapping[str, Evaluation],
    cutoff: int | None,
    groups: Iterable[str],
    *,
    allow: Collection[str] = (),
    remedy: str = "",
    several_runs: bool = False,
) -> dict[str, Evaluation]:
    """Return evaluations of collections, alike in everything but an allowed cutoff.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        By the name of the collection.
    cutoff : int or None
        Of all of them; by default their own.
    groups : iterable of str
        Names of collections that are in a group.
    allow : collection of str
        "cutoff" where collections may differ in it.
    remedy : str
        What else to do where they differ in it, besides giving the smallest.
    several_runs : bool
        Whether systems may have several runs.
    """
    members = evaluations_of(evaluations, cutoff, several_runs=several_runs, values=True)
    if not members:
        raise ParameterError("there is no collection; give a mapping from names to evaluations")
    compared = {
        name: "runs" if evaluation.values is None else evaluation.values.measure
        for name, evaluation in members.items()
    }
    if len(set(compared.values())) > 1:
        words = listed([f"{name}: {measure}" for name, measure in compared.items()][:10])
        raise MismatchError(f"the collections differ in what is compared ({words})")
    for setting, said in differing(members, "cutoff", "ties", "judged_only"):
        if setting not in allow:
            smallest = min(evaluation.cutoff for evaluation in members.values())
            remedy = f"pass `cutoff={smallest}`{remedy}"
            raise MismatchError(
                f"the collections differ in {setting} ({said});"
                f" {remedy if setting == 'cutoff' else 'evaluate them alike'}"
            )
    for name in groups:
        if name not in members:
            raise ParameterError(
                f"groups names {name!r}, which is no collection; they are {listed([*members][:10])}"
            )
    # With one relevant document the two are the same.
    if len({evaluation.unit for evaluation in members.values()}) > 1:
        members = {name: replace(member, unit="document") for name, member in members.items()}
    return members


def differing(evaluations: Mapping[str, Evaluation], *settings: str) -> Iterator[tuple[str, str]]:
    """Find the settings in which evaluations differ, with their values in words."""
    for setting in settings:
        values = {name: getattr(evaluation, setting) for name, evaluation in evaluations.items()}
        if len(set(values.values())) > 1:
            yield setting, listed([f"{name} {value}" for name, value in values.items()][:10])


def notes_on_shared_ids(evaluations: Mapping[str, Evaluation]) -> Iterator[str]:
    """Say which collections have ids of queries or judged documents in common."""
    documents = {
        name: evaluation.qrels.docids.tolist()
        for name, evaluation in evaluations.items()
        if evaluation.qrels is not None
    }
    queries = {name: evaluation.query_ids for name, evaluation in evaluations.items()}
    shared = []
    for kind, ids in (("queries", queries), ("judged documents", documents)):
        names = _sharing(ids)
        if names:
            shared.append(f"of {kind} ({some(names, 6)})")
    if shared:
        yield (
            f"Collections have ids {listed(shared)} in common: if these are the same, the"
            " collections are not independent, and the means are less certain than their intervals"
            " say."
        )


def _sharing(ids: Mapping[str, Collection[Any]]) -> list[str]:
    """Return the names of the collections that have an id in common with another one."""
    # Whole numbers are ids in many unrelated collections, so they prove nothing.
    times = Counter(known for own in ids.values() for known in {*own} if not known.isdigit())
    return [name for name, own in ids.items() if any(times[known] > 1 for known in own)]
