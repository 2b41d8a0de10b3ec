"""What is refused of calls of ops: the place in the author's text, and the words that explain it."""

from __future__ import annotations

import pytest

from tilefoundry.python.testing import check_refusal

PARAMS = (
    'x: Tensor[(8, 64), "f32"], y: Tensor[(8, 32), "f32"], h: Tensor[(8, 64), "bf16"], n: Tensor[(8, 64), "i32"], '
    'b: Tensor[(8, 64), "bool"], v: Tensor[(64,), "f32"], q: Tensor[(2, 4, 16, 32), "f32"], k: Tensor[(8,), "i64"]'
)


def calling(value: str) -> str:
    """A program that computes this value of tensors of all kinds."""
    return f'@func\ndef f({PARAMS}) -> Tensor[(8, 64), "f32"]:\n    value = {value}\n    return x'


def placed(value: str) -> str:
    """A program that computes this value of `s`, split by 4 on axis 0, and `p`, a partial sum along the same axis."""
    return (
        f'@func(topologies=(THREAD,))\ndef f({PARAMS}) -> Tensor[(8, 64), "f32"]:\n'
        '    with Mesh(("thread",), (4, 32), ("w", "l")) as t:\n'
        '        s = tf.reshard(x, (8 @ t.w, 64), "rmem")\n'
        '        p = tf.zeros(Tensor[(8, 64), "f32", ((8, 64), {t.w @ P("sum")}), "rmem"])\n'
        f"        value = {value}\n    return x"
    )


# name: (program, words)
CALLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "no such op": (calling("§tf.softmx(x)"), ("no op named 'softmx'", "tf.softmax")),
    "a private name": (calling("§tf._ops"), ("_ops",)),
    "too few operands": (calling("§tf.maximum(x)"), ("parameter 'rhs' is missing", "maximum(lhs, rhs)")),
    "too many operands": (calling("§tf.exp(x, x)"), ("too many", "exp(x)")),
    "an unknown keyword": (calling("tf.softmax(x, dim=§1)"), ("no parameter 'dim'", "softmax(x, axis=")),
    "a keyword twice": (calling("tf.softmax(x, -1, axis=§1)"), ("given twice",)),
    "a string operand": (calling("tf.exp(§'x')"), ("'x' must be a tensor or a number, got 'x'",)),
    "a function as operand": (calling("tf.exp(§tf.exp)"), ("must be a tensor",)),
    "no operand": (calling("tf.exp(§None)"), ("must be a tensor or a number, got None",)),
    "a tensor as attribute": (calling("tf.softmax(x, axis=§k)"), ("'axis' must be known at compile time",)),
    "an op as attribute": (calling("tf.cast(x, §tf.exp)"), ("'dtype' cannot be",)),
    "starred operands": (calling("tf.concat(§*(x, x))"), ("'*' in a call", "one by one")),
    "a Python call": (calling("§sorted(x)"), ("Python's 'sorted'", "cannot call Python")),
    "a Python function of a tensor": (calling("§math.sqrt(x)"), ("values known at compile time", "tf.sqrt")),
    "a call of a number": (calling("§3(x)"), ("expected a tf op", "got 3")),
    "a call of a tensor": (calling("§x(x)"), ("expected a tf op",)),
}

