"""What a step may do with vectors that it does not see, and that nothing else is possible."""

import copy
import math
import operator
from dataclasses import dataclass

import numpy as np
import pytest

from certibit import GD, ClientClass, FunctionClass, certify
from certibit.data.arrays import array_namespace
from certibit.solvers.authoring import Needs, Refusal, copies, everyone, masked, mean, total, where
from certibit.solvers.methods.gd import State
from certibit.theory.worlds.opaque.clients import (
    ClientArray,
    ClientMask,
    ClientRows,
    contents,
    mean_degree,
    mixed,
    tossed,
)
from certibit.theory.worlds.opaque.exact_numbers import Exact
from certibit.theory.worlds.opaque.letters import watched

FAMILY = FunctionClass(3, 1.0, 10.0)
CLASSES = FunctionClass.of_classes([ClientClass(1, 1.0, 10.0), ClientClass(2, 1.0, 10.0)])


def full(n, *values):
    return np.array(values or (2.0,) * int(n))[:, None, None]


THE_GRADIENT = {
    "mean": lambda f, c, v: mean(v),
    "total": lambda f, c, v: total(v) / f.n,
    "of numpy": lambda f, c, v: np.mean(v, axis=0, keepdims=True),
    "of the array": lambda f, c, v: v.mean(axis=0, keepdims=True),
    "a sum from 0": lambda f, c, v: sum([mean(v), mean(v)]) / 2,
    "numpy floats": lambda f, c, v: np.float64(2) * mean(v) / np.float64(2),
    "ufuncs": lambda f, c, v: np.divide(np.add(mean(v), np.multiply(3, mean(v))), 4),
    "signs": lambda f, c, v: 0 - (-mean(v) * +1),
    "copies": lambda f, c, v: mean(copies(mean(v), f.n)),
    "zeros of numpy": lambda f, c, v: mean(mean(v) + np.zeros((int(f.n), 1, 1))),
    "one number for all": lambda f, c, v: mean(full(f.n) * v) / 2,
    "an array of one number": lambda f, c, v: mean(np.full((1, 1, 1), 2.0) * v) / np.array(2.0),
    "everyone": lambda f, c, v: mean(masked(everyone(v), v)),
    "a mask of its own": lambda f, c, v: mean(masked(full(f.n) > 1, v)),
    "two halves": lambda f, c, v: halves(c.cohort(2), v),
    "a coin": lambda f, c, v: where(c.coin(0.5), mean(v), mean(v)),
    "a coin or not": lambda f, c, v: either(c.coin(0.5), mean(v)),
    "a coin as a number": lambda f, c, v: numbers(c.coin(0.5), mean(v)),
    "coins of clients": lambda f, c, v: mean(numbers(c.client_coins([0.5] * f.n), v)),
    "a mask sent": lambda f, c, v: sent(c, c.cohort(2), v),
}


def halves(some, v):
    return mean(masked(some, v)) + mean(where(some, 0 * v, v))


def either(heads, v):
    both = (heads | ~heads) & (heads ^ ~heads) & everyone(v) & True
    return masked(both, v)


def numbers(heads, v):
    return (1 - heads) * v + v * heads + (2 * heads - heads / 0.5) * v


def sent(channel, some, v):
    return total(channel.send(v, some) + channel.send(v, ~some)) / 3


def descent(direction):
    @dataclass(frozen=True)
    class Descent(GD):
        name, needs = "descent", Needs()

        def communicate(self, s, problem, channel):
            v = channel.send(problem.grad(s.x))
            return State(channel.broadcast(s.x - self.gamma * direction(problem, channel, v)))

    return Descent(0.05)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("direction", THE_GRADIENT.values(), ids=list(THE_GRADIENT))
def test_what_is_allowed_has_the_numbers_of_gradient_descent(direction):
    found = certify(descent(direction), FAMILY)
    assert found.decrease == pytest.approx(certify(GD(0.05), FAMILY).decrease, rel=1e-5)
    assert found.verify()


