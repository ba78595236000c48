"""The one exception that says: this input does not fit."""


class Refusal(ValueError):  # noqa: N818  (it reads better where it is raised)
    """Input that does not fit, told in one sentence.

    The sentence names the value, what was expected and what to do about it.

    Examples
    --------
    >>> from bitbound import Quadratic, Refusal
    >>> try:
    ...     Quadratic.random(n=0, d=4)
    ... except Refusal as refusal:
    ...     print(refusal)
    a quadratic of 0 clients and 4 features; both are at least 1
    """
