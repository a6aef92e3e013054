import ir_outcomes as iro
from tests.helpers.many import collection


def first_words(text: str, names: list[str]) -> list[str]:
    """Return the names that lines of a table begin with."""
    words = [line.split()[0] for line in text.splitlines() if line.strip()]
    return [word for word in words if word in names]


def test_search_lengths_are_shown_best_first() -> None:
    evaluation = iro.evaluate(*collection(6, 40, relevant=3, seed=1), cutoff=8)
    result = iro.length_distributions(evaluation)
    lengths = [run.asl for run in result.runs]
    assert lengths == sorted(lengths)
    shown = [run.run for run in result.runs]
    assert shown != list(evaluation.names)
    assert first_words(result.to_text(), shown) == shown
    assert [row["run"] for row in result.rows()] == shown


def test_contenders_on_slices_are_shown_best_first() -> None:
    qrels = {f"q{number}": {"gold": 1} for number in range(120)}
    found = {query: {"gold": 2.0, "x": 1.0} for query in qrels}
    lost = {query: {"x": 1.0} for query in qrels}
    half = {
        query: found[query] if number % 2 else lost[query] for number, query in enumerate(qrels)
    }
    quarter = {
        query: found[query] if number % 4 == 1 else lost[query]
        for number, query in enumerate(qrels)
    }
    runs = {"base": half, "a-lower": quarter, "b-same": half, "c-higher": found}
    evaluation = iro.evaluate(qrels, runs, cutoff=10)
    slices = {query: f"slice{number % 3}" for number, query in enumerate(qrels)}
    names = ["a-lower", "b-same", "c-higher"]
    result = iro.compare_slices(evaluation, "base", names, by=slices)
    assert first_words(result.to_text(), names) == ["c-higher", "b-same", "a-lower"]


def test_holes_of_several_runs_are_shown_best_first() -> None:
    qrels = {f"q{number}": {"gold": 1, "bad": 0} for number in range(120)}
    found = {query: {"gold": 2.0, "x": 1.0} for query in qrels}
    half = {
        query: {"gold": 2.0} if number % 2 else {"bad": 1.0} for number, query in enumerate(qrels)
    }
    runs = {"base": half, "a-same": half, "b-higher": found}
    result = iro.holes(
        iro.evaluate(qrels, runs, cutoff=10, unjudged=True), "base", ["a-same", "b-higher"]
    )
    assert first_words(result.to_text(), ["a-same", "b-higher"]) == ["b-higher", "a-same"]
