"""Torch modules as problems: gradients of all clients and runs, and the engine on them."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from certibit import CARDS, GD, SGD, Budget, NeuralProblem, Refusal, compressor, parameters, run
from certibit.data.deep.module_gradients import ModuleGradients
from certibit.data.deep.neural_problem import ExampleBatch
from certibit.solvers.libraries import transfer

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn
CLIENTS, EXAMPLES, RUNS = 3, 5, 2


class Recurrent(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.last = layer(4, 5, batch_first=True), nn.Linear(5, 3)

    def forward(self, x):
        return self.last(self.layer(x.reshape(len(x), 2, 4))[0][:, -1])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.last = nn.MultiheadAttention(4, 2, batch_first=True), nn.Linear(4, 3)

    def forward(self, x):
        x = x.reshape(len(x), 2, 4)
        return self.last(self.layer(x, x, x, need_weights=False)[0].mean(dim=1))


MODULES = {
    "linear": lambda: nn.Linear(8, 3),
    "layers": lambda: nn.Sequential(nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 3)),
    "convolution": lambda: nn.Sequential(
        nn.Unflatten(1, (1, 8)), nn.Conv1d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 3)
    ),
    "gru": lambda: Recurrent(nn.GRU),
    "lstm": lambda: Recurrent(nn.LSTM),
    "attention": Attention,
}


def made(kind, rule="shuffled"):
    torch.manual_seed(0)
    generator = np.random.default_rng(0)
    inputs = generator.normal(size=(CLIENTS * EXAMPLES, 8))
    labels = generator.integers(3, size=CLIENTS * EXAMPLES)
    module = MODULES[kind]().double()
    return NeuralProblem.of(
        module, nn.functional.cross_entropy, inputs, labels, clients=CLIENTS, rule=rule
    )


def by_hand(problem, x, client):
    """Return loss and gradient of one client at one point, by torch alone."""
    module = problem.model.module
    torch.nn.utils.vector_to_parameters(torch.tensor(x), module.parameters())
    module.zero_grad()
    loss = nn.functional.cross_entropy(module(problem.inputs[client]), problem.labels[client])
    loss.backward()
    return loss.item(), torch.cat([p.grad.ravel() for p in module.parameters()]).numpy()


@pytest.mark.long
@pytest.mark.parametrize("kind", MODULES)
def test_losses_and_gradients_are_those_of_torch(kind):
    problem = made(kind)
    x = np.random.default_rng(1).normal(size=(CLIENTS, problem.d, RUNS))
    gradients, losses = problem.grad(x), problem.client_values(x)
    shared = problem.grad(x[:1])
    assert gradients.shape == (CLIENTS, problem.d, RUNS)
    for client in range(CLIENTS):
        for run_ in range(RUNS):
            loss, gradient = by_hand(problem, x[client, :, run_], client)
            np.testing.assert_allclose(losses[client, run_], loss, rtol=1e-12)
            np.testing.assert_allclose(gradients[client, :, run_], gradient, atol=1e-13)
            _, gradient = by_hand(problem, x[0, :, run_], client)
            np.testing.assert_allclose(shared[client, :, run_], gradient, atol=1e-13)


def test_a_run_changes_no_parameter_of_the_module():
    problem = made("gru")
    before = problem.model.start.tolist()
    run(GD(gamma=0.1), problem, seeds=1, budget=Budget(rounds=3))
    assert ModuleGradients(problem.model.module, problem.model.loss).start.tolist() == before


def least_squares(**options):
    generator = np.random.default_rng(0)
    rows, targets = generator.normal(size=(4, 6, 3)), generator.normal(size=(4, 6))
    module = nn.Linear(3, 1, bias=False).double()

    def loss(outputs, labels):
        return nn.functional.mse_loss(outputs[:, 0], labels) / 2

    return NeuralProblem.of(module, loss, rows, targets, **options)


class ByHand(NeuralProblem):
    """The f_i of least squares by numpy."""

    def grad(self, x):
        rows, targets = self.inputs.numpy(), self.labels.numpy()
        return rows.transpose(0, 2, 1) @ (rows @ x - targets[..., None]) / rows.shape[1]

    def grad_of_examples(self, x, places):
        client = np.arange(len(places))[:, None, None]
        rows, targets = self.inputs.numpy()[client, places], self.labels.numpy()[client, places]
        residuals = (
            np.einsum("nbrd,ndr->nbr", rows, np.broadcast_to(x, (4, *x.shape[1:]))) - targets
        )
        return np.einsum("nbrd,nbr->ndr", rows, residuals) / places.shape[1]

    def client_values(self, x):
        rows, targets = self.inputs.numpy(), self.labels.numpy()
        return ((rows @ x - targets[..., None]) ** 2).mean(axis=1) / 2


STEP = {"gamma": 0.1}
CLIPPED = {"eta": 0.1, "gamma": 0.3, "I": 2}
GIVEN = {
    "diana": {**STEP, "alpha": 0.3},
    "scaffold": {"K": 3, "eta_l": 0.1, "eta_g": 1.0, "m": 2},
    "fedcomgate": {"K": 3, "eta": 0.1, "gamma_s": 1.0, "alpha": 0.3},
    "ef-bv": {**STEP, "lambda_": 0.5, "nu": 0.5},
    "ef21": STEP,
    "econtrol": {**STEP, "b": 0.5},
    "marina": {**STEP, "p": 0.5},
    "dasha": {**STEP, "a": 0.3},
    "page": {**STEP, "p": 0.5},
    "vr-marina": {**STEP, "p": 0.5},
    "dasha-page": {**STEP, "a": 0.3, "p": 0.5},
    "dasha-mvr": {**STEP, "a": 0.3, "b": 0.5},
    "l-svrg": {**STEP, "p": 0.5},
    "vr-diana": {**STEP, "alpha": 0.3, "p": 0.5},
    "local-sgd": {**STEP, "I": 2},
    "gd": STEP,
    "sgd": STEP,
    "ef21-sgdm": {**STEP, "eta": 0.5},
    "ef": STEP,
    "episode": {**CLIPPED, "S": 2},
    "episode-plus-plus": {**CLIPPED, "S": 2},
    "celgc": CLIPPED,
    "clipped-scaffold": CLIPPED,
    "naive-parallel-clip": CLIPPED,
    "clipped-minibatch-sgd": CLIPPED,
    "clipped-sgd": CLIPPED,
    "normalised-gd": {"eta": 0.1, "beta": 0.5, "I": 2},
    "momentum-clipping": {**CLIPPED, "beta": 0.5, "nu": 0.5},
    "clip21": {**STEP, "tau": 0.5},
    "normalised-ef21": STEP,
}
"""Parameters of every method of the catalogue that runs without strong convexity."""


def test_all_methods_are_tried():
    assert {
        name
        for name, card in CARDS.items()
        if card.method.needs.nonconvex or not card.method.needs.strongly_convex
    } == set(GIVEN)


@pytest.mark.parametrize("batch", [None, 2], ids=["exact", "batch"])
@pytest.mark.parametrize("name", GIVEN)
def test_methods_run_on_a_module_as_on_the_same_functions_of_numpy(name, batch):
    problem = least_squares(batch=batch)
    method = CARDS[name].method(**GIVEN[name])
    kind = method.needs.compressor
    sent = None if kind is None else compressor("rand-k:1" if kind == "unbiased" else "top-k:1")
    found, expected = (
        run(method, each, sent, seeds=2, budget=Budget(rounds=8))
        for each in (problem, ByHand(**vars(problem)))
    )
    for column in ("gap", "squared_gradient"):
        np.testing.assert_allclose(
            found.columns[column], expected.columns[column], rtol=1e-10, atol=1e-15
        )
    for column in ("uplink_bits", "gradients", "rounds"):
        assert (found.columns[column] == expected.columns[column]).all()


def test_batches_are_drawn_from_the_own_examples_of_a_client():
    problem = made("gru")
    x = np.random.default_rng(1).normal(size=(CLIENTS, problem.d, 1))
    every = np.broadcast_to(np.arange(EXAMPLES), (CLIENTS, 1, EXAMPLES))
    alone = problem.grad_of_examples(np.repeat(x, EXAMPLES, axis=2), every)
    np.testing.assert_allclose(alone.mean(axis=2, keepdims=True), problem.grad(x), atol=1e-13)
    places = np.array([0, 4, 4]).reshape(1, 3, 1).repeat(CLIENTS, axis=0)
    three = problem.grad_of_examples(x, places)[..., 0]
    np.testing.assert_allclose(three, (alone[..., 0] + 2 * alone[..., 4]) / 3, atol=1e-13)
    uniforms = (places + 0.99) / EXAMPLES
    drawn = ExampleBatch(3).gradient(problem, x, uniforms, exact=None)
    np.testing.assert_array_equal(drawn[..., 0], three)


def test_gradients_are_counted_in_examples():
    problem, budget = least_squares(batch=2), Budget(rounds=3)
    for name in ("sgd", "gd"):
        sampled = run(CARDS[name].method(gamma=0.1), problem, seeds=1, budget=budget)
        assert sampled.final("gradients") == 3 * 2
    exact = run(CARDS["page"].method(gamma=0.1, p=1.0), problem, seeds=1, budget=budget)
    assert exact.final("gradients") == 4 * problem.m


@pytest.mark.parametrize("b", [0, -1, 1.5, True])
def test_batches_that_are_none_are_refused(b):
    with pytest.raises(Refusal, match=f"a batch of {b!r} examples"):
        least_squares(batch=b)


def test_parameters_of_a_grid_are_runs():
    problem = made("gru")
    budget, gammas = Budget(rounds=4), np.array([0.1, 0.7])
    both = run(GD(gamma=gammas.reshape(1, 1, 2)), problem, seeds=[0, 0],
               budget=budget)  # fmt: skip
    alone = [run(GD(gamma=g), problem, seeds=1, budget=budget) for g in gammas]
    np.testing.assert_allclose(both.final("gap"), [t.final("gap")[0] for t in alone], rtol=1e-10)


def test_accuracy_counts_right_answers():
    problem = made("layers")
    x = np.random.default_rng(1).normal(size=(1, problem.d, RUNS))
    outputs = [
        problem.model.outputs(p, problem.inputs.flatten(0, 1)) for p in problem.model.points(x)[0]
    ]
    right = [
        (o.detach().numpy().argmax(1) == problem.labels.flatten().numpy()).mean() for o in outputs
    ]
    assert problem.accuracy(x).tolist() == right


def test_it_says_which_promises_mean_nothing():
    problem = made("linear")
    trace = run(GD(gamma=0.1), problem, seeds=1, budget=Budget(rounds=1))
    assert "no theorem speaks" in trace.specification["problem"]["promises"]
    with pytest.raises(Refusal, match="does not state; give "):
        parameters("gd", problem)


def test_a_fingerprint_tells_problems_apart():
    problem = made("gru")
    assert problem.fingerprint == made("gru").fingerprint
    others = [
        made("lstm"),
        made("gru", "similarity:0"),
        replace(problem, lower_bound=-1.0),
        replace(problem, x_0=problem.x_0 + 1),
        replace(problem, labels=1 - problem.labels),
        replace(problem, model=replace(problem.model, loss=nn.functional.mse_loss)),
    ]
    assert len({problem.fingerprint, *(other.fingerprint for other in others)}) == 7


def scaled_loss(scale):
    def loss(outputs, labels):
        return scale * nn.functional.cross_entropy(outputs, labels)

    return loss


def test_a_loss_is_told_by_what_it_encloses():
    problem = made("linear")
    several = [
        replace(problem, model=replace(problem.model, loss=scaled_loss(scale))).fingerprint
        for scale in (1.0, 2.0, 1.0)
    ]
    assert several[0] == several[2] != several[1]


DATA = np.zeros((6, 8)), np.zeros(6, dtype=int)
REFUSED = {
    "no module": (lambda: 3, DATA, {"clients": 2}, "3 is no module"),
    "no parameters": (nn.Tanh, DATA, {"clients": 2}, "Tanh has no parameters"),
    "chance": (
        lambda: nn.Sequential(nn.Linear(8, 3), nn.Dropout()), DATA, {"clients": 2},
        "Dropout makes an output depend on chance",
    ),
    "others": (
        lambda: nn.Sequential(nn.Linear(8, 3), nn.BatchNorm1d(3)), DATA, {"clients": 2},
        "BatchNorm1d makes an output depend",
    ),
    "types": (
        lambda: nn.Sequential(nn.Linear(8, 3), nn.Linear(3, 3).double()), DATA, {"clients": 2},
        "parameters of torch.float32, torch.float64",
    ),
    "labels": (lambda: nn.Linear(8, 3), (DATA[0], DATA[1][:5]), {"clients": 2}, "6 inputs and 5"),
    "not by client": (lambda: nn.Linear(8, 3), DATA, {}, "not those of every client"),
    "rule": (lambda: nn.Linear(8, 3), DATA, {"clients": 2, "rule": "even"}, "'even' is unknown"),
    "too many": (lambda: nn.Linear(8, 3), DATA, {"clients": 7}, "7 clients"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_misfits_are_refused(case):
    module, (inputs, labels), options, words = REFUSED[case]
    with pytest.raises(Refusal, match=words):
        NeuralProblem.of(module(), nn.functional.cross_entropy, inputs, labels, **options)


@pytest.mark.parametrize("method", [GD(gamma=0.1), SGD(gamma=0.1)], ids=["exact", "batches"])
def test_runs_on_torch_are_those_on_numpy(method):
    """Points, samples and models are tensors; the loss, its gradient and the accuracy are equal."""
    problem = replace(made("gru"), noise=ExampleBatch(2))
    options = {"seeds": 2, "budget": Budget(rounds=5), "keep_model": True}
    ours, theirs = (run(method, problem, library=name, **options) for name in ("numpy", "torch"))
    np.testing.assert_allclose(theirs.x, ours.x, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(theirs.columns["gap"], ours.columns["gap"], rtol=1e-12)
    moved = transfer(problem, "torch")
    at = torch.from_numpy(ours.x)
    np.testing.assert_array_equal(moved.accuracy(at), problem.accuracy(ours.x))
    assert all(isinstance(moved.grad(x), type(x)) for x in (at, ours.x))


def test_other_array_libraries_are_refused():
    with pytest.raises(Refusal, match="takes points of numpy or torch"):
        run(GD(gamma=0.1), made("linear"), seeds=1, budget=Budget(rounds=1),
            library="array-api-strict")  # fmt: skip


def test_without_torch_the_extra_is_named():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from certibit import NeuralProblem, Refusal\n"
        "try: NeuralProblem.of(None, None, [], [])\n"
        "except Refusal as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "torch is not installed; install certibit[torch]"


SIZES = (3, 5, 1)


def unequal(kind, **options):
    """Return a problem with clients of unequal size, and those of each of these clients alone."""
    generator = np.random.default_rng(0)
    rows = [generator.normal(size=(m, 8)) for m in SIZES]
    labels = [generator.integers(3, size=m) for m in SIZES]
    torch.manual_seed(0)
    module = MODULES[kind]().double()
    whole, *alone = (
        NeuralProblem.of(module, nn.functional.cross_entropy, *given, **options)
        for given in [
            (rows, labels),
            *((r[None], k[None]) for r, k in zip(rows, labels, strict=True)),
        ]
    )
    return whole, alone


@pytest.mark.parametrize("kind", MODULES)
def test_clients_of_unequal_size_are_those_of_a_loop(kind):
    """Losses, gradients and the accuracy, which counts every example once."""
    problem, several = unequal(kind)
    x = np.random.default_rng(1).normal(size=(CLIENTS, problem.d, RUNS))
    for of in ("grad", "client_values"):
        loop = [getattr(one, of)(x[i : i + 1]) for i, one in enumerate(several)]
        np.testing.assert_allclose(
            getattr(problem, of)(x), np.concatenate(loop), rtol=1e-12, atol=1e-13
        )
    right = sum(m * one.accuracy(x[:1]) for m, one in zip(SIZES, several, strict=True))
    np.testing.assert_allclose(problem.accuracy(x[:1]), right / sum(SIZES), rtol=1e-15)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_batches_of_unequal_clients_are_of_their_own_examples(library):
    problem, alone = unequal("layers", batch=2)
    problem = transfer(problem, library)
    x = np.random.default_rng(1).normal(size=(CLIENTS, problem.d, 1))
    for share in (0.0, 0.5, 0.99):
        uniforms = np.full((CLIENTS, 2, 1), share)
        given = (torch.from_numpy(u) if library == "torch" else u for u in (x, uniforms))
        found = np.asarray(problem.noise.gradient(problem, *given, exact=None))
        for client, m in enumerate(SIZES):
            place = np.full((1, 1, 1), int(share * m))
            expected = alone[client].grad_of_examples(x[client : client + 1], place)
            np.testing.assert_allclose(found[client], expected[0], atol=1e-13)


def test_runs_with_unequal_clients_converge_and_are_told_apart():
    problem, _ = unequal("linear", batch=2)
    trace = run(GD(gamma=0.5), problem, seeds=1, budget=Budget(rounds=300))
    assert trace.final("squared_gradient") < 0.01 * trace.columns["squared_gradient"][0]
    assert trace.final("gradients") == 300 * 2
    assert problem.noise.counted(problem, sampled=False) == max(SIZES)
    assert problem.fingerprint != replace(problem, sizes=problem.sizes.clip(max=4)).fingerprint


@pytest.mark.parametrize(
    ("inputs", "labels", "words"),
    [
        ([(3, 8), (2, 8)], [3, 1], "client 1 has 2 inputs and 1 labels"),
        ([(3, 8), (2, 8)], [3], "client 1 has 2 inputs and 0 labels"),
        ([(3, 8), (0, 8)], [3, 0], "client 1 has 0 inputs"),
        ([(3, 8), (2, 7)], [3, 2], r"the shapes \[\(7,\), \(8,\)\]"),
    ],
)
def test_unequal_clients_that_do_not_fit_are_refused(inputs, labels, words):
    with pytest.raises(Refusal, match=words):
        NeuralProblem.of(
            nn.Linear(8, 3), nn.functional.cross_entropy,
            list(map(np.zeros, inputs)), [np.zeros(m, dtype=int) for m in labels],
        )  # fmt: skip
