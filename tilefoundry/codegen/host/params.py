"""The tables of a host source: what each parameter must be, and how a kernel's argument record is filled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from tilefoundry.codegen.dim_text import dim_text
from tilefoundry.codegen.host.places import Places
from tilefoundry.codegen.unit import KernelUnit
from tilefoundry.diagnostics import CompileError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.dims import Dim, DimVar, dim_vars, linear_in
from tilefoundry.ir.shard import Layout
from tilefoundry.passes.names import Names
from tilefoundry.runtime.abi import EntryABI, ParamABI

MAX_RANK = 8  # host::kMaxRank
MAX_ARGS_BYTES = 4096  # what every CUDA device takes as kernel parameters

DLPACK = {
    "f64": ("kDLFloat", 64), "f32": ("kDLFloat", 32), "f16": ("kDLFloat", 16), "bf16": ("kDLBfloat", 16),
    "fp8e4m3": ("kDLFloat8_e4m3fn", 8), "fp8e5m2": ("kDLFloat8_e5m2", 8), "f8e8m0": ("kDLFloat8_e8m0fnu", 8),
    "i64": ("kDLInt", 64), "i32": ("kDLInt", 32), "i16": ("kDLInt", 16), "i8": ("kDLInt", 8), "u8": ("kDLUInt", 8),
    "bool": ("kDLBool", 8),
}  # fmt: skip
# What a rank-0 input is in the argument record: a type of the dtype's size and alignment that needs no device header.
_SCALARS = {
    "f64": "double", "f32": "float", "f16": "uint16_t", "bf16": "uint16_t", "i64": "int64_t", "i32": "int32_t",
    "i16": "int16_t", "i8": "int8_t", "u8": "uint8_t", "bool": "bool",
}  # fmt: skip


def is_scalar(param: ParamABI, abi: EntryABI) -> bool:
    """Whether a parameter crosses as a plain value: a rank-0 input."""
    return not param.type.shape and param in abi.input_params


def dtype_literal(param: ParamABI) -> str:
    """The DLDataType of a parameter."""
    code, bits = DLPACK[param.type.dtype.name]
    return f"{{{code}, {bits}, 1}}"


@dataclass
class Tables:
    """DimVars in order of appearance, the expressions over them, and the text of ``kParams``.

    A DimVar that is no axis of an input by itself comes last: an axis ``a*v + b`` tells it.
    """

    entry: EntryABI
    dims: list[DimVar] = field(default_factory=list)
    derived: list[Dim] = field(default_factory=list)
    _alone: frozenset[DimVar] = frozenset()

    def __post_init__(self) -> None:
        for param in self.entry.params:
            if param.type.dtype.name not in DLPACK:
                raise CompileError(f"parameter '{param.name}' of '{self.entry.name}': DLPack has no {param.type.dtype}")
            if len(param.type.shape) > MAX_RANK:
                raise CompileError(f"parameter '{param.name}' of '{self.entry.name}' has more than {MAX_RANK} axes")
            if is_scalar(param, self.entry) and param.type.dtype.name not in _SCALARS:
                raise CompileError(
                    f"rank-0 parameter '{param.name}' of '{self.entry.name}' has dtype {param.type.dtype}",
                    remedy=f"declare it as one of {', '.join(_SCALARS)}, or as a tensor of one element",
                )
        inputs, outputs = (
            [dim for param in params for dim in param.type.shape]
            for params in (self.entry.input_params, self.entry.output_params)
        )
        # What the caller gives tells a DimVar before what is made for it does.
        alone = [dim for dim in inputs if isinstance(dim, DimVar)]
        told = [found[0] for dim in (*inputs, *outputs) if (found := linear_in(dim)) is not None]
        self.dims += dict.fromkeys((*alone, *told))
        self._alone = frozenset(alone)
        if not any(not is_scalar(p, self.entry) for p in self.entry.params):
            raise CompileError(f"entry '{self.entry.name}' has no tensor parameter: nothing to compute on")

    @property
    def names(self) -> dict[Expr, str]:
        """What the entry's body calls each DimVar."""
        return {d: f"dim_{d.name}" if d.name.isidentifier() else f"dim_{i}" for i, d in enumerate(self.dims)}

    def dim(self, dim: Dim) -> str:
        """`dim` as text for the entry's body."""
        return dim_text(dim, self.names)

    def bindings(self) -> list[str]:
        """Statements that give each DimVar its name, from the array ``dims``."""
        return [f"  [[maybe_unused]] const int64_t {name} = dims[{i}];" for i, name in enumerate(self.names.values())]

    def _extent(self, dim: Dim) -> str:
        if isinstance(dim, int):
            return f"host::fixed({dim})"
        if isinstance(dim, DimVar) and dim in self._alone:
            return f"host::variable({self.dims.index(dim)})"
        linear = linear_in(dim)
        if linear is not None and linear[0] in self.dims and linear[0] not in self._alone:
            return f"host::variable({self.dims.index(linear[0])}, {linear[1]}, {linear[2]})"
        if unknown := [d.name for d in dim_vars(dim) if d not in self.dims]:
            raise CompileError(
                f"extent '{dim}' of '{self.entry.name}' needs {sorted(unknown)}, which no axis tells",
                remedy="add a parameter that has this extent on an axis",
            )
        if dim not in self.derived:
            self.derived.append(dim)
        return f"host::derived({self.derived.index(dim)})"

    def text(self) -> str:
        """Definitions of ``kDims``, the shapes, ``kParams``, ``derive`` and ``kEntry`` (needs ``kDevice``)."""
        lines: list[str] = []
        rows: list[str] = []
        aliases = dict(self.entry.aliases)
        names = [p.name for p in self.entry.params]
        for i, param in enumerate(self.entry.params):
            shape = strides = "nullptr"
            if param.type.shape:
                shape = f"kShape{i}"
                lines.append(f"constexpr host::Extent {shape}[] = {{{self._list(param.type.shape)}}};")
            if (declared := declared_strides(param)) is not None:
                strides = f"kStrides{i}"
                lines.append(f"constexpr host::Extent {strides}[] = {{{self._list(declared)}}};")
            output = "true" if i >= self.entry.input_count else "false"
            alias = names.index(aliases[param.name]) if param.name in aliases else -1
            rank = len(param.type.shape)
            rows.append(
                f'    {{"{param.name}", {dtype_literal(param)}, {rank}, {shape}, {strides}, {output}, {alias}}},'
            )
        dims = "nullptr"
        if self.dims:
            dims = "kDims"
            items = ", ".join(f"{{{json.dumps(d.name, ensure_ascii=False)}, {d.lo}, {d.hi}}}" for d in self.dims)
            lines.insert(0, f"constexpr host::DimVar kDims[] = {{{items}}};")
        lines += ["constexpr host::Param kParams[] = {", *rows, "};"]
        derive = "nullptr"
        if self.derived:
            derive = "derive"
            lines.append("void derive(const int64_t* dims, int64_t* values) {")
            lines += self.bindings()
            lines += [f"  values[{i}] = {self.dim(d)};" for i, d in enumerate(self.derived)]
            lines.append("}")
        lines.append(
            f'constexpr host::Entry kEntry = {{"{self.entry.name}", kDevice, kParams, {len(names)}, '
            f"{dims}, {len(self.dims)}, {derive}, {len(self.derived)}}};"
        )
        return "\n".join(lines)

    def _list(self, dims: Sequence[Dim]) -> str:
        return ", ".join(self._extent(d) for d in dims)


