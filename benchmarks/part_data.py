"""Data with known parts: benchmark sets, families of clusters, single pieces, and families kept aside.

``draw(kind, name, n, seed)`` gives points and the part of each, from 1; part 0 is noise, which no score counts. Kinds:

- ``sets``: the benchmark sets under ``$SKNOMAD_DATA/clustering``, if there are any (arrays ``X`` and ``y`` in each npz
  file, columns of names that begin with ``uci-`` standardised), and half-rings. A seed takes `n` of their points.
- ``families``: clusters of 2 to 50 dimensions, touching, uneven, stretched, nested, curved, noisy. The constants of the
  automatic choice were fitted on their seeds below 100, as on the sets.
- ``single``: pieces that must stay one.
- ``images``, ``alone``: several kinds of digit, and what is of one kind (`image_data`).
- ``unseen``: families that no constant was fitted on.
"""

import os
import zlib
from pathlib import Path

import numpy as np
from image_data import alone_names, draw_images, several_names
from sklearn.datasets import make_moons, make_s_curve, make_swiss_roll

from sknomad import datasets

# A cluster of a family has this many points at least; where `n` is too small for that the family is left out.
FEWEST_PER_CLUSTER = 4


def draw(kind, name, n, seed):
    """Points (m, d), at most `n` of them, and parts (m,)."""
    if kind == "sets":
        return set_sample(name, n, seed)
    if kind in ("images", "alone"):
        return draw_images(name, n, seed)
    if kind == "unseen":
        shape, noise = name.split(", noise ")
        X, parts = UNSEEN[shape](n, noise=float(noise), random_state=seed)
        return X, parts + 1
    random = np.random.default_rng([zlib.crc32(name.encode()), seed, n])
    if kind == "single":
        return SINGLE[name](random, n), np.ones(n, dtype=int)
    X, parts = FAMILIES[name](random, n)
    order = random.permutation(n)
    return X[order], parts[order]


def names(kind, n):
    """Names of a kind that `n` points are enough for."""
    if kind == "sets":
        return [*sorted(path.stem for path in set_folder().glob("*.npz")), "moons"]
    if kind in ("images", "alone"):
        return several_names(n) if kind == "images" else alone_names(n)
    if kind == "unseen":
        return [f"{shape}, noise {noise}" for shape in UNSEEN for noise in (0.05, 0.1)]
    return [name for name in (FAMILIES if kind == "families" else SINGLE) if n >= FEWEST_POINTS.get(name, 0)]


def set_folder():
    return Path(os.environ.get("SKNOMAD_DATA", "data")) / "clustering"


def set_sample(name, n, seed):
    if name == "moons":
        X, side = make_moons(n, noise=0.05, random_state=seed)
        return X, side + 1
    with np.load(set_folder() / f"{name}.npz") as file:
        X, parts = file["X"].astype(float), file["y"].astype(int)
    if len(X) > n:
        chosen = np.sort(np.random.default_rng(seed).choice(len(X), n, replace=False))
        X, parts = X[chosen], parts[chosen]
    if name.startswith("uci-"):
        scale = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1)
    return X, parts


# Families of clusters: functions of a random generator and the number of points.


def clouds(count, dimension, apart, shares=None, scales=None, stretched=False):
    """Normal clouds of standard deviation one (or `scales`), their centres at least about `apart` from each other."""

    def family(random, n):
        sizes = cloud_sizes(np.ones(count) if shares is None else np.array(shares, dtype=float), n)
        centres = random_centres(random, count, dimension, apart)
        X = []
        for k in range(count):
            cloud = random.normal(size=(sizes[k], dimension))
            if stretched:
                axes = np.linalg.qr(random.normal(size=(dimension, dimension)))[0]
                cloud = cloud @ (axes * random.uniform(0.25, 1.2, dimension))
            X.append(centres[k] + (cloud if scales is None else cloud * scales[k]))
        return np.vstack(X), np.repeat(np.arange(1, count + 1), sizes)

    return family