def test_an_array_of_one_number_for_each_class_is_told_from_one_for_each_client():
    """The first client has a class of its own here, and there it has not."""
    uneven = descent(lambda f, c, v: mean(full(f.n, 1.0, 1.5, 1.5) * v))
    wrong = descent(lambda f, c, v: mean(full(f.n, 1.5, 1.0, 1.5) * v))
    for method, functions in ((uneven, FAMILY), (wrong, CLASSES)):
        with pytest.raises(Refusal, match="clients of one class have different values"):
            certify(method, functions)
    with pytest.raises(Refusal, match="does not stay at its fixed point"):
        certify(uneven, CLASSES)


LAYOUT = ClientRows.of([range(3)], [range(3)])
VECTOR = LAYOUT.array(np.arange(12.0).reshape(3, 4, 1))
EXACT = LAYOUT.array(np.full((3, 4, 1), Exact(1), dtype=object))
MASK = LAYOUT.array(np.ones((3, 1, 1), dtype=bool))

COMPARISONS = "eq", "ne", "lt", "le", "gt", "ge"
OTHERS = "pow", "mod", "floordiv", "matmul", "iadd", "isub", "imul", "itruediv", "ipow"
REFUSED = {
    **{
        name: getattr(operator, name)
        for name in ["eq", "ne", "lt", "le", "gt", "ge", "pow", "mod", "floordiv"]
    },
    **{
        name: getattr(operator, name)
        for name in ["matmul", "iadd", "isub", "imul", "itruediv", "ipow"]
    },
    "from the left": lambda x, y: [operator.sub(y, x), x > 1.0],
    "bool": lambda x, y: bool(x),
    "float": lambda x, y: float(x),
    "int": lambda x, y: int(x),
    "index": lambda x, y: [1, 2][x],
    "complex": lambda x, y: complex(x),
    "round": lambda x, y: round(x),
    "floor": lambda x, y: math.floor(x),
    "absolute": lambda x, y: abs(x),
    "length": lambda x, y: len(x),
    "a loop": lambda x, y: list(x),
    "an entry": lambda x, y: x[0],
    "a slice": lambda x, y: x[..., :1],
    "a set": lambda x, y: {x},
    "inside": lambda x, y: y in x,
    "array": lambda x, y: np.asarray(x),
    "array of arrays": lambda x, y: np.array([x, x]),
    "sum of features": lambda x, y: x.sum(axis=1, keepdims=True),
    "sum without an axis": lambda x, y: np.sum(x),
    "norm": lambda x, y: np.linalg.norm(x),
    "stack": lambda x, y: np.stack([x, x]),
    "sort": lambda x, y: np.sort(x, axis=1),
    "maximum": lambda x, y: np.maximum(x, 0.0),
    "exponential": lambda x, y: np.exp(x),
    "outer": np.add.outer,
    "into": lambda x, y: np.add(y, x, out=np.zeros((3, 4, 1))),
    "attributes": lambda x, y: x.T,
    "reshape": lambda x, y: x.reshape(-1),
}


@pytest.mark.parametrize("operation", REFUSED.values(), ids=list(REFUSED))
@pytest.mark.parametrize("x", [VECTOR, EXACT, MASK], ids=["vector", "exact", "mask"])
def test_nothing_else_is_possible(x, operation):
    with pytest.raises(Refusal, match="has no certificate: it"):
        operation(x, 1.0)


@pytest.mark.parametrize(
    ("x", "y"),
    [(VECTOR, VECTOR), (EXACT, EXACT), (VECTOR, 1j), (VECTOR, "1"), (VECTOR, [1.0]), (VECTOR, None),
     (VECTOR, np.ones((1, 4, 1))), (VECTOR, np.ones((3, 1, 2))), (VECTOR, np.ones(3)),
     (VECTOR, full(3, 1.0, 2.0, 1.0)), (VECTOR, VECTOR.shape[1]), (VECTOR, full(2))],
    ids=str,
)  # fmt: skip
def test_no_other_factor(x, y):
    for product in (operator.mul, operator.truediv):
        with pytest.raises(Refusal, match="has no certificate"):
            product(x, y)


