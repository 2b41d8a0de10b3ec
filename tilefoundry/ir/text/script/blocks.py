"""Lines and local names of one printed function.

Python names are bound again and again, values are not. Who holds a name, and under which spelling a value can be read,
is tracked here, so that a value that is still needed is moved to a name of its own before its name goes to another.
"""

from __future__ import annotations

from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir.core.expr import Expr, Var
from tilefoundry.ir.text.script.analysis import Analysis
from tilefoundry.ir.text.script.names import GlobalNames

INDENT = "    "
Surroundings = tuple[dict[str, Expr | None], dict[int, str], str]  # holders, spellings, indentation around a loop


class Block:
    """The body of the function, or of a loop in it.

    Args:
        outer: names with a run-time value around the loop. One that the body assigned would become a carry, so its
            value is put back at the end.
        carries: the loop's own carries, in order.
        variable: the loop's variable, and the step by which it grows.

    Attributes:
        first: lines that go to the top of the body.
        saved: where the values of `outer` names are kept during the body.
        stored: the names that the body assigns, in the order of the text.
    """

    def __init__(
        self,
        outer: frozenset[str] = frozenset(),
        carries: tuple[str, ...] = (),
        variable: Var | None = None,
        step: object = None,
    ) -> None:
        self.outer, self.carries, self.variable, self.step = outer, carries, variable, step
        self.first: list[str] = []
        self.lines: list[str] = []
        self.saved: dict[str, str] = {}
        self.stored: list[str] = []

    def closed(self) -> list[str]:
        """All lines of a loop's body."""
        order = [name for name in dict.fromkeys(self.stored) if name in self.carries]
        first = list(self.first)
        if tuple(order) != self.carries:  # the front end orders carries by their first assignment
            names = ", ".join(self.carries)
            first.insert(0, f"{names} = {names}")
            self.stored[:0] = self.carries
        return [*first, *self.lines, *(f"{name} = {kept}" for name, kept in self.saved.items())]


class LocalNames:
    """The names of one function while it is printed.

    Args:
        used: names that it has already: its parameters'.
    """

    def __init__(self, names: GlobalNames, analysis: Analysis, used: set[str]) -> None:
        self.names = names
        self.blocks: list[Block] = [Block()]
        self.holders: dict[str, Expr | None] = {}  # names with a run-time value, and whose it is
        self._spellings: dict[int, str] = {}
        self._left = dict(analysis.refs)
        self._used = used
        self._scalars: dict[Var, str] = {}
        self.pad = ""

    # -- lines

    def line(self, text: str) -> None:
        """Adds a line to the current block."""
        self.blocks[-1].lines.append(self.pad + text)

    def fresh(self, base: str) -> str:
        """A name that no author uses and this function does not use yet."""
        name = self.names.local(base, self._used)
        self._used.add(name)
        return name

    # -- values

    def is_known(self, expr: Expr) -> bool:
        """Whether a value can be read by a name."""
        return id(expr) in self._spellings

    def read(self, expr: Expr) -> str:
        """The spelling of a value at one of the places where it is used.

        Raises:
            ExtractError: nothing has bound it.
        """
        if id(expr) not in self._spellings:
            what = f"variable '{expr.name}'" if isinstance(expr, Var) else f"value {expr!r}"
            raise ExtractError(f"the {what} is used where nothing has bound it", remedy="verify the program first")
        self.used(expr)
        return self._spellings[id(expr)]

    def spelling(self, expr: Expr) -> str | None:
        """The spelling of a value in an extent, or None where it has none."""
        return self._spellings.get(id(expr))

    def used(self, expr: Expr) -> None:
        """Counts one use of a value that needs no spelling there."""
        self._left[id(expr)] -= 1

    def is_needed(self, expr: Expr | None) -> bool:
        """Whether uses of a value follow."""
        return expr is not None and self._left.get(id(expr), 0) > 0

    def spell(self, expr: Expr, spelling: str) -> None:
        """A value can be read by this spelling from now on."""
        self._spellings[id(expr)] = spelling

    def make_way(self, name: str) -> None:
        """Keeps the present value of a name, which is about to be assigned, if it is still needed."""
        assert not self.is_loop_variable(name)
        block, holder = self.blocks[-1], self.holders.get(name)
        if name in block.outer and name not in block.carries and name not in block.saved:
            kept = block.saved[name] = self.fresh(f"{name}_1")
            block.first.append(f"{kept} = {name}")
            if holder is not None and self._spellings[id(holder)] == name:
                self.spell(holder, kept)
            return
        if holder is not None and self.is_needed(holder) and self._spellings[id(holder)] == name:
            kept = self.fresh(f"{name}_1")
            self.line(f"{kept} = {name}")
            self.spell(holder, kept)

    def is_local(self, name: str) -> bool:
        """Whether a value of this function has held this name."""
        return name in self.holders

    @property
    def is_in_loop(self) -> bool:
        """Whether the current block is the body of a loop."""
        return len(self.blocks) > 1

    def is_loop_variable(self, name: str) -> bool:
        """Whether a loop around runs over a variable of this name, which cannot be assigned in it."""
        return any(b.variable is not None and b.variable.name == name for b in self.blocks)

    def hold(self, name: str, expr: Expr | None) -> None:
        """A line has assigned `name`; where a value of this name was computed by it, it is read by it."""
        self.holders[name] = expr
        self.blocks[-1].stored.append(name)

    def scalar(self, var: Var) -> str:
        """The spelling of a ``tile`` variable as a number: by itself it is a window."""
        if var not in self._scalars:
            block = next(b for b in self.blocks if b.variable is var)
            name = self._scalars[var] = self.fresh(f"{var.name}_1")
            block.first.append(f"{name} = {self._spellings[id(var)]} * 1")
        return self._scalars[var]

    # -- loops

    def enter(self, variable: Var, step: object, carries: tuple[Var, ...]) -> Surroundings:
        """Opens the body of a loop; `leave` takes what is returned."""
        around = (dict(self.holders), dict(self._spellings), self.pad)
        names = tuple(v.name for v in carries)
        self.blocks.append(Block(frozenset(self.holders), names, variable, step))
        self.pad = ""
        for carry in carries:
            self.holders[carry.name] = carry
            self.spell(carry, carry.name)
        self.holders[variable.name] = variable
        self.spell(variable, variable.name)
        return around

    def leave(self, header: str, around: Surroundings) -> None:
        """Closes the body, and prints the loop into the block around it."""
        block = self.blocks.pop()
        self.holders, self._spellings, self.pad = around
        self.line(header)
        self.blocks[-1].lines.extend(self.pad + INDENT + text for text in block.closed())
        self.blocks[-1].stored.extend(block.stored)
