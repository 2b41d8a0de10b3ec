"""A whole script: imports and definitions, a class for each module of the tree, the functions in it."""

from __future__ import annotations

from collections.abc import Iterator

from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import BindingMetadata, binding_name, find_metadata
from tilefoundry.ir.core.module import TAKEN_NAMES, Module
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir.grid_region import GridRegionExpr
from tilefoundry.ir.shard import Topology
from tilefoundry.ir.structure import structurally_equal
from tilefoundry.ir.text.module import canonical_module_text
from tilefoundry.ir.text.script.blocks import INDENT
from tilefoundry.ir.text.script.body import BodyPrinter
from tilefoundry.ir.text.script.kernels import KernelPrinter
from tilefoundry.ir.text.script.methods import Method, global_line, method_source, value_text
from tilefoundry.ir.text.script.names import GlobalNames, authored, fresh, is_name
from tilefoundry.ir.text.script.values import HeaderValues, ScriptValues, quoted
from tilefoundry.ir.text.walk import notes_of
from tilefoundry.ir.tir import Binding, For, MeshScope, PrimFunction, SymbolRef, items_within, unfold
from tilefoundry.ir.traverse import post_order

_WIDTH = 112  # of a signature in a class, so that it keeps to 120

Children = dict[str, str]  # how the functions of a module spell each child
Around = tuple[Module, Children]  # what the functions of a module can name


