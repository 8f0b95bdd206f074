"""The constants of the automatic choice, from what `parts` measured.

    cd benchmarks/results && python ../part_constants.py parts_development.json parts_reporting.json

Prints by how much the threshold between one part and several would have to move so that 5 in 100 single pieces are
split, on seeds for development alone, and the logistic coefficients of the confidence, up to and above `FINE_UP_TO`
points. On draws that the rule was chosen on it is right more often than on others, so that confidence is fitted on
draws below `CALIBRATED_BELOW`, those for development among them; what it is worth is told by the draws above, which
neither has seen. Families kept unseen are in neither.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from part_tables import CALIBRATED_BELOW, chosen
from sklearn.linear_model import LogisticRegression

from sknomad._manifolds.choice import LARGEST_MARGIN, LARGEST_STRENGTH
from sknomad._manifolds.survey import FINE_UP_TO

REPORTING_FROM = 100
# Further draws for development are of single pieces alone: among them "one" would be right more often than it is.
DEVELOPMENT_OF_ALL_KINDS = 2
QUANTILES = (0.9, 0.95, 0.975)


def thresholds(rows):
    """By number of points: how many single pieces are split, and quantiles of their strength."""
    single = chosen(rows, kind="single")
    for n in sorted({row["n"] for row in single}):
        strength = np.array([row["strength"] for row in chosen(single, n=n)])
        quantiles = " ".join(f"{value:+.2f}" for value in np.quantile(strength, QUANTILES))
        print(f"n = {n}: {len(strength)} pieces, {100 * np.mean(strength > 0):.1f} % split, quantiles {quantiles}")


def fit(features, is_right):
    found = LogisticRegression(C=10).fit(features, is_right)
    return [round(float(value), 2) for value in (found.intercept_[0], *found.coef_[0])]


def confidence(rows):
    """Coefficients by name: of several parts (distance, margin), of one (distance), of a number told (score)."""
    strength = np.array([row["strength"] for row in rows])
    distance = np.minimum(np.abs(strength), LARGEST_STRENGTH)
    margin = np.minimum([row["margin"] for row in rows], LARGEST_MARGIN)
    is_right = np.array([row["auto"][0] == row["parts"] for row in rows])
    several = np.array([row["auto"][0] > 1 for row in rows])
    features = np.column_stack([distance, margin])
    told = [row for row in rows if "told_score" in row]
    score = np.array([[row["told_score"]] for row in told])
    return {
        "several": fit(features[several], is_right[several]),
        "one": fit(distance[~several, None], is_right[~several]),
        "told": fit(score, [row["told"][1] >= 0.9 for row in told]),
    }


def for_calibration(rows, *, few):
    """The draws that confidence is fitted on, with up to `FINE_UP_TO` points or with more."""
    seeds = {*range(DEVELOPMENT_OF_ALL_KINDS), *range(REPORTING_FROM, CALIBRATED_BELOW)}
    seen = [row for row in rows if row["seed"] in seeds and row["kind"] != "unseen"]
    return [row for row in seen if (row["points"] <= FINE_UP_TO) == few]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    rows = [row for file in parser.parse_args().files for row in json.loads(file.read_text())["rows"]]
    thresholds([row for row in rows if row["seed"] < REPORTING_FROM])
    for title, few in (("up to", True), ("above", False)):
        found = for_calibration(rows, few=few)
        print(f"\n{title} {FINE_UP_TO} points, {len(found)} draws: {confidence(found)}")


if __name__ == "__main__":
    main()
