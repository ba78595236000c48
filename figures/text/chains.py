"""Certificates of several steps and whole runs as text and as JSON."""

import math
from dataclasses import asdict
from typing import Any

from certibit.data.terminal import paragraph
from certibit.solvers.total_bits import total_text
from certibit.theory.chains.chain import Chain
from certibit.theory.chains.promised_bits import PromisedBits
from certibit.theory.verdict import FAILS, readable_factor


def describe_chain(chain: Chain, attained: float | None, once: float) -> str:
    """Say what several steps prove together, beside one step and what is attained."""
    count, holds = len(chain.links), chain.verify() == chain.factor
    text = (
        f"{chain.promise(6)}, an upper bound of the smallest factor, "
        f"{'proved' if holds else FAILS} by a chain of {count} certificate{'s' * (count > 1)}; "
        f"one step proves {readable_factor(once, 6)}"
    )
    if attained is not None:
        factor = readable_factor(attained, 6)
        text += f", and {chain.steps} steps attain {factor} each on quadratics"
    return paragraph(f"{'steps':12}{text}", hanging=" " * 12, break_on_hyphens=False)


def describe_bits(bits: PromisedBits) -> str:
    """Say how many bits a run takes, as proved beside as measured."""
    text = (
        f"{_counted(bits)} to f - f* <= {bits.target:g}: proved {_bits(bits.theorem)} by theorem, "
        f"{_bits(bits.certificate)} by the certificate of one step, {_bits(bits.chain)} by a "
        f"chain; measured {_bits(bits.measured)}"
    )
    return paragraph(f"{'bits':12}{text}", hanging=" " * 12, break_on_hyphens=False)


def _counted(bits: PromisedBits) -> str:
    """Say which bits: those sent, or with a weight the total."""
    return "; ".join(filter(None, [total_text(bits.downlink_weight), "per client"]))


def _bits(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "none"


def chain_summary(chain: Chain, attained: float | None) -> dict[str, Any]:
    """Return a chain as values of strict JSON."""
    return {
        "steps": chain.steps,
        "log_factor": chain.log_factor,
        "decrease_per_step": chain.decrease,
        "attained_per_step": attained,
        "proof_holds": chain.verify() == chain.factor,
        "decreases": [float(link.decrease) for link in chain.links],
        "counts": list(chain.counts),
    }


def bits_summary(bits: PromisedBits) -> dict[str, Any]:
    """Return bits to a target as values of strict JSON; null stands for "none"."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in asdict(bits).items()
    }
