"""The file of a descent, and the checker of the file, which needs no certibit."""

import copy
import json
from dataclasses import replace
from fractions import Fraction
from functools import cache

import check_proof
import pytest
from descents_by_class import ASKED, METHODS, SMOOTH, descent_of
from forgeries import changed, refused

from certibit import Assumption, Refusal, certify
from certibit.theory.export.export import write_certificate
from certibit.theory.export.proof_file import proof_file


@cache
def written(name, label):
    """Return the file of a method over a class."""
    return json.dumps(proof_file(descent_of(name, label)))


def descent(name, label):
    return json.loads(written(name, label))["proof"]


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("name", "label"), ASKED)
def test_the_checker_accepts_what_is_written(name, label):
    assert check_proof.check(descent(name, label)) == ""


def more(x):
    return str(Fraction(x) * Fraction(1001, 1000) + Fraction(1, 1000))


def less(x):
    return str(Fraction(x) * Fraction(999, 1000) - Fraction(1, 1000))


CHANGES = [
    ("gd", "nonconvex", ("below",), lambda _: []),
    ("gd", "gradual", ("assumptions", 1, "polyak lojasiewicz"), less),
    ("gd", "gradual", ("c",), more),
    ("gd", "star", ("assumptions", 1, "quasi strong convexity"), lambda _: "0"),
    ("gd", "star", ("solution",), lambda _: 0),
    ("ef21", "uneven", ("assumptions", 1, "mean smoothness"), more),
    ("ef21", "biased", ("classes", 0, "omega"), more),
    ("marina", "similar", ("assumptions", 1, "similarity"), lambda _: "50"),
    ("marina", "joint", ("omega_joint",), more),
    ("marina", "joint", ("omega_joint",), lambda _: "-1"),
    ("diana", "nonconvex", ("classes", 0, "omega"), lambda _: "100"),
    ("diana", "nonconvex", ("equalities",), lambda _: []),
    ("sgd", "stochastic", ("e",), less),
    ("sgd", "stochastic", ("e",), lambda x: str(-Fraction(x))),
    ("sgd", "alone", ("noise", "relative"), more),
    ("sgd", "stochastic", ("counts", 0), lambda n: n - 1),
    ("sgd", "stochastic", ("expected", "variance"), more),
    ("sgd", "stochastic", ("noise", "gap"), lambda _: "5"),
    ("sgd", "alone", ("messages", 0, "vector"), lambda v: [["0"] * len(x) for x in v]),
    ("sgd", "convex and growing", ("noise", "relative"), lambda _: "1"),
    ("local-sgd", "apart", ("solution",), lambda _: 1),
    ("sgd", "growing", ("growth",), less),
    ("sgd", "growing", ("growth",), lambda x: str(-Fraction(x))),
    ("sgd", "growing", ("noise", "gap"), more),
    ("sgd", "growing", ("messages", 0, "at"), lambda _: [1]),
    ("sgd", "convex and growing", ("noise", "gap"), more),
    ("local-sgd", "apart", ("d",), less),
    ("local-sgd", "apart", ("d",), lambda x: str(-Fraction(x))),
    ("local-sgd", "apart", ("assumptions", 1, "zeta"), more),
    ("local-sgd", "apart", ("assumptions", 1, "bounded dissimilarity"), more),
    ("local-sgd", "apart and stochastic", ("d",), less),
    ("local-sgd", "apart and stochastic", ("e",), less),
    ("sgd", "expected", ("noise", "expected"), more),
    ("sgd", "expected", ("e",), less),
    ("sgd", "expected", ("messages", 1, "at"), lambda _: [1]),
    ("sgd", "expected", ("solution",), lambda _: 0),
    ("l-svrg", "expected", ("noise", "expected"), more),
    ("l-svrg", "expected", ("c",), more),
    ("l-svrg", "expected", ("psi", "values", 0), more),
    ("l-svrg", "expected", ("classes", 0, "mu"), less),
    ("sgd", "searched", ("c",), more),
    ("sgd", "searched", ("psi", "values", 0), more),
    ("page", "sampled", ("noise", "difference"), more),
    ("page", "sampled", ("messages", 0, "vector", 0, 1), more),
    ("vr-marina", "sampled", ("noise", "difference"), more),
    ("two-points", "sampled", ("noise", "difference"), more),
    ("two-points", "sampled", ("messages", 1, "with"), lambda _: 1),
]