def declared_strides(param: ParamABI) -> tuple[Dim, ...] | None:
    """The strides that a parameter demands, or None when any do.

    Raises:
        CompileError: the layout is not a plain one over the tensor's own axes.
    """
    layout = param.type.layout
    if layout is None or not param.type.shape:
        return None
    if not isinstance(layout, Layout):
        raise CompileError(
            f"parameter '{param.name}' has the layout {layout}, expected a plain one",
            remedy="leave out the layout and reshard the parameter inside the function",
        )
    return None if layout.strides is None else tuple(layout.strides)


def args_fields(unit: KernelUnit, places: Places) -> list[tuple[str, str, str]]:
    """(type, field, initialiser) of each member of a kernel's argument record, in its order.

    Raises:
        CompileError: the kernel takes something that the entry does not, or more than fits in kernel parameters.
    """
    fields: list[tuple[str, str, str]] = []
    names = Names()
    size = 0
    for param, place in places.of(unit):
        name = names.fresh(f"arg_{param.name}")
        by_value = place < len(places.entry.params) and is_scalar(places.entry.params[place], places.entry)
        if by_value != is_scalar(param, unit.abi):
            raise CompileError(
                f"kernel '{unit.name}' writes '{param.name}', which '{places.entry.name}' takes by value"
            )
        if by_value:
            kind = _SCALARS[param.type.dtype.name]
            fields.append((kind, name, f"host::scalar_arg<{kind}>(bound[{place}])"))
            size += 8
        else:
            rank = len(param.type.shape)
            fields.append((f"host::TensorArg<{rank}>", name, f"host::tensor_arg<{rank}>(bound[{place}])"))
            size += 8 + 16 * rank
    if unit.grid_barrier:
        counters = f"{{host::counter_pair(bound[{places.counters}], {places.barrier(unit)})}}"
        fields.append(("host::TensorArg<0>", names.fresh("counters"), counters))
        size += 8
    if size > MAX_ARGS_BYTES:
        raise CompileError(f"the arguments of kernel '{unit.name}' take {size} bytes, at most {MAX_ARGS_BYTES} fit")
    return fields
