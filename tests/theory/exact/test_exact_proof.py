"""Proofs in rational numbers, the file they are kept in, and the checker of the file."""

import copy
import importlib.util
import json
import math
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bitbound.data.errors import Refusal
from bitbound.solvers.methods.diana import DIANA
from bitbound.solvers.methods.ef21p_diana import EF21PDIANA
from bitbound.solvers.methods.gd import GD
from bitbound.theory.cards.catalogue import METHODS, SHARED_MINIMISER
from bitbound.theory.certificates.certify import certify
from bitbound.theory.certificates.search import setting
from bitbound.theory.certificates.summary import class_setting
from bitbound.theory.certificates.symbolic_step import symbolic_step
from bitbound.theory.exact.central_path import CentralPath
from bitbound.theory.exact.certificate_file import certificate_file
from bitbound.theory.exact.exact_proof import RationalStep, first_proof, holds
from bitbound.theory.exact.export import write_certificate
from bitbound.theory.exact.rational_algebra import ldl
from bitbound.theory.exact.refinement import interior, prove
from bitbound.theory.function_class import ClientClass, FunctionClass
from bitbound.theory.laws.diana_law import DIANA_LAW
from bitbound.theory.laws.feedback_laws import EF21_LAW, EF_LAW
from bitbound.theory.worlds.symbolic.exact_numbers import Exact, exact_parameters, rational

PAGE = Path(__file__).parents[3] / "docs" / "check_certificate.py"
CHECKER = importlib.util.module_from_spec(
    importlib.util.spec_from_file_location("check_certificate", PAGE)
)
CHECKER.__spec__.loader.exec_module(CHECKER)

LINEAR = {
    name: card
    for name, card in (METHODS | SHARED_MINIMISER).items()
    if card.theorems and name != "5gcs-cc"
}
QUICK = ["gd", "agd", "diana", "locodl", "scaffnew", "ef21", "marina", "dasha", "gradskip"]


def by_rule(name, n, kappa):
    """Return a method with the parameters of its first rule, and its class."""
    card = METHODS[name]
    omega = 3.0 if card.method.needs.compressor else None
    where = class_setting(card.method, n, kappa, omega, None, 1)
    return card.at(where), FunctionClass.of(where)


def proof_of(name, n=5, kappa=30.0):
    """Return the exact proof of a method at the parameters of its first rule."""
    return prove(certify(*by_rule(name, n, kappa)))


@pytest.mark.parametrize("kappa", [10.0, 1e3, 1e6])
@pytest.mark.parametrize("name", QUICK)
def test_the_best_decrease_is_proved_at_every_condition_number(name, kappa):
    certificate = certify(*by_rule(name, 10, kappa))
    proof = prove(certificate)
    assert proof.decrease >= certificate.decrease
    assert proof.decrease > 0
    assert abs(proof.bound - float(proof.decrease)) <= 1e-7 * float(proof.decrease)


EVERY = [(name, rule) for name in LINEAR for rule in LINEAR[name].rules]
"""All methods and rules: at kappa = 1e6, float proofs of some lose the decrease, or the solver."""
HARDEST = [("ef", "best"), ("ef21", "paper"), ("ef21", "best"), ("econtrol", "largest")]
"""Those of error feedback, which lose up to all of it from 1e3 on."""


@pytest.mark.parametrize(
    ("name", "rule", "kappa"),
    [(*one, kappa) for one in EVERY for kappa in (10.0, 1e6)]
    + [(*one, kappa) for one in HARDEST for kappa in (1e3, 1e4, 1e5)],
)
def test_exact_proofs_of_all_rules_lose_nothing(name, rule, kappa):
    card = LINEAR[name]
    omega = 3.0 if card.method.needs.compressor else None
    where = class_setting(card.method, 10, kappa, omega, None, 1)
    certificate = certify(card.at(where, rule), where)
    proof = prove(certificate)
    digits = 1e-11 * abs(certificate.decrease)
    assert float(proof.decrease) >= certificate.decrease - digits
    assert proof.bound - float(proof.decrease) <= 1e-7 * abs(proof.bound)
    attained = certificate.solver_decrease - certificate.decrease
    assert certificate.rounded_away or attained <= 1e-7 * abs(certificate.solver_decrease)


