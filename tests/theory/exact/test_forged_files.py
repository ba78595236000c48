"""Every entry of a file changed, and forged families: refused, or what is printed is still true."""

import copy
import json
import sys
from fractions import Fraction
from functools import cache, partial

import check_proof
import numpy as np
import pytest
from by_rule import by_rule
from descents_by_class import descent_of
from forgeries import refused, resealed
from proofs_by_rule import proof_of
from quadratic_attack import refuted

from certibit import GD, ClientClass, FunctionClass, certify
from certibit.theory.export.proof_file import proof_file, sealed

CLASSES = [ClientClass(1, 1.0, 20.0), ClientClass(3, 2.0, 5.0)]


CERTIFICATES = {
    **{name: partial(proof_of, name) for name in ("gd", "ef21", "locodl", "agd", "diana")},
    "classes": lambda: certify(GD(0.1), FunctionClass.of_classes(CLASSES)),
    "local steps": lambda: certify(*by_rule("5gcs-cc", 3, 1e3, 3.0)),
}
DESCENTS = [("gd", "nonconvex"), ("gd", "convex"), ("ef21", "nonconvex")]


@cache
def _written(name):
    proof = CERTIFICATES[name]() if name in CERTIFICATES else descent_of(*name)
    return json.dumps(proof_file(proof)["proof"])


def checked(name):
    """Return a file."""
    return json.loads(_written(name))


def places(entry, path=()):
    """Yield the keys to every entry of a file."""
    if not isinstance(entry, dict | list):
        return
    for key, one in entry.items() if isinstance(entry, dict) else enumerate(entry):
        yield (*path, key)
        yield from places(one, (*path, key))


def changes(file, path):
    """Yield files with the entry at a place changed."""
    *above, last = path

    def put(make):
        other = copy.deepcopy(file)
        parent = other
        for key in above:
            parent = parent[key]
        make(parent)
        return other

    parent = file
    for key in above:
        parent = parent[key]
    value = parent[last]
    others = []
    if isinstance(value, str) and value.lstrip("-").replace("/", "").isdigit():
        x = Fraction(value)
        more = x * Fraction(1001, 1000)
        others = [str(y) for y in {Fraction(0), Fraction(1), -x, 2 * x, x + 1, more, x / 2}]
    elif isinstance(value, int):
        others = [value + 1, value - 1, 0]
    for other in others:
        if other != value:
            yield put(lambda parent, other=other: parent.__setitem__(last, other))
    yield put(lambda parent: parent.pop(last))
    if isinstance(parent, list):
        yield put(lambda parent: parent.insert(last, copy.deepcopy(parent[last])))
        if last:
            yield put(lambda parent: parent.insert(0, parent.pop(last)))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", [*CERTIFICATES, *DESCENTS], ids=str)
def test_every_change_is_refused_or_still_true(name):
    """What is accepted is tried on quadratics with the constants that the changed file prints."""
    file = checked(name)
    assert not refused(check_proof, file)
    assert not refuted(file)
    tried = accepted = 0
    for path in places(file):
        for other in changes(file, path):
            tried += 1
            if not refused(check_proof, other):
                accepted += 1
                assert not refuted(other), path
                assert path != ("c",) or Fraction(other["c"]) <= Fraction(file["c"])
    assert tried > 200
    assert accepted < tried / 4


@pytest.mark.parametrize("name", [*CERTIFICATES, ("ef21", "nonconvex")], ids=str)
def test_the_attack_refutes_a_larger_constant(name):
    file = checked(name)
    assert refuted(file | {"c": str(10 * Fraction(file["c"]))})


def nothing_like(vector):
    return [["0"] * len(block) for block in vector]


def motionless(name):
    """No gradient but 0: x is the solution, of which all is true, and the method does not move."""
    file = checked(name)
    for one in file["evaluations"]:
        one["gradient"] = nothing_like(one["gradient"])
    file["expected"] = file["psi"] | {"variance": "0"}
    values = ["0"] * len(file["psi"]["values"])
    file["expected"]["values"] = file["psi"]["values"] = values
    size = len(file["evaluations"]) + len(file["counts"])
    own = [one for one in file["evaluations"] if one["class"] == 0][:1]
    place = file["evaluations"].index(own[0])
    pairs = [([place], [size - 1]), ([size - 1], [place])]
    file["inequalities"] = [
        {"multiplier": "1000", "class": 0, "from": a, "to": b} for a, b in pairs
    ]
    return file, place


