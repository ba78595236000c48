"""
A certified rate against kappa
==============================

What a theorem promises about DIANA, and what is certified over all functions and compressors.
"""

import matplotlib.pyplot as plt

from certibit import DIANA, METHODS, FunctionClass, certify

kappas, certified = (10, 30, 100, 300, 1000), []
for kappa in kappas:
    functions = FunctionClass(n=10, mu=1.0, L=float(kappa), omega=4.0)
    gamma = 2 / ((kappa + 1) * (1 + 6 * functions.omega / functions.n))
    certified.append(certify(DIANA(gamma, 1 / 5), functions).decrease)

figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.loglog(kappas, certified, marker="o", color=METHODS["diana"].colour)
axes.set_xlabel("kappa")
axes.set_ylabel("certified 1 - factor")
