"""Psi as it is written is Psi as it is computed, on quadratics at random states."""

import re
from dataclasses import fields, replace

import numpy as np
import pytest
from small_methods import Psi

from certibit import GD, METHODS, FunctionClass, Quadratic, Setting, Squares, mean
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import simulated_world
from certibit.solvers.state import each
from certibit.theory.potential import value
from certibit.theory.proofs.psi_text import potential_text
from certibit.theory.worlds.fixed_points import at_rest

DIGITS = 1e-3
THEOREMS = [
    pytest.param(card, theorem, id=theorem.title)
    for card in METHODS.values()
    if card.rules
    for theorem in card.about("potential", "gap", "squared_gradient")
]
PYTHON = {
    r"sum_i \|([^|]*)\|\^2": r"squares(\1)",
    r"\|([^|]*)\|\^2": r"squares(shared(\1))",
    r"\(f\(([^()]*)\) - f\*\)": r"gap(\1)",
    r"grad f_i\(([^()]*)\)": r"slopes(\1)",
    r"grad f\(([^()]*)\)": r"mean(slopes(\1))",
    r"mean (\w+_i)": r"mean(\1)",
    r"(\d) (?=[a-zA-Z])": r"\1 * ",
}
"""What stands in a formula, and in Python."""


def computed(text, names):
    for pattern, python in PYTHON.items():
        text = re.sub(pattern, python, text)
    return eval(text.removeprefix("Psi = "), names)


def vocabulary(problem, s, star, solution):
    """Return what the words of a formula stand for; differences where there is a solution."""
    rest, slopes = (problem.x_star, problem.grad_star) if solution else (0.0, 0.0)
    parts = {
        one.name: getattr(s, one.name) - (getattr(star, one.name) if solution else 0.0)
        for one in fields(s)
        if getattr(s, one.name).dtype != bool
    }
    own = {name.removesuffix("_i") + "_i": x for name, x in parts.items() if len(x) == problem.n}
    return {
        **parts,
        **own,
        "mean": lambda x: np.mean(x, axis=0, keepdims=True),
        "squares": lambda x: np.sum(x**2),
        "shared": lambda x: x.reshape(1, 4, 1),
        "gap": lambda x: problem.gap(rest + x)[0],
        "slopes": lambda x: problem.grad(rest + x) - slopes,
    }


@pytest.mark.parametrize(("card", "theorem"), THEOREMS)
def test_psi_is_as_it_is_written(card, theorem):
    sent = {"unbiased": "rand-k:2", "contractive": "top-k:2", None: None}
    sent = sent[card.method.needs.compressor]
    sent = compressor(
        f"two-way({sent};natural)" if card.method.needs.downlink else sent or "identity"
    )
    problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    setting = Setting.of(card.method, problem, sent)
    experiment = Experiment.of(card.at(setting), problem, sent)
    method, view, functions = experiment.method, experiment.problem, FunctionClass.of(setting)
    solution = theorem.measure != "squared_gradient"
    if not solution:
        functions = replace(functions, mu=-functions.L)
    channel, oracle = simulated_world(experiment)
    random = np.random.default_rng(1)
    start = method.start(channel.template, oracle, channel)
    s = each(lambda x: x if x.dtype == bool else x + random.normal(size=x.shape), start)
    star = at_rest(theorem.measure, method, s, view)
    terms = theorem.lyapunov(method, s, star, functions, view)
    text = potential_text(theorem, tuple(one.weight for one in terms), method, functions)
    found = computed(text, vocabulary(view, s, star, solution))
    assert found == pytest.approx(value(terms, view)[0], rel=DIGITS)


def test_a_small_coefficient_is_written():
    """Gradients have another unit than points, so that no size of one counts as rounding."""
    functions = FunctionClass(3, 1.0, 1e20)
    psi = Psi(lambda m, s, star, f, n: (Squares(1.0, s.x - star.x - 1e-20 * mean(f.grad(s.x))),))
    text = potential_text(psi, (1.0,), GD(1e-20), functions)
    assert text == "Psi = |x - 1e-20 grad f(x)|^2"
