"""The one exception that says: this input does not fit."""


class Refusal(ValueError):  # noqa: N818  (it reads better where it is raised)
    """Input that does not fit, told in one sentence.

    The sentence names the value, what was expected and what to do about it.
    """