def cloud_sizes(shares, n):
    """Whole numbers that add up to `n`: the largest takes up what rounding leaves, if it is large enough."""
    sizes = np.maximum(np.round(shares / shares.sum() * n).astype(int), FEWEST_PER_CLUSTER)
    largest, left = np.argmax(sizes), n - sizes.sum()
    if sizes[largest] + left < FEWEST_PER_CLUSTER // 2:
        return np.diff(np.round(np.cumsum(np.r_[0, shares]) / shares.sum() * n).astype(int))
    sizes[largest] += left
    return sizes


def random_centres(random, count, dimension, apart):
    """Centres in a box, or around the origin in more than three dimensions; the box grows until they fit."""
    is_flat = dimension <= 3
    box, centres = 0.9 * apart * count ** (1 / min(dimension, 3)), []
    while len(centres) < count:
        spread = apart / np.sqrt(2 * dimension) * 1.05
        centre = random.uniform(0, box, dimension) if is_flat else random.normal(0, spread, dimension)
        if all(np.linalg.norm(centre - other) >= apart * (1 if is_flat else 0.9) for other in centres):
            centres.append(centre)
        else:
            box *= 1.003
        if not is_flat and random.random() < 0.02:
            apart *= 0.99
    return centres


def circle(angles, radii=1.0):
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])


def rings(radii, shares, noise):
    """Rings around one centre."""

    def family(random, n):
        which = np.arange(n) % len(radii) if shares is None else random.choice(len(radii), n, p=shares)
        X = circle(random.uniform(0, 2 * np.pi, n), np.array(radii)[which])
        return X + random.normal(0, noise, (n, 2)), which + 1

    return family


def ring_and_cloud(random, n):
    is_cloud = np.arange(n) % 2 == 1
    X = circle(random.uniform(0, 2 * np.pi, n)) + random.normal(0, 0.06, (n, 2))
    X[is_cloud] = random.normal(0, 0.2, (is_cloud.sum(), 2))
    return X, is_cloud + 1


def spirals(count, turns, innermost, scale):
    """Spirals out of one centre, evenly sampled by area."""

    def family(random, n):
        which = np.arange(n) % count
        t = np.sqrt(random.uniform(innermost, 1, n)) * turns * 2 * np.pi
        return circle(t + 2 * np.pi / count * which, t) / scale + random.normal(0, 0.02, (n, 2)), which + 1

    return family


def half_rings(noise):
    def family(random, n):
        X, side = make_moons(n, noise=noise, random_state=int(random.integers(1e9)))
        return X, side + 1

    return family


def s_curve_and_ball(random, n):
    on_curve = n * 2 // 3
    curve = make_s_curve(on_curve, noise=0.05, random_state=int(random.integers(1e9)))[0]
    ball = random.normal([2.6, 1, 0], 0.25, (n - on_curve, 3))
    return np.vstack([curve, ball]), np.repeat([1, 2], [on_curve, n - on_curve])


def five_lines(random, n):
    which = np.arange(n) % 5
    return np.column_stack([random.uniform(-3, 3, n), 1.2 * which + random.normal(0, 0.15, n)]), which + 1


def four_shapes(random, n):
    """A ring around a cloud, a line, and a wider cloud."""
    quarter = n // 4
    ring = 1.2 * circle(random.uniform(0, 2 * np.pi, quarter)) + random.normal(0, 0.07, (quarter, 2))
    inside = random.normal(0, 0.2, (quarter, 2))
    line = np.column_stack([random.uniform(2.2, 5, quarter), random.normal(0, 0.15, quarter) + 1])
    cloud = random.normal([3.6, -1], 0.45, (n - 3 * quarter, 2))
    return np.vstack([ring, inside, line, cloud]), np.repeat([1, 2, 3, 4], [quarter] * 3 + [n - 3 * quarter])


