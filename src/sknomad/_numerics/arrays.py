"""The one place that knows about array libraries: namespaces, precision, moving between them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import scipy
import scipy.linalg as la
import scipy.sparse as sp
from array_api_compat import array_namespace, is_array_api_obj
from array_api_compat import device as device
from array_api_compat import is_numpy_array as is_numpy_array
from array_api_compat import is_torch_array as is_torch_array
from array_api_compat import to_device as to_device
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.utils.fixes import parse_version

# A NumPy, CuPy, torch or array-api-strict array: numerics are written once for all of them. The type checker takes each
# for NumPy's, which has the operators, the indexing, `shape`, `T` and `dtype` that they share; that nothing else is
# used where another library may come is for the tests to show, which run on all of them.
Array: TypeAlias = NDArray[Any]
# A SciPy sparse matrix or array; the type checker takes each for a matrix by rows.
Sparse: TypeAlias = "sp.csr_matrix[Any]"
# Rows of data or a matrix between points, dense (NumPy) or sparse.
Table: TypeAlias = "Array | Sparse"
# The same where dense stays dense and sparse stays sparse.
SameTable = TypeVar("SameTable", bound=Table)
# SciPy's own test, which tells the type checker which of the two a table is.
is_sparse = issparse
# What users pass as a table: whatever scikit-learn reads.
Data: TypeAlias = "ArrayLike | Sparse"
# Where to compute: "auto", "cpu", "cpu32", "cuda" (also with a number), or an array that stands for its own place.
Device: TypeAlias = str | Array

# Half the spacing of float64 numbers around 1, the unit of every rounding bound.
UNIT_ROUNDOFF = 2.0**-53

# Whether scikit-learn can switch its array API on: it refuses to with an older SciPy.
CAN_DISPATCH = parse_version(scipy.__version__) >= parse_version("1.14")

# NumPy's loop over LAPACK's decompositions, which has one for each precision.
_EIGH_OF_LOWER = getattr(getattr(np.linalg, "_umath_linalg", None), "eigh_lo", None)

# Below this many points moving to the GPU costs more than it saves.
SMALLEST_FOR_CUDA = 1000
# Beyond this many points a GPU's state is kept in float32.
LARGEST_IN_DOUBLE = 30_000


def namespace(*arrays: Array) -> Any:
    """The array API namespace that the given arrays share."""
    return array_namespace(*arrays)


def to_numpy(array: Array) -> Array:
    """The same numbers as a NumPy array on the host."""
    if is_numpy_array(array):
        return array
    foreign: Any = array
    if is_torch_array(foreign):
        return foreign.detach().cpu().numpy()
    if hasattr(foreign, "get"):  # CuPy
        return foreign.get()
    if hasattr(namespace(foreign), "Device"):  # array-api-strict plays at having several devices
        foreign = to_device(foreign, namespace(foreign).Device("CPU_DEVICE"))
    return np.asarray(foreign)


def like(array: Array, template: Array, *, dtype: DTypeLike | None = None) -> Array:
    """`array` in the library, on the device and, unless `dtype` is given, in the precision of `template`."""
    xp = namespace(template)
    dtype = template.dtype if dtype is None else dtype
    if type(array) is type(template):
        array = array if array.dtype == dtype else xp.astype(array, dtype)
        is_there = is_numpy_array(template) or device(array) == device(template)
        return array if is_there else to_device(array, device(template))
    array = to_numpy(array)
    if is_numpy_array(template):
        return np.asarray(array, dtype=dtype)
    # A copy: other libraries know no arrays that must not be written to, and may share memory.
    return xp.asarray(array, dtype=dtype, device=device(template), copy=True)


def given_template(array: object) -> Array | None:
    """`array` if results are to be given in its library: not NumPy, and scikit-learn's array API switched on.

    None otherwise: results are then NumPy arrays.
    """
    if not get_config()["array_api_dispatch"] or is_sparse(array) or not is_array_api_obj(array):
        return None
    return None if is_numpy_array(array) else cast("Array", array)


def like_given(array: Array, template: Array | None) -> Array:
    """A NumPy array in the library and on the device of `template`, in its own precision; itself where that is None."""
    return array if template is None else namespace(template).asarray(array, device=device(template))


def choose_device(device: Device, n: int) -> Array:
    """An empty array whose library, device and precision the numerics are to use.

    ``"cpu"`` is NumPy in float64, ``"cpu32"`` in float32; ``"cuda"`` (or ``"cuda:1"``) is torch, in float64 where that
    is fast and fits and float32 otherwise; ``"auto"`` is the latter if there is such a device and enough points for it
    to pay, and ``"cpu"`` if not. An array stands for its own library, device and precision.
    """
    if not isinstance(device, str):
        return device[:0]
    if device == "cpu32":
        return np.empty(0, dtype=np.float32)
    if device == "cpu" or (device == "auto" and (n < SMALLEST_FOR_CUDA or not cuda_is_available())):
        return np.empty(0)
    if device != "auto" and not device.startswith("cuda"):
        raise ValueError(f'device must be "auto", "cpu", "cpu32", "cuda" or an array, got {device!r}.')
    if not cuda_is_available():
        raise ValueError(f'device must be one that is there, got {device!r} without a CUDA torch. Use device="cpu".')
    import torch

    device = "cuda" if device == "auto" else device
    # Data-centre chips (compute capability x.0) do float64 products as fast as float32 ones.
    is_fast = torch.cuda.get_device_capability(device)[1] == 0
    return torch.empty(0, dtype=torch.float64 if is_fast and n <= LARGEST_IN_DOUBLE else torch.float32, device=device)


def cuda_is_available() -> bool:
    """Whether torch is installed and sees a CUDA device; asked without importing torch where it is not installed.

    Returns
    -------
    bool

    Examples
    --------
    >>> device = "cuda" if cuda_is_available() else "cpu"
    """
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def is_on_gpu(array: Array) -> bool:
    """Whether an array lives on a CUDA device, where other sizes are cheap than on a CPU."""
    return "cuda" in str(device(array)).lower()


def double(array: Array) -> Array:
    """The array in float64, in its own library."""
    xp = namespace(array)
    return array if array.dtype == xp.float64 else xp.astype(array, xp.float64)


def freeze(arrays: Iterable[Array]) -> None:
    """Let NumPy refuse whatever would write into these arrays."""
    for array in arrays:
        array.flags.writeable = False


def all_finite(array: Array) -> bool:
    """Whether an array holds neither NaN nor infinity."""
    xp = namespace(array)
    return bool(xp.all(xp.isfinite(array)))


def is_array(value: object) -> bool:
    """Whether `value` is an array of a library that the numerics know."""
    return bool(is_array_api_obj(value))


def float64_template(array: Array) -> Array:
    """An empty float64 array in the library and on the device of `array`."""
    xp = namespace(array)
    return xp.zeros(0, dtype=xp.float64, device=device(array))


def row_slices(n: int, size: int) -> list[slice]:
    """Consecutive slices of at most `size` that cover ``range(n)``."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def itemsize(template: Array) -> int:
    """Bytes of one number of `template`."""
    return 8 if template.dtype == namespace(template).float64 else 4


