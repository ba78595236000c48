"""Cards and methods as terms of Rocq, ``theory/rocq/Cards.v``; ``Ties.v`` beside it ties theorems.

``python -m certibit.theory.export.ties`` prints that file. The conditions, the rate and the
Lyapunov function of each theorem with the status *kernel* and the steps of its method are run,
unchanged, on terms in the place of numbers and arrays. The symbols of ``theory/worlds`` do not
serve here: they have unknown vectors, but numbers for gamma, n and L.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import reduce
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.compressors.selection import RandK
from certibit.theory.catalogue.catalogue import CARDS
from certibit.theory.potential import Gap, Squares
from certibit.theory.theorem import Condition, Theorem

SUM, PRODUCT, APPLIED, ATOM = range(4)
"""How strongly the parts of a term are bound."""

NUMBER, VECTOR, VECTORS = range(3)
"""The kinds of terms: real numbers, vectors that all clients share, the vector of client i."""

CONTEXT = """\
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1)."""
"""The symbols of all definitions; a definition takes those that it uses."""

RENAMED = {"b": "share"}
"""Parameters of methods whose name is taken: b is the bits of a message."""

PREFIXES = "certibit.theory.cards.", "certibit.theory.formulas.", "certibit.solvers.methods."
"""The modules whose functions are run on terms."""


Operation = Callable[[Any, Any], "Term"]


def _both(sign: str, binding: int) -> tuple[Operation, Operation]:
    """Return a binary operation, and the reflected one."""

    def of(left: Any, right: Any) -> "Term":
        left, right = _term(left), _term(right)
        kind = max(left.kind, right.kind)
        if kind == NUMBER:
            return Term(f"{left.at(binding)} {sign} {right.at(binding + 1)}", kind, binding)
        if sign in "+-":
            return Term(f"{left.at(binding)} {sign}v {right.at(binding + 1)}", kind, binding)
        if sign == "/" and right.kind == NUMBER:
            return Term(f"/ {right.at(ATOM)} *v {left.at(ATOM)}", kind, binding)
        factor, vector = (left, right) if left.kind == NUMBER else (right, left)
        if factor.kind != NUMBER or sign == "/":
            raise Refusal(f"the code multiplies or divides by the vector {factor.text}")
        return Term(f"{factor.at(ATOM)} *v {vector.at(ATOM)}", kind, binding)

    return of, lambda right, left: of(left, right)


@dataclass(frozen=True, eq=False)
class Term:
    """A term of Rocq with which a card or a method calculates as with a number or an array."""

    text: str
    kind: int = NUMBER
    binding: int = ATOM

    __add__, __radd__ = _both("+", SUM)
    __sub__, __rsub__ = _both("-", SUM)
    __mul__, __rmul__ = _both("*", PRODUCT)
    __truediv__, __rtruediv__ = _both("/", PRODUCT)

    def at(self, binding: int) -> str:
        """Return the text, in parentheses if its parts are bound less strongly."""
        return self.text if self.binding >= binding else f"({self.text})"

    @property
    def whole(self) -> str:
        """The text of an array: a function of the client, or a vector."""
        return f"(fun i => {self.text})" if self.kind == VECTORS else self.at(ATOM)

    def __pow__(self, power: int) -> "Term":
        return Term(f"{self.at(ATOM)} ^ {power}", NUMBER, APPLIED)

    def __neg__(self) -> "Term":
        return Term("(-1)") * self

    def __bool__(self, _: Any = None) -> bool:
        raise Refusal(f"the code branches on {self.text}; write its cases with Condition.then")

    __lt__ = __le__ = __gt__ = __ge__ = __bool__


def _term(value: Any) -> Term:
    """Return a term, or a number as one."""
    if isinstance(value, Term):
        return value
    number = Fraction(value)
    return Term(f"{number.numerator}" if number.denominator == 1 else f"({number})")


def _function(name: str) -> Callable[..., Term]:
    def applied(*terms: Any) -> Term:
        return Term(f"{name} {' '.join(_term(one).at(ATOM) for one in terms)}", NUMBER, APPLIED)

    return applied


@contextmanager
def _on_terms() -> Iterator[None]:
    """Let cards and methods calculate with terms, in the cases in which their theorems hold."""
    names = {
        "max": lambda *terms: reduce(_function("Rmax"), terms),
        "min": lambda *terms: reduce(_function("Rmin"), terms),
        "math": SimpleNamespace(sqrt=_function("sqrt")),
        "mean": lambda x: Term(f"vmean n {x.whole}", VECTOR, APPLIED),
        "copies": lambda x, _: Term(x.text, VECTORS, x.binding),
        "where": lambda mask, yes, no: yes if mask else no,
        "ceiling": lambda d, n: Term("INR (ceiling d n)", NUMBER, APPLIED),
        "if_positive": lambda x, y: Term(f"(if Rlt_dec 0 {x.at(ATOM)} then {y().at(SUM)} else 0)"),
        "if_zero": lambda x, y: Term(f"(if Req_EM_T {x.at(ATOM)} 0 then {y.at(SUM)} else 0)"),
    }
    with ExitStack() as stack:
        for name, module in list(sys.modules.items()):
            if name.startswith(PREFIXES):
                stack.enter_context(patch.dict(vars(module), names))
        stack.enter_context(patch.object(Condition, "then", lambda _, value, __: value()))
        stack.enter_context(patch.object(Condition, "holds", True))
        yield


class _Functions:
    """The functions f_i and g, and their solution."""

    n = Term("INR n", NUMBER, APPLIED)
    x_star, grad_star = Term("xs", VECTOR), Term("grad i xs", VECTORS, APPLIED)

    def grad(self, x: Term, active: Any = True, sample: Any = None) -> Term:
        name = "grad" if sample is None else f"xi{sample or ''}"
        return Term(f"{name} i {x.at(ATOM)}", VECTORS, APPLIED)

    def sample(self, number: int) -> int:
        return number

    def grad_g(self, x: Term) -> Term:
        return Term(f"grad_g {x.at(ATOM)}", x.kind, APPLIED)


class _Messages:
    """One communication: the message of the clients, a coin, and the bits that a client sends."""

    def __init__(self, *, heads: bool = True) -> None:
        self.heads, self.bits, self.message = np.bool_(heads), "", ""
        self.tossed: Term | None = None

    def broadcast(self, x: Term) -> Term:
        return x

    def send(self, x: Term, mask: Any = True) -> Term:
        self.bits += " + b_full" if mask else ""
        return x

    def uplink(self, x: Term, cohort: Any = True) -> Term:
        if cohort and self.message:
            raise Refusal("the clients send two messages in one round, and Cards.v has one")
        if cohort:
            self.bits, self.message = self.bits + " + b", x.whole
        return Term("m i", VECTORS, APPLIED)

    def coin(self, p: Term) -> np.bool_:
        self.tossed = p
        return self.heads

    def law(self, state: Any, before: str) -> str:
        """Return the distribution of a state after this communication."""
        arrays = " ".join(getattr(state, one.name).whole for one in fields(state))
        made = f"State {arrays} ({before}{self.bits})"
        law = f"dmap (fun m => {made}) (C {self.message})" if self.message else f"ret ({made})"
        return f"bind G (fun xi => {law})" if "xi i" in law else law


def _tossed(p: Term, heads: str, tails: str) -> str:
    return f"bind (coin {p.at(ATOM)} coin_p) (fun c : bool => if c then {heads} else {tails})"


def _definitions(theorem: Theorem, method: Any, problem: Any) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and term of all that a card and the code of a method say."""
    own = {one.name for one in fields(method)}
    names = ("mu", "L", "omega", "omega_av", "alpha")
    constants = {name: Term(f"{name}_C" if name in own else name) for name in names}
    others = SimpleNamespace(L_f=Term("L_f"), L_tilde=Term("L_tilde"), ridge=Term("ridge"))
    setting: Any = SimpleNamespace(
        n=problem.n, shared_minimiser=True, constants=others, expected=Term("A"),
        difference=Term("difference"), **constants,
        bias_and_variance=(Term("eta"), Term("omega"), Term("omega_av")),
        d=Term("INR d", NUMBER, APPLIED), kappa=Term("L") / Term("mu"), compressor=RandK(1),
    )  # fmt: skip

    channel = _Messages()
    start = method.start(Term("x0", VECTOR), problem, channel)
    kinds = {one.name: getattr(start, one.name).kind for one in fields(start)}
    each = {name: f"{name} s i" if kind == VECTORS else f"{name} s" for name, kind in kinds.items()}
    s = type(start)(**{name: Term(each[name], kind, APPLIED) for name, kind in kinds.items()})

    conditions = theorem.conditions(method, setting)
    sides = (
        f"{_term(one.left).text} {'<' if one.strict else '<='} {_term(one.right).text}"
        for one in conditions
    )
    yield "card_conditions", "Prop", " /\\\n  ".join(sides)
    promised = "rate" if theorem.measure == "potential" else "descent"
    yield f"card_{promised}", "R", _term(getattr(theorem, promised)(method, setting)).text
    if method.needs.samples:
        yield "card_noise", "R", _term(theorem.noise(method, setting)).text
    if "dissimilarity" in vars(type(theorem)):
        yield "card_dissimilarity", "R", _term(theorem.dissimilarity(method, setting)).text
    terms = theorem.lyapunov(method, s, method.fixed_point(problem), setting, problem)
    yield "card_Psi (s : @state V)", "R", " + ".join(map(_part, terms))

    yield "code_start (x0 : V)", "dist (@state V)", channel.law(start, "0")
    laws = []
    for heads in (True, False):
        channel = _Messages(heads=heads)
        laws.append(channel.law(method.communicate(s, problem, channel), "sent s"))
    law = laws[0] if channel.tossed is None else _tossed(channel.tossed, *laws)
    name = "code_step (s : @state V)"
    if "local_step" in vars(type(method)):
        local = _Messages().law(method.local_step(s, problem, channel), "sent s")
        yield "code_local (s : @state V)", "@state V", local.removeprefix("ret ")
        yield "code_communicate (s : @state V)", "dist (@state V)", law
        local = "(code_local s)"
        law = _tossed(method.schedule.p, f"code_communicate {local}", f"ret {local}")
    yield name, "dist (@state V)", law