def nine_squares(random, n):
    which = random.integers(0, 9, n)
    return 1.5 * np.column_stack([which % 3, which // 3]) + random.uniform(0, 1, (n, 2)), which + 1


def with_noise(family, share):
    """A share of the points all over the box around a family, and a tenth beyond."""

    def noisy(random, n):
        count = int(n * share)
        X, parts = family(random, n - count)
        low, high = X.min(axis=0), X.max(axis=0)
        margin = 0.1 * (high - low)
        noise = random.uniform(low - margin, high + margin, (count, X.shape[1]))
        return np.vstack([X, noise]), np.r_[parts, np.zeros(count, dtype=int)]

    return noisy


FAMILIES = {
    "blobs3_2d": clouds(3, 2, 6),
    "blobs5_10d": clouds(5, 10, 7),
    "blobs8_50d": clouds(8, 50, 12),
    "blobs12_2d": clouds(12, 2, 6),
    "blobs20_2d": clouds(20, 2, 7),
    "blobs30_5d": clouds(30, 5, 9),
    "touch2_2d": clouds(2, 2, 4),
    "touch4_2d": clouds(4, 2, 4.5),
    "touch3_10d": clouds(3, 10, 5.5),
    "aniso4_2d": clouds(4, 2, 5, stretched=True),
    "aniso6_5d": clouds(6, 5, 7, stretched=True),
    "aniso3_20d": clouds(3, 20, 8, stretched=True),
    "uneven4_2d": clouds(4, 2, 7, shares=[12, 4, 2, 1]),
    "uneven6_10d": clouds(6, 10, 8, shares=[10, 6, 4, 2, 1, 1]),
    "dens3_2d": clouds(3, 2, 9, scales=[0.3, 1, 2]),
    "dens5_5d": clouds(5, 5, 11, scales=[0.3, 0.5, 1, 1.5, 2]),
    "rings2": rings([0.45, 1], None, 0.05),
    "rings3": rings([0.33, 0.66, 1], [1 / 6, 2 / 6, 3 / 6], 0.03),
    "ring_dot": ring_and_cloud,
    "spirals2": spirals(2, 1.5, 0.03, 10),
    "spirals3": spirals(3, 1, 0.05, 6),
    "moons050": half_rings(0.05),
    "moons080": half_rings(0.08),
    "moons100": half_rings(0.1),
    "moons120": half_rings(0.12),
    "moons150": half_rings(0.15),
    "scurve_ball": s_curve_and_ball,
    "lines5": five_lines,
    "mixed4": four_shapes,
    "squares9": nine_squares,
}
FAMILIES |= {
    "noise_blobs4": with_noise(FAMILIES["uneven4_2d"], 0.1),
    "noise_rings2": with_noise(FAMILIES["rings2"], 0.08),
    "noise_blobs12": with_noise(FAMILIES["blobs12_2d"], 0.1),
    "noise_lines5": with_noise(FAMILIES["lines5"], 0.05),
}
FEWEST_POINTS = {"blobs20_2d": 100, "blobs30_5d": 150}


# Single pieces: functions of the same two, the points alone.


def normal(scales):
    return lambda random, n: random.normal(size=(n, len(scales))) * np.array(scales)


def uniform(dimension):
    return lambda random, n: random.uniform(size=(n, dimension))


def heavy(distribution, dimension):
    """Independent coordinates from a distribution with heavier tails than the normal one."""
    draws = {
        "t3": lambda random, shape: random.standard_t(3, size=shape),
        "laplace": lambda random, shape: random.laplace(size=shape),
        "exponential": lambda random, shape: random.exponential(size=shape),
    }
    return lambda random, n: draws[distribution](random, (n, dimension))


def ring(noise, unevenness=0.0, turn=2 * np.pi):
    """A ring, or the part of it up to the angle `turn`; denser on one side where `unevenness` is positive."""

    def piece(random, n):
        angles = random.vonmises(0, unevenness, n) if unevenness else random.uniform(0, turn, n)
        return circle(angles) + random.normal(0, noise, (n, 2))

    return piece


def ring_in_ten_dimensions(random, n):
    ring_points = ring(0)(random, n)
    return np.column_stack([ring_points, np.zeros((n, 8))]) + random.normal(0, 0.1, (n, 10))


def spiral_thinning_out(random, n):
    t = random.beta(1, 3, n) * 3 * np.pi + 1
    return circle(t, t) + random.normal(0, 0.2, (n, 2))


def line(random, n):
    return np.column_stack([random.uniform(-3, 3, n), np.zeros((n, 2))]) + random.normal(0, 0.1, (n, 3))


def rolled(make):
    return lambda random, n: make(n, random_state=int(random.integers(1e9)))[0]


SINGLE = {
    "gauss2": normal([1] * 2),
    "gauss5": normal([1] * 5),
    "gauss10": normal([1] * 10),
    "gauss50": normal([1] * 50),
    "square": uniform(2),
    "cube": uniform(3),
    "cube6": uniform(6),
    "ring": ring(0.05),
    "ring_thin": ring(0.01),
    "ring10d": ring_in_ten_dimensions,
    "arc": ring(0.05, turn=np.pi),
    "roll": rolled(make_swiss_roll),
    "scurve": rolled(make_s_curve),
    "t3_2": heavy("t3", 2),
    "t3_5": heavy("t3", 5),
    "laplace2": heavy("laplace", 2),
    "laplace10": heavy("laplace", 10),
    "long2": normal([5, 1]),
    "long5": normal([6, 2, 1, 1, 0.5]),
    "long10": normal(3 * 0.8 ** np.arange(10)),
    "curve_uneven": spiral_thinning_out,
    "ring_uneven": ring(0.05, unevenness=0.7),
    "exp2": heavy("exponential", 2),
    "line3d": line,
}


# Families kept aside: functions of the number of points, the noise on every coordinate, and a seed; parts from 0.


def along(shape):
    """Points `shape` at parameters from the unit interval, drawn at random, on parts in turn."""

    def family(n, noise, random_state):
        random = np.random.RandomState(random_state)
        X, parts = shape(random.uniform(size=n), np.arange(n), random)
        return X + noise * random.normal(size=X.shape), parts

    return family


def double_helix(t, index, random):
    """Two strands of two turns, half a turn apart."""
    parts, angle = index % 2, 4 * np.pi * t
    return np.column_stack([circle(angle + np.pi * parts), 0.3 * angle]), parts


def three_circles(t, index, random):
    """Radii 1, 2 and 3, as many points on each."""
    parts = index % 3
    return circle(2 * np.pi * t, 1 + parts), parts


def parallel_lines(t, index, random):
    """Three segments of length 6, 0.7 apart."""
    parts = index % 3
    return np.column_stack([6 * t, 0.7 * parts]), parts


def clouds_of_three_sizes(t, index, random):
    """Normal clouds of standard deviation 1, 0.5 and 0.25, the largest with half of the points."""
    parts = np.array([0, 0, 1, 2])[index % 4]
    centres, scales = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]]), np.array([1.0, 0.5, 0.25])
    return centres[parts] + scales[parts, None] * random.normal(size=(len(t), 2)), parts


