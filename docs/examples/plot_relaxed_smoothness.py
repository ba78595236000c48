"""
Where clipping without correction fails
=======================================

EPISODE and CELGC on quartics with unlike clients, as in Figure 3 of the EPISODE paper.
"""

import matplotlib.pyplot as plt

from certibit import CELGC, EPISODE, Budget, Quartics, run

problem = Quartics.of(H=8)
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
for method in (EPISODE(eta=0.01, gamma=0.1, I=8), CELGC(eta=0.01, gamma=0.1, I=8)):
    trace = run(method, problem, seeds=1, budget=Budget(rounds=200))
    axes.semilogy(trace.columns["rounds"], trace.columns["gap"], label=method.name)
axes.set_xlabel("rounds")
axes.set_ylabel("f - f*")
axes.legend()