def _part(one: Squares | Gap) -> str:
    """Return a term of a Lyapunov function."""
    if isinstance(one, Gap):
        value = f"(fmean n f {one.point.at(ATOM)} - fs)"
    else:
        value = f"sq {one.vectors.at(ATOM)}"
        value = f"sum n (fun i => {value})" if one.vectors.kind == VECTORS else value
    return f"{_term(one.weight).at(PRODUCT)} * {value}"


def cards() -> str:
    """Return the file ``theory/rocq/Cards.v``.

    Raises
    ------
    Refusal
        If a card or a method does with numbers or arrays what has no term.
    """
    found = [(card, one) for card in CARDS.values() for one in card.theorems if one.kernel]
    files = sorted({theorem.kernel.partition(".")[0] for _, theorem in found})
    parts = [
        "(* Cards and methods, written by `python -m certibit.theory.export.ties`. *)",
        "From Certibit Require Import Functions Compressors Rounds.",
        f"From Certibit.methods Require {' '.join(files)}.",
    ]
    for card, theorem in found:
        method = object.__new__(card.method)
        for one in fields(card.method):
            object.__setattr__(method, one.name, Term(RENAMED.get(one.name, one.name)))
        with _on_terms():
            definitions = list(_definitions(theorem, method, _Functions()))
        file, _, name = theorem.kernel.partition(".")
        module = f"{card.method.__name__}_{type(theorem).__name__.strip('_')}"
        parts += [f"\n(* {theorem.title}: {name} of {file}.v *)", f"Module {module}."]
        parts += [f"Import Certibit.methods.{file}.", CONTEXT]
        parts += [f"Definition {name} : {kind} :=\n  {term}." for name, kind, term in definitions]
        parts += ["End Card.", f"End {module}."]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(cards())
