"""The sides of every audited step have the values of the day on which its proof was read.

Whoever changes a formula, a range or a constant of an audited proof sees here which steps have
another value; ``python tests/theory/audit/test_audited_values.py`` writes the values anew.
"""

import json
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from certibit.theory.audit.machinery.evaluate import admissible, draw_point, evaluate, sides
from certibit.theory.audit.proofs import PROOFS

FILE = Path(__file__).with_name("audited_values.json")
POINTS = 12


def values_of(proof, step):
    """Return the mean of log(1 + |side|), left and right, at a few points, amended or not.

    Behind them stand the ends of ranges where a hypothesis is dropped.
    """
    found = []
    for one in (step, *(replace(step, **each.changes) for each in step.amendments)):
        space, means = replace(one.space, count=POINTS), []
        generator = np.random.default_rng(zlib.crc32(one.place.encode()))
        for cell in space.cells:
            v = evaluate(space, cell, draw_point(space, generator), proof.constants, "float")
            usable = admissible(space, v, POINTS)
            means.append([np.log1p(abs(side[:, usable])).mean() for side in sides(one, v, POINTS)])
        found += np.nanmean(means, axis=0).tolist()
    found += [x for u in step.space.variables if u.beyond for x in map(float, u.beyond)]
    return [float(f"{x:.9g}") for x in found]


def values(name):
    return {step.place: values_of(PROOFS[name], step) for step in PROOFS[name].steps}


@pytest.mark.long
@pytest.mark.parametrize("name", PROOFS)
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_audited_formulas_have_the_values_that_were_read(name):
    expected = json.loads(FILE.read_text(encoding="utf-8"))[name]
    found = values(name)
    assert found.keys() == expected.keys()
    for place, value in found.items():
        np.testing.assert_allclose(value, expected[place], rtol=1e-6, err_msg=place)


if __name__ == "__main__":
    lines = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f"  {json.dumps(place)}: {json.dumps(x)}" for place, x in values(name).items())
        + "\n}"
        for name in PROOFS
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
