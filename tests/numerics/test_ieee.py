"""Arithmetic that is not IEEE float64 proves nothing: found out before every proof, and said in one sentence."""

import ctypes
import platform
import struct
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from sknomad import NOMAD, Gram, Iterate, KMeansSDP, certify, certify_kmeans, cli, solve, verify_certificate
from sknomad._numerics import ieee
from sknomad._numerics.ieee import UnsoundArithmeticError, check_arithmetic

X = np.random.default_rng(0).standard_normal((8, 2))
on_this_processor = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.system() != "Linux", reason="sets modes of x86-64 under Linux"
)
# Bits of the register that says how this thread of an x86-64 processor computes, and where the C library keeps it.
FLUSH, NO_SUBNORMALS, DOWN, UP, TO_ZERO = 0x8000, 0x40, 0x2000, 0x4000, 0x6000
PLACE, SIZE = 28, 32


@contextmanager
def processor_mode(bits):
    libm, before = ctypes.CDLL("libm.so.6"), ctypes.create_string_buffer(SIZE)
    libm.fegetenv(before)
    after = ctypes.create_string_buffer(before.raw, SIZE)
    struct.pack_into("<I", after, PLACE, struct.unpack_from("<I", before, PLACE)[0] | bits)
    libm.fesetenv(after)
    try:
        yield
    finally:
        libm.fesetenv(before)


def test_every_library_here_does_what_proofs_assume(xp):
    check_arithmetic(xp.zeros(0, dtype=xp.float64))
    check_arithmetic(xp.zeros(0, dtype=xp.float32))  # stands for its library and device only


MODES = {FLUSH: "subnormal", NO_SUBNORMALS: "subnormal", DOWN: "round", UP: "round", TO_ZERO: "round"}


@on_this_processor
@pytest.mark.parametrize("bits", MODES)
def test_modes_of_the_processor_are_noticed(bits):
    with processor_mode(bits), pytest.raises(UnsoundArithmeticError, match=f"numpy on cpu. that .*{MODES[bits]}"):
        check_arithmetic(np.empty(0))
    check_arithmetic(np.empty(0))


@on_this_processor
def test_no_door_gives_the_grade_in_such_a_mode(tmp_path, capsys):
    problem, trivial = (KMeansSDP(Gram.from_data(X), K) for K in (3, 8))
    iterate, path = Iterate(np.eye(8), N=np.zeros((8, 8))), tmp_path / "proof"
    np.save(tmp_path / "X.npy", X)
    solve(problem, grade="verified").save_certificate(path)
    doors = [
        lambda: certify(problem, iterate, grade="verified"),
        lambda: certify(trivial, iterate, grade="verified"),
        lambda: solve(problem, "soft", grade="verified", max_iter=3),
        lambda: NOMAD(3, grade="verified").fit(X),
        lambda: certify_kmeans(X, [0, 1] * 4, grade="verified"),
        lambda: verify_certificate(path, X),
    ]
    for door in doors:
        with processor_mode(FLUSH), pytest.raises(RuntimeError, match='grade "verified" must be proven in IEEE'):
            door()
    with processor_mode(FLUSH):
        assert cli.main(["verify", str(path), str(tmp_path / "X.npy")]) == 1
        assert certify(problem, iterate).grade == "eigen"
    assert capsys.readouterr().err.count("\n") == 1


def product_in_float32(A, B):
    return (A.astype(np.float32) @ B.astype(np.float32)).astype(float)


def product_with_a_common_scale(A, B):
    """As emulations by whole numbers do it: every row of ``A`` and column of ``B`` gets one exponent and 64 bits."""
    row = np.abs(A).max(axis=1, keepdims=True) * 2.0**-63
    return (np.round(A / row) @ B) * row


def product_by_strassen(A, B):
    k = len(A) // 2
    (a, b), (c, d) = ((M[:k, :k], M[:k, k:]) for M in (A, A[k:]))
    (e, f), (g, h) = ((M[:k, :k], M[:k, k:]) for M in (B, B[k:]))
    m = [(a + d) @ (e + h), (c + d) @ e, a @ (f - h), d @ (g - e), (a + b) @ h, (c - a) @ (e + f), (b - d) @ (g + h)]
    return np.block([[m[0] + m[3] - m[4] + m[6], m[2] + m[4]], [m[1] + m[3], m[0] - m[1] + m[2] + m[5]]])


@pytest.mark.parametrize("product", [product_in_float32, product_with_a_common_scale, product_by_strassen])
def test_other_products_of_matrices_are_noticed(monkeypatch, product):
    """Only products of large matrices are done so, as libraries do."""
    library = SimpleNamespace(
        __name__="somewhere.fast",
        asarray=lambda numbers, dtype, device: np.asarray(numbers, dtype=dtype),
        float64=np.float64,
        matmul=lambda A, B: product(A, B) if len(A) >= 100 else A @ B,
    )
    monkeypatch.setattr(ieee, "namespace", lambda array: library)
    check_arithmetic(np.empty(0), 300)
    with pytest.raises(UnsoundArithmeticError, match=r"\(fast on cpu\) that multiplies matrices otherwise"):
        check_arithmetic(np.empty(0), 403)
