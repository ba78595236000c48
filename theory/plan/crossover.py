"""The fastest offer for every uplink: the lower envelope of straight lines."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from certibit.solvers.network import Network
from certibit.theory.plan.offers import Offer


@dataclass(frozen=True, eq=False)
class Reign:
    """The offer with the smallest promised time for uplinks up to a limit.

    Attributes
    ----------
    offer : Offer
        The fastest offer.
    up_to : float
        The largest uplink, in bits per second, at which it is the fastest; infinite for the last.
    """

    offer: Offer
    up_to: float


def reigns(offers: Sequence[Offer], network: Network) -> tuple[Reign, ...]:
    """Return the fastest offer for every uplink, from slow to fast uplinks, exactly.

    The time of an offer is a + b s with s = 1/uplink and b the bits sent. The fastest offers form
    the lower envelope of these lines; at s = infinity the offer with the fewest bits is the
    fastest.
    """
    rest = np.array([offer.promised.seconds(network) for offer in offers])
    bits = np.array([offer.promised.up for offer in offers])
    rest -= bits / network.uplink
    current = int(np.lexsort((rest, bits))[0])
    found: list[Reign] = []
    while True:
        faster = np.flatnonzero(rest < rest[current])
        if not faster.size:
            return (*found, Reign(offers[current], np.inf))
        # the first line below as s falls: the largest crossing; of several, the steepest fall
        crossing = (rest[current] - rest[faster]) / (bits[faster] - bits[current])
        following = int(faster[np.lexsort((rest[faster], -crossing))[0]])
        found.append(Reign(offers[current], float(1 / crossing.max())))
        current = following