@pytest.mark.parametrize("kappa", [10.0, 1e3, 1e4, 1e5, 1e6])
@pytest.mark.parametrize(("name", "rule"), [("ef21", "paper"), ("ef21", "best"), ("ef", "best")])
def test_the_tight_theorem_of_error_feedback_is_proved(name, rule, kappa):
    """Two directions vanish together, so that floats lose up to all of the decrease."""
    card = LINEAR[name]
    where = class_setting(card.method, 10, kappa, 3.0, None, 1)
    method = card.at(where, rule)
    theorem = card.best_theorem(method, where)
    proof = prove(certify(method, where, potential=theorem))
    promised = 1 - theorem.rate(method, where)
    rounding = 1e-15 / promised
    assert float(proof.decrease) >= promised * (1 - 1e-9 - rounding)
    assert proof.bound - float(proof.decrease) <= 1e-9 * proof.bound
    if rule == "best":  # the theorem is tight there
        assert proof.bound == pytest.approx(promised, rel=1e-9 + rounding)


@pytest.mark.parametrize("close", [10.0, 1.0, 0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("law", [EF21_LAW, EF_LAW, DIANA_LAW], ids=["ef21", "ef", "diana"])
def test_the_best_proof_lies_between_those_of_the_path_and_their_bound(law, close):
    """Where the best decrease is known in closed form."""
    best = law.proof(*law.points[1])
    step = RationalStep.of(best.method, best.functions, best.potential)
    proof = first_proof(step, certify(best.method, best.functions, potential=best.potential))
    path = CentralPath.of(step, step.psi(best.weights)[0])
    found, bound = path.best(interior(step, proof), close)
    decrease, *multipliers = found.numbers
    assert holds(
        step, best.weights, decrease, dict(zip(step.inequalities, multipliers, strict=True))
    )
    assert decrease < best.decrease < bound
    assert bound - float(decrease) <= close * float(decrease)


@pytest.mark.parametrize("kappa", [10.0, 1e6])
@pytest.mark.parametrize("gamma", [1e-6, 1e-12, 1e-14])
def test_the_decrease_of_a_tiny_step_has_all_its_digits(gamma, kappa):
    proof = prove(certify(GD(gamma), FunctionClass(10, 1.0, kappa)))
    exact = 1 - (1 - Fraction(proof.method.gamma)) ** 2
    assert abs(proof.decrease - exact) <= Fraction(1, 10**9) * exact


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("name", ["ef21", "econtrol", "fedcomgate", "dasha"])
def test_no_digits_are_lost_in_another_unit(name, unit):
    """Each of these was left where the solver stopped, some at a part in a million."""
    card = METHODS[name]
    plain = class_setting(
        card.method, 10, 1e6, 3.0 if card.method.needs.compressor else None, None, 1
    )
    where = setting(10, 1e-6 * unit, unit, plain.d, plain.compressor)
    proof = prove(certify(card.at(where), FunctionClass.of(where)))
    assert abs(proof.bound - float(proof.decrease)) <= 1e-7 * float(proof.decrease)
    other = prove(certify(card.at(plain), FunctionClass.of(plain)))
    assert float(proof.decrease) == pytest.approx(float(other.decrease), rel=1e-7)


def test_a_term_of_weight_0_proves_nothing_and_is_in_no_way():
    """Without compression DIANA's shifts are outside of its Lyapunov function."""
    method, functions = DIANA(0.05, 1.0), FunctionClass(4, 1.0, 20.0)
    proof = prove(certify(method, functions))
    assert min(proof.weights) == 0
    assert float(proof.decrease) == pytest.approx(1 - 0.95**2, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_f_changes_nothing(unit):
    one = prove(certify(GD(0.01), FunctionClass(3, 1.0, 100.0)))
    other = prove(certify(GD(0.01 / unit), FunctionClass(3, unit, 100.0 * unit)))
    assert float(other.decrease) == pytest.approx(float(one.decrease), rel=1e-9)


@pytest.mark.parametrize("name", QUICK)
def test_the_checker_accepts_what_is_written(name, tmp_path):
    path = tmp_path / "certificate.json"
    proof = proof_of(name)
    assert proof.verify()
    write_certificate(proof, path)
    assert CHECKER.check(json.loads(path.read_text(encoding="utf-8"))["certificate"]) == ""


def test_the_checker_is_short_and_needs_nothing():
    text = PAGE.read_text(encoding="utf-8")
    assert len(list(filter(str.strip, text.splitlines()))) < 100
    imported = re.findall(r"^(?:import|from) (\w+)", text, flags=re.MULTILINE)
    assert set(imported) == {"json", "sys", "fractions", "pathlib"}


def refused(file):
    """Whether the checker refuses a file, or finds that it makes no sense."""
    try:
        return CHECKER.check(file) != ""
    except (AssertionError, LookupError, ValueError):
        return True


def perturbed(file, where, change):
    """Return a file with one entry, named by its keys, changed."""
    other = copy.deepcopy(file)
    *path, last = where
    place = other
    for key in path:
        place = place[key]
    place[last] = change(place[last])
    return other


def test_a_gradient_at_the_solution_that_is_not_0_proves_nothing():
    """With grad f(x) for one there, x and grad f(x) are 0, and any decrease would be proved."""
    file = certificate_file(prove(certify(GD(0.1), FunctionClass(3, 1.0, 10.0))))["certificate"]
    place, gradient = len(file["evaluations"]), file["evaluations"][0]["gradient"]
    file["evaluations"].append(dict(file["evaluations"][1], gradient=gradient))
    file["decrease"] = "99/100"
    file["inequalities"] = [
        {"multiplier": "100", "class": 0, "from": [a], "to": [b]}
        for a, b in [(1, place), (place, 1), (0, place), (place, 0)]
    ]
    assert refused(file)


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (lambda text: text, [], "proved for gd"),
        (lambda text: text, ["-O"], "without -O"),
        (lambda text: text.replace('"decrease"', '"increase"'), [], "no certificate"),
        (lambda text: text.replace('"multiplier": "', '"multiplier": "-'), [], "negative"),
    ],
)
def test_the_checker_as_a_command(change, options, said, tmp_path):
    path = tmp_path / "gd.json"
    write_certificate(proof_of("gd"), path)
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    words = [sys.executable, *options, str(PAGE), str(path)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert said in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    assert (ran.returncode == 0) == (said == "proved for gd")


@pytest.mark.parametrize("name", ["gd", "diana", "locodl", "ef21"])
def test_the_checker_refuses_what_is_changed(name):
    file = certificate_file(proof_of(name))["certificate"]
    assert CHECKER.check(file) == ""
    sizes = [Fraction(one["multiplier"]) for one in file["inequalities"]]
    largest = sizes.index(max(sizes))
    changes = [
        (
            ("inequalities", largest, "multiplier"),
            lambda x: str(Fraction(x) * Fraction(1001, 1000)),
        ),
        (("inequalities", largest, "multiplier"), lambda x: str(-Fraction(x))),
        (("decrease",), lambda x: str(Fraction(x) * Fraction(1001, 1000))),
        (("classes", 0, "mu"), lambda x: str(Fraction(x) * Fraction(9, 10))),
        (("classes", 0, "L"), lambda _: "1/2"),
        (("psi", "blocks", 0, 0, 0), lambda x: str(-1 - Fraction(x))),
        (("expected", "blocks", 0, 0, 1), lambda x: str(Fraction(x) + 1)),
        (("expected", "blocks"), lambda blocks: blocks[:1]),
        (("psi", "blocks"), lambda blocks: blocks[:1]),
        (("evaluations", -1, "point", 0, 0), lambda _: "1"),
        (("evaluations", 0, "class"), lambda kind: kind + 1),
    ]
    for where, change in changes:
        assert refused(perturbed(file, where, change)), where


def steps_of(file):
    """Return the number of the inequality that many local steps are, and what is said of them."""
    used = file["inequalities"]
    place = next(i for i, one in enumerate(used) if "steps" in one)
    return place, used[place]["steps"]


def test_many_local_steps_are_one_inequality_that_is_checked():
    card = METHODS["5gcs-cc"]
    where = class_setting(card.method, 3, 1e3, 3.0, None, 1)
    method = card.at(where)
    proof = prove(certify(method, where))
    promised = 1 - card.theorems[0].rate(method, where)
    assert promised < float(proof.decrease) <= proof.bound <= float(proof.decrease) * (1 + 1e-9)
    file = certificate_file(proof)["certificate"]
    assert CHECKER.check(file) == ""
    place, steps = steps_of(file)
    assert steps["number"] == method.K > 100
    of_steps = ("inequalities", place)
    larger, smaller = (
        lambda x, factor=factor: str(Fraction(x) * factor)
        for factor in (Fraction(1001, 1000), Fraction(999, 1000))
    )
    changes = [
        *(((*of_steps, "steps", name), larger) for name in ("ratio", "share", "ridge")),
        *(((*of_steps, "steps", name), smaller) for name in ("ratio", "size")),
        ((*of_steps, "steps", "number"), lambda count: count - 1),
        ((*of_steps, "steps", "number"), lambda _: 0),
        ((*of_steps, "steps", "from"), lambda _: steps["to"]),
        ((*of_steps, "steps", "to"), lambda _: steps["from"]),
        ((*of_steps, "error", 0, 0), lambda x: str(Fraction(x) + 1)),
        ((*of_steps, "vector", 1, 1), lambda x: str(Fraction(x) + 1)),
        ((*of_steps, "multiplier"), larger),
        ((*of_steps, "multiplier"), smaller),
        ((*of_steps, "multiplier"), lambda x: str(-Fraction(x))),
        (("decrease",), larger),
        (("classes", 0, "mu"), smaller),
        (("classes", 0, "L"), larger),
    ]
    for where, change in changes:
        assert refused(perturbed(file, where, change)), where


def test_a_negative_function_value_is_a_negative_part():
    file = certificate_file(proof_of("agd"))["certificate"]
    negative = perturbed(file, ("psi", "values", 0), lambda _: "-1")
    assert CHECKER.check(negative) == "Psi has a negative part"


def test_the_contraction_of_the_server_is_proved_and_checked():
    functions = FunctionClass(3, 1.0, 20.0, omega=2.0, alpha_down=0.5)
    proof = prove(certify(EF21PDIANA(0.004, 0.3), functions))
    assert proof.verify()
    assert not replace(proof, functions=replace(functions, alpha_down=0.3)).verify()
    file = certificate_file(proof)["certificate"]
    assert CHECKER.check(file) == ""
    assert CHECKER.check(perturbed(file, ("classes", 1, "alpha"), lambda _: "3/10"))


@pytest.mark.parametrize("name", ["diana", "locodl", "ef21", "marina"])
@pytest.mark.parametrize("changed", ["gamma", "n", "omega"])
def test_multipliers_of_another_step_are_refused(name, changed):
    """The algebra of other parameters is not proved by these multipliers, in either checker."""
    proof = proof_of(name)
    functions = proof.functions
    other = {
        "gamma": lambda: replace(proof, method=replace(proof.method, gamma=3 * proof.method.gamma)),
        "n": lambda: replace(proof, functions=replace(functions, n=2)),
        "omega": lambda: replace(
            proof,
            functions=replace(
                functions, omega=5.0, alpha=functions.alpha and 0.5 * functions.alpha
            ),
        ),
    }[changed]()
    assert not other.verify()
    assert CHECKER.check(certificate_file(other)["certificate"])


def test_a_wrong_class_count_is_refused():
    functions = FunctionClass.of_classes([ClientClass(1, 1.0, 20.0), ClientClass(3, 1.0, 5.0)])
    file = certificate_file(prove(certify(GD(0.1), functions)))["certificate"]
    assert CHECKER.check(file) == ""
    assert CHECKER.check(perturbed(file, ("counts", 0), lambda count: count + 1))


def test_the_average_is_as_convex_as_the_classes_are_in_the_mean():
    """Taken to be as convex as the least convex class, with the values of all, it was wrong."""
    classes = [ClientClass(1, 1.0, 20.0), ClientClass(3, 2.0, 5.0)]
    functions = FunctionClass.of_classes(classes, L_f=6.0)
    proof = prove(certify(GD(0.25), functions))
    assert float(proof.decrease) == pytest.approx(1 - (1 - 0.25 * 1.75) ** 2, rel=1e-9)
    file = certificate_file(proof)["certificate"]
    assert CHECKER.check(file) == ""
    assert refused(perturbed(file, ("classes", -1, "mu"), lambda _: "2"))
    assert refused(perturbed(file, ("classes", -1, "L"), lambda _: "30"))
    assert refused(perturbed(file, ("evaluations", 0, "point", 0, 0), lambda _: "2"))


def test_a_potential_with_a_negative_part_proves_nothing():
    proof = proof_of("locodl")
    first, *others = proof.weights
    negative = replace(proof, weights=(first, *(-weight for weight in others)))
    assert not negative.verify()
    assert CHECKER.check(certificate_file(negative)["certificate"]) == "Psi has a negative part"


@dataclass(frozen=True)
class Rooted(GD):
    """A step with an irrational coefficient."""

    name = "rooted"

    def communicate(self, s, problem, channel):
        return GD(math.sqrt(self.gamma)).communicate(s, problem, channel)


def test_an_irrational_step_is_refused():
    functions = FunctionClass(2, 1.0, 10.0)
    certificate = certify(Rooted(0.01), functions, potential=METHODS["gd"].theorems[0])
    with pytest.raises(Refusal, match="make it a parameter"):
        prove(certificate)


@pytest.mark.parametrize("name", QUICK)
def test_exact_and_rounded_steps_agree(name):
    method, functions = by_rule(name, 4, 10.0)
    potential = METHODS[name].theorems[0]
    rounded, exact = (
        symbolic_step(method, functions, potential, exact=exact) for exact in (False, True)
    )
    assert list(rounded.inequalities) == list(exact.inequalities)
    size, natural = exact.basis.size, rounded.method
    unit_of = {"gradient": lambda *_: natural.gradient, "state": lambda i: natural.sizes[i]}
    units = np.array(
        [unit_of.get(name[0], lambda *_: 1.0)(*name[1:]) for name in exact.basis.names]
    )
    for one, other in zip(rounded.after, exact.after, strict=True):
        for block, right in zip(one.blocks, other.blocks, strict=True):
            values = np.array([[float(x.value) for x in row] for row in right])
            expected = values * np.outer(units, units)
            np.testing.assert_allclose(block[:size, :size], expected, atol=1e-12, rtol=1e-9)


@pytest.mark.parametrize(
    ("number", "fraction"),
    [(0.1, Fraction(1, 10)), (1 / 3, Fraction(1, 3)), (0.005, Fraction(1, 200)), (7, Fraction(7))],
)
def test_floats_stand_for_simple_fractions(number, fraction):
    assert rational(number) == fraction
    assert (Exact(number) * 2 - number).value == fraction
    with pytest.raises(Refusal, match="no exact proof"):
        float(Exact(number))
    assert exact_parameters(GD(number + 0.0)).gamma == Exact(fraction)


@pytest.mark.parametrize("seed", range(5))
def test_factors_of_rational_matrices(seed):
    rng = np.random.default_rng(seed)
    root = np.vectorize(Fraction, otypes=[object])(rng.integers(-5, 6, (4, 4)).astype(object))
    positive = root @ root.T
    lower, pivots = ldl(positive)
    assert np.all(lower @ np.diag(pivots) @ lower.T == positive)
    smallest = min(np.linalg.eigvalsh(positive.astype(float)))
    shifted = positive - np.eye(4, dtype=int) * Fraction(smallest + 1e-3)
    assert ldl(shifted) is None
