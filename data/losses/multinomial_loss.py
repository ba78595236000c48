"""The multinomial logistic loss, of several classes."""

from dataclasses import dataclass

from array_api_compat import device

from certibit.data.arrays import Array, array_namespace

_FAR = 1.0
"""A prediction that moves further than this, against the mean of its row, is evaluated in logs."""
_SERIES = 0.05


@dataclass(frozen=True)
class Multinomial:
    """phi(z; b) = log(sum_k exp(z_k)) - z_b for K predictions z and the class b; 1/2-smooth.

    Arrays of predictions are (n, m, K, R), of classes (n, m, 1).

    Source of the smoothness: Boehning, Multinomial logistic regression algorithm, 1992.

    Parameters
    ----------
    classes : int
        K.
    """

    classes: int

    name = "multinomial"
    smoothness = 0.5

    @property
    def outputs(self) -> int:
        """Predictions of a row."""
        return self.classes

    def accepts(self, b: Array) -> str:
        """Return nothing: every position among the classes fits."""
        return ""

    def holds_at(self, z: Array) -> str:
        """Return nothing: the loss is the one of its name everywhere."""
        return ""

    def value(self, z: Array, b: Array) -> Array:
        """Return phi(z; b), (n, m, R)."""
        xp = array_namespace(z)
        return _log_sum_exp(z) - xp.sum(self._one_hot(b, z) * z, axis=2)

    def slope(self, z: Array, b: Array) -> Array:
        """Return the gradient of phi in z, (n, m, K, R)."""
        return self.probabilities(z) - self._one_hot(b, z)

    def probabilities(self, z: Array) -> Array:
        """Return exp(z_k) / sum_j exp(z_j), (n, m, K, R)."""
        xp = array_namespace(z)
        return xp.exp(z - _log_sum_exp(z)[:, :, None, :])

    def divergence(self, z: Array, step: Array) -> Array:
        """Bregman divergence of phi for a step, (n, m, R), without cancellation.

        With the probabilities p at z and s = step - p' step it is log(sum_k p_k exp(s_k)). As
        sum_k p_k s_k = 0 it is also log1p(sum_k p_k (exp(s_k) - 1 - s_k)), whose terms are not
        negative.
        """
        xp = array_namespace(step)
        p = self.probabilities(z)
        s = step - xp.sum(p * step, axis=2, keepdims=True)
        far = xp.max(xp.abs(s), axis=2) > _FAR
        near = xp.clip(s, -_FAR, _FAR)
        with_logs = _log_sum_exp(z - _log_sum_exp(z)[:, :, None, :] + s)
        return xp.where(far, with_logs, xp.log1p(xp.sum(p * exp_remainder(near), axis=2)))

    def _one_hot(self, b: Array, z: Array) -> Array:
        xp = array_namespace(z)
        classes = xp.arange(self.classes, dtype=b.dtype, device=device(b))
        return xp.astype(b[:, :, :, None] == classes[None, None, :, None], z.dtype)


def _log_sum_exp(z: Array) -> Array:
    """Return log(sum_k exp(z_k)) over the third axis, without overflow."""
    xp = array_namespace(z)
    top = xp.max(z, axis=2, keepdims=True)
    return top[:, :, 0, :] + xp.log(xp.sum(xp.exp(z - top), axis=2))


def exp_remainder(s: Array) -> Array:
    """Return exp(s) - 1 - s, as a series where the terms cancel."""
    xp = array_namespace(s)
    small = xp.abs(s) < _SERIES
    t = xp.where(small, s, 0.0)
    series = 0.0 * t
    for k in range(9, 1, -1):
        series = (1.0 + series) * t / k
    return xp.where(small, series * t, xp.expm1(s) - s)