@pytest.mark.long(keep=4)
@pytest.mark.parametrize(("name", "label", "where", "change"), CHANGES)
def test_the_checker_refuses_what_is_changed(name, label, where, change):
    file = descent(name, label)
    assert not refused(check_proof, file)
    assert refused(check_proof, changed(file, where, change))


@pytest.mark.parametrize("kind", ["inequalities", "below"])
def test_a_multiplier_below_0_is_refused(kind):
    file = descent("ef21", "nonconvex")
    for place in range(len(file[kind])):
        other = changed(file, (kind, place, "multiplier"), lambda y: str(-Fraction(y)))
        assert refused(check_proof, other)


def units(file, place):
    """Return an unknown in all blocks, 0 where a block has none at this place."""
    sizes = map(len, file["psi"]["blocks"])
    return [[str(int(j == place)) for j in range(size)] for size in sizes]


def contraction_as_noise():
    """What a contraction loses is said to be orthogonal to what was sent."""
    file = descent("ef21", "nonconvex")
    file["equalities"] = [
        {"multiplier": "1", "message": 0, "block": 0, "known": file["messages"][0]["vector"][0]}
    ]
    return file


def noise_along_what_follows():
    """A noise is said to be orthogonal to a gradient at a point that depends on the noise."""
    file = descent("sgd", "stochastic")
    noise = file["messages"][0]["sample"][0]
    late = next(e for e in file["evaluations"] if e["point"][0][noise.index("1")] != "0")
    file["equalities"].append(
        {"multiplier": "1", "message": 0, "block": 0, "known": late["gradient"][0]}
    )
    return file


def gradient_before_its_point():
    file = descent("sgd", "stochastic")
    noise = file["messages"][0]["sample"]
    early = min(range(len(file["evaluations"])), key=lambda j: -len(file["evaluations"]) + j)
    file["evaluations"][early]["point"] = noise
    return file


def one_noise_of_two_messages():
    file = descent("diana", "nonconvex")
    file["messages"].append(copy.deepcopy(file["messages"][0]))
    return file


def one_gradient_twice():
    file = descent("gd", "nonconvex")
    again = dict(file["evaluations"][0], gradient=units(file, len(file["psi"]["blocks"][0]) - 1))
    file["evaluations"].append(again)
    return file


def links_of_one_client():
    file = descent("sgd", "stochastic")
    file["counts"] = [1]
    return file


def joint_and_independent():
    file = descent("marina", "joint")
    file["equalities"].append({"multiplier": "1", "message": 0})
    return file


def noises_of_one_sample_as_orthogonal():
    file = descent("two-points", "sampled")
    first = file["messages"][0]["sample"][0]
    file["equalities"].append({"multiplier": "1", "message": 1, "block": 0, "known": first})
    return file


def a_sample_at_three_points():
    file = descent("two-points", "sampled")
    file["messages"][0]["with"] = 0
    file["messages"][0]["difference"] = file["messages"][0].pop("sample")
    return file


def a_sample_that_is_not_at_the_solution():
    """Whose variance is not at most sigma^2 by expected smoothness."""
    file = descent("sgd", "expected")
    file["messages"][0]["vector"] = file["evaluations"][0]["gradient"]
    return file


def changes_of_two_samples_compared():
    file = descent("l-svrg", "expected")
    assert any("between" in one for one in file["inequalities"])
    del file["messages"][1]["with"]
    return file


def changes_of_one_sample_as_orthogonal():
    file = descent("l-svrg", "expected")
    first = file["messages"][0]["difference"][0]
    file["equalities"].append({"multiplier": "1", "message": 1, "block": 0, "known": first})
    return file