@pytest.mark.parametrize("name", ["gd", "ef21", "agd", "classes", ("gd", "convex")], ids=str)
@pytest.mark.parametrize("solutions", [True, False])
def test_a_gradient_of_0_is_refused(name, solutions):
    """With evaluations at the solution in the file, as in those before, and without."""
    file, place = motionless(name)
    file["c"] = "9/10"
    known = len(file["evaluations"])
    for one in file["inequalities"]:
        for end in ("from", "to"):
            one[end] = [place if one[end] == [place] else known]
    if solutions:
        file["evaluations"] += [
            {"class": kind, "point": nothing_like(own), "gradient": nothing_like(own)}
            for kind in range(len(file["counts"]) + 1)
            for own in [file["evaluations"][0]["point"]]
        ]
    assert refused(check_proof, file)


def _steps(file):
    return next(one for one in file["inequalities"] if "steps" in one)


def free_solve(file):
    """The gradients before and after the solve are any vectors, tied to no point."""
    one = _steps(file)
    one["vector"], one["error"] = nothing_like(one["vector"]), one["steps"]["end"]
    one["steps"]["pull"] = "1"


def known_end(file):
    """The end of the steps is no point of its own: what is known."""
    one = _steps(file)
    one["steps"]["end"] = file["evaluations"][0]["gradient"]


def solve_from_its_end(file):
    one = _steps(file)
    one["steps"]["from"] = one["steps"]["to"]


def gradient_of_another(file):
    file["evaluations"][1]["gradient"] = file["evaluations"][0]["gradient"]


def error_of_psi(file):
    """Psi is of what this step meets, and so is not known before it."""
    place = _steps(file)["steps"]["end"][0].index("1")
    file["psi"]["blocks"][0][place][place] = "1"


def no_deviations(file):
    """The part in which clients differ is left out, so that all clients are one."""
    for vector in (e[key] for e in file["evaluations"] for key in ("point", "gradient")):
        vector[1] = []
    for one in file["inequalities"]:
        for key in ("vector", "error"):
            if key in one:
                one[key][1] = []
        if "steps" in one:
            one["steps"]["end"][1] = []
    for one in file["messages"]:
        for key in {"vector", "contraction"} & set(one):
            one[key][1] = []
    file["psi"]["blocks"][1] = file["expected"]["blocks"][1] = []


@pytest.mark.parametrize(
    "forge",
    [free_solve, known_end, solve_from_its_end, gradient_of_another, error_of_psi, no_deviations],
)
def test_what_is_forged_of_local_steps_is_refused(forge):
    file = checked("local steps")
    forge(file)
    assert refused(check_proof, file)


def any_vector(about):
    """An inequality of local steps that says |w|^2 <= 0 of a vector w."""
    nothing = nothing_like(about)
    steps = {"share": "0", "ridge": "1", "pull": "0", "size": "1", "number": 1, "ratio": "0"}
    steps |= {"to": [0], "from": [0], "end": nothing}
    one = {"multiplier": "1000", "class": 0, "steps": steps, "vector": nothing, "error": about}
    return {"unknown": one, "met": one | {"steps": steps | {"end": about}}}


@pytest.mark.parametrize("kind", ["unknown", "met"])
@pytest.mark.parametrize("part", ["below", "start"])
def test_local_steps_that_prove_psi_or_its_start_are_those_of_the_step(part, kind):
    file = proof_file(descent_of("gd", "convex"))["proof"]
    assert not refused(check_proof, file)
    forged = any_vector(file["evaluations"][0]["point"])[kind]
    if part == "below":
        file["below"] = [*file["below"], forged]
    else:
        file["start"]["inequalities"] = [*file["start"]["inequalities"], forged]
    assert refused(check_proof, file)


@pytest.mark.parametrize("name", ["polyak lojasiewicz", "quasi strong convexity"])
def test_what_is_known_of_f_at_its_solution_is_not_used_beside_g(name):
    file = checked("locodl")
    assert not refused(check_proof, file)
    assert refused(check_proof, file | {"assumptions": [{name: "1/2"}]})


