"""EPISODE++: its card; Theorem 1 is an order in the tables of clipping."""

from certibit.solvers.methods.episode_plus_plus import EpisodePlusPlus
from certibit.theory.card import Card, Role

CARD = Card(
    EpisodePlusPlus,
    label="EPISODE++",
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT, "S": Role.COUNT},
    threshold="gamma",
    unstated="Theorem 1 of EPISODE++ is known here as an order: its constants are not in the talk",
    colour="#882255",
    marker="s",
)
