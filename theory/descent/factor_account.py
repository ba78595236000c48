"""The certified factor of one method with stochastic gradients beside its theorem."""

import math
from contextlib import suppress
from typing import Literal

from certibit.data.errors import Refusal
from certibit.data.quiet_machine import one_thread
from certibit.solvers.method import Method
from certibit.theory.card import Card
from certibit.theory.certificates.largest_step import limits, steps_of
from certibit.theory.descent.certify_descent import certify_descent
from certibit.theory.descent.descent_account import ACCURACY, ROUNDED, DescentAccount
from certibit.theory.descent.descent_certificate import DescentCertificate
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.setting import Setting
from certibit.theory.theorem import Theorem


@one_thread()
def factor_account(
    card: Card, method: Method, where: Setting, functions: FunctionClass
) -> DescentAccount:
    """Certify E[Psi+] <= (1 - c) Psi + e sigma^2 of a method, and compare with its theorem.

    Psi is that of the theorem with the smallest factor of those that apply; of a first one if none
    does. It is searched for without theorems, and where noise is too much for the Psi of one about
    exact gradients.

    Raises
    ------
    Refusal
        If the method cannot be certified, or no factor is proved.
    """
    noise, name = functions.noise, card.step_size
    at_solution = noise is not None and noise.expected is not None
    known = [
        one
        for one in card.about("potential")
        if one.noise_at_solution == at_solution or not card.method.needs.samples
    ]
    held = [
        one
        for one in known
        if not one.unmet(method, where) and (noise is None or one.allows_noise(method, where))
    ]
    theorem = min(held, key=lambda one: one.rate(method, where), default=None)
    promise = theorem.promise(method, where) if theorem else None
    psi: Potential | Literal["search"] = theorem or (known[0] if known else "search")

    def certified(m: Method, least: float | None = None) -> DescentCertificate:
        return certify_descent(m, functions, psi, "potential", least)

    least = (1 - promise.factor) * (1 - ROUNDED) if promise and promise.e else None
    try:
        proof = certified(method, least)
    except Refusal:
        if theorem or psi == "search":
            raise
        psi = "search"
        proof = certified(method)
    limit = math.nan
    if name is not None and isinstance(psi, Theorem):
        change = steps_of(method, name)

        def contracts(step: float) -> bool:
            with suppress(Refusal):
                return certified(change(step)).c > 0
            return False

        low, high = limits(contracts, getattr(method, name), ACCURACY)
        limit = high if high == math.inf else low
    return DescentAccount(
        method,
        where,
        theorem.title if theorem else None,
        1 - promise.factor if promise else math.nan,
        promise.e if promise else math.nan,
        proof if theorem else None,
        proof,
        name,
        limit,
        best_step=math.nan,
        best=math.nan,
        frontier=(proof.promise,) if proof.e else (),
    )
