"""tune: measures a few configurations on the caller's inputs, and returns the options that hold the fastest.

Nothing is picked up silently: a tuned configuration is used where it is given as ``options``, and is part of the key.
"""

from __future__ import annotations

import contextvars
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from tilefoundry.codegen.emit import emit_module
from tilefoundry.diagnostics import (
    ArgumentTypeError,
    ArgumentValueError,
    CompileError,
    LaunchError,
    WrongTypeError,
    WrongValueError,
)
from tilefoundry.driver.inputs import normalize_to_module, resolve_target
from tilefoundry.driver.just_in_time import jit
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.tune_report import TuneReport, TuneRow, differences
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.passes import lower
from tilefoundry.runtime.compiled import CompiledModule
from tilefoundry.runtime.measure import Predicate, check
from tilefoundry.runtime.measure.agreement import same_operations
from tilefoundry.runtime.measure.structure import copy_inputs
from tilefoundry.runtime.measure.timing import time_in_turns
from tilefoundry.target import CudaTarget, Target

# Times this close are the same: the first of them wins, which is the plainest. Best rounds are compared: what else a
# machine does only ever adds to a time.
_NEAR = 1.01


class Tune:
    """The type of `tune`: a function, and the same with a report."""

    def __call__(
        self,
        fn_or_mod: Function | PrimFunction | Module,
        *inputs: object,
        target: str | Target | None = "cuda",
        candidates: Iterable[CompilerOptions] | None = None,
        expect: Mapping[str, Sequence[Predicate]] | None = None,
    ) -> CompilerOptions:
        """The fastest configuration for these inputs: ``jit(program, options=tune(program, x, y))``.

        Every candidate is compiled (by `jit`, so its caches hold the winner), its outputs are compared with those of
        the first, and the calls are timed in turns: by CUDA events on torch's current stream, or by the host's clock.
        Best rounds are compared; within one percent the first candidate wins. Candidates that the compiler or the
        device refuses, such as one whose tiles do not fit into shared memory, are left out; so is one that disagrees,
        with a RuntimeWarning. Nothing is printed. An input that the program updates in place is copied first.

        Args:
            fn_or_mod: what `jit` takes.
            inputs: the arguments of a call, without outputs.
            target: what to compile for, as `jit` takes it.
            candidates: the configurations; `default_candidates` when left out.
            expect: predicates for each output, as `tilefoundry.check` takes them; rel_l2 of 4 epsilons of the output's
                dtype, and equality of integers, when left out.

        Raises:
            WrongTypeError, WrongValueError: as `jit`; a candidate is no CompilerOptions, or there is none.
            ArgumentTypeError, ArgumentValueError: an input is not what the entry takes.
            VerifyError: the program is not well formed.
            CompileError: every candidate is refused; says why.
        """
        return self.report(fn_or_mod, *inputs, target=target, candidates=candidates, expect=expect).best

    def report(
        self,
        fn_or_mod: Function | PrimFunction | Module,
        *inputs: object,
        target: str | Target | None = "cuda",
        candidates: Iterable[CompilerOptions] | None = None,
        expect: Mapping[str, Sequence[Predicate]] | None = None,
    ) -> TuneReport:
        """As a call, with what was measured. The report's `best` is what a call returns.

        Raises:
            As a call.
        """
        module = normalize_to_module(fn_or_mod)
        module.entry_function()
        chosen = resolve_target(module, target)
        options = _checked(default_candidates(chosen) if candidates is None else candidates)
        session = _Session(module, chosen, inputs, expect)
        rows = session.rows(options)
        times = [row.timing.best for row in rows if row.timing is not None]
        if not times:
            reasons = "".join(f"\n  {differences(row.options)}: {row.note}" for row in rows)
            raise CompileError(f"tune: every candidate for '{module.entry}' is refused:{reasons}")
        fastest = next(row for row in rows if row.timing is not None and row.timing.best <= min(times) * _NEAR)
        return TuneReport(str(module.entry), chosen.canonical_text(), tuple(rows), fastest.options)


def default_candidates(target: Target, base: CompilerOptions | None = None) -> tuple[CompilerOptions, ...]:
    """The configurations that `tune` tries.

    For CUDA the depth of pipelines and the CTAs of a multiprocessor, for a CPU the depth, the compiler's level and
    unrolling.

    Args:
        target: what is compiled for.
        base: what they have in common; it is the first of them.
    """
    base = base or CompilerOptions()
    if isinstance(target, CudaTarget):
        stages, ctas = (None, 1, 3, 4), (None, 1, 2)
        return tuple(replace(base, stages=s, min_ctas_per_sm=c) for s in stages for c in ctas)
    others = (
        replace(base, optimization_level=2),
        replace(base, unroll_loops=True),
        replace(base, stages=1),
        replace(base, stages=3),
    )
    return (base, *others)


