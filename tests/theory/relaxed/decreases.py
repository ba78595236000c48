"""Decreases of methods that clip, of which files are written and checked."""

from certibit import EPISODE, ClippedSGD, NaiveParallelClip, NormalisedGD, RelaxedFunctions

DECREASES = {
    "clipped": (ClippedSGD(0.25, 0.25), RelaxedFunctions(1.0, 1.0)),
    "in part": (ClippedSGD(0.69, 0.8), RelaxedFunctions(1.0, 1.0)),
    "without L0": (ClippedSGD(0.6, 0.6), RelaxedFunctions(0.0, 1.0)),
    "without L1": (ClippedSGD(0.3, 0.3), RelaxedFunctions(3.0, 0.0)),
    "normalised": (NormalisedGD(0.2, 0.8), RelaxedFunctions(1.0, 1.0)),
    "noise": (ClippedSGD(0.25, 0.3), RelaxedFunctions(1.0, 1.0, 2, 0.05)),
    "noise of EPISODE": (EPISODE(0.1, 0.1), RelaxedFunctions(1.0, 1.0, 5, 0.05)),
    "much noise": (NaiveParallelClip(0.25, 0.3), RelaxedFunctions(2.0, 0.5, 10, 0.2)),
}
"""A method and a class each, by name."""
