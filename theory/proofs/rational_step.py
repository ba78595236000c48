"""One step of a method in rational numbers, and the inequalities that prove a decrease."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat

from certibit.solvers.method import Method
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.proofs.rational_algebra import ZERO, Rationals, ldl
from certibit.theory.proofs.symbolic_step import SymbolicStep, symbolic_step
from certibit.theory.worlds.opaque.exact_numbers import (
    Exact,
    Rational,
    congruent,
    rational,
    rationals,
)
from certibit.theory.worlds.symbolic.interpolation import Form
from certibit.theory.worlds.symbolic.kernels import exact_kernel


@dataclass(frozen=True, eq=False)
class RationalForm:
    """A form restricted to the possible unknowns: its blocks, (k, k), and function values.

    After the values come the coefficients of sigma^2 where gradients are stochastic, and of zeta^2
    where clients differ by zeta.
    """

    blocks: tuple[Rationals, ...]
    values: tuple[Rational, ...]

    @cached_property
    def entries(self) -> list[Rational]:
        """All entries of the blocks, then the values."""
        return [x for block in self.blocks for x in block.flat] + [*self.values]

    @property
    def is_negative(self) -> bool:
        """Whether it is minus a sum of squares, without function values."""
        if any(self.values) or any(x > 0 for block in self.blocks for x in np.diag(block)):
            return False
        return all(ldl(-block) is not None for block in self.blocks)

    @property
    def is_positive(self) -> bool:
        """Whether it is a sum of squares and of function values."""
        return min(self.values, default=ZERO) >= 0 and all(
            ldl(block) is not None for block in self.blocks
        )

    def plus(self, factor: Rational, other: "RationalForm") -> "RationalForm":
        """Return this form plus a multiple of another."""
        if not factor:
            return self
        blocks = tuple(a + factor * b for a, b in zip(self.blocks, other.blocks, strict=True))
        pairs = zip(self.values, other.values, strict=True)
        return RationalForm(blocks, tuple(a + factor * b for a, b in pairs))


@dataclass(frozen=True, eq=False)
class RationalStep:
    """One step of a method in rational numbers.

    Attributes
    ----------
    symbols : SymbolicStep
        With exact numbers.
    now, after : tuples of RationalForm
        Psi and E[Psi+], by the terms of the Lyapunov function with weight 1.
    inequalities : mapping
        The nonnegative forms, by name.
    measured : tuple of RationalForm
        The terms of a measure before the step, with weight 1.
    equalities : mapping
        The forms that are 0 in the mean, by name.
    """

    symbols: SymbolicStep
    now: tuple[RationalForm, ...]
    after: tuple[RationalForm, ...]
    inequalities: Mapping[str, RationalForm]
    measured: tuple[RationalForm, ...] = ()
    equalities: Mapping[str, RationalForm] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        method: Method,
        functions: FunctionClass,
        potential: Potential,
        *,
        trusted: bool = False,
        ridge: bool = False,
        measure: Potential | None = None,
    ) -> "RationalStep":
        """Run a step on symbols in rational numbers.

        Parameters
        ----------
        trusted, measure
            As in :func:`~certibit.theory.proofs.symbolic_step.symbolic_step`.
        ridge : bool
            Take g to be (mu/2) |x|^2 and not any function of the class.
        """
        step = symbolic_step(
            method, functions, potential, exact=True, trusted=trusted, measure=measure
        )
        if ridge:
            step = _with_ridge(step, functions.mu)
        return cls._of_symbols(step, functions)

    @classmethod
    def _of_symbols(cls, step: SymbolicStep, functions: FunctionClass) -> "RationalStep":
        """Return the step on the unknowns that are possible.

        Unknowns are 0 along which what is at least 0 is minus a sum of squares, such as the error
        of a message that loses nothing: then the step on the others is returned.
        """
        kernels = [rationals(kernel) for kernel in step.kernels]
        noisy = functions.noise is not None
        zeta = rational(functions.zeta)

        def reduced(form: Form) -> RationalForm:
            pairs = zip(form.blocks, kernels, strict=True)
            blocks = tuple(congruent(block, kernel) for block, kernel in pairs)
            values = list(map(rational, form.values))
            scalars = values[-1:][:noisy] + [x / zeta**2 for x in values[-2:-1] if zeta]
            return RationalForm(blocks, (*values[: len(step.evaluations)], *scalars))

        known = {name: reduced(form) for name, form in step.inequalities.items()}
        known = {name: form for name, form in known.items() if any(form.entries)}
        lost = [form.blocks for form in known.values() if form.is_negative]
        if lost:
            inner = (
                exact_kernel(np.concatenate(blocks), np.ones(len(blocks[0]), dtype=bool))
                for blocks in zip(*lost, strict=True)
            )
            smaller = tuple(a @ b for a, b in zip(kernels, inner, strict=True))
            return cls._of_symbols(replace(step, kernels=smaller), functions)
        return cls(
            step,
            tuple(map(reduced, step.now)),
            tuple(map(reduced, step.after)),
            known,
            tuple(map(reduced, step.measured)),
            {name: reduced(form) for name, form in step.equalities.items()},
        )

    @cached_property
    def scalars(self) -> dict[str, RationalForm]:
        """sigma^2 as a form where gradients are stochastic, zeta^2 where clients differ by zeta."""
        functions, nothing = self.symbols.functions, combination([ZERO], self.now[:1])
        known = {"sigma^2": functions.noise is not None, "zeta^2": bool(functions.zeta)}
        names = [name for name, used in known.items() if used]
        first, found = len(self.symbols.evaluations), {}
        for place, name in enumerate(names, start=first):
            values = [fmpq(int(place == j)) for j in range(len(nothing.values))]
            found[name] = RationalForm(nothing.blocks, tuple(values))
        return found

    @property
    def weighted(self) -> "RationalStep":
        """The step with terms of their own weights."""
        weights = [[rational(weight)] for weight in self.symbols.weights]

        def scaled(forms: tuple[RationalForm, ...]) -> tuple[RationalForm, ...]:
            return tuple(combination(w, [form]) for w, form in zip(weights, forms, strict=True))

        return replace(self, now=scaled(self.now), after=scaled(self.after))

    @cached_property
    def bounding(self) -> list[str]:
        """The inequality that bounds the value at each evaluation from below by 0."""
        functions = (one.function for one in self.symbols.evaluations)
        return [f"{name}: point {place} to solution" for place, name in enumerate(functions)]

    @cached_property
    def others(self) -> list[str]:
        """All other inequalities."""
        return [name for name in self.inequalities if name not in self.bounding]

    def without_values(self, form: RationalForm) -> RationalForm:
        """Return a form plus what bounds its values, which are kept beside.

        The multiplier of a bound is what is left of the value: it is no unknown of a programme.
        """
        bounds = [self.inequalities[name] for name in self.bounding]
        reduced = combination([fmpq(1), *(-value for value in form.values)], [form, *bounds])
        return RationalForm(reduced.blocks, form.values)

    def psi(
        self, weights: Sequence[Rational], following: Sequence[Rational] | None = None
    ) -> tuple[RationalForm, RationalForm]:
        """Return Psi and E[Psi+], whose weights may be others."""
        return combination(weights, self.now), combination(following or weights, self.after)

    def bounds_variances(self, weights: Sequence[Rational]) -> bool:
        """Whether bounds of the variances of messages, term by term, bound E[Psi+].

        They do where Psi is a sum of squares and function values. Where clients draw together, the
        worst law of one term is not that of another, and no term is subtracted.
        """
        together = not self.symbols.functions.independent
        return self.psi(weights)[0].is_positive and not (together and min(weights) < 0)


def _with_ridge(step: SymbolicStep, mu: float) -> SymbolicStep:
    """Add that every gradient of g is mu times its point."""
    first, *others = step.kernels
    relations = []
    for one in step.evaluations:
        if one.function == "g":
            row = one.point[0] * Exact(mu)
            row[one.gradient] = row[one.gradient] - 1
            relations.append(row @ first)
    if not relations:
        return step
    inner = exact_kernel(np.array(relations), np.ones(first.shape[1], dtype=bool))
    return replace(step, kernels=(first @ inner, *others))


def combination(weights: Sequence[Rational], forms: Sequence[RationalForm]) -> RationalForm:
    """Return the sum of multiples of at least one form."""
    pairs = zip(weights, forms, strict=True)
    used = [(weight, form.entries) for weight, form in pairs if weight]
    factors, rows = zip(*(used or [(fmpq(0), forms[0].entries)]), strict=True)
    return _form_of(fmpq_mat([factors]) * fmpq_mat(rows), forms[0])


def _form_of(entries: fmpq_mat, like: RationalForm) -> RationalForm:
    """Return the form with these entries, which is as large as another."""
    parts = np.split(
        np.array(entries.entries(), dtype=object), np.cumsum([block.size for block in like.blocks])
    )
    found = (part.reshape(block.shape) for part, block in zip(parts, like.blocks, strict=False))
    return RationalForm(tuple(found), tuple(parts[-1].tolist()))
