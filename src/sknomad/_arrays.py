"""The one place that knows about array libraries: namespaces, precision, moving between them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from array_api_compat import array_namespace, is_numpy_array, is_torch_array
from array_api_compat import device as device

# A NumPy, CuPy, torch or array-api-strict array: numerics are written once for all of them.
Array: TypeAlias = Any

# Half the spacing of float64 numbers around 1, the unit of every rounding bound.
UNIT_ROUNDOFF = 2.0**-53


def namespace(*arrays: Array) -> Any:
    """The array API namespace that the given arrays share."""
    return array_namespace(*arrays)


def to_numpy(array: Array) -> Array:
    """The same numbers as a NumPy array on the host."""
    if is_numpy_array(array):
        return array
    if is_torch_array(array):
        return array.detach().cpu().numpy()
    if hasattr(array, "get"):  # CuPy
        return array.get()
    return np.asarray(array)


def like(array: Array, model: Array, *, dtype: Any = None) -> Array:
    """`array` (NumPy) in the library, on the device and, unless `dtype` is given, in the precision of `model`."""
    xp = namespace(model)
    dtype = model.dtype if dtype is None else dtype
    if is_numpy_array(model):
        return np.asarray(array, dtype=dtype)
    return xp.asarray(array, dtype=dtype, device=device(model))


def double(array: Array) -> Array:
    """The array in float64, in its own library."""
    xp = namespace(array)
    return array if array.dtype == xp.float64 else xp.astype(array, xp.float64)


def is_sparse(array: Array) -> bool:
    """Whether `array` is a SciPy sparse matrix or array."""
    return bool(sp.issparse(array))


def frobenius(array: Array) -> float:
    """Frobenius norm of a matrix, or Euclidean norm of a vector, as a Python float."""
    xp = namespace(array)
    return float(xp.sqrt(xp.sum(array * array)))


def gamma(k: float) -> float:
    """Higham's constant ``k u / (1 - k u)``: relative error of a sum or product of ``k`` rounded terms."""
    return k * UNIT_ROUNDOFF / (1 - k * UNIT_ROUNDOFF)
