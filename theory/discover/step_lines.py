"""The lines of code of a sentence's step, field by field, for the file of its method."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from certibit.theory.discover.grammar import CONSTANTS, Sentence

ZEROS = "copies(0 * x, problem.n)"


@dataclass(frozen=True)
class FieldLines:
    """A field of the state, with code for its values.

    Attributes
    ----------
    name, shape, meaning : str
        The declaration of the field.
    start, rest : str
        Its value at the initial point, and at the solution.
    local, update : str
        Its value after a local step, and after a round.
    """

    name: str
    shape: str
    meaning: str
    start: str
    rest: str
    update: str
    local: str = ""


@dataclass(frozen=True)
class StepLines:
    """The step of a method: its fields, the lines of a round before the new state, and more.

    Attributes
    ----------
    parts : tuple of FieldLines
        The fields of the state.
    lines : tuple of str
        The lines of a round before the new state.
    model, kept : str
        The point that f - f* is measured at, and the invariant, which is 0 in every state.
    begin : tuple of str
        The lines of the start before the first state.
    """

    parts: tuple[FieldLines, ...]
    lines: tuple[str, ...]
    model: str
    kept: str = ""
    begin: tuple[str, ...] = ()

    def at_rest(self) -> Self:
        """Return the step with a start at rest: memories begin as the gradients, sent once."""
        first = {"h": "h", "h_mean": "mean(h)"}
        parts = [replace(part, start=first.get(part.name, part.start)) for part in self.parts]
        sent = ("h = channel.send(problem.grad(x))",) if "h" in {x.name for x in parts} else ()
        return replace(self, parts=tuple(parts), begin=self.begin or sent)

    def text(self, local: bool) -> list[str]:
        """Return the algorithm box of an iteration, with local steps or without."""
        if not local:
            return self.box()
        return [*self.box("local"), "with probability p:", *(f"    {x}" for x in self.box())]

    def box(self, update: str = "update") -> list[str]:
        """Return the algorithm box of a round, or of a ``local`` step, as formulas."""
        lines = [*self.lines] if update == "update" else []
        known = {part.name for part in self.parts} & {line.partition(" = ")[0] for line in lines}
        lines += [
            f"{part.name} = {getattr(part, update)}"
            for part in self.parts
            if part.name not in known and getattr(part, update) not in {"", f"s.{part.name}"}
        ]
        return [self._formula(line) for line in lines]

    def _formula(self, line: str) -> str:
        own = {part.name for part in self.parts if part.shape.startswith("(n")} | {"m", "gradient"}
        line = re.sub(r"copies\((.*), problem\.n\)", r"\1", line)
        line = re.sub(r"\bmean\(m\)", "mean_i m_i", line)
        line = re.sub(r"(?<=[ (])m\b(?!_)|^m\b(?!_)", "m_i", line)
        line = re.sub(r"(?<=[ (])gradient\b", "gradient_i", line)
        line = re.sub(r"\bs\.(\w+)", lambda f: f[1] + "_i" * (f[1] in own), line)
        line = re.sub(r"^(\w+) =", lambda f: f[1] + "_i" * (f[1] in own) + " =", line)
        line = re.sub(r"channel\.(send|broadcast)\((.*)\)", r"\2", line)
        for code, formula in (
            ("channel.uplink(", "C_i("),
            ("channel.downlink(", "C("),
            ("problem.grad(", "grad f_i("),
            ("self.", ""),
        ):
            line = line.replace(code, formula)
        name, _, value = line.partition(" = ")
        fresh = name in {"m_i", "m_mean", "z", "dual", "gradient_i"}
        return f"{name} {'=' if fresh else '<-'} {value}"


def step_lines(one: Sentence) -> StepLines:
    """Return the lines of a sentence."""
    return _of_model(one) if one.local else _of_gradient(one)


def _of_gradient(one: Sentence) -> StepLines:
    terms = {"message": "m_mean", "memory": "s.h_mean", "estimate": "s.h_mean + m_mean"}
    direction = _sum(_times(one, "x", term.name, term.free, terms[term.name]) for term in one.x)
    point = {None: "s.x", "unbiased": "s.w", "contractive": "w"}[one.down]
    stepped = f"s.x - {_product('self.gamma', direction)}"
    parts = [FieldLines("x", "(1, d, R)", "the model", "x", "problem.x_star", "x")]
    lines = [f"m = {_up(one)}(problem.grad({point}){' - s.h' * one.reference})", "m_mean = mean(m)"]
    moved = f"x = {stepped}" if one.down else f"x = channel.broadcast({stepped})"
    if one.change:
        sent = "gradient - s.last - self.a * (s.h - s.last)"
        lines = [moved, "gradient = problem.grad(x)", f"m = {_up(one)}({sent})", lines[1]]
    else:
        lines += [moved]
    if one.down == "contractive":
        lines = ["w = s.w + channel.downlink(s.x - s.w)", *lines]
    if one.down == "unbiased":
        lines += [f"w = s.w + {'self.eta * ' * one.damped}channel.downlink(x - s.w)"]
    if one.down:
        known = "what the clients know of it"
        parts += [FieldLines("w", "(1, d, R)", known, "x", "problem.x_star", "w")]
    if not one.memory:
        return StepLines(tuple(parts), tuple(lines), "s.x")
    step = "self.alpha * " * one.h[0].free
    meaning, rest = "the memory of each client", "problem.grad_star"
    first, first_mean, kept, begin = ZEROS, "0 * x", "s.h_mean - mean(s.h)", list[str]()
    if one.change:
        first, first_mean, kept = "h", "mean(h)", f"{kept}, s.last - problem.grad(s.x)"
        begin = ["gradient = problem.grad(x)", "h = channel.send(gradient)"]
        known = "the gradient of each client at x"
        parts += [FieldLines("last", "(n, d, R)", known, "gradient", rest, "gradient")]
    mean_update = f"s.h_mean + {step}m_mean"
    parts += [
        FieldLines("h", "(n, d, R)", meaning, first, rest, f"s.h + {step}m"),
        FieldLines("h_mean", "(1, d, R)", "its mean", first_mean, f"mean({rest})", mean_update),
    ]
    return StepLines(tuple(parts), tuple(lines), "s.x", kept, tuple(begin))


def _of_model(one: Sentence) -> StepLines:
    reached = "s.y + z" if one.reference else "z"
    vectors = {
        "back": "(s.y - s.x)",
        "mean": "z",
        "own": "-m",
        "pull": f"({reached} - s.x)",
        "swap": "(z - m)",
    }
    if [(term.name, term.free) for term in one.x] == [("pull", False)]:
        x = f"copies({reached}, problem.n)"
    else:
        x = _sum(["s.x", *(_times(one, "x", t.name, t.free, vectors[t.name]) for t in one.x)])
    downhill = "problem.grad(s.x) - s.h" if one.memory else "problem.grad(s.x)"
    parts = [
        FieldLines(
            "x",
            "(n, d, R)",
            "the local models",
            "copies(x, problem.n)",
            "copies(problem.x_star, problem.n)",
            x,
            f"s.x - {_product('self.gamma', downhill)}",
        )
    ]
    sent = "mean(m)"
    if one.correction:
        sent = "m_mean - self.tau / dual * s.h_mean"
    lines = [f"m = {_up(one)}(s.x{' - s.y' * one.reference})"]
    lines += ["m_mean = mean(m)"] * one.correction
    lines += ["dual = self.p / self.gamma"] * one.memory
    lines += [f"z = channel.{'downlink' if one.down else 'broadcast'}({sent})"]
    if one.reference:
        y = _sum(["s.y", *(_times(one, "y", t.name, t.free, "z") for t in one.y)])
        parts += [FieldLines("y", "(1, d, R)", "the common model", "x", "problem.x_star", y, "s.y")]
    kept = ""
    if one.memory:
        parts.append(_memory(one, "h", "(n, d, R)", "m", ZEROS, "problem.grad_star"))
        unpushed = [term.name for term in one.h] == ["apart"] and not one.down
        kept = "mean(s.h)" if unpushed else ""
    if one.correction:
        rest = "mean(problem.grad_star)"
        parts.append(_memory(one, "h_mean", "(1, d, R)", "m_mean", "0 * x", rest))
        kept = "s.h_mean - mean(s.h)"
    return StepLines(tuple(parts), tuple(lines), "mean(s.x)", kept)


def _memory(
    one: Sentence, name: str, shape: str, message: str, start: str, rest: str
) -> FieldLines:
    """Return the memory of each client, or the mean one, in units of gradients."""
    vectors = {
        "own": f"-dual * {message}",
        "mean": "dual * z",
        "apart": f"dual * (z - {message})",
    }
    terms = [_times(one, "h", term.name, term.free, vectors[term.name]) for term in one.h]
    meaning = "the memory of each client" if name == "h" else "its mean"
    return FieldLines(name, shape, meaning, start, rest, _sum([f"s.{name}", *terms]), f"s.{name}")


def _up(one: Sentence) -> str:
    return "channel.uplink" if one.up else "channel.send"


def _times(one: Sentence, field: str, name: str, free: bool, vector: str) -> str:
    """Return the code of coefficient times vector; a negative term has its sign in front."""
    if not free:
        return vector
    symbol = f"self.{CONSTANTS[one.source, field][name]}"
    return f"-{symbol} * {vector[1:]}" if vector.startswith("-") else f"{symbol} * {vector}"


def _product(factor: str, vector: str) -> str:
    return f"{factor} * ({vector})" if " " in vector else f"{factor} * {vector}"


def _sum(terms: Iterable[str]) -> str:
    return " + ".join(terms).replace("+ -", "- ")
