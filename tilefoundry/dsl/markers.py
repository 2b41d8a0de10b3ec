"""Names that mean something only inside a decorated function: op names, ``tile`` and ``where``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from tilefoundry.diagnostics import WrongTypeError


@dataclass(frozen=True)
class SurfaceOp:
    """An op by its surface name, e.g. ``tf.matmul``; the parser builds the call."""

    dialect: str
    name: str

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise WrongTypeError(
            f"{self.dialect}.{self.name} was called as a Python function",
            remedy=f"call it inside a function decorated with {'@prim_func' if self.dialect == 'T' else '@func'}; "
            "use torch for eager tensors",
        )


class Tile:
    """``for i in tile(extent, step)``: a loop over windows of `step` elements that cover ``[0, extent)``.

    A subscript by `i` is the window ``[i, i + step)``; elements beyond the tensor read as zero and are not written.
    """

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise WrongTypeError("tile(...) was called as a Python function", remedy="use it in a 'for' inside @func")

    def __repr__(self) -> str:
        return "tile"


tile = Tile()


class Where:
    """``y: where(layout=..., mesh=..., storage=...) = value``: asks that whoever places `y` puts it there.

    At least one of the three; a layout as ``tf.reshard`` takes it.
    """

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise WrongTypeError(
            "where(...) was called as a Python function",
            remedy="annotate an assignment inside @func with it; to choose between tensors, use tf.where",
        )

    def __repr__(self) -> str:
        return "where"


where = Where()


class Statement:
    """A statement of kernels that is written as a call and is no op, such as ``T.abort(message)``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise WrongTypeError(
            f"{self.name}(...) was called as a Python function",
            remedy="use it inside a function decorated with @prim_func",
        )

    def __repr__(self) -> str:
        return self.name


class Launcher(Statement):
    """``launch(kernel, *args, grid=(x, y, z), block=(x, y, z))``: runs a @prim_func on a grid of CTAs.

    ``cluster=``, ``dynamic_smem=`` (bytes), ``stream=`` and ``attrs=`` may be given too.
    """


launch = Launcher("launch")
abort = Statement("T.abort")
dispatch = Statement("T.dispatch")