def _checked(candidates: Iterable[CompilerOptions]) -> tuple[CompilerOptions, ...]:
    given: object = candidates
    if isinstance(given, CompilerOptions) or not isinstance(given, Iterable):
        raise WrongTypeError(
            f"tune: candidates must be several CompilerOptions, got {given!r}", remedy="pass a tuple of them"
        )
    options = tuple(dict.fromkeys(candidates))
    for option in options:
        if not isinstance(option, CompilerOptions):
            raise WrongTypeError(f"tune: a candidate must be CompilerOptions, got {option!r}")
    if not options:
        raise WrongValueError("tune: candidates is empty", remedy="leave it out, or name at least one")
    return options


class _Session:
    """The candidates of one call of `tune`."""

    def __init__(
        self,
        module: Module,
        target: Target,
        inputs: tuple[object, ...],
        expect: Mapping[str, Sequence[Predicate]] | None,
    ) -> None:
        self.module = module
        self.target = target
        self.inputs = inputs
        self.expect = expect
        self._reference: object = None

    def rows(self, candidates: Sequence[CompilerOptions]) -> list[TuneRow]:
        """A row for each candidate, in their order."""
        rows: dict[CompilerOptions, TuneRow] = {}
        distinct: dict[object, CompilerOptions] = {}
        for options in candidates:
            try:
                code = self._code(options)
            except CompileError as error:
                rows[options] = TuneRow(options, "refused", note=str(error))
                continue
            first = distinct.setdefault(code, options)
            if first is not options:
                rows[options] = TuneRow(options, "same code", note=f"as {differences(first)}")
        calls: dict[CompilerOptions, Callable[[], object]] = {}
        for options, compiled in self._compile(tuple(distinct.values())).items():
            judged = compiled if isinstance(compiled, TuneRow) else self._judge(options, compiled)
            if isinstance(judged, TuneRow):
                rows[options] = judged
            else:
                calls[options] = judged
        timings = time_in_turns(tuple(calls.values()), on_cuda=isinstance(self.target, CudaTarget))
        for options, timing in zip(calls, timings, strict=True):
            rows[options] = TuneRow(options, "measured", timing)
        return [rows[options] for options in candidates]

    def _code(self, options: CompilerOptions) -> object:
        """What is compiled, and how: equal for candidates of which one need not be measured."""
        lowered = lower(self.module, self.target, stages=options.stages)
        units = emit_module(
            lowered, self.target, min_ctas_per_sm=options.min_ctas_per_sm, checking=options.checking
        ).units
        flags = replace(options, stages=None, min_ctas_per_sm=None)
        if isinstance(self.target, CudaTarget):
            flags = replace(flags, unroll_loops=False)
        return tuple(unit.source for unit in units), flags

    def _compile(self, candidates: Sequence[CompilerOptions]) -> dict[CompilerOptions, CompiledModule | TuneRow]:
        """Compiles in parallel, each in a copy of the caller's context."""

        def compiled(options: CompilerOptions) -> CompiledModule | TuneRow:
            try:
                return jit(self.module, target=self.target, options=options)
            except CompileError as error:
                return TuneRow(options, "refused", note=str(error))

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            runs = [(o, pool.submit(contextvars.copy_context().run, compiled, o)) for o in candidates]
            return {options: run.result() for options, run in runs}

    def _judge(self, options: CompilerOptions, compiled: CompiledModule) -> Callable[[], object] | TuneRow:
        """A call to time, on outputs of its own; or why there is none."""
        params = compiled.type.input_params
        if len(self.inputs) != len(params):
            names = ", ".join(param.name for param in params)
            raise ArgumentTypeError(
                f"tune: '{compiled.name}' takes {len(params)} input(s) ({names}), got {len(self.inputs)}",
                remedy="pass the inputs, and no outputs",
            )
        updated = {of for _, of in compiled.type.aliases}
        inputs = tuple(
            copy_inputs((value,))[0] if param.name in updated else value
            for param, value in zip(params, self.inputs, strict=True)
        )
        try:
            outputs = compiled(*inputs)
        except (ArgumentTypeError, ArgumentValueError):
            raise
        except LaunchError as error:
            return TuneRow(options, "refused", note=str(error))
        if self._reference is None:
            (self._reference,) = copy_inputs((outputs,))
        else:
            expect = same_operations(self._reference) if self.expect is None else self.expect
            report = check(lambda: outputs, lambda: self._reference, (), expect=expect)
            if not report.passed:
                note = "; ".join(str(report).splitlines())
                warnings.warn(
                    f"tune: '{self.module.entry}' gives other results with {differences(options)}, which is left out: "
                    f"{note}",
                    RuntimeWarning,
                    stacklevel=5,
                )
                return TuneRow(options, "disagrees", note=note)
        given = outputs if isinstance(outputs, tuple) else (outputs,)
        return lambda: compiled(*inputs, *given)


tune = Tune()
