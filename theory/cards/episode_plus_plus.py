"""EPISODE++: its card; its complexity is in the tables of clipping."""

from certibit.solvers.methods.episode_plus_plus import EpisodePlusPlus
from certibit.theory.card import Card, Role, Tuning

CARD = Card(
    EpisodePlusPlus,
    label="EPISODE++",
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT, "S": Role.COUNT},
    tunings=(
        Tuning(
            "episode-plus-plus",
            "EPISODE++",
            lambda eta, tau, I, S: EpisodePlusPlus(eta, tau * eta, I, S),
            colour="#882255",
            marker="s",
        ),
    ),
    colour="#882255",
    marker="s",
)
