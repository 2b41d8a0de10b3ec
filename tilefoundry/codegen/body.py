"""The one body emitter: TIR to target-neutral C++ over the runtime headers.

A kernel is a namespace with its argument record, its constants and a function template ``body<Vector>``; a target's
wrapper calls that. ``Vector`` says that the host found every tensor contiguous along its last axis and 16-byte aligned.
"""

from __future__ import annotations

from math import gcd

from tilefoundry.codegen.coordinates import coordinate_text, queries_in, scope_text
from tilefoundry.codegen.effects import effect_text
from tilefoundry.codegen.identifiers import identifier
from tilefoundry.codegen.parts import part_text, register_offset
from tilefoundry.codegen.scalars import scalar_text, string_text
from tilefoundry.codegen.types import dtype_text, logical_text, mesh_text, shard_text, storage_text, swizzle_text
from tilefoundry.codegen.windows import start_text
from tilefoundry.diagnostics import CompileError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import DimVar, linear_in
from tilefoundry.ir.shard import Mesh, ShardLayout, is_per_unit, per_unit_strides, with_strides
from tilefoundry.ir.tir.barriers import Barrier, BarrierKind, classify_sync
from tilefoundry.ir.types import DType, StorageKind, TensorType
from tilefoundry.passes.modes import crosses_instances
from tilefoundry.passes.names import Names
from tilefoundry.passes.sizes import known_multiple, storage_layout
from tilefoundry.passes.workspace import has_grid_barrier, is_workspace, workspace_of


