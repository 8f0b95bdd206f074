"""The constants of the automatic choice, from what `parts` measured on seeds for development.

    python benchmarks/part_constants.py benchmarks/results/parts_development.json

Prints by how much the threshold between one part and several would have to move so that 5 in 100 single pieces are
split, and the logistic coefficients of the confidence, up to and above `FINE_UP_TO` points. Sets, families and single
pieces weigh the same. Reporting seeds in the file are an error.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from part_tables import chosen
from sklearn.linear_model import LogisticRegression

from sknomad._manifolds.choice import CURVES_UP_TO, LARGEST_MARGIN, LARGEST_STRENGTH
from sknomad._manifolds.survey import FINE_UP_TO

REPORTING_FROM = 100
QUANTILES = (0.9, 0.95, 0.975)


def thresholds(rows):
    """For curves and for other pieces, by number of points: how many are split, and quantiles of their strength."""
    single = chosen(rows, kind="single")
    for n in sorted({row["n"] for row in single}):
        for title, low, high in (("curves", 0, CURVES_UP_TO), ("others", CURVES_UP_TO, np.inf)):
            strength = np.array([row["strength"] for row in chosen(single, n=n) if low < row["dimension"] <= high])
            quantiles = " ".join(f"{value:+.2f}" for value in np.quantile(strength, QUANTILES))
            print(f"n = {n}: {len(strength)} {title}, {100 * np.mean(strength > 0):.1f} % split, quantiles {quantiles}")


def fit(features, is_right, weights):
    found = LogisticRegression(C=10).fit(features, is_right, sample_weight=weights)
    return [round(float(value), 2) for value in (found.intercept_[0], *found.coef_[0])]


def confidence(rows):
    """Coefficients for several parts (distance, margin), for one (distance) and for a number told (score)."""
    kinds = [row["kind"] for row in rows]
    weights = np.array([len(rows) / kinds.count(kind) for kind in kinds])
    strength = np.array([row["strength"] for row in rows])
    distance = np.minimum(np.abs(strength), LARGEST_STRENGTH)
    margin = np.minimum([row["margin"] for row in rows], LARGEST_MARGIN)
    is_right = np.array([row["auto"][0] == row["parts"] for row in rows])
    several = np.array([row["auto"][0] > 1 for row in rows])
    features = np.column_stack([distance, margin])
    print("several:", fit(features[several], is_right[several], weights[several]))
    print("one:", fit(distance[~several, None], is_right[~several], weights[~several]))
    told = [row for row in rows if "told_score" in row]
    score = np.array([[row["told_score"]] for row in told])
    print("told:", fit(score, [row["told"][1] >= 0.9 for row in told], None))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    rows = json.loads(parser.parse_args().file.read_text())["rows"]
    if any(row["seed"] >= REPORTING_FROM or row["kind"] == "unseen" for row in rows):
        raise SystemExit("The file has draws that are kept for reporting: constants must not be fitted on them.")
    thresholds(rows)
    for title, belongs in (("up to", lambda n: n <= FINE_UP_TO), ("above", lambda n: n > FINE_UP_TO)):
        found = [row for row in rows if belongs(row["points"])]
        if found:
            print(f"\n{title} {FINE_UP_TO} points, {len(found)} draws")
            confidence(found)


if __name__ == "__main__":
    main()
