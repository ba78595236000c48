"""The proofs that can be audited, by name."""

from collections.abc import Callable, Mapping

from certibit.data.errors import Refusal
from certibit.theory.audit.episode.episode_proof import PROOF as EPISODE
from certibit.theory.audit.locodl.locodl_proof import PROOF as LOCODL
from certibit.theory.audit.machinery.report import Report, audit_report
from certibit.theory.audit.machinery.step import WrittenProof
from certibit.theory.audit.machinery.verify import Finding

PROOFS: Mapping[str, WrittenProof] = {proof.name: proof for proof in (EPISODE, LOCODL)}


def audit(
    name: str,
    seed: int = 0,
    effort: float = 1.0,
    progress: Callable[[Finding], None] | None = None,
) -> Report:
    """Audit a proof: every verdict is computed now.

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
    return audit_report(PROOFS[name], seed, effort, progress)
