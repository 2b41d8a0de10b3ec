"""The launcher ABI as JSON: what a compiled library carries about itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.dims import (
    Dim,
    DimAdd,
    DimConst,
    DimFloorDiv,
    DimMax,
    DimMin,
    DimMod,
    DimMul,
    DimOp,
    DimSub,
    DimVar,
)
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.types import DType, StorageKind, TensorType
from tilefoundry.runtime.abi import EntryABI, KernelLaunch, ParamABI

FORMAT = 2
_OPS: dict[str, type[DimOp]] = {
    "add": DimAdd, "sub": DimSub, "mul": DimMul, "floordiv": DimFloorDiv, "mod": DimMod, "min": DimMin, "max": DimMax,
}  # fmt: skip
_OP_NAMES = {op: name for name, op in _OPS.items()}

Json = dict[str, Any]


def describe_library(
    entry: EntryABI, kernels: tuple[KernelLaunch, ...], target: str, target_text: str, isa: str
) -> Json:
    """Everything that `read_description` needs to call a library: plain dicts, lists, strings and numbers.

    Args:
        target: "cuda" or "cpu".
        target_text: canonical text of the target.
        isa: instruction set (CPU) or compile architecture (CUDA).
    """
    return {
        "format": FORMAT,
        "target": {"name": target, "isa": isa, "text": target_text},
        "entry": {
            "name": entry.name,
            "params": [_param_to_json(p) for p in entry.params],
            "output_count": entry.output_count,
            "aliases": [list(pair) for pair in entry.aliases],
        },
        "kernels": [
            {
                "name": k.name,
                "grid": None if k.grid is None else _dim_to_json(k.grid),
                "tiles": _dim_to_json(k.tiles),
                "block": k.block,
                "shared_bytes": k.shared_bytes,
                "grid_barrier": k.grid_barrier,
            }
            for k in kernels
        ],
    }


def read_description(data: Mapping[str, Any]) -> tuple[EntryABI, tuple[KernelLaunch, ...]]:
    """The entry and its kernels, from what `describe_library` wrote.

    Raises:
        WrongValueError: another format, from a later or earlier version.
    """
    if data.get("format") != FORMAT:
        raise WrongValueError(
            f"the library describes its entry in format {data.get('format')}, expected {FORMAT}",
            remedy="rebuild it with this version of TileFoundry",
        )
    entry = data["entry"]
    abi = EntryABI(
        entry["name"],
        tuple(_param_from_json(p) for p in entry["params"]),
        entry["output_count"],
        tuple((out, source) for out, source in entry["aliases"]),
    )
    kernels = tuple(
        KernelLaunch(
            k["name"],
            None if k["grid"] is None else _dim_from_json(k["grid"]),
            _dim_from_json(k["tiles"]),
            k["block"],
            k["shared_bytes"],
            k["grid_barrier"],
        )
        for k in data["kernels"]
    )
    return abi, kernels


def _param_to_json(param: ParamABI) -> Json:
    type_ = param.type
    layout = type_.layout
    strides: list[Any] | None = None
    if isinstance(layout, Layout) and type_.shape and layout.strides is not None:
        strides = [_dim_to_json(s) for s in layout.strides]
    return {
        "name": param.name,
        "dtype": type_.dtype.name,
        "shape": [_dim_to_json(d) for d in type_.shape],
        "storage": str(type_.storage),
        "strides": strides,
    }


def _param_from_json(data: Mapping[str, Any]) -> ParamABI:
    shape = tuple(_dim_from_json(d) for d in data["shape"])
    strides = data["strides"]
    layout = None if strides is None else Layout(shape, tuple(_dim_from_json(s) for s in strides))
    storage = StorageKind[data["storage"].upper()]
    return ParamABI(data["name"], TensorType(shape, DType.from_name(data["dtype"]), layout, storage))


def _dim_to_json(dim: Dim) -> Any:
    match dim:
        case int():
            return dim
        case DimVar():
            return {"var": dim.name, "lo": dim.lo, "hi": dim.hi}
        case Call(target=DimConst(value)):
            return value
        case Call(target=DimOp() as op, args=args):
            return {"op": _OP_NAMES[type(op)], "args": [_dim_to_json(a) for a in args]}
    raise WrongValueError(f"extent '{dim}' is no expression of DimVars")


def _dim_from_json(data: Any) -> Dim:
    match data:
        case int():
            return data
        case {"var": name, "lo": lo, "hi": hi}:
            return DimVar(name, lo, hi)
        case {"op": op, "args": args}:
            return Call(_OPS[op](), tuple(_dim_from_json(a) for a in args))
    raise WrongValueError(f"malformed extent in the library's description: {data!r}")
