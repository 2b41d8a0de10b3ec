"""TIR as text: what people read, and what shows that two targets run the same program."""

from __future__ import annotations

import dataclasses
from enum import Enum

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.atoms import MmaAtom
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims import DimVar, is_dim_expr
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.shard import Mesh
from tilefoundry.ir.tir.items import Binding, unfold
from tilefoundry.ir.tir.ops.memory import TensorView
from tilefoundry.ir.tir.prim_func import PrimFunction
from tilefoundry.ir.tir.stmt import Abort, DispatchCall, Evaluate, For, If, MeshScope, Return, Stmt, While
from tilefoundry.ir.tir.symbols import ShapeOf, SymbolRef


def tir_text(kernel: PrimFunction) -> str:
    """The kernel, one statement a line; the same for equal programs, whatever they are compiled for."""
    params = ", ".join(f"{param.name}: {param.type}" for param in kernel.params)
    head = f"prim_func {kernel.name}({params}) -> {kernel.output_count} output(s):"
    return "\n".join([head, *_block(kernel.body, 1)]) + "\n"


def _block(stmt: Stmt, depth: int) -> list[str]:
    pad = "  " * depth
    lines: list[str] = []
    for item in unfold(stmt):
        match item:
            case Binding(var, value):
                lines.append(f"{pad}{var.name}: {var.type} = {_expr(value)}")
            case Evaluate(callee, args):
                name = _op(callee) if isinstance(callee, Op) else str(callee)
                lines.append(f"{pad}{name}({', '.join(map(_expr, args))})")
            case For():
                bounds = ", ".join(map(_expr, (item.start, item.extent, item.step)))
                lines += [f"{pad}for {item.var.name} in range({bounds}):", *_block(item.body, depth + 1)]
            case While(condition, body):
                lines += [f"{pad}while {_expr(condition)}:", *_block(body, depth + 1)]
            case If(condition, then_body, else_body):
                lines += [f"{pad}if {_expr(condition)}:", *_block(then_body, depth + 1)]
                if else_body is not None:
                    lines += [f"{pad}else:", *_block(else_body, depth + 1)]
            case MeshScope(mesh, binding, body):
                name = f" as {binding}" if binding is not None else ""
                lines += [f"{pad}with {_mesh(mesh)}{name}:", *_block(body, depth + 1)]
            case Return():
                lines.append(f"{pad}return")
            case Abort(message):
                lines.append(f"{pad}abort {message!r}")
            case DispatchCall():
                lines.append(f"{pad}dispatch {item.callee_name} on {', '.join(map(_expr, item.subjects))}:")
                for pattern, call in zip(item.case_patterns, item.case_calls, strict=True):
                    lines.append(f"{pad}  {pattern.dim_var} in [{pattern.lo}, {pattern.hi}):")
                    lines += _block(call, depth + 2)
                lines += [f"{pad}  otherwise:", *_block(item.fallback, depth + 2)]
            case other:
                raise WrongTypeError(
                    f"{type(other).__name__} has no text form", remedy="use the statements of tilefoundry.ir.tir"
                )
    return lines


def _expr(value: Expr | int) -> str:
    match value:
        case int():
            return str(value)
        case DimVar() | Var():
            return value.name
        case Constant():
            return repr(value.value)
        case Tuple(elements=elements):
            return f"({', '.join(map(_expr, elements))})"
        case ShapeOf() | SymbolRef():
            return str(value)
    if is_dim_expr(value):
        return format_dim(value)
    assert isinstance(value, Call) and isinstance(value.target, Op)
    return f"{_op(value.target)}({', '.join(map(_expr, value.args))})"


def _op(op: Op) -> str:
    # the type of a tensor that is allocated or viewed stands at its binding
    hidden = ("layout", "shape", "dtype") if isinstance(op, TensorView) else ("tensor_type",)
    # what is not given, and a flag that is off, say nothing
    off = {f.name for f in dataclasses.fields(op) if f.default is False and getattr(op, f.name) is False}
    shown = ((name, value) for name, value in op.attributes() if name not in (*hidden, *off) and value is not None)
    attributes = ", ".join(f"{name}={_attribute(value)}" for name, value in shown)
    name = type(op).__name__
    return f"{name}[{attributes}]" if attributes else name


def _attribute(value: object) -> str:
    match value:
        case Enum():
            return str(value.value)
        case Mesh():
            return _mesh(value)
        case MmaAtom(name):
            return name
    return str(value)


def _mesh(mesh: Mesh) -> str:
    names = f", {mesh.names}" if mesh.names else ""
    levels = ", ".join(f"{t.name}={format_dim(t.size)}" for t in mesh.topologies)
    return f"Mesh({levels}; {mesh.layout}{names})"