@pytest.mark.parametrize("y", [1.0, -1e-300, full(3), MASK, math.nan], ids=str)
def test_no_number_is_added(y):
    for sign in (operator.add, operator.sub):
        with pytest.raises(Refusal, match="adds numbers to a vector"):
            sign(VECTOR, y)


@pytest.mark.parametrize("y", [MASK, True, np.True_, full(3) > 1], ids=str)
@pytest.mark.parametrize("sign", [operator.add, operator.sub, operator.mul, np.add, np.subtract])
def test_masks_are_no_numbers(sign, y):
    """The sum of two arrays of bool is no number but "or"."""
    for pair in ((MASK, y), (y, MASK), (MASK & MASK, ~MASK)):
        with pytest.raises(Refusal, match="make numbers of them"):
            sign(*pair)
    small = np.int8(100)
    np.testing.assert_array_equal(contents(MASK * small * 2, LAYOUT)[0], np.array([[-56]], np.int8))


def test_a_refusal_that_is_caught_is_one():
    def careless():
        with watched("careless"):
            try:
                return float(VECTOR)
            except ValueError:
                return 1.0

    with pytest.raises(Refusal, match="the step of careless is not linear"):
        careless()


def test_letters_are_all_that_is_seen():
    with pytest.raises(Refusal, match="depends on the dimension"):
        np.zeros((3, VECTOR.shape[1]))
    with pytest.raises(Refusal, match="chooses by what is no mask"):
        np.where(VECTOR, VECTOR, 0 * VECTOR)
    assert VECTOR.shape[0] == 3
    assert VECTOR.mean(axis=0, keepdims=True).shape[0] == 1
    assert f"{VECTOR} {MASK} {VECTOR.shape}" == "<a vector> <a mask> (3, d, R)"


TOSSED = ClientMask(
    np.array([True, False, True])[:, None, None], [range(3)], tossed=True, mixed=True
)
MIXED = ClientArray(np.ones((3, 4, 1)), LAYOUT, (0, 1), mixed=True)
OF_MASKS = {
    "and": lambda m: m & m,
    "or": lambda m: True | m,
    "xor": lambda m: np.logical_xor(m, m),
    "not": operator.invert,
    "number": lambda m: 1 * m,
    "sum": lambda m: (1 * m) + 2,
    "ratio": lambda m: -(1 * m) / 2,
    "where": lambda m: array_namespace(VECTOR).where(m, 1.0, 2.0),
    "array": lambda m: array_namespace(VECTOR).asarray(m),
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
}
OF_VECTORS = {
    "difference": lambda v: v - v,
    "multiple": lambda v: 0 * v,
    "quotient": lambda v: -v / 2,
    "mean": lambda v: copies(mean(v), 3),
    "masked": lambda v: masked(MASK, v),
    "where": lambda v: where(MASK, VECTOR, v),
    "array": lambda v: array_namespace(v).asarray(v),
    "deep copy": copy.deepcopy,
}


@pytest.mark.parametrize("name", OF_MASKS)
def test_what_is_made_of_a_mask_depends_on_what_it_depends_on(name):
    made = OF_MASKS[name](TOSSED)
    assert tossed(made)
    assert mixed(made)
    vector = masked(made, VECTOR) if made.dtype == bool else made * VECTOR
    assert mixed(vector)
    assert mean_degree(vector) == 1


@pytest.mark.parametrize("name", OF_VECTORS)
def test_what_is_made_of_a_vector_depends_on_what_it_depends_on(name):
    made = OF_VECTORS[name](MIXED)
    assert mixed(made)
    assert mean_degree(made) == mean_degree(MIXED) == 1
    assert mean_degree(masked(TOSSED, made)) == 2