def half_of_zeta():
    """With a quarter of d, which is before the square of the other half, too."""
    file = descent("local-sgd", "apart")
    file["assumptions"][1]["zeta"] = "1/2"
    return file | {"d": str(Fraction(file["d"]) / 4)}


def dissimilarity_as_noise():
    """What pays for the noise is said to pay for how much clients differ."""
    file = descent("local-sgd", "apart and stochastic")
    file["e"], file["d"] = "0", str(Fraction(file["e"]) + Fraction(file["d"]))
    return file


def with_message(file, law, vector, unknown=None, **more):
    """Return a file with one more message, of which a multiple of 0 is used."""
    nothing = [["0"] * len(block) for block in file["psi"]["blocks"]]
    message = {"class": 0, "vector": vector, law: unknown or nothing} | more
    number = len(file["messages"])
    file["messages"].append(message)
    file["inequalities"].append({"multiplier": "0", "message": number, "joint": 0})
    return file


def sampled_again(place):
    """One sample is taken again at a distance that is said to be an entry of an evaluation."""
    file = descent("sgd", "stochastic")
    file["noise"]["difference"] = "1"
    first, last = file["evaluations"][0], file["evaluations"][1]
    distance = {
        "point": [
            [str(Fraction(a) - Fraction(b)) for a, b in zip(x, y, strict=True)]
            for x, y in zip(last["point"], first["point"], strict=True)
        ],
        "gradient": first["gradient"],
    }
    return with_message(file, "difference", distance[place], **{"with": 0})


def a_sample_at_a_point_that_depends_on_it():
    return sampled_again("point")


def a_sample_at_points_of_the_clients():
    return sampled_again("gradient")


def noise_of_the_server_as_joint():
    file = descent("marina", "joint")
    file = with_message(file, "noise", units(file, 0), **{"class": 1})
    file["inequalities"][-1]["joint"] = 1
    return file


def a_gradient_as_noise():
    file = descent("sgd", "stochastic")
    first, last = file["evaluations"][0], file["evaluations"][1]
    return with_message(file, "noise", first["gradient"], last["gradient"])


def e_paid_by_a_negative_mean():
    """E[Psi+] = ... - e sigma^2 is below 0, and SGD with e = 0 was accepted."""
    file = descent("sgd", "expected")
    file["expected"]["variance"], file["e"] = f"-{file['e']}", "0"
    return file


def a_variance_of_a_state():
    file = descent("sgd", "stochastic")
    file["psi"]["variance"] = "1000"
    return file


FORGED = [
    a_sample_at_a_point_that_depends_on_it, a_sample_at_points_of_the_clients,
    noise_of_the_server_as_joint, a_gradient_as_noise,
    a_sample_that_is_not_at_the_solution, changes_of_two_samples_compared,
    changes_of_one_sample_as_orthogonal, dissimilarity_as_noise,
    noises_of_one_sample_as_orthogonal, a_sample_at_three_points,
    contraction_as_noise, noise_along_what_follows, gradient_before_its_point,
    one_noise_of_two_messages,
    half_of_zeta, one_gradient_twice, links_of_one_client, joint_and_independent,
    e_paid_by_a_negative_mean, a_variance_of_a_state,
]  # fmt: skip


@pytest.mark.long(keep=4)
@pytest.mark.parametrize("forge", FORGED)
def test_what_is_forged_is_refused(forge):
    assert refused(check_proof, forge())


class Own(Assumption):
    """An assumption of a user, that the file does not know."""


def test_what_has_no_word_is_refused(tmp_path):
    own = replace(SMOOTH, assumptions=(Own(),))
    with pytest.raises(Refusal, match="no word in the file"):
        proof_file(certify(METHODS["gd"], own))
    with pytest.raises(Refusal, match="no word in the file"):
        write_certificate(certify(METHODS["gd"], own), tmp_path / "gd.v")
    assert not list(tmp_path.iterdir())
