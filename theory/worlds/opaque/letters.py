"""Operations that opaque vectors, masks and dimensions refuse.

A certificate is for all functions, compressors and dimensions, and of steps that are linear and the
same for all clients of a class. So a step may add vectors, scale them by numbers that come from its
parameters, n and coins, average them over the clients, and choose by masks that the channel gave.
Anything else is refused where it is done.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ClassVar, NoReturn

from certibit.data.errors import Refusal

NOT_LINEAR = "is not linear"
NOT_ALIKE = "does not treat all clients alike"
OF_DIMENSION = "depends on the dimension"

NORM = (
    "takes a norm or an inner product",
    "take a length that is a parameter; a method that clips is certified where clipping is a "
    "contraction, as Clip21 is in a ball, and one step of it over (L0, L1)-smooth functions, "
    "certify --class relaxed",
)


class _StepRefusal(Refusal):
    """A step that does what no certificate is about."""

    def __init__(self, why: str, name: str = "") -> None:
        super().__init__(f"the step of {name} {why}" if name else f"the step {why}")
        self.why = why

    def of(self, name: str) -> "_StepRefusal":
        """Return the refusal of a method of that name."""
        return _StepRefusal(self.why, name)


class _Refusals(list[Exception]):
    """What a call of a method, or of a Lyapunov function, was refused."""

    is_step = True


_refused: ContextVar[_Refusals] = ContextVar("what a call was refused")


def refuse(is_what: str, it: str, instead: str) -> NoReturn:
    """Refuse an operation: say what the step is by it, what it does, and what to do instead."""
    refusal = _StepRefusal(f"{is_what} and has no certificate: it {it}; {instead}")
    _refused.get(_Refusals()).append(refusal)
    raise refusal


@contextmanager
def watched(name: str, *, is_step: bool = True) -> Iterator[None]:
    """Refuse a method if an operation is refused inside, even if the method catches it.

    What is no step may ask functions that another call was given.
    """
    refused = _Refusals()
    refused.is_step = is_step
    token = _refused.set(refused)
    try:
        yield
    finally:
        _refused.reset(token)
        if refused:
            first = refused[0]
            raise (first.of(name) if isinstance(first, _StepRefusal) else first) from None


@contextmanager
def forgiven() -> Iterator[None]:
    """Forget what is refused inside, which is no fault of the method."""
    refused = _refused.get(_Refusals())
    count = len(refused)
    try:
        yield
    finally:
        del refused[count:]


def noted(ask: Callable[..., Any]) -> Callable[..., Any]:
    """Return a question that a method may ask an object only in the call that is given it.

    A refusal counts even if the method catches it.
    """

    @wraps(ask)
    def asked(*arguments: Any, **options: Any) -> Any:
        try:
            call = _refused.get(None)
            in_step = call is not None and call.is_step
            if in_step and vars(arguments[0]).setdefault("_call", call) is not call:
                refuse(
                    "uses what was given to another call",
                    f"asks for {ask.__name__} of functions or a channel that it has kept",
                    "ask those that the step is given",
                )
            return ask(*arguments, **options)
        except Exception as error:
            _refused.get(_Refusals()).append(error)
            raise

    return asked


class Opaque:
    """An object that refuses every operation of Python that a subclass does not allow."""

    WORD: ClassVar[str]
    """Its name in sentences."""
    IS_WHAT: ClassVar[str]
    """The description of a step that reads values."""
    INSTEAD: ClassVar[str]
    """The alternative to reading values."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{self.WORD}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by libraries that see what they were given
            raise AttributeError(name)
        self._refuse(f"uses .{name} of {self.WORD}")

    def _refuse(self, it: str) -> NoReturn:
        refuse(self.IS_WHAT, it, self.INSTEAD)

    @classmethod
    def _refusal_of(cls, it: str) -> Callable[..., NoReturn]:
        def refused(self: Opaque, *_: Any, **__: Any) -> NoReturn:
            self._refuse(it.format(self.WORD))

        return refused


_REFUSED = {
    "compares {}": "eq ne lt le gt ge",
    "reads the numbers of {}": "array bool float int complex index round trunc floor ceil",
    "reads single entries of {}": "getitem setitem len iter reversed contains",
    "takes the absolute value of {}": "abs",
    "takes a power of {}": "pow rpow",
    "calculates with {}": "add radd sub rsub mul rmul truediv rtruediv neg pos "
    "and rand or ror xor rxor invert",
    "takes a remainder of {}": "mod rmod divmod rdivmod floordiv rfloordiv",
    "multiplies matrices with {}": "matmul rmatmul",
    "changes {} in place, and with it what else refers to it": "iadd isub imul itruediv iand ior "
    "ixor ipow imatmul imod ifloordiv",
    "looks {} up": "hash",
}
for _it, _names in _REFUSED.items():
    for _name in _names.split():
        setattr(Opaque, f"__{_name}__", Opaque._refusal_of(_it))


class Letter(Opaque):
    """A length that is not known: d features, or R runs."""

    WORD = "the number of features or runs"
    IS_WHAT = OF_DIMENSION
    INSTEAD = "make the number that is meant a parameter"

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


FEATURES: Any = Letter("d")  # in the place of an int
RUNS: Any = Letter("R")
