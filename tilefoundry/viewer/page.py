"""A program as one HTML page that asks for nothing else: no script, no font, no image from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tilefoundry.diagnostics import ExtractError, NotProjectable, WrongTypeError
from tilefoundry.ir.core.expr import Expr, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import binding_name
from tilefoundry.ir.core.module import LoadedModule, Module
from tilefoundry.ir.core.unfinished import check_finished
from tilefoundry.ir.shard import ComposedLayout, Layout, Mesh, ShardLayout
from tilefoundry.ir.text import as_script, canonical_module_text
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.ir.tir.module import module_of
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.viewer.dataflow import function_svg
from tilefoundry.viewer.layout_picture import layout_svg

Pictured = Layout | ComposedLayout | ShardLayout | Mesh | TensorType
Viewable = Module | LoadedModule | Function | PrimFunction | Pictured
PICTURED = (Layout, ComposedLayout, ShardLayout, Mesh, TensorType)
"""What is one picture, for isinstance."""

_STYLE = """
body { font: 14px system-ui, sans-serif; margin: 1.5em; color: #222; background: #fff; }
pre { background: #f6f6f4; padding: 0.8em; overflow-x: auto; font: 12px ui-monospace, monospace; }
section { border-left: 3px solid #ddd; padding-left: 1em; margin: 1em 0; }
summary { cursor: pointer; font-weight: 600; margin: 0.4em 0; }
table { border-collapse: collapse; } td, th { text-align: left; padding: 0.1em 1em 0.1em 0; vertical-align: top; }
.picture { overflow-x: auto; margin: 0.6em 0; }
"""


def page(root: Viewable) -> str:
    """The page of a Module, a function, a layout, a mesh or a tensor type.

    Of a Module: its functions as graphs with the layouts of their values, kernels as text, and its children.

    Raises:
        WrongTypeError: it is none of these.
        NotProjectable: a layout that was asked for has no picture: an extent is symbolic.
    """
    check_finished(root)
    if isinstance(root, LoadedModule):
        root = root.module
    if isinstance(root, Module):
        title, body = f"module {root.name}", _module(root)
    elif isinstance(root, Function):
        title, body = f"function {root.name}", _function(root, None)
    elif isinstance(root, PrimFunction):
        title, body = f"kernel {root.name}", _kernel(root, None)
    elif isinstance(root, PICTURED):
        title, body = type(root).__name__, iter([_picture(layout_svg(root))])
    else:
        raise WrongTypeError(
            f"view: expected a Module, a function, a layout, a mesh or a TensorType, got {root!r}",
            remedy="decorate a Python function with @func",
        )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _module(module: Module) -> Iterator[str]:
    target = module.resolve_target().canonical_text() if module.declares_target() else "none"
    levels = ", ".join(f"{t.name} {t.size}" for t in module.effective_topologies()) or "none"
    rows = [("entry", module.entry or "none"), ("target", target), ("topologies", levels)]
    rows += [("method", name) for name in module.methods]
    rows += [(f"weight {name}", str(type_)) for name, type_ in module.weights.items()]
    yield "<table>"
    yield from (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    yield "</table>"
    for fn in module.functions:
        yield f"<section><h2>{escape(fn.name)}</h2>"
        yield from _kernel(fn, module) if isinstance(fn, PrimFunction) else _function(fn, module)  # type: ignore[arg-type]
        yield "</section>"
    shown: list[Module] = []
    for child in module.modules:
        yield f"<section><h2>child {escape(child.name)}</h2>"
        known = next((other for other in shown if _alike(child, other)), None)
        if known is None:
            shown.append(child)
            yield from _module(child)
        else:  # the layers of a model, as a rule
            yield f"<p>the same as child {escape(known.name)}</p>"
        yield "</section>"


def _alike(a: Module, b: Module) -> bool:
    """Whether two children are copies of one Module: an owner takes its children in as copies that share functions."""
    return (
        len(a.functions) == len(b.functions)
        and all(f is g for f, g in zip(a.functions, b.functions, strict=True))
        and (a.entry, a.topologies, dict(a.methods)) == (b.entry, b.topologies, dict(b.methods))
        and [child.name for child in a.modules] == [child.name for child in b.modules]
        and all(_alike(c, d) for c, d in zip(a.modules, b.modules, strict=True))
    )


def _function(fn: Function, module: Module | None) -> Iterator[str]:
    yield _picture(function_svg(fn))
    for variant in fn.variants:
        yield f"<h3>variant for {escape(', '.join(map(str, variant.specializations)))}</h3>"
        yield _picture(function_svg(variant))
    for weight, converter in fn.converters:
        yield f"<h3>converter of {escape(weight)}</h3>"
        yield _picture(function_svg(converter))
    yield from _layouts(fn)
    yield _folded("source", _text(fn, module))


def _layouts(fn: Function) -> Iterator[str]:
    """The pictures of what the function spreads over units, or swizzles: each type once, with the values of it."""
    names: dict[TensorType, list[str]] = {}
    for expr in (*fn.params, *(post_order(fn.body) if fn.body is not None else ())):
        type_ = expr.type
        if isinstance(type_, TensorType) and _worth_a_picture(type_):
            names.setdefault(type_, []).append(_name(expr))
    for type_, values in names.items():
        of = ", ".join(dict.fromkeys(value for value in values if value))
        try:
            content = _picture(layout_svg(type_))
        except NotProjectable as error:
            content = f"<p>{escape(str(type_))}: no picture, {escape(error.message)}</p>"
        yield f"<details><summary>layout of {escape(of or 'unnamed values')}</summary>{content}</details>"


def _worth_a_picture(type_: TensorType) -> bool:
    swizzled = isinstance(type_.layout, ComposedLayout) and type_.layout.inner is not None
    spread = isinstance(type_.layout, ShardLayout)
    return type_.storage is not StorageKind.UMAT and (spread or swizzled)


def _name(expr: Expr) -> str:
    return expr.name if isinstance(expr, Var) else binding_name(expr) or ""


def _kernel(fn: PrimFunction, module: Module | None) -> Iterator[str]:
    yield f"<pre>{escape(_text(fn, module))}</pre>"


def _text(fn: Function | PrimFunction, module: Module | None) -> str:
    """A program as source; where it cannot be written as such, its canonical text."""
    try:
        return as_script(fn, module)
    except ExtractError:
        if isinstance(fn, Function):
            whole = Module(fn.name, (fn,), fn.name)
        else:
            whole = module_of(fn) if module is None else module
        return canonical_module_text(whole)


def _picture(svg: str) -> str:
    return f'<div class="picture">{svg}</div>'


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"
