"""Parameters at the edge of what a certificate is for: each gets a right number or a sentence."""

import math
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from by_rule import by_rule

from certibit import EF21, PAGE, ClientClass, ClippedSGD, Refusal, certify, certify_steps, mean
from certibit.cli import main
from certibit.solvers.methods.gd import GD, State
from certibit.theory.catalogue.catalogue import CARDS, METHODS
from certibit.theory.certificates.summary import account
from certibit.theory.chains.certify_steps import attained_log_factor
from certibit.theory.function_class import FunctionClass
from certibit.theory.relaxed.certify_clipped import certify_clipped
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions

FUNCTIONS = FunctionClass(n=3, mu=1.0, L=10.0)


def of_numpy(method, number):
    """Return a method whose numbers are scalars of numpy."""
    kinds = {float: number, int: np.int64, tuple: lambda x: tuple(map(number, x))}
    pairs = ((one.name, getattr(method, one.name)) for one in fields(method))
    return replace(method, **{name: kinds.get(type(x), lambda x: x)(x) for name, x in pairs})


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("number", [np.float64, np.longdouble, np.array], ids=lambda x: x.__name__)
@pytest.mark.parametrize("name", ["gd", "locodl", "gradskip", "scaffold", "tamuna", "5gcs-cc"])
def test_numbers_of_numpy_are_numbers(name, number):
    method, where = by_rule(name, 3, 10.0, 2.0)
    other = of_numpy(method, number)
    assert other == method
    assert {type(getattr(other, one.name)) for one in fields(other)} <= {
        float,
        int,
        bool,
        str,
        tuple,
    }
    found = certify(other, where)
    assert found.decrease == pytest.approx(certify(method, where).decrease, rel=1e-6)
    assert found.verify()


def test_single_precision_and_integers_stand_for_themselves():
    assert GD(np.float32(0.1)).gamma == float(np.float32(0.1))
    assert certify(GD(np.float32(0.1)), FUNCTIONS).decrease == pytest.approx(0.19, rel=1e-6)
    assert type(GD(np.int64(1)).gamma) is int


def test_fractions_stand_for_themselves():
    """The step of descents mixed them with floats."""
    nonconvex = FunctionClass.nonconvex(3, L=1.0)
    assert GD(Fraction(1, 3)) == GD(1 / 3)
    assert certify(GD(Fraction(1, 3)), nonconvex).c == pytest.approx(11 / 36, rel=1e-6)
    found = certify(PAGE(0.1, Fraction(1, 3)), nonconvex, least=np.float32(0.01))
    assert found.verify()


def test_no_number_is_truncated():
    """A class with L0 = 1.75 in single precision had the certificates of L0 = 1."""
    method, (whole, *others) = ClippedSGD(0.2, 0.2), (7 / 4, np.float32(1.75), Fraction(7, 4))
    for name in ("L0", "L1", "sigma"):
        constants = {"L0": 1.0, "L1": 1.0}
        one, *same = (
            certify_clipped(method, RelaxedFunctions(**constants | {name: x / 16}, n=2))
            for x in (whole, *others)
        )
        assert {one.exact} == {other.exact for other in same}
    with pytest.raises(Refusal, match="would be rounded to 1"):
        certify_clipped(method, RelaxedFunctions(Decimal("1.75"), 1.0))


@pytest.mark.parametrize("joint", [-0.5, math.nan])
def test_messages_drawn_jointly_have_a_variance(joint):
    with pytest.raises(Refusal, match=r"omega_joint = .* must be at least 0"):
        FunctionClass.nonconvex(4, L=1.0, omega=1.0, omega_joint=joint)


@pytest.mark.parametrize("n", [0, 2.5])
def test_clients_of_relaxed_functions_are_counted(n):
    with pytest.raises(Refusal, match="clients are none; give an integer"):
        RelaxedFunctions(1.0, 1.0, n=n)


def test_a_class_of_functions_takes_numbers_of_numpy():
    given = FunctionClass(n=np.int64(3), mu=np.float64(1), L=np.float32(10))
    assert given == FUNCTIONS
    assert certify(GD(0.1), given).decrease == certify(GD(0.1), FUNCTIONS).decrease
    assert ClientClass(np.int32(2), np.float64(1), np.float64(10)) == ClientClass(2, 1.0, 10.0)
    with pytest.raises(Refusal, match="n = 0 is no number of clients"):
        FunctionClass(n=np.int64(0), mu=1.0, L=10.0)


@pytest.mark.parametrize("shape", [(1, 1, 2), (2,)], ids=str)
def test_one_number_for_each_run_has_no_certificate(shape):
    with pytest.raises(Refusal, match="gamma of gd is an array"):
        certify(GD(np.full(shape, 0.1)), FUNCTIONS)