class ScriptPrinter:
    """Prints a Module, or one function, as a script.

    Args:
        reserved: every name that authors gave to anything; see `authored_names`.
        types: a comment says the type of each assigned value.
    """

    def __init__(self, reserved: set[str], types: bool = False) -> None:
        self._types = types
        self.names = GlobalNames(reserved)
        self._header = HeaderValues(self.names, (), lambda expr: str(expr))
        self._body: list[str] = []
        self._kernels: dict[str, PrimFunction] = {}  # at the top of the script, by name
        self._classes: dict[str, list[tuple[Module, str]]] = {}  # of children, by what they mean
        self._parts: list[str] = []  # functions that other functions need
        self._prototypes: dict[str, Function] = {}  # among them, by name

    def script(self) -> str:
        """Everything that was printed."""
        return "\n".join([*self.names.header, *self._parts, *self._body]) + "\n"

    # -- modules

    def program(self, module: Module) -> None:
        """Prints a Module as the last statement of the script, under its own name where that is one of Python's."""
        if is_name(module.name):
            self._module(module, module.name, root=True)
        else:
            name = self._module(module, fresh("Program", self.names.taken), root=True)
            self._body += ["", f"{fresh('program', self.names.taken)} = {name}.renamed({quoted(module.name)})"]

    def _module(self, module: Module, name: str, root: bool) -> str:
        """Prints the classes of a module and of its children; `name` is that of its class."""
        members: list[str] = []
        spellings = self._children(module, members)
        levels = module.effective_topologies() if root else module.topologies or ()
        for definition in module.functions:
            if isinstance(definition, PrimFunction):
                members += self._kernel_member(module, definition, levels)
            elif isinstance(definition, Function):
                members += self._member(module, definition, levels, (module, spellings))
            else:
                raise ExtractError(
                    f"'{definition.name}' of module '{module.name}' is of no kind that a script has",
                    remedy="use functions and kernels",
                )
        for method_name, method in module.methods.items():
            members += ["", *self._method(module, method_name, method_source(module.name, method_name, method))]
        while members and not members[0]:
            del members[0]
        if not members:
            raise ExtractError(f"module '{module.name}' is empty", remedy="give it a function")
        arguments = self._arguments(module, root)
        decorator = f"@{self.names.imported('tilefoundry', 'module')}"
        self._body += ["", "", f"{decorator}({', '.join(arguments)})" if arguments else decorator]
        self._body += [f"class {name}:", *(INDENT + line if line else "" for line in members)]
        return name

    def _children(self, module: Module, members: list[str]) -> Children:
        """Prints the children, and the lines that make them members; functions spell them by what is returned."""
        spellings: Children = {}
        for child in module.modules:
            cls = self._class_of(child)
            if is_name(child.name) and not child.name.startswith("__"):
                members.append(f"{child.name} = {cls}")
                spellings[child.name] = child.name
            else:
                group = fresh("children", self.names.taken)
                members.append(f"{group} = ({cls}.renamed({quoted(child.name)}),)")
                spellings[child.name] = f"{group}[0]"
        return spellings

    def _class_of(self, child: Module) -> str:
        """The class of a child; children that differ in nothing but their names have one."""
        alike = self._classes.setdefault(canonical_module_text(child.renamed("child")), [])
        for known, cls in alike:
            one, other = (Module("pair", (), modules=(m.renamed("child"),)) for m in (known, child))
            if structurally_equal(one, other):
                return cls
        cls = self._module(child, fresh(_class_name(child.name), self.names.taken), root=False)
        alike.append((child, cls))
        return cls

    def _arguments(self, module: Module, root: bool) -> list[str]:
        arguments: list[str] = []
        if module.entry is not None:
            arguments.append(f"entry={quoted(module.entry)}")
        if module.target is not None or (root and module.declares_target()):
            arguments.append(f"target={self._header.target(module.resolve_target())}")
        levels = module.topologies
        if levels is None and root and module.owner is not None:
            levels = module.effective_topologies()
        if levels is not None:
            listed = ", ".join(self._header.topology(level) for level in levels)
            arguments.append(f"topologies=({listed}{',' if len(levels) == 1 else ''})")
        return arguments

    def _method(self, module: Module, name: str, method: Method) -> list[str]:
        """A method as it was written; one with a closure is made by a function that captures the same values."""
        what = f"method '{name}' of module '{module.name}'"
        for spelling, value in method.globals:
            self.names.require(spelling, global_line(self.names, what, spelling, value))
        if not method.captured:
            return list(method.lines)
        make = fresh(f"make_{name}", self.names.taken)
        captured = ", ".join(variable for variable, _ in method.captured)
        self._body += ["", "", f"def {make}({captured}):", *(INDENT + line for line in method.lines)]
        self._body += ["", f"{INDENT}return {name}"]
        values = ", ".join(value_text(self.names, what, value) for _, value in method.captured)
        return [f"{name} = {make}({values})"]

    # -- kernels

    def kernel(self, kernel: PrimFunction) -> None:
        """Prints a kernel that is in no class, after those that it names."""
        if self._kernels.get(kernel.name) is kernel:
            return
        for callee in kernel.callees:
            self.kernel(callee)
        named = {callee.name for callee in kernel.callees}
        self._kernels[kernel.name] = kernel
        self._body += ["", "", *self._kernel(kernel, authored(kernel.name, "a kernel"), (), named)]

    def _kernel_member(self, module: Module, kernel: PrimFunction, levels: tuple[Topology, ...]) -> list[str]:
        """A kernel in a class; one that names kernels outside of it stands with them, and is a member by assignment."""
        name = _reachable(kernel.name, "a kernel")
        outside = [c for f in module.functions if isinstance(f, PrimFunction) for c in _callees(f)]
        if kernel.callees or any(callee is kernel for callee in outside):
            self.kernel(kernel)
            return ["", f"{name} = {name}"]
        return ["", *self._kernel(kernel, name, levels, {f.name for f in module.functions})]

    def _kernel(self, kernel: PrimFunction, name: str, levels: tuple[Topology, ...], known: set[str]) -> list[str]:
        def symbol(callee: SymbolRef) -> str:
            if callee.nested or callee.name not in known:
                raise ExtractError(
                    f"kernel '{name}' names '{callee}', which it cannot call in a script",
                    remedy="let it be a member of the same module, or one of its callees",
                )
            return callee.name

        given: list[str] = []
        if kernel.target is not None:
            given.append(f"target={self._header.target(kernel.target)}")
        if kernel.output_count != 1:
            given.append(f"output_count={kernel.output_count}")
        if kernel.aliases:
            given.append(f"inplace={{{', '.join(f'{quoted(a)}: {quoted(b)}' for a, b in kernel.aliases)}}}")
        decorator = f"@{self.names.imported('tilefoundry', 'prim_func')}"
        types = ScriptValues(self.names, (), lambda expr: _no_atom(kernel.name, expr))
        params = [f"{_parameter(p)}: {types.annotation(p.type, 'Tensor')}" for p in kernel.params]
        body = KernelPrinter(kernel, self.names, levels, symbol).lines()
        head = _head(name, params, "")
        return [f"{decorator}({', '.join(given)})" if given else decorator, *head, *(INDENT + line for line in body)]

    # -- functions

    def function(self, function: Function) -> None:
        """Prints a function that is in no class."""
        _check_parts(function, set())
        lines = self._definition(function, authored(function.name, "a function"), ())
        self._body += ["", "", f"@{self.names.imported('tilefoundry', 'func')}", *lines]

    def _part(self, function: Function) -> None:
        lines = self._definition(function, function.name, ())
        self._parts += ["", "", f"@{self.names.imported('tilefoundry', 'func')}", *lines]

    def _member(self, module: Module, function: Function, levels: tuple[Topology, ...], around: Around) -> list[str]:
        """A function in a class, and what belongs to it."""
        name = _reachable(function.name, "a function")
        _check_parts(function, set(module.member_names()))
        return ["", *self._with_parts(function, name, levels, around, [""])]

    def _with_parts(
        self, function: Function, name: str, levels: tuple[Topology, ...], around: Around | None, gap: list[str]
    ) -> list[str]:
        """A function, its variants and its converters, with the lines of `gap` between them."""
        lines = [f"@{self.names.imported('tilefoundry', 'func')}"]
        lines += self._definition(function, name, levels, around)
        for variant in function.variants:
            (pattern,) = variant.specializations
            make = self.names.dsl("DimVarRangePat")
            lines += [*gap, f"@{name}.specialize({make}({quoted(pattern.dim_var)}, {pattern.lo}, {pattern.hi}))"]
            lines += self._definition(variant, _member_name(_label(variant), "a variant"), levels, around)
        for weight, converter in function.converters:
            lines += [*gap, f"@{name}.converter({quoted(weight)})"]
            lines += self._definition(converter, _member_name(converter.name, "a converter"), levels, around)
        return lines

    def _callee(self, around: Around | None, callee: Function) -> str:
        """The name of a prototype that is called; one that is no member stands before the classes."""
        members = {f.name: f for f in around[0].functions} if around is not None else {}
        names = set(around[0].member_names()) if around is not None else set()
        known = members.get(callee.name, self._prototypes.get(callee.name))
        if known is None and callee.name not in names:
            _check_parts(callee, names)
            name = _member_name(callee.name, "a prototype")
            self._prototypes[name] = callee
            lines = self._with_parts(callee, name, (), None, ["", ""])  # those that it calls come first
            self._parts += ["", "", *lines]
        elif not structurally_equal(known, callee):
            raise ExtractError(
                f"a call reaches a prototype '{callee.name}' where another one, or a member, has this name",
                remedy="rename one of them",
            )
        return callee.name

    def _definition(
        self, function: Function, name: str, levels: tuple[Topology, ...], around: Around | None = None
    ) -> list[str]:
        """``def`` and body."""
        extra = [n for n in notes_of(function.metadata) if not (isinstance(n, BindingMetadata) and n.name == name)]
        if extra:
            raise ExtractError(
                f"function '{function.name}' carries {type(extra[0]).__name__}, which has no spelling",
                remedy="remove the record before printing",
            )
        types = ScriptValues(self.names, (), lambda expr: _no_atom(function.name, expr))
        params = [
            f"{_parameter(p)}: {types.annotation(p.type, 'ConstTensor' if p.is_const else 'Tensor')}"
            for p in function.params
        ]
        head = _head(name, params, f" -> {types.type(function.return_type)}")
        if function.body is None:
            body = ["pass"]
        else:
            printer = BodyPrinter(
                function,
                self.names,
                levels,
                lambda child: _child(around, child),
                lambda callee: self._callee(around, callee),
                self._part,
            )
            body = printer.lines(self._types)
        return [*head, *(INDENT + line for line in body)]


