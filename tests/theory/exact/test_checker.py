"""The file that a proof is kept in, and the checker of the file, which needs no certibit."""

import copy
import json
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import check_proof
import pytest
from by_rule import by_rule
from forgeries import changed, refused, resealed
from proofs_by_rule import QUICK, proof_of

from certibit import EF21PDIANA, GD, METHODS, ClientClass, FunctionClass, certify
from certibit.theory.export.export import write_certificate
from certibit.theory.export.proof_file import proof_file, sealed
from certibit.theory.worlds.opaque.exact_numbers import fraction, rational

PAGE = Path(check_proof.__file__)


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("name", QUICK)
def test_the_checker_accepts_what_is_written(name, tmp_path):
    path = tmp_path / "certificate.json"
    proof = proof_of(name)
    assert proof.verify()
    write_certificate(proof, path)
    assert check_proof.check(json.loads(path.read_text(encoding="utf-8"))["proof"]) == ""


def test_the_checker_is_short_and_needs_nothing():
    text = PAGE.read_text(encoding="utf-8")
    assert len(list(filter(str.strip, text.splitlines()))) < 480
    imported = re.findall(r"^(?:import|from) (\w+)", text, flags=re.MULTILINE)
    assert set(imported) == {"hashlib", "json", "re", "sys", "fractions", "pathlib"}


def forged(name, **entries):
    """Return a certificate of a method with a decrease of 9/10 and some entries replaced."""
    file = copy.deepcopy(proof_file(proof_of(name))["proof"])
    return file | {"c": "9/10"} | entries


def multiple(form, factor):
    """Return a multiple of a form, as it stands in a file."""
    blocks = [[[str(factor * Fraction(x)) for x in row] for row in b] for b in form["blocks"]]
    values = [str(factor * Fraction(x)) for x in form["values"]]
    return {"blocks": blocks, "values": values, "variance": "0"}


def rounded_away():
    """E[Psi+] is 5 Psi, and a float is so large that the difference is lost in it."""
    psi = {"blocks": [[[1.0]], [[1.0]]], "values": []}
    after = {"blocks": [[[5.0]], [[5.0]]], "values": []}
    one = {
        "class": 0,
        "vector": [["1"], ["1"]],
        "error": [["0"], ["0"]],
        "multiplier": float("nan"),
    }
    return forged("gd", psi=psi, expected=after, evaluations=[], inequalities=[one])


def with_error(file, vector, error):
    """Return a file with one more message, of which its error is used."""
    one = {"multiplier": "1000", "message": len(file["messages"]), "joint": 0}
    file["messages"].append({"class": 0, "vector": vector, "contraction": error})
    file["inequalities"].append(one)
    return file


def known_error():
    """What all clients have of the state and of gradients is said to be the error of a message."""
    file = forged("ef21")
    size, apart = (len(block) for block in file["psi"]["blocks"])
    for name in ("psi", "expected"):
        file[name]["values"] = ["0"] * len(file[name]["values"])
    file["messages"], nothing = [], [["0"] * size, ["0"] * apart]
    for k in range(size):
        error = [[str(int(i == k)) for i in range(own)] for own in (size, apart)]
        with_error(file, nothing, error)
    return file


def unvalued():
    """Counted from the end, an evaluation loses its function value."""
    file = forged("gd")
    places = len(file["evaluations"])
    for one in file["inequalities"]:
        for end in ("from", "to"):
            one[end] = [place - places for place in one[end]]
    return file


def without_psi():
    file = forged("gd")
    nothing = multiple(file["psi"], 0)
    return file | {"psi": nothing, "expected": nothing, "inequalities": []}


def negative_mean():
    file = forged("gd")
    return file | {"expected": multiple(file["psi"], -1), "inequalities": []}


def twice_the_error():
    file = forged("ef21")
    nothing = [["0"] * len(part) for part in file["messages"][0]["vector"]]
    return with_error(file, nothing, file["messages"][0]["contraction"])


def twice_the_error_of_all():
    """The part that all clients share is said to be the error of a vector that is 0, too."""
    file = forged("ef21")
    nothing = [["0"] * len(part) for part in file["messages"][0]["vector"]]
    return with_error(file, nothing, [file["messages"][0]["contraction"][0], nothing[1]])


def gradient_as_an_error():
    """The gradient after the step, which Psi does not have, is said to be the error of 0."""
    file = forged("gd")
    nothing = [["0"] * len(block) for block in file["psi"]["blocks"]]
    psi = file["psi"]["blocks"][0]
    new = [
        one["gradient"]
        for one in file["evaluations"]
        if "1" in one["gradient"][0] and set(psi[one["gradient"][0].index("1")]) == {"0"}
    ]
    assert new
    return with_error(file, nothing, new[0])


