"""The proofs that can be audited, by name."""

from collections.abc import Callable, Mapping

from bitbound.data.errors import Refusal
from bitbound.theory.audit import episode, locodl
from bitbound.theory.audit.report import Report, examine
from bitbound.theory.audit.step import Proof
from bitbound.theory.audit.verify import Finding

PROOFS: Mapping[str, Proof] = {proof.name: proof for proof in (episode.PROOF, locodl.PROOF)}


def audit(
    name: str,
    seed: int = 0,
    effort: float = 1.0,
    progress: Callable[[Finding], None] | None = None,
) -> Report:
    """Audit a published proof: every verdict is computed now.

    Parameters
    ----------
    name : str
        "episode" or "locodl".
    seed : int
        Of the search.
    effort : float
        Scales the number of points searched.
    progress : callable or None
        Called with each finding as it is made.

    Raises
    ------
    Refusal
        If there is no proof of that name.
    """
    if name not in PROOFS:
        raise Refusal(f"there is no proof {name!r} to audit; choose one of {', '.join(PROOFS)}")
    return examine(PROOFS[name], seed, effort, progress)