def _label(variant: Function) -> str:
    record = find_metadata(variant.metadata, BindingMetadata)
    return "" if record is None else record.name


def _check_parts(function: Function, members: set[str]) -> None:
    """Refuses variants and converters that no class body gives a function."""
    name, labels = function.name, [_label(variant) for variant in function.variants]
    if function.specializations:
        raise ExtractError(
            f"'{name}' is a variant, which does not stand alone: it is printed with its prototype",
            remedy="print the prototype, or the Module that holds it",
        )
    for variant in function.variants:
        if not _label(variant) or variant.name != name or len(variant.specializations) != 1:
            raise ExtractError(f"a variant of '{name}' has no label, another name, or not one range", remedy="label it")
    for part in (*function.variants, *(converter for _, converter in function.converters)):
        if part.variants or part.converters:
            raise ExtractError(f"a part of '{name}' has variants or converters itself", remedy="give it none")
    clash = {*labels, *(converter.name for _, converter in function.converters)} & members
    if clash or len(set(labels)) != len(labels):
        raise ExtractError(
            f"'{name}': {', '.join(sorted(clash)) or 'labels of its variants'} cannot stand in one class body",
            remedy="give every member, variant and converter a name of its own",
        )


def _callees(kernel: PrimFunction) -> Iterator[PrimFunction]:
    """The kernels outside of the Module that a kernel names, and those that these name."""
    for callee in kernel.callees:
        yield callee
        yield from _callees(callee)


