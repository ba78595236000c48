"""Trains a small network by DistributedDataParallel; run as a process of two, by the tests.

Usage: ddp_training.py RANK SIZE FOLDER CASES, where CASES are options by name as JSON. Every
process writes the parameters after every step, and what its hook has counted, to FOLDER.
"""

import json
import os
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import certibit


def network():
    """Return a small network of 64-bit floats with two layers."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).double()


def examples(clients):
    """Return inputs (clients, m, 6) and labels (clients, m)."""
    generator = np.random.default_rng(0)
    return generator.normal(size=(clients, 8, 6)), generator.integers(3, size=(clients, 8))


def train(rank, size, file, steps=6, lr=0.5, bucket=25.0, **options):
    """Train, and write what came of it."""
    model = DistributedDataParallel(network(), bucket_cap_mb=bucket)
    if "method" in options:
        name, values = options.pop("method")
        options["feedback"] = getattr(certibit, name)(**values)
    hook = certibit.ddp_hook(**options)
    model.register_comm_hook(None, hook)
    optimiser = torch.optim.SGD(model.parameters(), lr=lr)
    inputs, labels = (torch.as_tensor(values[rank]) for values in examples(size))
    points, bits, sent = [], [], []
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimiser.step()
        points.append(torch.cat([p.detach().ravel() for p in model.parameters()]).numpy())
        bits.append(hook.uplink_bits)
        sent.append(hook.bytes_sent)
    np.savez(file, points=points, bits=bits, sent=sent)


def main(rank, size, folder, cases):
    """Train once for every case."""
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=size,
        timeout=timedelta(seconds=60),
    )  # fmt: skip
    for name, options in cases.items():
        train(rank, size, Path(folder, f"{name} {rank}.npz"), **options)
    dist.barrier()
    os._exit(0)  # threads of torch may abort a process that ends by itself


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4]))