def of_class(name, kind, **entries):
    file = forged(name)
    file["classes"][kind] |= entries
    return file


NUMBER = "neither an integer nor a fraction in a string"
FORGED = {
    "floats": (rounded_away, NUMBER),
    "a float": (lambda: forged("gd", c=0.05), f"c is {NUMBER}"),
    "true": (lambda: forged("gd", c=True), f"c is {NUMBER}"),
    "not a number": (lambda: forged("gd", c=float("nan")), f"c is {NUMBER}"),
    "infinity": (lambda: forged("gd", c=-float("inf")), f"c is {NUMBER}"),
    "an exponent": (lambda: forged("gd", c="1e-999999999"), f"c is {NUMBER}"),
    "a decimal": (lambda: forged("gd", c="0.05"), f"c is {NUMBER}"),
    "other digits": (lambda: forged("gd", c="\u0660"), f"c is {NUMBER}"),
    "an underscore": (lambda: forged("gd", c="0/1_0"), f"c is {NUMBER}"),
    "null": (lambda: forged("gd", c=None), f"c is {NUMBER}"),
    "over 0": (lambda: forged("gd", c="1/0"), f"c is {NUMBER}"),
    "places from the end": (unvalued, f"to is {NUMBER}"),
    "a count in a text": (lambda: forged("gd", counts=["5"]), f"counts is {NUMBER}"),
    "no clients": (lambda: forged("gd", counts=[0]), "counts"),
    "fewer than no clients": (lambda: forged("gd", counts=[-5]), f"counts is {NUMBER}"),
    "classes from the end": (
        lambda: forged("gd", inequalities=[{"class": -1}]),
        f"class is {NUMBER}",
    ),
    "more than a contraction": (lambda: of_class("ef21", 0, alpha="1000"), "constants"),
    "more convex than smooth": (lambda: of_class("gd", 0, mu="31"), "constants"),
    "less than convex": (lambda: of_class("gd", 0, mu="-1"), "constants"),
    "Psi is 0": (without_psi, "Psi is 0"),
    "a mean below 0": (negative_mean, "E[Psi+] has a negative part"),
    "an error that is known": (known_error, "one unknown of two"),
    "an error of two messages": (twice_the_error, "one unknown of two"),
    "a shared error": (twice_the_error_of_all, "one unknown of two"),
    "a gradient as an error": (gradient_as_an_error, "one unknown of two"),
}


@pytest.mark.long(keep=8)
@pytest.mark.parametrize("forgery", FORGED)
def test_what_is_forged_is_refused(forgery, tmp_path):
    path = tmp_path / "forged.json"
    make, said = FORGED[forgery]
    path.write_text(sealed({"about": "gd", "proof": make()}), encoding="utf-8")
    assert said in checked(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"c":', '"c": "9/10", "c":'),
        lambda text: text.replace('"proof":', '"proof": {}, "proof":'),
        lambda text: text.replace('"about"', '"claim"'),
        lambda text: text.rstrip()[:-1],
        lambda text: "[" * 100_000,
        lambda text: text.replace('"c": "', '"c": "' + "9" * 5000),
    ],
)
def test_what_is_no_file_is_refused(change, tmp_path):
    path = tmp_path / "damaged.json"
    write_certificate(proof_of("gd"), path)
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    assert "proved" not in checked(path)


def test_what_a_file_claims_is_told_apart_from_what_is_proved(tmp_path):
    """The constants are those of the data, whatever the text says; the text is quoted."""
    path = tmp_path / "claims.json"
    file = proof_file(proof_of("diana"))
    assert file["about"].startswith("diana (gamma = ")
    assert file["about"].endswith("compressors with omega = 3")
    file["about"] = "gd\nproved for 9 clients with L = 1000000"
    path.write_text(sealed(file), encoding="utf-8")
    proved, claimed = checked(path).splitlines()
    assert proved.endswith("Psi for 5 clients with mu = 1, L = 30")
    assert claimed.startswith("claimed by the file, not checked")
    assert "1000000" in claimed