def gradient_descent_on_f_and_g(measure, c, used):
    """Return a file about x - (grad f(x) + grad g(x))/4 and a measure of f; |x - x*|^2 is Psi."""

    def square(v):
        return {"blocks": [[[str(a * b) for b in v] for a in v], []], **nothing}

    nothing = {"values": ["0", "0"], "variance": "0"}
    x, of_f, of_g = np.eye(3, dtype=int)
    points = [
        {"class": kind, "point": [list(map(str, x)), []], "gradient": [list(map(str, g)), []]}
        for kind, g in enumerate((of_f, of_g))
    ]
    psi = square(x)
    return {
        "counts": [1],
        "classes": [{"mu": "0", "L": "1", "alpha": "1", "omega": "0"}] * 2,
        "evaluations": points,
        "psi": psi,
        "expected": square([1, Fraction(-1, 4), Fraction(-1, 4)]),
        "inequalities": [
            {"multiplier": "1/2", "class": kind, "from": [start], "to": [end]}
            for kind, start, end in used
        ],
        "start": {"psi": psi, "inequalities": []},
        **{"measure": measure, "c": c, "solution": 1, "e": "0", "d": "0", "growth": "0"},
        **{name: [] for name in ("assumptions", "messages", "equalities", "below")},
    }


BOTH_OF_G = [(1, 3, 1), (1, 1, 3)]


@pytest.mark.parametrize(
    ("measure", "c", "of_f"),
    [("at", "1/2", [(0, 2, 0)]), ("slope at", "1/4", [(0, 2, 0), (0, 0, 2)])],
)
def test_no_measure_of_f_is_proved_beside_g(measure, c, of_f):
    """Both are less what they are at the solution of f + g, where grad f is not 0."""
    file = gradient_descent_on_f_and_g({measure: [0]}, c, of_f + BOTH_OF_G)
    assert refused(check_proof, file)
    alone = gradient_descent_on_f_and_g({}, "0", [*of_f, (0, 0, 2)][:2] + BOTH_OF_G)
    assert not refused(check_proof, alone)


def test_a_contraction_is_told_where_a_message_contracts_and_psi_of_the_state_at_rest():
    file = proof_file(descent_of("sgd", "stochastic"))["proof"]
    for own in file["classes"]:
        own["alpha"] = "1/2"
    assert "alpha" not in check_proof.told(file)
    assert "alpha = " in check_proof.told(proof_file(descent_of("ef21", "nonconvex"))["proof"])
    told = check_proof.told(proof_file(descent_of("gd", "convex"))["proof"])
    assert "Psi <= |x - x*|^2 in the state at rest about x" in told


def test_the_class_of_g_is_told_where_the_start_alone_uses_it():
    file = proof_file(descent_of("gd", "convex"))["proof"]
    assert "g and the server" not in check_proof.told(file)
    of_g = {"multiplier": "0", "class": len(file["counts"]), "from": [0], "to": [0]}
    for part in (file["below"], file["start"]["inequalities"]):
        part.append(of_g)
        assert "g and the server with mu = 0" in check_proof.told(file)
        part.pop()


def test_a_solve_that_ends_by_a_criterion_is_tied_to_its_point():
    """The gradients before and after the pull were any vectors, such as 0 and the end itself."""
    file = proof_file(certify(*by_rule("5gcs-cc", 3, 100.0, 4.0, "ours-adaptive")))["proof"]
    assert not refused(check_proof, file)
    one = _steps(file)
    assert one["steps"]["pull"] != "0"
    nothing, end = nothing_like(one["vector"]), one["steps"]["end"]
    another = one | {"multiplier": "1000", "vector": nothing, "error": end}
    assert refused(check_proof, file | {"inequalities": [*file["inequalities"], another]})
    (gradient,) = (file["evaluations"][place]["gradient"] for place in one["steps"]["to"])
    for vectors in ({"vector": nothing}, {"error": end}, {"vector": gradient, "error": nothing}):
        other = copy.deepcopy(file)
        _steps(other).update(vectors)
        with pytest.raises(AssertionError):
            check_proof.require_sense(check_proof.opened(other))


