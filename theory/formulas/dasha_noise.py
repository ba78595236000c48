"""What the noise of compression adds to an estimate that DASHA corrects with a momentum."""

from certibit.theory.potential import ClassConstants


def compression(a: float, setting: ClassConstants) -> float:
    """Return K = 2 omega_av (1/a + 2 omega).

    With weights gamma/a and 2 gamma omega_av of |g_mean - h_mean|^2 and of (1/n) sum_i
    |g_i - h_i|^2 these grow by at most gamma K (1/n) sum_i E|h_i+ - h_i|^2 in a round of DASHA-PAGE
    and DASHA-MVR, for 0 < a <= 1/(1 + 2 omega), less gamma |g_mean - h_mean|^2.
    """
    return 2 * setting.omega_av * (1 / a + 2 * setting.omega)
