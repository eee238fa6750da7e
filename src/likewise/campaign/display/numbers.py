"""Numbers with the digits that their uncertainty leaves them."""

from __future__ import annotations

import math

# Beyond these, numbers are written with a power of ten.
LARGE, FINE = 1e7, 6


def rounded(value: float, uncertainty: float) -> str:
    """A number to two digits of its uncertainty.

    >>> rounded(67.23, 18.7), rounded(7029.0, 2400.0), rounded(0.05731, 0.0012), rounded(3.0, 0.0)
    ('67', '7000', '0.0573', '3')
    """
    if not (math.isfinite(uncertainty) and uncertainty > 0):
        return f"{value:.6g}"
    decimals = 1 - math.floor(math.log10(uncertainty))
    if abs(value) >= LARGE or decimals > FINE:
        leading = 0 if value == 0 else math.floor(math.log10(abs(value)))
        return f"{value:.{min(max(1, leading + decimals + 1), 6)}g}"
    # Adding zero turns -0 into 0.
    return f"{round(value, decimals) + 0.0:.{max(decimals, 0)}f}"


def plus_minus(mean: float | None, std: float | None) -> str:
    """What is expected, and how uncertain it is.

    >>> plus_minus(67.23, 18.7), plus_minus(None, None)
    ('67 ± 19', '')
    """
    if mean is None or std is None:
        return ""
    return f"{rounded(mean, std)} ± {rounded(std, std)}"


def interval(low: float | None, high: float | None) -> str:
    """The ends of a 95 % interval, to two digits of the standard deviation that is a quarter of it.

    >>> interval(31.4, 98.1), interval(None, None)
    ('31 to 98', '')
    """
    if low is None or high is None:
        return ""
    return f"{rounded(low, (high - low) / 4)} to {rounded(high, (high - low) / 4)}"


def expectation(mean: float | None, low: float | None, high: float | None) -> str:
    """What is expected, with its 95 % interval.

    >>> expectation(71.23, 64.9, 77.4), expectation(None, None, None)
    ('71.2 (64.9 to 77.4)', '')
    """
    if mean is None or low is None or high is None:
        return ""
    return f"{rounded(mean, (high - low) / 4)} ({interval(low, high)})"
