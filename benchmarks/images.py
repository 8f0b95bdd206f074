"""Parts and order of views with default settings on images of objects, a teapot and faces.

    SKNOMAD_DATA=... python benchmarks/images.py --out benchmarks/results/images.json

The objects of COIL-100 at hand, alone, by twos and all; those of COIL-20 alone, by fours and all; the teapots; four
faces of Yale B under 64 lights each. ``order`` is the mean over objects of the circular rank correlation of the found
position with the true angle, for the images in the part that most of them are in (for faces: rank correlation with the
azimuth). Isomap and t-SNE, with scikit-learn's defaults, are told the objects: each is laid out alone, and the angle
around its mean (for faces the first coordinate) is the position.
"""

import argparse
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
from parts import write
from scipy.stats import spearmanr
from sklearn.manifold import TSNE, Isomap
from sklearn.metrics import adjusted_rand_score

from sknomad import NOMAD, datasets
from sknomad.metrics import circular_rank_correlation


def chosen(images, targets):
    """Rows, objects and angles of some objects."""
    some = np.isin(images.target, targets)
    return images.data[some], images.target[some], images.angle[some]


def cases():
    """Data by name: rows, objects, angles."""
    coil100, coil20 = datasets.fetch_coil100(), datasets.fetch_coil20()
    objects = np.unique(coil100.target).tolist()
    found = {f"COIL-100, object {one}": chosen(coil100, [one]) for one in objects}
    found |= {f"COIL-100, objects {a} and {b}": chosen(coil100, [a, b]) for a, b in combinations(objects, 2)}
    found["COIL-100, all four"] = chosen(coil100, objects)
    found |= {f"COIL-20, object {one}": chosen(coil20, [one]) for one in range(1, 21)}
    found |= {f"COIL-20, objects {a} to {a + 3}": chosen(coil20, range(a, a + 4)) for a in (1, 5, 9, 13, 17)}
    found["COIL-20, all twenty"] = chosen(coil20, range(1, 21))
    found["teapots"] = chosen(datasets.fetch_teapots(), [0])
    yale = datasets.fetch_yale_faces()
    found["Yale, four faces"] = chosen(yale, np.unique(yale.target))
    return found


def order_of_views(model, target, angle, *, is_circular):
    """Mean over objects of the agreement of positions with angles, within the part that most of its images are in."""
    agreements = []
    for one in np.unique(target):
        members = np.flatnonzero(target == one)
        labels = model.labels_[members]
        members = members[labels == np.bincount(labels[labels >= 0]).argmax()]
        if len(members) > 2:
            agreements.append(agreement(model.order_[members], angle[members], is_circular=is_circular))
    return round(float(np.mean(agreements)), 3)


def order_by_a_peer(method, X, target, angle, *, is_circular):
    """The same for the coordinates of another method on each object alone."""
    agreements = []
    for one in np.unique(target):
        members = target == one
        plane = method.fit_transform(X[members])
        plane = plane - plane.mean(axis=0)
        position = np.arctan2(plane[:, 1], plane[:, 0]) if is_circular else plane[:, 0]
        agreements.append(agreement(position, angle[members], is_circular=is_circular))
    return round(float(np.mean(agreements)), 3)


def agreement(position, truth, *, is_circular):
    return float(circular_rank_correlation(position, truth) if is_circular else abs(spearmanr(position, truth)[0]))


def measure(name, X, target, angle):
    is_circular = not name.startswith("Yale")
    began = time.perf_counter()
    model = NOMAD().fit(X)
    row = {"data": name, "n": len(X), "objects": len(np.unique(target)), "parts": model.n_manifolds_}
    row |= {"ARI": round(float(adjusted_rand_score(target, model.labels_)), 3), "K": round(model.K_, 1)}
    row |= {"closed": int(np.sum(model.is_closed_)), "confidence": round(model.confidence_, 2)}
    row |= {"seconds": round(time.perf_counter() - began, 1)}
    row |= {"order": order_of_views(model, target, angle, is_circular=is_circular)}
    for peer, method in (("isomap", Isomap()), ("tsne", TSNE(random_state=0))):
        row[peer] = order_by_a_peer(method, X, target, angle, is_circular=is_circular)
    return row


def table_rows(rows):
    header = ["data", "images", "objects", "parts found", "ARI", "order of views", "Isomap, objects told"]
    header += ["t-SNE, objects told", "closed", "`K_`"]
    keys = ("data", "n", "objects", "parts", "ARI", "order", "isomap", "tsne", "closed", "K")
    return header, [[row[key] for key in keys] for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, data in cases().items():
        rows.append(measure(name, *data))
        print(rows[-1], flush=True)
        write(options.out, rows)


if __name__ == "__main__":
    main()
