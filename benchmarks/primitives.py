"""Time the linear algebra that the solvers are made of, in torch and in CuPy on one GPU, or NumPy on the CPU.

    python benchmarks/primitives.py [--out FILE.json]

Best of three after a warm-up, synchronised. The table decides which library `device="cuda"` means.
"""

import argparse
import json
import time

import numpy as np


def best_time(function, synchronize, repeats=3):
    function()
    synchronize()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        synchronize()
        times.append(time.perf_counter() - started)
    return min(times)


def torch_cases(n_eigen, n_product, width):
    import torch

    generator = torch.Generator(device="cuda").manual_seed(0)

    def matrix(*shape, dtype=torch.float32):
        return torch.randn(*shape, generator=generator, device="cuda", dtype=dtype)

    M32 = matrix(n_eigen, n_eigen)
    M32 = M32 + M32.T
    M64 = M32.double()
    P64 = M64 @ M64.T / n_eigen + torch.eye(n_eigen, device="cuda", dtype=torch.float64)
    A, V = matrix(n_product, n_product), matrix(n_product, width)
    W = matrix(n_eigen, n_eigen // 3)

    def product(tf32):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        return A @ V

    yield f"eigh float32 n={n_eigen}", lambda: torch.linalg.eigh(M32)
    yield f"eigh float64 n={n_eigen}", lambda: torch.linalg.eigh(M64)
    yield f"eigvalsh float64 n={n_eigen}", lambda: torch.linalg.eigvalsh(M64)
    yield f"cholesky float64 n={n_eigen}", lambda: torch.linalg.cholesky(P64)
    yield f"product float64 n={n_eigen}", lambda: M64 @ M64
    yield f"qr float32 {n_eigen} x {n_eigen // 3}", lambda: torch.linalg.qr(W)
    yield f"qr float32 {n_product} x {width}", lambda: torch.linalg.qr(V)
    yield f"block product float32 n={n_product} x {width}", lambda: product(False)
    yield f"block product TF32 n={n_product} x {width}", lambda: product(True)
    yield f"abs then product TF32 n={n_product} x {width}", lambda: torch.abs(A) @ V


def cupy_cases(n_eigen, n_product, width):
    import cupy as cp

    generator = cp.random.default_rng(0)
    M32 = generator.standard_normal((n_eigen, n_eigen), dtype=cp.float32)
    M32 = M32 + M32.T
    M64 = M32.astype(cp.float64)
    P64 = M64 @ M64.T / n_eigen + cp.eye(n_eigen)
    A = generator.standard_normal((n_product, n_product), dtype=cp.float32)
    V = generator.standard_normal((n_product, width), dtype=cp.float32)
    W = generator.standard_normal((n_eigen, n_eigen // 3), dtype=cp.float32)
    yield f"eigh float32 n={n_eigen}", lambda: cp.linalg.eigh(M32)
    yield f"eigh float64 n={n_eigen}", lambda: cp.linalg.eigh(M64)
    yield f"eigvalsh float64 n={n_eigen}", lambda: cp.linalg.eigvalsh(M64)
    yield f"cholesky float64 n={n_eigen}", lambda: cp.linalg.cholesky(P64)
    yield f"product float64 n={n_eigen}", lambda: M64 @ M64
    yield f"qr float32 {n_eigen} x {n_eigen // 3}", lambda: cp.linalg.qr(W)
    yield f"qr float32 {n_product} x {width}", lambda: cp.linalg.qr(V)
    yield f"block product float32 n={n_product} x {width}", lambda: A @ V


def numpy_cases(n_eigen, n_product, width):
    generator = np.random.default_rng(0)
    M = generator.standard_normal((n_eigen, n_eigen))
    M = M + M.T
    A, V = generator.standard_normal((n_product, n_product)), generator.standard_normal((n_product, width))
    copy = np.empty_like(A)
    yield f"eigh float64 n={n_eigen}", lambda: np.linalg.eigh(M)
    yield f"eigvalsh float64 n={n_eigen}", lambda: np.linalg.eigvalsh(M)
    yield f"product float64 n={n_eigen}", lambda: M @ M
    yield f"block product float64 n={n_product} x {width}", lambda: A @ V
    yield f"copy float64 n={n_product}", lambda: np.copyto(copy, A)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out")
    parser.add_argument("--cpu", action="store_true", help="time NumPy instead")
    options = parser.parse_args()
    results = {}
    if options.cpu:
        suites = {"numpy": (numpy_cases(1000, 2000, 150), lambda: None)}
    else:
        import cupy
        import torch

        suites = {
            "torch": (torch_cases(6903, 30_000, 200), torch.cuda.synchronize),
            "cupy": (cupy_cases(6903, 30_000, 200), cupy.cuda.Device().synchronize),
        }
    for library, (cases, synchronize) in suites.items():
        for name, function in cases:
            results[f"{library}: {name}"] = seconds = best_time(function, synchronize)
            print(f"{library:<8}{name:<48}{1e3 * seconds:10.2f} ms", flush=True)
    if options.out:
        with open(options.out, "w") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