class Body:
    """Text of one kernel's body, and the type aliases that it uses.

    Attributes:
        globals: the tensors in global memory that the argument record holds: parameters, then workspace.
        grid_counters: the argument with the counters of grid barriers, when the kernel has some.

    Args:
        kernel: what is emitted.
        checking: tensors say their names, for the findings of checking mode.
    """

    def __init__(self, kernel: tir.PrimFunction, checking: bool = False) -> None:
        self.kernel = kernel
        self._checking = checking
        self.globals = (*kernel.params, *workspace_of(kernel))
        self.shared_bytes = 0
        self.collective = False
        self._names: dict[Expr, str] = {}
        self._multiples: dict[Expr, int] = {}  # what divides scalars that only the run knows
        self._identifiers = Names()
        self._aliases: dict[str, str] = {}
        self._maps: dict[tuple[Var, tuple[int, ...]], str] = {}
        self._prologue: list[str] = []
        self._lines: list[str] = []
        self._indent = 1
        self._barriers = 0
        for param in self.globals:
            self._bind_param(param)
        self.grid_barrier = has_grid_barrier(kernel)
        self.grid_counters = f"args.{self._name('grid_counters')}"
        self._bind_affine_extents()
        self._bind_queries()
        self._block(kernel.body)

    # ---- what effects ask ---------------------------------------------------------------------------------------

    def is_tensor(self, arg: Expr | int) -> bool:
        """Whether an operand is a tensor."""
        return isinstance(arg, Var) and isinstance(arg.type, TensorType) and bool(arg.type.shape)

    def tensor(self, arg: Expr) -> str:
        """The name of a tensor (or pipeline)."""
        return self._names[arg]

    def scalar(self, arg: Expr | int, dtype: DType | None = None) -> str:
        """A rank-0 expression."""
        return scalar_text(arg, self._names, dtype)

    def operand(self, arg: Expr | int, dtype: DType) -> str:
        """A tensor by name, or a scalar of type ``dtype``."""
        return self.tensor(arg) if isinstance(arg, Expr) and self.is_tensor(arg) else self.scalar(arg, dtype)

    def assignment(self, scalar: Expr, value: str, op: str) -> str:
        """The statement by which ``op`` gives a rank-0 tensor in registers its value."""
        name = self._names[scalar]
        if not self._checking:
            return f"{name} = {value};"
        return f"{{ TILEFOUNDRY_OP({string_text(op)}); {name.removesuffix('.value()')} = {value}; }}"

    def dtype(self, arg: Expr | int) -> DType:
        """The element type of a tensor."""
        return _tensor_type(arg).dtype

    def tile_map(self, tensor: Expr, box: tuple[int, ...]) -> str:
        """The map of a global tensor in tiles of ``box``; made once, before the body."""
        assert isinstance(tensor, Var)
        extents = ", ".join(f"Int<{extent}>" for extent in box)
        if tensor not in self.kernel.params:  # a view, which is made where it is used
            return f"make_tile_map<Shape<{extents}>>({self._names[tensor]})"
        key = (tensor, box)
        if key not in self._maps:
            name = f"{self._names[tensor]}_map{len(self._maps)}"
            self._prologue.append(f"const auto {name} = make_tile_map<Shape<{extents}>>({self._names[tensor]});")
            self._maps[key] = name
        return self._maps[key]

    # ---- text ---------------------------------------------------------------------------------------------------

    def args_text(self) -> str:
        """The argument record: the parameters in order, rank-0 inputs as plain values; then what the host adds."""
        fields = []
        for param in self.globals:
            type_ = _tensor_type(param)
            scalar = not type_.shape and param in self.kernel.inputs
            kind = dtype_text(type_.dtype) if scalar else f"GlobalArg<{len(type_.shape)}>"
            fields.append(f"  {kind} {self._names[param].removeprefix('args.')};")
        if self.grid_barrier:
            fields.append(f"  GlobalArg<0> {self.grid_counters.removeprefix('args.')};")
        return "\n".join(["struct Args {", *fields, "};"])

    def text(self) -> str:
        """The function template."""
        lines = [f"  {line}" for line in self._prologue]
        return "\n".join(
            [
                "template <bool Vector>",
                "TILEFOUNDRY_DEVICE void body(Args const& args) {",
                *lines,
                *self._lines,
                "}",
            ]
        )

    def alias_text(self) -> str:
        """The type aliases, in order of use."""
        return "\n".join(f"using {name} = {text};" for text, name in self._aliases.items())

    # ---- parameters ---------------------------------------------------------------------------------------------

    def _bind_param(self, param: Var) -> None:
        type_ = _tensor_type(param)
        field = self._name(param.name)
        if not type_.shape:
            self._names[param] = f"args.{field}"
            return
        self._names[param] = field
        extents = []
        for axis, extent in enumerate(type_.shape):
            if isinstance(extent, int):
                extents.append(f"Int<{extent}>{{}}")
                continue
            if isinstance(extent, DimVar) and extent not in self._names:
                name = self._names[extent] = self._dim_name(extent)
                self._prologue.append(f"[[maybe_unused]] const int64_t {name} = args.{field}.shape[{axis}];")
            extents.append(f"args.{field}.shape[{axis}]")
        tensor = f"global_tensor<{dtype_text(type_.dtype)}, Vector>(args.{field}, make_shape({', '.join(extents)}))"
        self._prologue.append(f"auto {field} = {tensor};")

    def _bind_affine_extents(self) -> None:
        """Names for the DimVars that no axis is by itself: an axis ``a*v + b`` tells them."""
        for param in self.kernel.params:
            for axis, extent in enumerate(_tensor_type(param).shape):
                linear = linear_in(extent)
                if linear is not None and linear[0] not in self._names:
                    var, scale, offset = linear
                    name = self._names[var] = self._dim_name(var)
                    told = f"(args.{self._names[param]}.shape[{axis}] - int64_t{{{offset}}}) / int64_t{{{scale}}}"
                    self._prologue.append(f"[[maybe_unused]] const int64_t {name} = {told};")

    def _dim_name(self, var: DimVar) -> str:
        """A name for the value of a DimVar, which may be called what C++ does not allow."""
        plain = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in var.name)
        return self._identifiers.fresh(f"dim_{plain}")

    def _name(self, wanted: str) -> str:
        """An identifier that no other value of this kernel has: C++ may map two names of the program to one."""
        return self._identifiers.fresh(identifier(wanted))

    def _bind_queries(self) -> None:
        """Names for what an authored kernel asks of its launch: extents of parameters, coordinates of meshes."""
        for query in queries_in(self.kernel.body):
            if isinstance(query, tir.ShapeOf):
                name = self._names[query] = self._name(query.hidden_name)
                text = f"static_cast<int32_t>(args.{self._names[query.param]}.shape[{query.axis}])"
                self._prologue.append(f"const int32_t {name} = {text};")
            else:
                name = self._names[query] = self._name("coordinate")
                self._prologue.append(f"const int64_t {name} = {coordinate_text(query, self.scalar)};")

    # ---- statements ---------------------------------------------------------------------------------------------

    def _emit(self, line: str) -> None:
        self._lines.append("  " * self._indent + line)

    def _block(self, stmt: tir.Stmt) -> None:
        for item in tir.unfold(stmt):
            match item:
                case tir.Binding(var, value):
                    self._binding(var, value)
                case tir.Evaluate(op, args):
                    assert isinstance(op, tir.EffectOp)
                    self.collective = self.collective or op.barrier or _meets(op, args)
                    for line in effect_text(self, op, args).splitlines():
                        self._emit(line)
                case tir.For():
                    self._loop(item)
                case tir.If(condition, then_body, else_body):
                    self._emit(f"if ({self.scalar(condition)}) {{")
                    self._nested(then_body)
                    if else_body is not None:
                        self._emit("else {")
                        self._nested(else_body)
                case tir.While(condition, body):
                    self._emit(f"while ({self.scalar(condition)}) {{")
                    self._nested(body)
                case tir.MeshScope(mesh, _, body):
                    self._emit(f"{scope_text(mesh)}{{")
                    self._nested(body)
                case tir.Return():
                    self._emit("return;")
                case tir.Abort(message):
                    self._emit(f"target::abort_launch({string_text(message)});")
                case _:
                    raise CompileError(f"a {type(item).__name__} cannot be emitted")

    def _loop(self, loop: tir.For) -> None:
        start, extent, step = (self.scalar(bound) for bound in (loop.start, loop.extent, loop.step))
        name = self._names[loop.var] = self._name(loop.var.name)
        self._multiples[loop.var] = gcd(
            *(known_multiple(bound, multiples=self._multiples) for bound in (loop.start, loop.step))
        )
        self._emit(f"for (int64_t {name} = {start}; {name} < {extent}; {name} += {step}) {{")
        self._nested(loop.body)

    def _nested(self, stmt: tir.Stmt) -> None:
        self._indent += 1
        self._block(stmt)
        self._indent -= 1
        self._emit("}")

    def next_barrier(self, mesh: Mesh) -> Barrier:
        """The barrier of a mesh at this site."""
        barrier = classify_sync(mesh, self._barriers)
        self._barriers += barrier.kind is BarrierKind.NAMED
        return barrier

    def _binding(self, var: Var, value: Expr) -> None:
        if is_workspace(value):
            return  # an argument
        name = self._name(var.name)
        if not isinstance(value, Call) or not isinstance(value.target, tir.ValueOp):
            kind = dtype_text(_tensor_type(var).dtype)
            self._emit(f"[[maybe_unused]] const {kind} {name} = convert<{kind}>({self.scalar(value)});")
            self._multiples[var] = known_multiple(value, multiples=self._multiples)
            self._names[var] = name
            return
        self._names[var] = name
        match value.target:
            case tir.ProgramId(level):
                self._emit(f"const int64_t {name} = program_id<TopologyScope::{level}>();")
            case tir.ProgramDim(level):
                self._emit(f"const int64_t {name} = program_dim<TopologyScope::{level}>();")
            case tir.Index():
                self._emit(f"const int64_t {name} = {self.scalar(value.args[0])};")
            case tir.Pipeline(stages):
                self._emit(f"Pipeline<{stages}> {name};")
            case tir.MemorySpan(size):
                self.shared_bytes = size
                self.collective = True
                self._emit(f"char* const {name} = cta_shared();")
            case tir.AllocTensor(type_) if not type_.shape:
                self._register_scalar(var, dtype_text(type_.dtype), name)
            case tir.AllocTensor(type_):
                self._emit(f"auto {name} = {self._register_tensor(type_, self._said(var))};")
            case tir.PtrOf():
                (memory,) = value.args
                assert isinstance(memory, Var)
                self._emit(f"auto const {name} = cute::raw_pointer_cast({self._names[memory]}.data());")
            case tir.TensorView():
                self._emit(f"auto {name} = {self._view(var, *value.args)};")
            case tir.GlobalView() | tir.Element() | tir.CheckWindow():
                self._emit(f"[[maybe_unused]] auto const {name} = {part_text(self, value.target, value.args)};")
            case other:
                raise CompileError(f"a {type(other).__name__} cannot be bound")

    def _said(self, var: Var) -> str:
        """The argument by which a tensor says its name."""
        return f", {string_text(var.name)}" if self._checking else ""

    def _register_scalar(self, var: Var, kind: str, name: str) -> None:
        if self._checking:
            self._emit(f"RegisterScalar<{kind}> {name}{{{string_text(var.name)}}};")
            self._names[var] = f"{name}.value()"
        else:
            self._emit(f"{kind} {name}{{}};")

    def _register_tensor(self, type_: TensorType, said: str) -> str:
        if not isinstance(type_.layout, ShardLayout) or type_.storage is not StorageKind.RMEM:
            raise CompileError(f"registers are held by the instances of a mesh, got {type_}")
        layout = type_.layout  # whatever its strides: registers hold each instance's part apart
        shard = self._shard(layout if is_per_unit(layout) else with_strides(layout, per_unit_strides(layout)))
        return f"register_tensor<{dtype_text(type_.dtype)}>({self._logical(type_)}{{}}, {shard}{{}}{said})"

    def _view(self, var: Var, memory: Expr | int, *at: Expr | int) -> str:
        assert isinstance(memory, Var)
        type_ = _tensor_type(var)
        name = self._names[memory]
        if isinstance(memory.type, tir.PointerType):
            start = f" + {self.scalar(at[0])}" if at else ""
            pointer = f"cute::make_{memory.type.storage}_ptr({name}{start})"
            name = f"cute::make_tensor({pointer}, {self._logical(type_)}{{}})"
        elif memory in self.globals:
            start = start_text(memory, at, self.scalar) if at else "int64_t{0}"
            steps = known_multiple(at[-1], multiples=self._multiples) if at else 16  # rows are the host's promise
            name = f"tensor_from<{steps}>({name}, {start})"
        elif at and _tensor_type(memory).storage is StorageKind.RMEM:
            name = f"registers_from<{register_offset(_tensor_type(memory), at)}>({name})"
        elif at:
            types = f"{self._logical(type_)}{{}}, {self._plain(type_)}{{}}"
            known = known_multiple(at[0])
            swizzle = swizzle_text(type_) or ("cute::Swizzle<0, 4, 3>" if known < 16 else None)
            bytes_known = str(known) if known < 16 else None
            element = ", ".join(filter(None, (dtype_text(type_.dtype), swizzle, bytes_known)))
            name = f"shared_tensor<{element}>({name} + {self.scalar(at[0])}, {types}{self._said(var)})"
            if not isinstance(type_.layout, ShardLayout):
                return name
        layout = self._shard(type_.layout) if isinstance(type_.layout, ShardLayout) else self._whole(type_)
        return f"view({name}, {self._logical(type_)}{{}}, {layout}{{}})"

    # ---- types --------------------------------------------------------------------------------------------------

    def _alias(self, prefix: str, text: str) -> str:
        if text not in self._aliases:
            count = sum(name.startswith(prefix) for name in self._aliases.values())
            self._aliases[text] = f"{prefix}{count}"
        return self._aliases[text]

    def _logical(self, type_: TensorType) -> str:
        return self._alias("Logical", logical_text(type_))

    def _plain(self, type_: TensorType) -> str:
        return self._alias("Storage", storage_text(storage_layout(type_)))

    def _whole(self, type_: TensorType) -> str:
        return self._alias("Whole", f"WholeLayout<{self._plain(type_)}>")

    def _shard(self, layout: ShardLayout) -> str:
        mesh = self._alias("ThreadMesh", mesh_text(layout.mesh))
        return self._alias("Shard", shard_text(layout, mesh))


def _tensor_type(arg: Expr | int) -> TensorType:
    assert isinstance(arg, Expr) and isinstance(arg.type, TensorType)
    return arg.type


def _meets(op: tir.EffectOp, args: tuple[Expr, ...]) -> bool:
    """Whether instances exchange values, in a reduction or in a matrix instruction."""
    if isinstance(op, tir.Mma):
        return op.atom is not None
    return isinstance(op, tir.Reduce) and crosses_instances(_tensor_type(args[0]), op.axes)