LOSSLESS = [("ef21", 1.4), ("ef", 3.3), ("compressed-gd", 3.3), ("econtrol", 0.6)]
"""Methods with contractions, and the decrease of Psi without compression, times kappa: at least."""


@pytest.mark.long
@pytest.mark.parametrize("kappa", [10.0, 1000.0])
@pytest.mark.parametrize(("name", "least"), LOSSLESS)
def test_without_compression_error_feedback_is_certified(name, least, kappa):
    """Gradient descent was refused there, or called infeasible: alpha = 1 is no unknown error."""
    found = account(CARDS[name], *by_rule(name, 1 if name == "compressed-gd" else 10, kappa, 0.0))
    assert least / kappa * 0.99 < found.decrease < 4 / kappa


def test_the_tight_theorems_of_error_feedback_are_for_what_compresses():
    """At s = 0 the Psi of EF21 is 0 along runs, and that of EF does not see e."""
    for name in ("ef", "ef21"):
        (unmet,) = CARDS[name].about("potential")[-1].unmet(*by_rule(name, 3, 10.0, 0.0, "best"))
        assert unmet.statement == "alpha < 1"


@dataclass(frozen=True)
class Rooted(GD):
    """A step size that is a root."""

    def communicate(self, s, problem, channel):
        return State(s.x - np.sqrt(self.gamma) * mean(channel.send(problem.grad(s.x))))


@dataclass(frozen=True)
class Measured(GD):
    """A step that looks at the length of a vector, which is small."""

    def communicate(self, s, problem, channel):
        x = s.x - self.gamma * mean(channel.send(problem.grad(s.x)))
        return State(x if np.linalg.norm(np.asarray(x)) < math.inf else s.x)


@pytest.mark.parametrize(
    ("method", "told"),
    [(Rooted(0.01), "has no proof in rational numbers"), (Measured(0.1), "reads the numbers of")],
)
def test_what_has_no_rational_number_is_refused_in_a_sentence(method, told):
    """It ended in an error of the array that the numbers stand in."""
    with pytest.raises(Refusal, match=told):
        certify(method, FUNCTIONS, potential=METHODS["gd"].theorems[0])


def test_a_step_of_which_there_is_no_proof_is_not_exported(capsys, tmp_path):
    path = tmp_path / "rooted.py"
    path.write_text(
        "from dataclasses import dataclass\n"
        "import numpy as np\n"
        "from certibit.solvers.backend import mean\n"
        "from certibit.solvers.methods.gd import GD, State\n\n\n"
        "@dataclass(frozen=True)\n"
        "class Rooted(GD):\n"
        "    def communicate(self, s, problem, channel):\n"
        "        g = mean(channel.send(problem.grad(s.x)))\n"
        "        return State(s.x - np.sqrt(self.gamma) * g)\n",
        encoding="utf-8",
    )
    words = ["export", f"{path}:Rooted", str(tmp_path / "rooted.json")]
    assert main([*words, "--set", "gamma=0.01", "--kappa", "10"]) != 0
    said = " ".join(capsys.readouterr().err.split())
    assert "has no proof in rational numbers" in said
    assert "unforeseen" not in said


def test_so_many_steps_that_their_factor_is_no_float():
    """The factor of 10^9 steps was 0, of which each attains nothing."""
    chain = certify_steps(EF21(0.01), replace(FUNCTIONS, alpha=0.5), 10**9)
    assert math.exp(attained_log_factor(chain)) == 0.0
    each = -math.expm1(attained_log_factor(chain) / chain.steps)
    assert chain.decrease <= each * (1 + 1e-6)
    assert each == pytest.approx(chain.decrease, rel=0.05)


def test_a_few_steps_attain_the_power_of_their_factor():
    chain = certify_steps(GD(0.1), FUNCTIONS, 7)
    assert attained_log_factor(chain) == pytest.approx(14 * math.log(0.9), rel=1e-9)


@pytest.mark.parametrize("steps", [0, 10**9 + 1, 10**400])
def test_no_and_too_many_steps_are_refused(steps):
    with pytest.raises(Refusal, match="steps are not certified; give at least 1"):
        certify_steps(GD(0.1), FUNCTIONS, steps)


ROUND = [name for name, card in METHODS.items() if card.about("potential") and card.rules]


@pytest.mark.long(keep=8)
@pytest.mark.parametrize("name", ROUND)
def test_functions_that_are_all_but_round_are_certified(name):
    """At kappa = 1 + 1e-9 the decrease is that at 1, up to rounding; -7071 was certified."""
    method, where = by_rule(name, 3, 1 + 1e-9, 2.0)
    theorem = METHODS[name].best_theorem(method, where)
    promised = 1 - theorem.rate(method, where)
    found = certify(method, where, potential=theorem)
    assert found.decrease > 0.999 * promised
