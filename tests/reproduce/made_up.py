"""Records made up for the studies, and what their claims say."""

from __future__ import annotations

import numpy as np

from sknomad.reproduce import Record, Verdict


def certificate(name, **fields):
    """What a record keeps of a solve, made up."""
    made_up = {
        "K": 4.0,
        "n": 20,
        "lower": 1.0,
        "upper": 1.0,
        "gap": 1e-4,
        "grade": "eigen",
        "seconds": 1.0,
        "by": "ours",
    }
    values = {**made_up, "iterations": 10, "by": "ours", **fields}
    return {f"certificate/{name}/{field}": np.asarray(value) for field, value in values.items()}


def computed(module, quick):
    """The arrays that the runner would get."""
    record = Record(seed=module.EXPERIMENT.seed)
    module.compute(record, quick)
    return record.arrays()


def verdicts(rows):
    assert all(any(c.isdigit() for c in row.number) for row in rows)
    assert all(row.why for row in rows if row.verdict not in (Verdict.HOLDS, Verdict.BEYOND))
    return [row.verdict for row in rows]
