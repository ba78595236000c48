"""The warning that no theorem covers the parameters of a method."""


class OutsideTheoremWarning(UserWarning):
    """The parameters of a method are outside every theorem about it.

    Examples
    --------
    >>> import warnings
    >>> from certibit import GD, Budget, Quadratic, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     trace = run(GD(gamma=0.5), problem, seeds=1, budget=Budget(rounds=3))
    >>> told[0].category.__name__
    'OutsideTheoremWarning'
    """
