"""From a sentence of the grammar to a method: its file, which reads like the algorithm box.

The search runs the class of this file, so that the saved method is the one that was found.
"""

import sys
import textwrap
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType

from certibit.solvers.method import Method
from certibit.theory.discover.grammar import Sentence
from certibit.theory.discover.step_lines import step_lines

_MEANINGS = {
    "gamma": "Step size of the model",
    "p": "Probability of communication",
    "alpha": "Step of the memory",
    "beta": "Weight of the memory in the step of the model",
    "rho": "Step of the models to the common one",
    "rho_mean": "Step of the models along what the server has sent",
    "rho_own": "Step of each model back along its own message",
    "rho_swap": "Step of each model from its own message to what the server has sent",
    "chi": "Relaxation of the memory",
    "chi_own": "Step of the memory back along the client's own message",
    "chi_mean": "Step of the memory along what the server has sent",
    "sigma": "Step of the common model",
    "tau": "Share of the mean memory in what the server sends",
    "eta": "Step of what the clients know of the model",
    "a": "Share of the error of the memory in the message",
}

_TEXT = '''"""{head}"""

from dataclasses import dataclass
from typing import ClassVar

from certibit import {imports}


@dataclass(frozen=True)
class State:
    """State of {name}."""

{state}


@dataclass(frozen=True)
class {name}(Method):
    """{title}

    {when}::

{box}

    Parameters
    ----------
{parameters}
    """

{constants}

    name: ClassVar[str] = "{name}"
    needs: ClassVar[Needs] = Needs({needs})
{schedule}

    def start(self, x, problem, channel):
{start}
{local}
    def communicate(self, s, problem, channel):
{round}

    def model(self, s):
        return {model}

    def fixed_point(self, problem):
{rest}
{kept}'''

_SCHEDULE = """
    @property
    def schedule(self):
        return WithProbability(self.p)"""

_LOCAL = """
    def local_step(self, s, problem, channel):
{}
"""

_KEPT = """
    def invariants(self, s, problem):
        return ({kept},)
"""


def method_file(
    one: Sentence, name: str = "Found", head: str = "", strongly_convex: bool = True
) -> str:
    """Return the text of the file that defines the method of a sentence.

    Unless it is for ``strongly_convex`` functions only, it runs on nonconvex ones, too, and starts
    at rest, as what is certified of descents asks for.
    """
    lines = step_lines(one) if strongly_convex else step_lines(one).at_rest()
    needs = [f'compressor="{one.up}"'] * bool(one.up) + [f'downlink="{one.down}"'] * bool(one.down)
    needs += ["nonconvex=True"] * (not strongly_convex)
    updates = [f"{part.name}={part.update}" for part in lines.parts]
    used = [name for name in ("copies", "mean") if f"{name}(" in str(lines)]
    schedule = "WithProbability" if one.local else "Every"
    return _TEXT.format(
        head=head or f"A method with {one.kind}.",
        imports=", ".join(sorted([schedule, "Method", "Needs", *used])),
        name=name,
        state=_block([f"{p.name}: object  # {p.shape}, {p.meaning}" for p in lines.parts]),
        when="Each iteration" if one.local else "Each round",
        title=f"A method with {one.kind}, for min (1/n) sum_i f_i(x).",
        box=_block([*lines.text(one.local)], 8),
        parameters=_block([f"{name} : float\n    {_MEANINGS[name]}." for name in one.constants]),
        constants=_block([f"{name}: float" for name in one.constants]),
        needs=", ".join(needs),
        schedule=_SCHEDULE if one.local else "    schedule: ClassVar[Every] = Every()",
        start=_block([*lines.begin, _state([part.start for part in lines.parts])], 8),
        local=_LOCAL.format(_block([_state([p.local for p in lines.parts])], 8)) * one.local,
        round=_block([*lines.lines, _state(updates)], 8),
        model=lines.model,
        rest=_block([_state([p.rest for p in lines.parts])], 8),
        kept=_KEPT.format(kept=lines.kept) if lines.kept else "",
    )


@lru_cache(maxsize=4096)
def method_class(one: Sentence) -> Callable[..., Method]:
    """Return the class that the file of a sentence defines."""
    module = ModuleType(f"certibit_discovered_{abs(hash(one)):x}")
    sys.modules[module.__name__] = module  # dataclasses look there
    exec(compile(method_file(one), f"<{one.kind}>", "exec"), vars(module))
    found: Callable[..., Method] = vars(module)["Found"]
    return found


def _state(values: list[str]) -> str:
    """Return the line that returns a state, or lines where it is too long."""
    line = f"return State({', '.join(values)})"
    if len(line) <= 90:
        return line
    return "\n".join(["return State(", *(f"    {value}," for value in values), ")"])


def _block(lines: list[str], indent: int = 4) -> str:
    return textwrap.indent("\n".join(lines), " " * indent)
