"""Stated-bound numeric comparison: does this agree with that, and how closely?

    report = check(kernel, torch_function, (x, y), expect={"output": [RelL2(max=2e-3), NanInf()]})
    print(report)
    assert report.passed

The arithmetic is exact enough for the verdict: distances and norms in f64, steps and integers exactly.
"""

from collections.abc import Mapping
from types import MappingProxyType

from tilefoundry.runtime.measure.comparison import check
from tilefoundry.runtime.measure.distance import AllClose, MaxAbs, MaxRel
from tilefoundry.runtime.measure.errors import CheckError, CheckTypeError, CheckValueError
from tilefoundry.runtime.measure.exact import Equal, Ulp
from tilefoundry.runtime.measure.finite import NanInf
from tilefoundry.runtime.measure.norm import Cosine, RelL2
from tilefoundry.runtime.measure.predicate import Predicate, PredicateResult
from tilefoundry.runtime.measure.report import OutputCheck, Report, WorstElement

PREDICATES: Mapping[str, type[Predicate]] = MappingProxyType(
    {p.name: p for p in (AllClose, RelL2, Cosine, Equal, Ulp, MaxAbs, MaxRel, NanInf)}
)
"""Every predicate by its name."""

__all__ = [
    "PREDICATES",
    "AllClose",
    "CheckError",
    "CheckTypeError",
    "CheckValueError",
    "Cosine",
    "Equal",
    "MaxAbs",
    "MaxRel",
    "NanInf",
    "OutputCheck",
    "Predicate",
    "PredicateResult",
    "RelL2",
    "Report",
    "Ulp",
    "WorstElement",
    "check",
]
