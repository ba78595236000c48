"""NaiveParallelClip: its card."""

from certibit.solvers.methods.naive_parallel_clip import NaiveParallelClip
from certibit.theory.card import Card, Role
from certibit.theory.cards.clipped_sgd import ClippedGD

CARD = Card(
    NaiveParallelClip,
    label="NaiveParallelClip",
    theorems=(ClippedGD(),),
    rules={"ours": ClippedGD().rule(NaiveParallelClip)},
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT, "S": Role.COUNT},
    threshold="gamma",
    colour="#000000",
    marker="v",
)
