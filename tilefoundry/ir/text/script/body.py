"""The statements of one function: assignments, mesh scopes, loops, the return."""

from __future__ import annotations

from collections.abc import Callable

from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import BindingMetadata, ExecutionDomainMetadata, binding_name
from tilefoundry.ir.core.schedule import ScheduleConstraintMetadata
from tilefoundry.ir.hir import TupleGetItem
from tilefoundry.ir.hir.grid_region import GridRegionExpr
from tilefoundry.ir.shard import Mesh, Topology
from tilefoundry.ir.text.script.analysis import Analysis, is_coordinate, is_index_value, scopes_of, unpacked
from tilefoundry.ir.text.script.blocks import INDENT, LocalNames
from tilefoundry.ir.text.script.function_expressions import FunctionExpressions
from tilefoundry.ir.text.script.names import GlobalNames, authored, fresh, is_name
from tilefoundry.ir.text.script.parts import take_out
from tilefoundry.ir.text.script.values import ScriptValues
from tilefoundry.ir.text.walk import Walk, is_inline, notes_of
from tilefoundry.ir.traverse import FreeVars


class BodyPrinter(Walk):
    """Prints the body of one function.

    Args:
        names: the names at the top of the script.
        levels: the topology levels that the module declares.
        child: the spelling of a child module, by its name.
        callee: the spelling of a prototype that is called.
        define: prints another function before this one, and gives its name.
    """

    def __init__(
        self,
        function: Function,
        names: GlobalNames,
        levels: tuple[Topology, ...],
        child: Callable[[str], str],
        callee: Callable[[Function], str],
        define: Callable[[Function], None],
    ) -> None:
        assert function.body is not None
        self._name = function.name
        self._define = define
        self._types = False
        self.root = function.body
        self.analysis = Analysis(function.body)
        self.names = LocalNames(names, self.analysis, {param.name for param in function.params})
        self.text = FunctionExpressions(
            self.analysis, self.names, lambda atom: ScriptValues(names, levels, atom), child, callee
        )
        self.values = self.text.values
        self._groups: list[int] = []  # how many meshes each open ``with`` opened
        self._mesh_names: dict[Mesh, str] = {}
        self._bound = frozenset(function.params)
        for param in function.params:
            self.names.spell(param, param.name)
            self.names.hold(param.name, param)

    def lines(self, types: bool = False) -> list[str]:
        """The statements, without indentation; `types` adds a comment with the type of each assigned value."""
        self._types = types
        root = self.root
        self.block((root,), self._bound)
        self._within(self.analysis.scopes)
        self.names.line(f"return {self._returned(root)}")
        return self.names.blocks[0].lines

    def _returned(self, value: Expr | int) -> str:
        if isinstance(value, Tuple) and value.elements:
            parts = [f"({self._returned(e)})" if isinstance(e, Tuple) else self._returned(e) for e in value.elements]
            return ", ".join(parts) + ("," if len(parts) == 1 else "")
        if isinstance(value, (int, Constant, Tuple)) or is_index_value(value):
            raise ExtractError(f"a function cannot return {value!r} in a script", remedy="return tensors")
        return self.text.operands((value,))[0]

    # -- mesh scopes

    def _within(self, scopes: tuple[Mesh, ...]) -> None:
        """Closes and opens ``with Mesh`` until exactly `scopes` are open."""
        if self.names.is_in_loop:
            return  # as `_has_place` says, they are open
        opened = [mesh for mesh, _ in self.values.open]
        common = 0
        while common < min(len(opened), len(scopes)) and opened[common] == scopes[common]:
            common += 1
        while sum(self._groups) > common:
            self._groups.pop()
            del self.values.open[sum(self._groups) :]
        if len(scopes) > sum(self._groups):
            self._open(scopes[sum(self._groups) :])
        self.names.pad = INDENT * len(self._groups)

    def _has_place(self, scopes: tuple[Mesh, ...]) -> bool:
        """Whether a statement can stand in these scopes here: a loop body opens none."""
        return not self.names.is_in_loop or tuple(mesh for mesh, _ in self.values.open) == scopes

    def _open(self, meshes: tuple[Mesh, ...]) -> None:
        levels = [t.name for mesh in (*(m for m, _ in self.values.open), *meshes) for t in mesh.topologies]
        if len(set(levels)) != len(levels):
            raise ExtractError("nested mesh scopes share a topology level", remedy="open each level once")
        opened: list[tuple[Mesh, str]] = []
        for mesh in meshes:
            if mesh not in self._mesh_names:
                self._mesh_names[mesh] = self.names.fresh("_".join(t.name for t in mesh.topologies))
            opened.append((mesh, self._mesh_names[mesh]))
        self.names.pad = INDENT * len(self._groups)
        self.names.line(f"with {', '.join(f'{self.values.mesh_call(mesh)} as {name}' for mesh, name in opened)}:")
        self.values.open.extend(opened)
        self._groups.append(len(meshes))

    # -- values

    def is_printed(self, expr: Expr) -> bool:
        """Whether a value has a name."""
        return self.names.is_known(expr)

    def stands_alone(self, expr: Expr) -> bool:
        """Every value but those that are written where they are used, and those that have a name."""
        return not (
            is_inline(expr) or is_coordinate(expr) or id(expr) in self.analysis.inline or self.names.is_known(expr)
        )

    def assignment(self, expr: Expr) -> None:
        """``y = ...``; what has no author's name is kept in a tuple, which gives it none."""
        assert isinstance(expr, Call)
        name, targets = binding_name(expr), self._targets(expr)
        parts = [t for t in targets or () if t is not None]
        if any(map(self._is_taken, (expr, *parts))) or not self._has_place(scopes_of(expr)):
            self._apart(parts or [expr])  # a tuple whose parts are all taken is not read otherwise
            return
        self._within(scopes_of(expr))
        where, others = "", []
        for note in notes_of(expr.metadata):
            match note:
                case ScheduleConstraintMetadata():
                    where = f": {self._constraint(note)}"
                case BindingMetadata() | ExecutionDomainMetadata():
                    pass
                case _:
                    others.append(type(note).__name__)
        if others or (where and name is None):
            what = ", ".join(others) or "a schedule constraint on a value without name"
            raise ExtractError(f"{what} has no spelling in a script", remedy="remove the record before printing")
        text = self.text.call(expr)[0]
        if name is not None:
            self.names.make_way(authored(name, "a value"))
            self.names.line(f"{name}{where} = {text}{f'  # {expr.type}' if self._types else ''}")
            self.names.spell(expr, name)
            self.names.hold(name, expr)
            text = name
        if targets is not None:
            for _ in self.analysis.parts[id(expr)]:
                self.names.used(expr)
            self._unpack(targets, text)
            self.names.spell(expr, text if name is not None else "")  # printed, and not read otherwise
            return
        if name is None:
            kept = self.names.fresh("value")
            self.names.line(f"{kept} = ({text},)")
            self.names.spell(expr, f"{kept}[0]")

    def _is_taken(self, value: Expr) -> bool:
        """Whether the name of a value cannot be assigned here, since a loop around runs over it."""
        name = binding_name(value)
        return name is not None and self.names.is_loop_variable(name)

    def _targets(self, source: Call) -> list[Call | None] | None:
        """What the parts of a tuple are assigned to, if they are all unpacked at once and nothing else is done."""
        items = self.analysis.parts.get(id(source))
        if items is None or self.analysis.refs[id(source)] != len(items):
            return None
        return unpacked(source, items)

    def _unpack(self, targets: list[Call | None], text: str) -> None:
        names = [
            self.names.fresh("unused") if t is None else authored(str(binding_name(t)), "a value") for t in targets
        ]
        for name in names:
            self.names.make_way(name)
        self.names.line(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {text}")
        for name, target in zip(names, targets, strict=True):
            if target is not None:
                self.names.spell(target, name)
            self.names.hold(name, target)

    # -- parts that stand apart

    def _apart(self, results: list[Expr] | list[Call]) -> None:
        """Computes values by a function of their own, where their names and scopes are free."""
        name = fresh(f"part_of_{self._name}", self.names.names.taken)
        used: set[str] = set()
        part = take_out(
            name, results, self.names.is_known, lambda e: self._parameter(e, used), self.values.can_be_annotated
        )
        self._define(part.function)
        for result in results:
            if isinstance(result, Call) and isinstance(result.target, TupleGetItem):
                (source,) = result.args
                if isinstance(source, Expr) and not self.names.is_known(source):
                    self.names.spell(source, "")  # it is taken apart there, and not read here
        for value in part.uses:
            self.names.used(value)
        arguments = [self.text.number(e) if is_index_value(e) else self.names.spelling(e) for e in part.inputs]
        text = f"{name}({', '.join(map(str, arguments))})"
        if len(results) == 1 and binding_name(results[0]) is None:
            kept = self.names.fresh("value")
            self.names.line(f"{kept} = ({text},)")
            self.names.spell(results[0], f"{kept}[0]")
            return
        # the values have their names already: where a name is not free, any other may hold them
        held = [str(binding_name(result)) for result in results]
        held = [self.names.fresh(f"{n}_1") if self.names.is_loop_variable(n) else n for n in held]
        for n in held:
            self.names.make_way(n)
        self.names.line(f"{', '.join(held)} = {text}")
        for n, result in zip(held, results, strict=True):
            self.names.spell(result, n)
            self.names.hold(n, result)

    def _parameter(self, value: Expr, used: set[str]) -> str:
        spelling = str(self.names.spelling(value))
        name = self.names.names.local(spelling if is_name(spelling) else "value", used)
        used.add(name)
        return name

    def _constraint(self, note: ScheduleConstraintMetadata) -> str:
        given: list[str] = []
        if note.layout is not None:
            given.append(f"layout={self.values.placement(note.layout)}")
        if note.mesh is not None:
            if not any(mesh == note.mesh for mesh, _ in self.values.open):
                raise ExtractError("a schedule constraint names a mesh that is not open", remedy="open it around it")
            given.append(f"mesh={self.values.mesh(note.mesh)}")
        if note.storage is not None:
            given.append(f"storage={self.values.value(note.storage)}")
        return f"{self.names.names.dsl('where')}({', '.join(given)})"

    # -- loops

    def loop(self, loop: GridRegionExpr, bound: frozenset[Var], free: FreeVars) -> None:
        """A ``for`` statement; its carries are the names that it assigns."""
        variable, names = loop.induction_var, self._carry_names(loop)
        nameless = any(_is_nameless(init) for init in loop.init_args)  # as a parameter of a part, it has a name
        taken = variable.name in self.names.holders or any(map(self.names.is_loop_variable, names))
        if nameless or taken or not self._has_place(scopes_of(loop)):
            self._apart([result for result in self._results(loop) if result is not None])
            return
        self._within(scopes_of(loop))
        for name, init in zip(names, loop.init_args, strict=True):
            self._start(name, init)
        for name in names:  # inside and after the loop, the name is the carry's
            self.names.make_way(name)
        header = self._header(loop)
        around = self.names.enter(variable, loop.step, loop.carried_args)
        self.block(loop.yield_values, bound | {variable, *loop.carried_args}, free)
        self._yield(names, loop)
        self.names.leave(header, around)
        self.names.spell(loop, "")  # several carries are read one by one; this says that it is printed
        for name, result in zip(names, self._results(loop), strict=True):
            if result is not None:
                self.names.spell(result, name)
            self.names.hold(name, result)

    def _carry_names(self, loop: GridRegionExpr) -> list[str]:
        """The names of the carries. Raises ExtractError for a loop that no ``for`` statement means."""
        what = f"the loop over '{loop.induction_var.name}'"
        authored(loop.induction_var.name, "a loop variable")
        names = [authored(v.name, f"a carry of {what}") for v in loop.carried_args]
        if not names or len(set(names)) != len(names) or loop.induction_var.name in names:
            raise ExtractError(f"{what} needs carries with different names to be written", remedy="name them")
        if not isinstance(loop.step, int):
            raise ExtractError(f"{what} has a step that is not known when it is written", remedy="use a plain int")
        allowed = ["ExecutionDomainMetadata", *(["BindingMetadata"] if len(names) == 1 else [])]
        others = [kind for n in notes_of(loop.metadata) if (kind := type(n).__name__) not in allowed]
        results = self._results(loop)
        for name, var, init, value, result in zip(
            names, loop.carried_args, loop.init_args, loop.yield_values, results, strict=True
        ):
            if (
                isinstance(init, (Constant, Tuple))
                or isinstance(value, (Constant, Tuple))
                or _is_nameless(value)
                or value is var
            ):
                raise ExtractError(
                    f"the carry '{name}' of {what} starts or goes on as a value that no name holds",
                    remedy="give the value the name of the carry",
                )
            if result is not None and (binding_name(result) != name or scopes_of(result) != scopes_of(loop)):
                raise ExtractError(
                    f"the result of {what} is not named '{name}', as its carry is", remedy="name it as the carry"
                )
        if others:
            raise ExtractError(f"{what} carries {', '.join(others)}, which has no spelling", remedy="remove the record")
        return names

    def _results(self, loop: GridRegionExpr) -> list[Expr | None]:
        """For each carry, the value that its name has after the loop."""
        if len(loop.carried_args) == 1:
            return [loop]
        taken: list[Expr | None] = [None] * len(loop.carried_args)
        items = self.analysis.results.get(id(loop), [])
        for item in items:
            assert isinstance(item.target, TupleGetItem)
            if taken[item.target.index] is not None:
                raise ExtractError("a result of a loop is taken twice", remedy="take it once")
            taken[item.target.index] = item
        if self.analysis.refs[id(loop)] != len(items):
            raise ExtractError("the results of a loop are used as one tuple", remedy="take them one by one")
        return taken

    def _start(self, name: str, init: Expr) -> None:
        """Lets `name` hold the initial value of a carry."""
        if self.names.holders.get(name) is init:
            self.names.used(init)
            return
        text = self.text.operands((init,))[0]
        self.names.make_way(name)
        self.names.line(f"{name} = {text}")
        self.names.hold(name, init)

    def _yield(self, names: list[str], loop: GridRegionExpr) -> None:
        """Lets each carry's name hold the value for the next iteration; all at once, so that they may change places."""
        moved: list[tuple[str, str]] = []
        for name, value in zip(names, loop.yield_values, strict=True):
            if self.names.holders.get(name) is value:
                self.names.used(value)
            else:
                moved.append((name, self.text.operands((value,))[0]))
        if moved:
            self.names.line(f"{', '.join(name for name, _ in moved)} = {', '.join(text for _, text in moved)}")
            for name, _ in moved:
                self.names.hold(name, None)

    def _header(self, loop: GridRegionExpr) -> str:
        index, spread = self.text.index, ""
        if loop.spread is not None:
            spread = f" @ {self.values.mesh_axis(loop.spread)}"
        if loop.induction_var in self.analysis.tiles:
            call = f"{self.names.names.dsl('tile')}({index(loop.extent)}, {loop.step})"
        else:
            bounds = [index(loop.extent)] if loop.start == 0 else [index(loop.start), index(loop.extent)]
            if loop.step != 1:
                bounds = [index(loop.start), index(loop.extent), str(loop.step)]
            call = f"{self.names.names.builtin('range')}({', '.join(bounds)})"
        return f"for {loop.induction_var.name} in {call}{spread}:"


def _is_nameless(value: Expr) -> bool:
    """Whether assigning a value would give it a name that it does not have."""
    return isinstance(value, (Call, GridRegionExpr)) and not is_inline(value) and binding_name(value) is None
