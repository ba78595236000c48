"""Proofs with something altered, which an audit must see."""

from dataclasses import replace
from fractions import Fraction


def step_at(proof, place):
    """Return the step at a place."""
    return next(step for step in proof.steps if step.place == place)


def with_constants(proof, **constants):
    """Return the proof with some printed constants replaced."""
    assert constants.keys() <= proof.constants.keys()
    changed = {name: Fraction(value) for name, value in constants.items()}
    return replace(proof, constants={**proof.constants, **changed})


def replaced(proof, place, **changes):
    """Return the proof with attributes of one step changed."""
    old = step_at(proof, place)
    steps = tuple(replace(step, **changes) if step is old else step for step in proof.steps)
    return replace(proof, steps=steps)


def turned(proof, place):
    """Return the proof with one inequality turned around."""
    step = step_at(proof, place)
    return replaced(proof, place, left=step.right, right=step.left)


def without(proof, place, hypothesis):
    """Return the proof with a hypothesis of one step dropped, and what it said of unknowns."""
    space = step_at(proof, place).space
    dropped = replace(
        space,
        variables=tuple(
            replace(u, low=u.beyond[0], high=u.beyond[1], hypothesis="", beyond=None)
            if u.hypothesis == hypothesis and u.beyond
            else u
            for u in space.variables
        ),
        hypotheses=tuple(each for each in space.hypotheses if each.name != hypothesis),
    )
    assert dropped != space
    return replaced(proof, place, space=replace(dropped, unknowns=None))


def only(proof, *places):
    """Return the proof of some steps alone."""
    return replace(proof, steps=tuple(step_at(proof, place) for place in places))
