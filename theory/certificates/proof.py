"""A certificate: multipliers that prove a factor, and their check without a solver."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.theory.certificates.coordinates import Coordinates
from bitbound.theory.certificates.programme import psi
from bitbound.theory.certificates.symbolic_step import SymbolicStep, symbolic_step
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.potential import LocalPotential, Potential, Region
from bitbound.theory.verdict import times_psi
from bitbound.theory.worlds.symbolic.frames import Matrix
from bitbound.theory.worlds.symbolic.interpolation import Form, weighted_sum

OPERATIONS = 16
"""How many roundings an entry of a form has gone through before it is added up, generously."""

HIDDEN = 1e-7
"""Part of the solver's decrease that may be given up where nothing better is asked for."""

SMALL_LOSS = 1e-3
"""Part of the solver's decrease that may be given up without trying to do better."""


@dataclass(frozen=True, repr=False)
class Certificate:
    """A proof that E[Psi+] <= factor Psi for all functions and compressors of a class.

    Attributes
    ----------
    method, functions, potential
        What it is about: whose Lyapunov function.
    decrease : float
        What is proved, 1 - factor, which may be tiny.
    weights : tuple of float
        The weights of the terms of the Lyapunov function, in their order.
    multipliers : mapping
        How often each inequality is added, by its name.
    solver_decrease : float
        The decrease that the solver reports; the proven one is a little smaller.
    residual, gap : float
        The solver's residual and duality gap, in scaled units.
    solver : str
        Its name.
    seconds : float
        Time from the method to the proof.
    following : tuple of float, optional
        The weights of the terms of Psi+, where they are not those of Psi.

    Examples
    --------
    >>> from bitbound import GD, FunctionClass, certify
    >>> certify(GD(gamma=0.1), FunctionClass(n=3, mu=1, L=10))
    Certificate of GD(gamma=0.1)
    over all functions with n = 3, mu = 1, L = 10, omega = 0
    E[Psi+] <= (1 - 0.19) Psi
    """

    method: Method
    functions: FunctionClass
    potential: Potential
    decrease: float
    weights: tuple[float, ...]
    multipliers: Mapping[str, float]
    solver_decrease: float
    residual: float
    gap: float
    solver: str
    seconds: float
    following: tuple[float, ...] | None = None

    @property
    def factor(self) -> float:
        """The proven factor."""
        return 1 - self.decrease

    @property
    def rounded_away(self) -> bool:
        """Whether rounding hides digits of the decrease that an exact proof may have."""
        loss = self.solver_decrease - self.decrease
        return self.decrease <= 0 or loss > HIDDEN * abs(self.solver_decrease)

    @property
    def region(self) -> Region | None:
        """Where it holds, if not everywhere."""
        if not isinstance(self.potential, LocalPotential):
            return None
        return self.potential.region(self.method, self.functions, self.weights)

    @property
    def proviso(self) -> str:
        """Where it holds and what keeps a run there, in words; nothing where it always holds."""
        region = self.region
        if region is None:
            return ""
        kept = f"kept from Psi = {region.psi} <= {region.level:.6g} on"
        return f"{region.where}; {kept if self.decrease >= 0 else 'not proved to be kept'}"

    def require_kept(self, what: str) -> None:
        """Refuse what takes for granted that a run stays where the certificate holds."""
        if self.region is not None and self.decrease < 0:
            raise Refusal(
                f"what is certified of {self.method.name} holds in a region that a growing Psi "
                f"does not keep, and {what} takes a run that stays there; take a smaller step"
            )

    def __repr__(self) -> str:
        constants = ", ".join(
            f"{field.name} = {value:g}"
            for field in fields(self.functions)
            if isinstance(value := getattr(self.functions, field.name), int | float)
            and (value or field.name != "omega_down")
        )
        return (
            f"Certificate of {self.method}\n"
            f"over all functions with {constants}\n"
            f"E[Psi+] <= {times_psi(self.decrease, 4)}"
            + (f"\nwhile {self.proviso}" if self.proviso else "")
        )

    def verify(self) -> float:
        """Return the proven factor, without a solver; infinity if the multipliers prove nothing.

        The method is run on symbols anew. See :func:`proves` for what is checked.
        """
        step = symbolic_step(self.method, self.functions, self.potential)
        multipliers = dict(self.multipliers)
        if not proves(step, self.weights, self.decrease, multipliers, self.following):
            return float("inf")
        return self.factor