def checked(path, *options):
    """Return what the checker says of a file, as a command."""
    words = [sys.executable, *options, str(PAGE), str(path)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert "Traceback" not in ran.stderr
    assert (ran.returncode == 0) == ran.stdout.startswith("proved")
    return ran.stdout + ran.stderr


def test_a_gradient_at_the_solution_that_is_not_0_proves_nothing():
    """With grad f(x) for one there, x and grad f(x) are 0, and any decrease would be proved."""
    file = proof_file(certify(GD(0.1), FunctionClass(3, 1.0, 10.0)))["proof"]
    place, gradient = len(file["evaluations"]), file["evaluations"][0]["gradient"]
    nothing = [["0"] * len(block) for block in gradient]
    file["evaluations"].append({"class": 0, "point": nothing, "gradient": gradient})
    for form in (file["psi"], file["expected"]):
        form["values"].append("0")
    file["c"] = "99/100"
    file["inequalities"] = [
        {"multiplier": "100", "class": 0, "from": [a], "to": [b]}
        for a, b in [(1, place), (place, 1), (0, place), (place, 0)]
    ]
    assert refused(check_proof, file)


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (lambda text: text, [], "for 5 clients with mu = 1, L = 30"),
        (lambda text: text, ["-O"], "without -O"),
        (lambda text: text.replace('"c":', '"C":'), [], "no certificate"),
        (lambda text: text.replace('"multiplier": "', '"multiplier": "-'), [], "negative"),
    ],
)
def test_the_checker_as_a_command(change, options, said, tmp_path):
    path = tmp_path / "gd.json"
    write_certificate(proof_of("gd"), path)
    path.write_text(resealed(change(path.read_text(encoding="utf-8"))), encoding="utf-8")
    assert said in checked(path, *options)


def steps_of(file):
    """Return what is said of many local steps."""
    return next(one["steps"] for one in file["inequalities"] if "steps" in one)


def test_many_local_steps_are_one_inequality_that_is_checked():
    method, where = by_rule("5gcs-cc", 3, 1e3, 3.0)
    proof = certify(method, where)
    promised = 1 - METHODS["5gcs-cc"].theorems[0].rate(method, where)
    assert promised < float(proof.decrease) <= proof.bound <= float(proof.decrease) * (1 + 1e-9)
    file = proof_file(proof)["proof"]
    assert check_proof.check(file) == ""
    steps = steps_of(file)
    assert steps["number"] == method.K > 100


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(("kappa", "omega"), [(100.0, 4.0), (1e6, 3.0)])
def test_local_solves_that_end_by_a_criterion_are_checked(kappa, omega):
    method, where = by_rule("5gcs-cc", 3, kappa, omega, "ours-adaptive")
    proof, theorem = certify(method, where), METHODS["5gcs-cc"].theorems[0]
    assert 1 - theorem.rate(method, where) < float(proof.decrease) <= proof.bound
    file = proof_file(proof)["proof"]
    assert check_proof.check(file) == ""
    steps = steps_of(file)
    assert (steps["number"], Fraction(steps["pull"])) == (method.K, fraction(rational(method.tau)))
    place = next(i for i, one in enumerate(file["inequalities"]) if "steps" in one)
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
        assert refused(check_proof, changed(file, where_, change)), where_


def test_a_negative_function_value_is_a_negative_part():
    file = proof_file(proof_of("agd"))["proof"]
    negative = changed(file, ("psi", "values", 0), lambda _: "-1")
    assert check_proof.check(negative) == "Psi has a negative part"


def test_the_contraction_of_the_server_is_proved_and_checked():
    functions = FunctionClass(3, 1.0, 20.0, omega=2.0, alpha_down=0.5)
    proof = certify(EF21PDIANA(0.004, 0.3), functions)
    assert proof.verify()
    assert not replace(proof, functions=replace(functions, alpha_down=0.3)).verify()
    file = proof_file(proof)["proof"]
    assert check_proof.check(file) == ""
    assert check_proof.check(changed(file, ("classes", 1, "alpha"), lambda _: "3/10"))


@pytest.mark.long(keep=4)
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
    assert check_proof.check(proof_file(other)["proof"])


def test_the_average_is_as_convex_as_the_classes_are_in_the_mean():
    """Taken to be as convex as the least convex class, with the values of all, it was wrong."""
    classes = [ClientClass(1, 1.0, 20.0), ClientClass(3, 2.0, 5.0)]
    functions = FunctionClass.of_classes(classes, L_f=6.0)
    proof = certify(GD(0.25), functions)
    assert float(proof.decrease) == pytest.approx(1 - (1 - 0.25 * 1.75) ** 2, rel=1e-9)
    file = proof_file(proof)["proof"]
    assert check_proof.check(file) == ""
    assert refused(check_proof, changed(file, ("classes", -1, "mu"), lambda _: "2"))
    assert refused(check_proof, changed(file, ("classes", -1, "L"), lambda _: "30"))
    assert refused(check_proof, changed(file, ("evaluations", 0, "point", 0, 0), lambda _: "2"))


def test_a_potential_with_a_negative_part_proves_nothing():
    proof = proof_of("locodl")
    first, *others = proof.weights
    negative = replace(proof, weights=(first, *(-weight for weight in others)))
    assert not negative.verify()
    assert check_proof.check(proof_file(negative)["proof"]) == "Psi has a negative part"