def two_sheets(t, index, random):
    """Two squares of side 2, 0.7 apart."""
    parts = index % 2
    return np.column_stack([2 * t, 2 * random.uniform(size=len(t)), 0.7 * parts]), parts


def skewed_clouds(t, index, random):
    """Five log-normal clouds, 5.9 from their neighbours."""
    parts = index % 5
    return circle(2 * np.pi * parts / 5, 5.0) + np.exp(0.5 * random.normal(size=(len(t), 2))), parts


def line_through_a_ring(t, index, random):
    """A segment of length 3 on the axis of a ring of radius 1."""
    parts = (index % 2)[:, None]
    ring_points, axis = np.column_stack([circle(2 * np.pi * t), 0 * t]), np.column_stack([0 * t, 0 * t, 3 * t - 1.5])
    return np.where(parts == 0, ring_points, axis), parts[:, 0]


def ball_in_a_shell(t, index, random):
    """A normal cloud of standard deviation 0.1 in the centre of a sphere in five dimensions."""
    parts, directions = (index % 2)[:, None], random.normal(size=(len(t), 5))
    sphere = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return np.where(parts == 0, sphere, 0.1 * random.normal(size=sphere.shape)), parts[:, 0]


UNSEEN = {
    "double Swiss roll": datasets.double_swiss_roll,
    "trefoil pair": datasets.trefoil_pair,
    "linked rings": datasets.linked_rings,
    "three spirals": datasets.three_spirals,
    "six clouds": datasets.blobs,
    "double helix": along(double_helix),
    "three circles": along(three_circles),
    "parallel lines": along(parallel_lines),
    "clouds of three sizes": along(clouds_of_three_sizes),
    "two sheets": along(two_sheets),
    "skewed clouds": along(skewed_clouds),
    "line through a ring": along(line_through_a_ring),
    "ball in a shell": along(ball_in_a_shell),
}