def proves(
    step: SymbolicStep,
    weights: tuple[float, ...],
    decrease: float,
    multipliers: Mapping[str, Any],
    following: tuple[float, ...] | None = None,
) -> bool:
    """Whether E[Psi+] - (1 - decrease) Psi + sum of multipliers times inequalities is <= 0.

    * No multiplier and no weight is negative; where Psi+ has weights of its own, none of its
      function values, whose mean is only bounded from above.
    * What is left of the function values, in exact rational arithmetic, is made 0 by adding the
      inequalities between the evaluation and the solution, which bound a value from both sides.
    * The matrices' largest eigenvalues are at most 0 by a margin for all rounding errors, those of
      the symbolic step included: a multiple of 2^-53 and of the magnitudes of all that is added up.
    """
    signed = weights if following is None else value_weights(step, following)
    if min(signed, default=0.0) < 0 or min(multipliers.values(), default=0.0) < 0:
        return False
    now, after = psi(step, weights, following)
    repaired = repaired_multipliers(step, weights, decrease, multipliers, following)
    if repaired is None:
        return False
    used = {name: float(value) for name, value in repaired.items() if value}
    parts = [after, now * -1.0, now * decrease]
    parts += [step.inequalities[name] * value for name, value in used.items()]
    coordinates = Coordinates.of(step, now)
    return all(
        _negative(kernel, [part.blocks[block] for part in parts])
        for block, kernel in enumerate(coordinates.kernels)
    )


def _negative(kernel: Matrix, parts: list[Matrix]) -> bool:
    """Whether kernel' (sum of parts) kernel is <= 0, whatever the rounding errors.

    The entries are scaled to a diagonal of -1 first.
    """
    if not kernel.shape[1]:
        return True
    reduced = kernel.T @ np.sum(parts, axis=0) @ kernel
    diagonal = np.diag(reduced)
    if not np.all(diagonal < 0):
        return False
    scale = (-diagonal) ** -0.5
    magnitude = np.abs(kernel).T @ np.sum(np.abs(parts), axis=0) @ np.abs(kernel)
    used = int(np.any(kernel != 0, axis=1).sum())
    unit = (2 * used + len(parts) + OPERATIONS) * 2.0**-53
    margin = unit * (1 + float(np.linalg.norm(scale[:, None] * magnitude * scale)))
    largest = float(np.linalg.eigvalsh(scale[:, None] * (reduced + reduced.T) / 2 * scale)[-1])
    return largest <= -margin


def value_weights(step: SymbolicStep, weights: Sequence[Any]) -> list[Any]:
    """Return the weights of the terms that are function values."""
    pairs = zip(weights, step.now, strict=True)
    return [weight for weight, form in pairs if np.any(form.values != 0)]


def repaired_multipliers(
    step: SymbolicStep,
    weights: tuple[float, ...],
    decrease: float,
    multipliers: Mapping[str, Any],
    following: tuple[float, ...] | None = None,
) -> dict[str, Fraction] | None:
    """Balance the function values exactly; None if no inequality is there to do so."""
    exact = {name: Fraction(value) for name, value in multipliers.items()}
    left: dict[int, Fraction] = {}

    def add(form: Form, factor: Fraction) -> None:
        for place in np.flatnonzero(form.values).tolist():
            left[place] = left.get(place, Fraction(0)) + factor * Fraction(form.values[place])

    for weight, now in zip(weights, step.now, strict=True):
        add(now, Fraction(weight) * (Fraction(decrease) - 1))
    for weight, after in zip(following or weights, step.after, strict=True):
        add(after, Fraction(weight))
    for name, value in exact.items():
        add(step.inequalities[name], value)
    for place, rest in left.items():
        function = step.evaluations[place].function
        ends = ("solution", f"point {place}")
        first, second = ends if rest > 0 else ends[::-1]
        name = f"{function}: {first} to {second}"
        if not rest:
            continue
        if name not in step.inequalities:
            return None
        one = Fraction(step.inequalities[name].values[place])
        exact[name] = exact.get(name, Fraction(0)) - rest / one
    return exact


def margin_form(
    step: SymbolicStep,
    weights: tuple[float, ...],
    decrease: float,
    following: tuple[float, ...] | None = None,
) -> Form:
    """Return E[Psi+] - (1 - decrease) Psi."""
    now, after = psi(step, weights, following)
    return weighted_sum((1.0, -1.0, decrease), (after, now, now))