def _member_name(name: str, what: str) -> str:
    """A name in the body of a class, where Python changes those with two leading underscores."""
    if name.startswith("__"):
        raise ExtractError(f"{what} has the name {name!r}, which Python changes in a class", remedy="rename it")
    return authored(name, what)


def _reachable(name: str, what: str) -> str:
    """The name of a member, which no attribute of the Module hides."""
    if name in TAKEN_NAMES:
        raise ExtractError(f"{what} has the name {name!r}, which a Module's own attribute hides", remedy="rename it")
    return _member_name(name, what)


def _parameter(param: Var) -> str:
    if binding_name(param) not in (None, param.name):
        raise ExtractError(f"the parameter '{param.name}' carries another name", remedy="let it carry its own")
    return _member_name(param.name, "a parameter")


def _head(name: str, params: list[str], result: str) -> list[str]:
    head = f"def {name}({', '.join(params)}){result}:"
    return [head] if len(head) <= _WIDTH else [f"def {name}(", *(f"{INDENT}{p}," for p in params), f"){result}:"]


def _child(around: Around | None, name: str) -> str:
    children = around[1] if around is not None else {}
    if name not in children:
        raise ExtractError(f"the function calls the child '{name}'", remedy="give as_script the Module that holds it")
    return children[name]


def _no_atom(name: str, expr: Expr) -> str:
    raise ExtractError(f"an extent in the signature of '{name}' uses {format_dim(expr)}", remedy="use DimVars")


def _class_name(name: str) -> str:
    camel = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    return camel if is_name(camel) else "Child"


def authored_names(*roots: Module | Function | PrimFunction) -> set[str]:
    """Every name that authors gave to anything in these programs, and to what their methods read."""
    return {name for root in roots for name in _names_in(root)}


def _names_in(root: object) -> Iterator[str]:
    if isinstance(root, Module):
        yield root.name
        for definition in (*root.functions, *root.modules):
            yield from _names_in(definition)
        for name, method in root.methods.items():
            yield name
            yield from (used for used, _ in method_source(root.name, name, method).globals)
    if isinstance(root, Function):
        label = find_metadata(root.metadata, BindingMetadata)
        yield from (root.name, *((label.name,) if label is not None else ()), *(p.name for p in root.params))
        for expr in post_order(root.body) if root.body is not None else ():
            if isinstance(expr, (Call, GridRegionExpr)):
                bound = binding_name(expr)
                yield from (bound,) if bound is not None else ()
            if isinstance(expr, Call) and isinstance(expr.target, Function):
                yield from _names_in(expr.target)
            if isinstance(expr, GridRegionExpr):
                yield from (expr.induction_var.name, *(v.name for v in expr.carried_args))
        for part in (*root.variants, *(converter for _, converter in root.converters)):
            yield from _names_in(part)
    if isinstance(root, PrimFunction):
        yield from (root.name, *(p.name for p in root.params), *(e.hidden_name for e in root.hidden_params))
        for item in items_within(unfold(root.body)):
            match item:
                case Binding(var=var) | For(var=var):
                    yield var.name
                case MeshScope(binding=str() as opened):
                    yield opened
        for callee in root.callees:
            yield from _names_in(callee)