RULES: dict[str, tuple[str, tuple[str, ...]]] = {
    "dtypes": (calling("§x + h"), ("f32 and bf16", "never promote")),
    "shapes": (calling("§x + y"), ("do not broadcast", "64 and 32")),
    "int and float": (calling("§x * 2"), ("int literal 2", "2.0")),
    "float and int": (calling("§n * 2.0"), ("float literal 2.0", "i32")),
    "integer division of floats": (calling("§tf.floor_div(x, x)"), ("f32",)),
    "remainder of floats": (calling("§x % x"), ("f32",)),
    "logic of floats": (calling("§x and x"), ("bool", "compare first")),
    "negated floats": (calling("§not x"), ("bool",)),
    "exp of ints": (calling("§tf.exp(n)"), ("float operand", "i32")),
    "sigmoid of bools": (calling("§tf.sigmoid(b)"), ("bool",)),
    "cast to nothing": (calling("§tf.cast(x, 'f33')"), ("unknown dtype 'f33'",)),
    "inner extents": (calling("§x @ x"), ("inner extents", "64 and 8")),
    "a vector in a product": (calling("§x @ v"), ("rank",)),
    "an axis out of range": (calling("§tf.softmax(x, axis=2)"), ("axis 2", "rank 2")),
    "a reduction of no kind": (calling("§tf.reduce(x, (1,), True, 'sum')"), ("kind must be a ReduceKind", "SUM")),
    "a reduction over one axis twice": (calling("§tf.reduce(x, (1, -1), True, ReduceKind.SUM)"), ("axes",)),
    "a reduction over a float axis": (calling("§tf.reduce(x, (1.0,))"), ("axis must be a plain int, got 1.0",)),
    "numbers of elements": (calling("§tf.reshape(x, (8, 63))"), ("(8,63)", "(8,64)", "as many")),
    "a shape of floats": (calling("§tf.reshape(x, (8.0, 64))"), ("new_shape", "ints or DimVars")),
    "an incomplete permutation": (calling("§tf.transpose(x, perm=(0,))"), ("perm",)),
    "a repeated axis": (calling("§tf.transpose(x, perm=(0, 0))"), ("perm",)),
    "joined shapes": (calling("§tf.concat(x, y, axis=0)"), ("concat",)),
    "joined dtypes": (calling("§tf.concat(x, h, axis=0)"), ("bf16",)),
    "stacked shapes": (calling("§tf.stack(x, y, axis=0)"), ("stack",)),
    "unequal parts": (calling("§tf.split(x, 1, 3)"), ("3",)),
    "squeezed extent": (calling("§tf.squeeze(x, 0)"), ("8",)),
    "where of floats": (calling("§tf.where(x, x, x)"), ("bool",)),
    "branches of where": (calling("§tf.where(b, x, h)"), ("bf16",)),
    "gathered by floats": (calling("§tf.index_select(x, v, 0)"), ("f32",)),
    "more than there is": (calling("§tf.topk(x, 65, axis=1)"), ("65", "64")),
    "a norm's weight": (calling("§tf.rms_norm(x, x)"), ("weight",)),
    "a norm's weight of another width": (calling("§tf.layer_norm(x, k, k)"), ("weight",)),
    "heads": (calling("§tf.attention(x, x, x)"), ("rank 4",)),
    "an approximation": (calling("§tf.gelu(x, approximate='fast')"), ("approximate", "'fast'")),
    "bounds of clamp": (calling("§tf.clamp(x, 'a', 1.0)"), ("min_val",)),
    "a group that does not divide": (calling("§tf.quant(x, group=48)"), ("48",)),
    "a window of another size": (calling("§tf.insert_slice(x, y, (0, 40))"), ("axis 1", "out of bounds")),
    "offsets": (calling("tf.insert_slice(x, y, §(0,))"), ("expected 2 offsets",)),
    "zeros of no type": (calling("§tf.zeros((8, 64))"), ("type",)),
    "a range of floats": (calling('§tf.arange(Tensor[(8,), "f32"])'), ("f32",)),
    "a range of two axes": (calling('§tf.arange(Tensor[(8, 8), "i32"])'), ("rank",)),
    "a convolution of matrices": (calling("§tf.conv2d(x, x)"), ("rank",)),
}

STATES: dict[str, tuple[str, tuple[str, ...]]] = {
    "Partial in exp": (placed("§tf.exp(p)"), ("P(sum)", "tf.reshard")),
    "Partial in a product with itself": (placed("§p * p"), ("P(sum)",)),
    "Partial beside replicated in a sum": (placed("§p + 1.0"), ("P(sum)",)),
    "Partial in a comparison": (placed("§p > 0.0"), ("P(sum)",)),
    "Partial in softmax": (placed("§tf.softmax(p)"), ("P(sum)",)),
    "Partial in a maximum": (placed("§tf.reduce(p, (1,), True, ReduceKind.MAX)"), ("P(sum)",)),
    "Partial to other owners": (placed("§tf.topk(p, 2)"), ("P(sum)",)),
    "a split axis that is narrowed": (placed("§s[0:4]"), ("split",)),
    "a split axis that is joined": (placed("§tf.concat(s, s, axis=0)"), ("split",)),
    "a split axis that is sorted": (placed("§tf.sort(s, axis=0)"), ("split",)),
    "a split norm": (placed("§tf.rms_norm(tf.transpose(s, perm=(1, 0)), k)"), ("weight",)),
    "local of a whole tensor": (placed("§tf.local(x)"), ("local",)),
    "a result in registers of others": (
        placed("s").replace("return x", "return tf.reshard(§s2, (8, 64), 'gmem')"),
        ("name 's2' is not defined", "'s'"),
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # Python's own remarks on the programs
def test_calls(name: str) -> None:
    check_refusal(*CALLS[name])


@pytest.mark.parametrize("name", RULES)
def test_type_rules(name: str) -> None:
    check_refusal(*RULES[name])


@pytest.mark.parametrize("name", STATES)
def test_distributed_operands(name: str) -> None:
    check_refusal(*STATES[name])
