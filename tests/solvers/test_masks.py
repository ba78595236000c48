"""Masks that depend on data are sent and counted; those that the channel gave are free."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from certibit import GD, Budget, Experiment, Quadratic, everyone, mean, run, where
from certibit.data.arrays import is_common
from certibit.data.errors import Refusal
from certibit.solvers.compressors.wire import decode_positions, encode_positions, position_bits
from certibit.solvers.simulation.iteration import simulated_world
from certibit.solvers.simulation.ledger import Ledger
from certibit.theory.checks.channel.accounts import accounts

N, D = 3, 4


@dataclass(frozen=True)
class Sending(GD):
    """Gradient descent, and what is sent of the gradients."""

    gamma: float = 0.05
    sent: Any = lambda v, c: c.send(v)

    name = "sending"

    def communicate(self, s, problem, channel):
        received = self.sent(problem.grad(s.x), channel)
        return type(s)(channel.broadcast(s.x - self.gamma * mean(received)))


class Bounded(Ledger):
    """A ledger for which the bits of a message are at most what a device takes them for."""

    def up(self, runs, bits, busiest, most=None):
        assert most is None or np.max(bits) <= most
        super().up(runs, bits, busiest, most)


def world(R=2):
    problem = Quadratic.random(N, D, mu=1.0, L=10.0)
    return simulated_world(Experiment.of(Sending(), problem), range(R))[0]


KNOWN = {
    "coin": lambda c: c.coin(0.5),
    "client coins": lambda c: c.client_coins((0.5,) * N),
    "cohort": lambda c: c.cohort(2),
    "owners": lambda c: c.ownership(2),
    "everyone": lambda c: everyone(np.zeros((N, D, 2))),
}
COMBINED = {
    "itself": lambda m, o: m,
    "the others": lambda m, o: ~m,
    "and": lambda m, o: m & o,
    "or True": lambda m, o: m | True,
    "unlike": lambda m, o: m ^ o,
    "where": lambda m, o: np.where(o, m, ~m),
    "stretched": lambda m, o: np.broadcast_to(m, (N, D, 2)),
    "some": lambda m, o: m[:, :1, :],
    "reshaped": lambda m, o: np.reshape(m, m.shape),
    "as numbers": lambda m, o: m.astype(float) > 0,
    "in place": lambda m, o: m.__iand__(o),
}


@pytest.mark.parametrize(("mask", "combined"), [*product(KNOWN, COMBINED)])
def test_masks_of_the_channel_and_their_combinations_are_free(mask, combined):
    channel = replace(world(), ledger=Bounded(2))
    chosen = COMBINED[combined](KNOWN[mask](channel), channel.client_coins((0.5,) * N))
    received = channel.send(np.ones((N, D, 2)), chosen)
    counted = 32 * np.broadcast_to(chosen, received.shape).sum(axis=(0, 1))
    np.testing.assert_array_equal(channel.ledger.uplink_bits, counted)
    if chosen.shape[1] == 1:
        channel.uplink(np.ones((N, D, 2)), chosen)
        np.testing.assert_array_equal(channel.ledger.uplink_bits, 2 * counted)


OF_DATA = {
    "entries": lambda v, c: v > 0,
    "clients": lambda v, c: v[:, :1] > 0,
    "all alike": lambda v, c: v[:1, :1] > 0,
    "shared entries": lambda v, c: v[:1] > 0,
    "with a coin": lambda v, c: (v > 0) & c.coin(0.5),
    "chosen by data": lambda v, c: np.where(v > 0, c.cohort(2), c.cohort(1)),
    "a row chosen by data": lambda v, c: c.cohort(2)[np.argsort(v[:, 0, 0])],
    "in place": lambda v, c: c.client_coins((1.0,) * N).__iand__(v > 0),
    "a changed copy": lambda v, c: np.copyto(m := c.cohort(2).copy(), v[:, :1] > 0) or m,
    "a scalar of data": lambda v, c: c.cohort(3) & (v[0, 0, 0] > 0),
    "none": lambda v, c: v > np.inf,
}


@pytest.mark.parametrize(("name", "wire"), [*product(OF_DATA, (False, True))])
def test_the_positions_of_other_masks_are_counted_as_bytes_that_decode(name, wire):
    problem = Quadratic.random(N, D, mu=1.0, L=10.0)
    channel, _ = simulated_world(Experiment.of(Sending(), problem), range(2), wire)
    v = np.random.default_rng(1).standard_normal((N, D, 2))
    mask = OF_DATA[name](v, channel)
    assert not is_common(mask)
    received = channel.send(v, mask)
    whole = np.broadcast_to(mask, v.shape)
    np.testing.assert_allclose(received, np.where(whole, v, 0), rtol=1e-6)
    d = mask.shape[1]
    rows = np.moveaxis(np.broadcast_to(mask, (N, d, 2)), 1, 2)
    told = np.array([[position_bits(np.sum(row), d) for row in rows_of] for rows_of in rows])
    each = 32 * whole.sum(axis=1) + told
    np.testing.assert_array_equal(channel.ledger.uplink_bits, each.sum(axis=0))
    np.testing.assert_array_equal(channel.ledger.busiest_bits, each.max(axis=0))
    assert (told > 0).all()


@pytest.mark.parametrize("d", [1, 2, 3, 7, 40])
def test_positions_decode_from_as_many_bits_as_are_counted(d):
    generator = np.random.default_rng(d)
    for k in range(d + 1):
        chosen = np.zeros(d, bool)
        chosen[generator.permutation(d)[:k]] = True
        payload = encode_positions(chosen)
        np.testing.assert_array_equal(decode_positions(payload, d), chosen)
        assert payload.size == -(-int(position_bits(np.array(k), d)) // 8)


def test_a_cohort_of_data_costs_a_bit_of_every_client_and_a_broadcast_too():
    channel = world()
    v = np.random.default_rng(1).standard_normal((N, D, 2))
    far = v[:, :1] > 0
    channel.uplink(v, far)
    np.testing.assert_array_equal(channel.ledger.uplink_bits, N + 32 * D * far.sum(axis=(0, 1)))
    entries = v[:1] > 0
    told = channel.broadcast(v[:1], entries)
    np.testing.assert_array_equal(told, np.where(entries, v[:1], 0))
    number = entries.sum(axis=(0, 1))
    np.testing.assert_array_equal(
        channel.ledger.downlink_bits, N * (32 * number + position_bits(number, D))
    )


@pytest.mark.parametrize("shape", [(N, D, 2), (N, 1, 2), (1, 1, 2), (N, D, 1)])
@pytest.mark.parametrize("one", [(1, D, 1), (N, D, 1), (1, D, 2)])
@pytest.mark.parametrize("kind", [float, int])
def test_what_a_mask_chooses_has_one_shape_and_type_whatever_it_holds(shape, one, kind):
    yes, no, mixed = np.ones(one), np.zeros(one, kind), np.indices(shape).sum(axis=0) % 2 == 0
    for mask in (mixed, mixed | True, mixed & False):
        found, known = where(mask, yes, no), np.where(mask, yes, no)
        assert (found.shape, found.dtype) == (known.shape, known.dtype)
        assert where(mask, no, yes).dtype == known.dtype


def test_a_mask_of_the_channel_cannot_be_written_to():
    mask = world().cohort(2)
    with pytest.raises(ValueError, match="read-only"):
        mask[...] = True


@pytest.mark.parametrize(
    "sent",
    [
        lambda v, c: c.send(v + 1j * v),
        lambda v, c: c.send((v * 2**40).astype(np.int64)),
        lambda v, c: c.send(v[:, :0]),
        lambda v, c: c.send(v[:1]),
        lambda v, c: c.uplink(v[0]),
        lambda v, c: c.send(v[:, :1], v > 0),
        lambda v, c: c.uplink(v, v > 0),
        lambda v, c: c.send(v, -np.ones(v.shape, dtype=int)),
        lambda v, c: c.send(v, v),
        lambda v, c: c.send(v, True),
        lambda v, c: c.broadcast(v[:1], -np.ones((N, 1, 2), dtype=int)),
    ],
)
def test_what_would_be_counted_wrongly_is_refused(sent):
    with pytest.raises(Refusal, match=";"):
        sent(np.ones((N, D, 2)), world())


def halves(v, c):
    mask = c.client_coins((0.5,) * N)
    return c.send(v, mask) + c.send(v, ~mask)


def test_a_device_refuses_masks_of_data_and_knows_its_own():
    problem, budget = Quadratic.random(N, D, mu=1.0, L=10.0), Budget(rounds=5)
    host, device = (
        run(Sending(sent=halves), problem, seeds=2, budget=budget, library=library)
        for library in ("numpy", "array-api-strict")
    )
    np.testing.assert_array_equal(host.columns["uplink_bits"], device.columns["uplink_bits"])
    with pytest.raises(Refusal, match="library numpy"):
        run(
            Sending(sent=lambda v, c: c.send(v, v > 0)),
            problem,
            seeds=2,
            budget=budget,
            library="array-api-strict",
        )


def shape(v, c):
    first = 1 + int(np.argmax(np.abs(v[0, :, 0])))
    received = np.zeros(v.shape)
    received[:, :first] = c.send(v[:, :first])
    return received


def member(v, c):
    mask = c.client_coins((0.5,) * N)
    return c.send(v, mask if v[0, 0, 0] > 0 else ~mask)


TOLD = {
    "flow": lambda v, c: c.send(v) if np.sum(v * v) > 1 else c.send(0 * v, c.coin(0.0)),
    "shape": shape,
    "twice": lambda v, c: c.send(v) if v[0, 0, 0] > 0 else c.send(v) + c.send(0 * v),
    "coin": lambda v, c: c.send(v, c.coin(float(v[0, 0, 0] > 0))),
    "size": lambda v, c: c.send(v, c.cohort(1 + int(v[0, 0, 0] > 0))),
    "member": member,
}


@pytest.mark.parametrize("sent", TOLD.values(), ids=TOLD)
def test_the_check_sees_what_python_tells_the_receiver_for_nothing(sent):
    found = accounts(Experiment.of(Sending(sent=sent), Quadratic.random(N, D, mu=1.0, L=10.0)))
    assert not found.holds
    assert "depends on gradients that were not sent" in found.advice


def sparse(v, c):
    return c.send(v, v * v * v.shape[1] > np.sum(v * v, axis=1, keepdims=True))


def heard(v, c):
    """What is sent second follows from what was sent first."""
    first = c.send(v[:, :1])
    return c.send(v) if first[0, 0, 0] > 0 else c.send(v) + 0 * c.send(v)


@pytest.mark.parametrize("method", [Sending(), Sending(sent=sparse), Sending(sent=heard)])
def test_the_check_passes_what_is_counted(method):
    assert accounts(Experiment.of(method, Quadratic.random(N, D, mu=1.0, L=10.0))).holds


def test_sparse_messages_with_masks_of_data_pay_for_their_positions():
    trace = run(
        Sending(sent=sparse),
        Quadratic.random(N, D, mu=1.0, L=10.0),
        budget=Budget(rounds=5),
        seeds=2,
    )
    numbers = trace.final("uplink_bits") * N
    assert (numbers % 32 != 0).any()
