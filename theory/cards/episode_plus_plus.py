"""EPISODE++: its card; its complexity is in the tables of clipping."""

from certibit.solvers.methods.episode_plus_plus import EpisodePlusPlus
from certibit.theory.card import Card, Role

CARD = Card(
    EpisodePlusPlus,
    label="EPISODE++",
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT, "S": Role.COUNT},
    threshold="gamma",
    colour="#882255",
    marker="s",
)
