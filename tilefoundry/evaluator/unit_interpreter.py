"""For tests: an interpreter that runs every unit on its own part, one after the other.

It shares nothing with the evaluator: a value is a list of arrays, what each unit holds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from tilefoundry.ir import hir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.hir import BinaryKind, ReduceKind
from tilefoundry.ir.shard import Broadcast, Mesh, Partial, ShardLayout, Split, group_modes
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import StorageKind, TensorType

Held = list[np.ndarray]  # for each unit, in the order of its coordinates


class Disagree(Exception):
    """Units hold different copies of what is collected."""


class Interpreter:
    """Runs a program unit by unit."""

    def __init__(self, mesh: Mesh) -> None:
        self.shape = tuple(int(n) for n in mesh.shape)  # type: ignore[arg-type]  # static
        self.units = list(itertools.product(*map(range, self.shape)))

    def run(self, function: Function, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
        """The result; None where units hold different copies of what is collected."""
        try:
            return self._run(function, inputs)
        except Disagree:
            return None

    def _run(self, function: Function, inputs: Sequence[np.ndarray]) -> np.ndarray:
        assert function.body is not None
        values: dict[int, Held] = {}
        for param, x in zip(function.params, inputs, strict=True):
            values[id(param)] = [x for _ in self.units]
        tuples: dict[int, Tuple] = {}
        for expr in post_order(function.body):
            if id(expr) in values:
                continue
            if isinstance(expr, Constant):
                values[id(expr)] = [np.array(expr.value) for _ in self.units]
            elif isinstance(expr, Tuple):
                tuples[id(expr)] = expr
            else:
                assert isinstance(expr, Call)
                values[id(expr)] = self._call(expr, values)
        return self._collected(values[id(function.body)], tensor_type(function.body))

    def _call(self, call: Call, values: dict[int, Held]) -> Held:
        target, type_ = call.target, call.type
        args = [values.get(id(arg), []) for arg in call.args]
        match target:
            case hir.MeshCoordinate(axis):
                return [np.array(unit[axis.axis]) for unit in self.units]
            case hir.Zeros():
                return [np.zeros(tensor_shape(call)) for _ in self.units]
            case hir.Cast():
                return [np.asarray(x, dtype=np.float64) for x in args[0]]
            case hir.Binary(kind):
                operation = _OPERATIONS[kind]
                return [operation(a, b) for a, b in zip(*args, strict=True)]
            case hir.Where():
                return [np.where(c, a, b) for c, a, b in zip(*args, strict=True)]
            case hir.MatMul():
                return [a @ b for a, b in zip(*args, strict=True)]
            case hir.Local():
                return args[0]
            case hir.Reduce(axes, _, kind):
                return self._reduced(args[0], tensor_type(call.args[0]), axes, kind)
            case hir.Reshard():
                assert isinstance(type_, TensorType)
                return self._resharded(args[0], tensor_type(call.args[0]), type_)
            case hir.Slice(sizes):
                starts = self._starts(call.args[1], values)
                return [x[_window(starts, k, sizes)] for k, x in enumerate(args[0])]
            case hir.InsertSlice(sizes):
                starts = self._starts(call.args[2], values)
                if tensor_type(call).storage is StorageKind.RMEM:
                    pairs = zip(args[0], args[1], strict=True)
                    return [_patched(x, new, _window(starts, k, sizes)) for k, (x, new) in enumerate(pairs)]
                return self._written(args[0], args[1], starts, [int(n) for n in sizes])  # type: ignore[arg-type]
        raise AssertionError(target)

    def _starts(self, starts: Expr | int, values: dict[int, Held]) -> list[Held]:
        assert isinstance(starts, Tuple)
        zeros = [np.array(0)] * len(self.units)
        return [zeros if isinstance(start, int) else values[id(start)] for start in starts.elements]

    def _reduced(self, x: Held, type_: TensorType, axes: tuple[int, ...], kind: ReduceKind) -> Held:
        """Each unit over its own part, then over the units that hold the other parts."""
        operation = np.sum if kind is ReduceKind.SUM else np.max
        own = [operation(part, axis=axes, keepdims=True) for part in x]
        if not isinstance(type_.layout, ShardLayout):
            return own
        groups = group_modes(type_.layout.shape, type_.shape)
        assert groups is not None
        across = [
            m
            for m, attr in enumerate(type_.layout.attrs)
            if isinstance(attr, Split) and any(attr.axis in groups[a] for a in axes)
        ]
        result = []
        for unit in self.units:
            others = [
                k for k, v in enumerate(self.units) if all(v[m] == unit[m] for m in range(len(v)) if m not in across)
            ]
            result.append(operation([own[k] for k in others], axis=0))
        return result

    def _resharded(self, x: Held, source: TensorType, target: TensorType) -> Held:
        if not isinstance(target.layout, ShardLayout) and not isinstance(source.layout, ShardLayout):
            return x
        whole = self._collected(x, source)
        return [self._part(whole, target, unit) for unit in self.units]

    def _collected(self, x: Held, type_: TensorType) -> np.ndarray:
        """The logical tensor: each element from all who hold it, terms summed, copies compared."""
        layout = type_.layout
        shape = tuple(int(n) for n in type_.shape)  # type: ignore[arg-type]  # static
        if not isinstance(layout, ShardLayout):
            if any(not np.array_equal(part, x[0]) for part in x):
                raise Disagree
            return np.broadcast_to(x[0], shape)
        terms = partial_axes(type_)
        sums: dict[tuple[int, ...], list[np.ndarray]] = {}
        for part, unit in zip(x, self.units, strict=True):  # one list of copies for each term of each owner
            key = tuple(c for m, c in enumerate(unit) if not isinstance(layout.attrs[m], Broadcast))
            sums.setdefault(key, []).append(part)
        if any(not np.array_equal(part, parts[0]) for parts in sums.values() for part in parts):
            raise Disagree
        whole = np.zeros(tuple(int(n) for n in layout.shape))  # type: ignore[arg-type]  # static
        seen: set[tuple[int, ...]] = set()
        for part, unit in zip(x, self.units, strict=True):
            key = tuple(c for m, c in enumerate(unit) if not isinstance(layout.attrs[m], Broadcast))
            if key not in seen:
                seen.add(key)
                index = _index(layout, unit)
                whole[index] += part.reshape(whole[index].shape)
        assert terms or len(seen) == math.prod(
            n for n, a in zip(self.shape, layout.attrs, strict=True) if isinstance(a, Split)
        )
        return whole.reshape(shape)

    def _part(self, whole: np.ndarray, type_: TensorType, unit: tuple[int, ...]) -> np.ndarray:
        layout = type_.layout
        if not isinstance(layout, ShardLayout):
            return whole
        modes = tuple(int(n) for n in layout.shape)  # type: ignore[arg-type]  # static
        split = {a.axis for a in layout.attrs if isinstance(a, Split)}
        groups = group_modes(layout.shape, type_.shape)
        assert groups is not None
        local = tuple(math.prod(1 if k in split else modes[k] for k in group) for group in groups)
        return whole.reshape(modes)[_index(layout, unit)].reshape(local)

    def _written(self, dst: Held, update: Held, starts: list[Held], sizes: list[int]) -> Held:
        """All units write into the one tensor in global memory; two that write one element must agree."""
        if any(not np.array_equal(part, dst[0]) for part in dst):
            raise Disagree
        result, done = dst[0].copy(), np.zeros(dst[0].shape, dtype=bool)
        for k, part in enumerate(update):
            index = _window(starts, k, sizes)
            new = np.broadcast_to(part, sizes)
            if (done[index] & (result[index] != new)).any():
                raise Disagree
            result[index], done[index] = new, True
        return [result for _ in self.units]


_OPERATIONS: dict[BinaryKind, Callable[..., np.ndarray]] = {
    BinaryKind.ADD: np.add,
    BinaryKind.MUL: np.multiply,
    BinaryKind.MAX: np.maximum,
    BinaryKind.EQ: np.equal,
}


def _window(starts: list[Held], unit: int, sizes: Sequence[object]) -> tuple[slice, ...]:
    return tuple(slice(int(s[unit]), int(s[unit]) + int(n)) for s, n in zip(starts, sizes, strict=True))  # type: ignore[call-overload]  # static


def _patched(x: np.ndarray, update: np.ndarray, window: tuple[slice, ...]) -> np.ndarray:
    result = x.copy()
    result[window] = update
    return result


def tensor_type(expr: Expr | int) -> TensorType:
    assert isinstance(expr, Expr) and isinstance(expr.type, TensorType)
    return expr.type


def tensor_shape(expr: Expr) -> tuple[int, ...]:
    return tuple(int(n) for n in tensor_type(expr).shape)  # type: ignore[arg-type]  # static


def partial_axes(type_: TensorType) -> list[int]:
    layout = type_.layout
    return [m for m, a in enumerate(layout.attrs) if isinstance(a, Partial)] if isinstance(layout, ShardLayout) else []


def _index(layout: ShardLayout, unit: tuple[int, ...]) -> tuple[int | slice, ...]:
    index: list[int | slice] = [slice(None)] * layout.rank
    for m, attr in enumerate(layout.attrs):
        if isinstance(attr, Split):
            index[attr.axis] = unit[m]
    return tuple(index)
