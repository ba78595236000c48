"""
Bits, rounds and both directions
================================

The same runs counted in three ways: the order of the methods changes with what is paid for.
"""

from certibit import compare, problem

solved = problem("breast-cancer@9", kappa=100)
found = compare(
    solved, ["agd", "locodl+rand-k:2+natural", "diana+rand-k:2+natural"], target=1e-4, seeds=3
)
bits = found.plot()

# %%
# By communication rounds, accelerated gradient descent is ahead:

rounds = found.plot(x="rounds")

# %%
# With a weight of a tenth for a bit received:

total = found.plot(x="total bits", downlink=0.1)
