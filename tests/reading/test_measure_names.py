from __future__ import annotations

from typing import Any

import ir_measures
import pytest
from ir_measures import AP, INST, RBP, SDCG, Compat, IPrec, P, RPrec, SetF, Success, nDCG

import ir_outcomes as iro
from ir_outcomes import ASL, ESL, Outcome
from ir_outcomes.errors import IrOutcomesError, MissingDependency, ParameterError
from ir_outcomes.reading.measure_names import check_measure, parse_measure

QRELS = {"1": {"d-1": 1, "e-2": 0}}
RUN = {"1": {"d-1": 2.0, "e-2": 1.0}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P@0", "P: cutoff=0: must be from 1 to 2147483647"),
        ("P@-1", "P: cutoff=-1: must be from 1"),
        ("P@12345678901234567890123", "P: cutoff=12345678901234567890123: must be from 1"),
        ("ESL@12345678901234567890123", "ESL: cutoff=12345678901234567890123: must be a whole number of at most"),
        ("P@True", "P: cutoff=True: must be a number"),
        ("P@2.5", "P: cutoff=2.5: must be a whole number"),
        ("P@'5'", "P: cutoff='5': must be a whole number"),
        ("P", "P needs cutoff; write P@10"),
        ("P(rel=2)", r"P needs cutoff; write P\(rel=2\)@10"),
        ("P(rel=0)@5", "P: rel=0: must be from 1"),
        ("P(cutoff=5)@10", "cutoff is given twice"),
        ("P(judged_only=1)@5", "P: judged_only=1: must be one of True, False"),
        ("nDCG(foo=1)", "nDCG has no parameter foo; its parameters are cutoff, dcg, gains, judged_only"),
        ("nDCG(dcg='log3')", "nDCG: dcg='log3': must be one of log2, exp-log2"),
        ("ERR", r"ir_measures does not compute ERR with these parameters; try others, or ERR@10"),
        ("nDCG(gains={1: 0.5})", "nDCG: gains={1: 0.5}: must be a dict from grades to gains"),
        ("nDCG(gains=3)", "nDCG: gains=3: must be a dict"),
        ("nDCG(**{})", "parameters must be named"),
        ("nDCG(10)", "parameters must be named"),
        ("RPrec@5", "Rprec has no cutoff; write Rprec without @5"),
        ("Compat(p=2)", r"Compat: p=2: must be a number with a decimal point, such as 0\.5"),
        ("Compat(p=2.0)", r"Compat: p=2\.0: must be between 0 and 1"),
        ("Compat(p=1e999)", "Compat: p=inf: must be between 0 and 1"),
        ("SetF(beta=0.0)", r"SetF: beta=0\.0: must be finite and above 0"),
        ("SetF(beta=1e999)", "SetF: beta=inf: must be finite and above 0"),
        ("SetF(beta=1e-7)", "SetF: beta=1e-07: must be a number that can be written without an exponent"),
        ("INST(T=1e300,max_rel=1)", r"INST: T=1e\+300: must be a number that can be written without an exponent"),
        ("IPrec", "IPrec needs recall; write IPrec@0.5"),
        ("IPrec@1.5", r"IPrec: recall=1\.5: must be from 0 to 1"),
        ("alpha_nDCG@10", "alpha_nDCG@10 needs judgments per subtopic"),
        ("StRecall@10", "needs judgments per subtopic"),
        ("INST", r"INST needs max_rel; write INST\(max_rel=3\)"),
        ("SDCG@10", r"SDCG needs max_rel; write SDCG\(max_rel=3\)@10"),
        ("NERR9", r"NERR9 needs cutoff and max_rel; write NERR9\(max_rel=3\)@10"),
        ("NERR9(max_rel=2,min_rel=2)@5", "max_rel=2: must be greater than min_rel, 2"),
        ("NumQ@3", "NumQ has no cutoff"),
        ("Outcome", "Outcome compares with a baseline"),
        ("ASL(missing='cutoff')", "needs a cutoff"),
        ("ndcg@10", "unknown measure ndcg; did you mean"),
        ("(" * 500, "is not a measure"),
        ("-" * 900 + "1", "is not a measure"),
        ("P@" + "9" * 900, "P: cutoff=9"),
        ("P@" * 9999, "longer than 1000 characters"),
        ("nDCG(gains={[1]: 2})", "is not a measure"),
        ("P@\0", "is not a measure"),
        ("", "is not a measure"),
    ],
)
def test_what_a_measure_needs_is_said_before_another_library_is_asked(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse_measure(text)


@pytest.mark.parametrize("measure", [P @ 0, RPrec @ 5, nDCG(foo=1), Compat(p=2), SDCG @ 10, INST, P, 5, None, object()])
def test_objects_are_checked_too(measure: Any) -> None:
    with pytest.raises(ParameterError):
        parse_measure(measure)


@pytest.mark.parametrize(
    "measure",
    [P @ 5, P(rel=2) @ 5, AP, nDCG(gains={1: 3}) @ 10, nDCG @ 1000, Compat(p=0.8), RBP(rel=1, p=0.5), SetF(beta=2.0),
     IPrec @ 0.1, Success @ 1, ESL @ 100, ASL(missing="cutoff") @ 10, Outcome(baseline="x", case="won")],
)  # fmt: skip
def test_measures_that_can_be_computed_pass(measure: Any) -> None:
    if measure.NAME == "RBP" and not ir_measures.cwl_eval.is_available():
        pytest.skip("cwl_eval is not installed")
    assert check_measure(measure) is measure
    assert str(parse_measure("P(rel=2)@5")) == "P(rel=2)@5"


def test_a_measure_of_a_package_that_is_not_installed() -> None:
    if not ir_measures.cwl_eval.is_available():
        with pytest.raises(MissingDependency, match=r"INST\(max_rel=3\) needs cwl_eval \(pip install"):
            parse_measure("INST(max_rel=3)")


def test_measures_defined_at_run_time_pass() -> None:
    measure = ir_measures.define_byquery(lambda qrels, run: 1.0, name="Mine")
    assert check_measure(measure) is measure


@pytest.mark.parametrize("name", sorted(set(ir_measures.measures.registry)))
@pytest.mark.parametrize("at", ["", "@0", "@5", "@0.5"])
def test_every_measure_of_ir_measures_is_computed_or_refused(name: str, at: str) -> None:
    try:
        measure = parse_measure(name + at)
    except IrOutcomesError:
        return
    assert ir_measures.calc_aggregate([measure], QRELS, RUN)
    assert iro.parse_measure is parse_measure
