"""TIR as text: what people read, and what shows that two targets run the same program."""

from __future__ import annotations

from enum import Enum

from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims import DimVar, is_dim_expr
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.tir.items import Binding, unfold
from tilefoundry.ir.tir.prim_func import PrimFunction
from tilefoundry.ir.tir.stmt import Evaluate, For, If, Stmt


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
            case Evaluate(op, args):
                lines.append(f"{pad}{_op(op)}({', '.join(map(_expr, args))})")
            case For():
                bounds = ", ".join(map(_expr, (item.start, item.extent, item.step)))
                lines += [f"{pad}for {item.var.name} in range({bounds}):", *_block(item.body, depth + 1)]
            case If():
                lines += [f"{pad}if {_expr(item.condition)}:", *_block(item.then_body, depth + 1)]
            case other:
                raise TypeError(f"{type(other).__name__} has no text form")
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
    if is_dim_expr(value):
        return format_dim(value)
    assert isinstance(value, Call) and isinstance(value.target, Op)
    return f"{_op(value.target)}({', '.join(map(_expr, value.args))})"


def _op(op: Op) -> str:
    # the type of a tensor that is allocated or viewed stands at its binding
    shown = ((name, value) for name, value in op.attributes() if name != "tensor_type")
    attributes = ", ".join(f"{name}={value.value if isinstance(value, Enum) else value}" for name, value in shown)
    name = type(op).__name__
    return f"{name}[{attributes}]" if attributes else name
