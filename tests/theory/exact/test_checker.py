"""The file that a proof is kept in, and the checker of the file, which needs no bitbound."""

import copy
import importlib.util
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from proofs_by_rule import QUICK, proof_of

from bitbound.solvers.methods.ef21p_diana import EF21PDIANA
from bitbound.solvers.methods.gd import GD
from bitbound.theory.cards.catalogue import METHODS
from bitbound.theory.certificates.certify import certify
from bitbound.theory.certificates.summary import class_setting
from bitbound.theory.exact.certificate_file import certificate_file
from bitbound.theory.exact.export import write_certificate
from bitbound.theory.function_class import ClientClass, FunctionClass
from bitbound.theory.worlds.symbolic.exact_numbers import fraction, rational

PAGE = Path(__file__).parents[3] / "docs" / "check_certificate.py"
CHECKER = importlib.util.module_from_spec(
    importlib.util.spec_from_file_location("check_certificate", PAGE)
)
CHECKER.__spec__.loader.exec_module(CHECKER)


@pytest.mark.parametrize("name", QUICK)
def test_the_checker_accepts_what_is_written(name, tmp_path):
    path = tmp_path / "certificate.json"
    proof = proof_of(name)
    assert proof.verify() < math.inf
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
    file = certificate_file(certify(GD(0.1), FunctionClass(3, 1.0, 10.0)))["certificate"]
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
    proof = certify(method, where)
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


@pytest.mark.parametrize(("kappa", "omega"), [(100.0, 4.0), (1e6, 3.0)])
def test_local_solves_that_end_by_a_criterion_are_checked(kappa, omega):
    card = METHODS["5gcs-cc"]
    where = class_setting(card.method, 3, kappa, omega, None, 1)
    method = card.at(where, "best")
    proof = certify(method, where)
    assert 1 - card.theorems[0].rate(method, where) < float(proof.decrease) <= proof.bound
    file = certificate_file(proof)["certificate"]
    assert CHECKER.check(file) == ""
    place, steps = steps_of(file)
    assert (steps["number"], Fraction(steps["pull"])) == (method.K, fraction(rational(method.tau)))
    of_steps = ("inequalities", place)
    larger, smaller = (
        lambda x, factor=factor: str(Fraction(x) * factor)
        for factor in (Fraction(11, 10), Fraction(9, 10))
    )
    changes = [
        ((*of_steps, "steps", "number"), lambda count: count - 1),
        *(((*of_steps, "steps", name), larger) for name in ("ratio", "share")),
        *(((*of_steps, "steps", name), smaller) for name in ("ratio", "size", "pull")),
        ((*of_steps, "steps", "pull"), lambda _: "0"),
        ((*of_steps, "vector", 0, 0), lambda x: str(Fraction(x) + 1)),
        ((*of_steps, "error", 0, 0), lambda x: str(Fraction(x) + 1)),
        ((*of_steps, "multiplier"), larger),
        ((*of_steps, "multiplier"), lambda x: str(-Fraction(x))),
        (("classes", 0, "L"), larger),
    ]
    for where_, change in changes:
        assert refused(perturbed(file, where_, change)), where_


def test_a_negative_function_value_is_a_negative_part():
    file = certificate_file(proof_of("agd"))["certificate"]
    negative = perturbed(file, ("psi", "values", 0), lambda _: "-1")
    assert CHECKER.check(negative) == "Psi has a negative part"


def test_the_contraction_of_the_server_is_proved_and_checked():
    functions = FunctionClass(3, 1.0, 20.0, omega=2.0, alpha_down=0.5)
    proof = certify(EF21PDIANA(0.004, 0.3), functions)
    assert proof.verify() < math.inf
    assert replace(proof, functions=replace(functions, alpha_down=0.3)).verify() == math.inf
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
    assert other.verify() == math.inf
    assert CHECKER.check(certificate_file(other)["certificate"])


def test_a_wrong_class_count_is_refused():
    functions = FunctionClass.of_classes([ClientClass(1, 1.0, 20.0), ClientClass(3, 1.0, 5.0)])
    file = certificate_file(certify(GD(0.1), functions))["certificate"]
    assert CHECKER.check(file) == ""
    assert CHECKER.check(perturbed(file, ("counts", 0), lambda count: count + 1))


def test_the_average_is_as_convex_as_the_classes_are_in_the_mean():
    """Taken to be as convex as the least convex class, with the values of all, it was wrong."""
    classes = [ClientClass(1, 1.0, 20.0), ClientClass(3, 2.0, 5.0)]
    functions = FunctionClass.of_classes(classes, L_f=6.0)
    proof = certify(GD(0.25), functions)
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
    assert negative.verify() == math.inf
    assert CHECKER.check(certificate_file(negative)["certificate"]) == "Psi has a negative part"