def frobenius(array: Array) -> float:
    """Frobenius norm of a matrix, or Euclidean norm of a vector, as a Python float.

    The root is Python's, which is rounded once; some libraries are a unit in the last place off.
    """
    return math.sqrt(float(namespace(array).sum(array * array)))


def inverse_of_lower(L: Array) -> Array:
    """Inverse of a lower triangular matrix; a GPU takes a fifth of the time if it is told that it is triangular."""
    if is_torch_array(L) and is_on_gpu(L):
        import torch

        return torch.linalg.solve_triangular(L, torch.eye(L.shape[0], dtype=L.dtype, device=L.device), upper=False)
    return namespace(L).linalg.inv(L)


def eigh(A: Array) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and eigenvectors of a symmetric matrix, computed in its own precision.

    NumPy's public function computes float32 in float64, at twice the time; the one behind it does not. Where that is
    missing, or fails, the public one answers.
    """
    if is_numpy_array(A) and A.dtype == np.float32 and _EIGH_OF_LOWER is not None:
        with np.errstate(all="ignore"):
            values, vectors = _EIGH_OF_LOWER(A, signature="f->ff")
        if np.isfinite(values).all():
            return values, vectors
    values, vectors = namespace(A).linalg.eigh(A)
    return values, vectors


def leading_eigh(A: Array, count: int) -> tuple[Array, Array]:
    """The `count` largest eigenvalues of a symmetric NumPy matrix, descending, and their vectors.

    LAPACK's routine for some of them fails where many are exactly equal; then all are computed.

    Examples
    --------
    >>> leading_eigh(np.diag([1.0, 3.0, 2.0]), 2)[0].tolist()
    [3.0, 2.0]
    """
    n = len(A)
    try:
        values, vectors = la.eigh(A, subset_by_index=[n - count, n - 1], check_finite=False)
    except la.LinAlgError:
        values, vectors = eigh(A)
    return values[::-1][:count], vectors[:, ::-1][:, :count]


def gamma(k: float) -> float:
    """Higham's constant ``k u / (1 - k u)``: relative error of a sum or product of ``k`` rounded terms."""
    return k * UNIT_ROUNDOFF / (1 - k * UNIT_ROUNDOFF)
