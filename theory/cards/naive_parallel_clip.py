"""NaiveParallelClip: its card."""

from certibit.solvers.methods.naive_parallel_clip import NaiveParallelClip
from certibit.theory.card import Card, Role, Tuning
from certibit.theory.cards.clipped_sgd import ClippedGD

CARD = Card(
    NaiveParallelClip,
    label="NaiveParallelClip",
    theorems=(ClippedGD(),),
    rules={"ours": ClippedGD().rule(NaiveParallelClip)},
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT, "S": Role.COUNT},
    tunings=(
        Tuning(
            "naive-parallel-clip",
            "NaiveParallelClip",
            lambda eta, tau, I, S: NaiveParallelClip(eta, tau * eta, I, S),
            colour="#000000",
            marker="v",
        ),
    ),
    colour="#000000",
    marker="v",
)