@pytest.mark.parametrize(
    ("variance", "e", "d"),
    [("1/300", "1/300", "0"), ("1/300", "1", "0"), ("0", "1", "0"), ("0", "0", "1")],
)
def test_a_variance_without_noise_or_assumption_is_refused(variance, e, d):
    """What is added to the promise was not printed."""
    file = checked("gd")
    assert not refused(check_proof, file)
    expected = file["expected"] | {"variance": variance}
    assert refused(check_proof, file | {"expected": expected, "e": e, "d": d})


def test_a_noise_in_psi_is_refused():
    """E[Psi+] <= Psi - c M is of a state, and not of the noise of the step."""
    file = proof_file(descent_of("sgd", "stochastic"))["proof"]
    place = file["messages"][0]["sample"][0].index("1")
    assert not refused(check_proof, file)
    file["psi"]["blocks"][0][place][place] = "1"
    file["expected"]["blocks"][0][place][place] = "-100"
    assert refused(check_proof, file)


def test_a_noise_of_clients_in_a_gradient_before_it_is_refused():
    """A mean gradient depends on all noises of the clients, also on what sums to 0 of them."""
    file = proof_file(descent_of("sgd", "stochastic"))["proof"]
    last = file["evaluations"][1]
    noise = file["messages"][0]["sample"]
    for b in (0, 1):  # the order of the noise and of the gradient, turned in one block
        assert last["gradient"][b].index("1") > noise[b].index("1")
    last["gradient"][0], noise[0] = noise[0], last["gradient"][0]
    last["point"][0] = [
        "0" if noise[0][j] == "1" or last["gradient"][0][j] == "1" else x
        for j, x in enumerate(last["point"][0])
    ]
    last["point"][1] = [*noise[1]]
    assert refused(check_proof, file)


def test_a_noise_that_grows_is_not_that_of_a_sample_at_the_solution():
    """There it would not have grown; no method asks for a gradient there."""
    file = proof_file(descent_of("sgd", "stochastic"))["proof"] | {"solution": 1}
    file["classes"] = [one | {"mu": "0"} for one in file["classes"]]
    (message,) = file["messages"]
    message["vector"] = nothing_like(message["vector"])
    with pytest.raises(AssertionError, match="of no gradient"):
        check_proof.lost(check_proof.opened(file), check_proof.numbers(message))


def test_local_steps_begin_and_end_at_no_solution_where_there_is_none():
    file = check_proof.opened(checked("local steps") | {"solution": 0})
    known = len(file["psi"]["values"])
    assert check_proof.end(file, 0, [known - 1])
    with pytest.raises(AssertionError, match="no solution"):
        check_proof.end(file, 0, [known])


NAMES = ["\nproved: all; infimum", "everything", "infimum ", "", "zeta"]


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_with_another_name_is_refused(name):
    file = proof_file(descent_of("sgd", "stochastic"))["proof"]
    assert not refused(check_proof, file)
    assert refused(check_proof, file | {"assumptions": [*file["assumptions"], {name: "1"}]})
    assert refused(check_proof, file | {"noise": file["noise"] | {name: "0"}})


@pytest.mark.parametrize("field", ["format", "sha256", "about", "unknowns", "proof"])
def test_an_old_or_altered_file_is_refused_in_a_sentence(field, tmp_path, monkeypatch, capsys):
    path = tmp_path / "proof.json"
    given = json.loads(sealed(proof_file(proof_of("gd"))))
    given[field] = {} if field == "proof" else "1"
    path.write_text(json.dumps(given), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["check", str(path)])
    arguments = check_proof.check, "proof", check_proof.told, "Psi is"
    with pytest.raises(SystemExit) as reason:
        check_proof.main(*arguments)
    assert ("format" if field == "format" else "altered") in str(reason.value)
    if field in {"about", "unknowns"}:  # with its own hash it is another file, that is true
        path.write_text(resealed(json.dumps(given)), encoding="utf-8")
        check_proof.main(*arguments)
        assert "proved" in capsys.readouterr().out


def test_what_is_assumed_of_local_steps_is_printed():
    file = checked("local steps")
    (line,) = check_proof.of_local_steps(file)
    steps = _steps(file)["steps"]
    assert f"{steps['number']} steps of size {steps['size']}" in line
