"""The expectation of a form over compression noises, from their variances."""

from certibit.data.arrays import Array
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.symbolic.frames import Frame, Matrix
from certibit.theory.worlds.symbolic.symbols import SymbolicChannel, SymbolicProblem


def expected_gram(
    gram: Matrix, functions: FunctionClass, problem: SymbolicProblem, channel: SymbolicChannel
) -> Matrix:
    """Return the grams of a form with the noises replaced by their variances."""
    for number, sent in reversed(channel.noises):
        count = 1  # unknowns, one for each kind of clients or one of the server
        if problem.basis.every_client[number]:
            count = problem.basis.kinds
            gram = gram + _variance(gram, number, sent, functions, problem.frame)
        else:
            gram = gram + gram[0, number, number] * functions.omega_down * problem.frame.gram(sent)
        own = slice(number, number + count)
        gram[:, own, :] = 0 * gram[:, own, :]
        gram[:, :, own] = 0 * gram[:, :, own]
    return gram


def _variance(
    gram: Matrix, number: int, sent: Array, functions: FunctionClass, frame: Frame
) -> Matrix:
    """Return the expected contribution of a noise to a form, by its variance."""
    if functions.omega_joint is None:
        omega = frame.layout.numbers([one.omega for one in functions.kinds])[frame.row_kinds]
        return frame.gram(sent, frame.diagonal(gram, number) * omega)
    zero = 0 * gram[0, number, number]
    equal = gram[0, number, number] / frame.n
    different = gram[2, number, number] / 2 if frame.n > 1 else zero
    factor = max(equal - different, zero) * functions.omega_joint + different * functions.omega
    return frame.gram(sent, frame.layout.numbers([factor] * len(frame.row_cells)))
