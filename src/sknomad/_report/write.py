"""`report`: everything about a fitted model in one file of HTML, to look at and to mail."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from importlib.resources import files
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._estimators.multilayer import MultiLayerNOMAD
from .._estimators.nomad import NOMAD
from .._files.atomic import written_whole
from .._manifolds.path import NOMADPath
from .._numerics.arrays import Array, Data, Table, is_array, is_sparse, to_numpy
from .contents import contents_of
from .proof import Content, Model

# Text that would end a script or begin a comment within one.
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def report(
    model: Model,
    X: Data | None,
    path: str | os.PathLike[str],
    images: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    *,
    labels: Sequence[object] | None = None,
    columns: Sequence[str] | None = None,
    command: str | None = None,
    K_path: NOMADPath | None = None,
) -> None:
    """Write a page about a fitted model: one file, which needs no network and no other file.

    It has the verdict in a sentence, the map (zoom, names or pictures of points, colours by manifold, order, known
    labels or a column), ``Q`` sorted, its spectrum, what comes together at which threshold and ``K``, both bounds, what
    they say about K-means, the rows of each manifold with a CSV file to download, and how all of it was made.

    Parameters
    ----------
    model : NOMAD or MultiLayerNOMAD
        Fitted.
    X : array-like or sparse matrix of shape (n, d), or None
        The data, of which the first twelve columns can be coloured by; None for kernels and distances.
    path : path
        File to write; its folder must exist.
    images : array-like of shape (n, height, width) or (n, height, width, 3), optional
        A picture of each point.
    names : sequence of str, optional
        A name of each point; without them it is the number of its row.
    labels : sequence, optional
        Labels known beforehand.
    columns : sequence of str, optional
        Names of the columns of `X`; a data frame has them.
    command : str, optional
        The command that repeats the fit, shown as it is.
    K_path : NOMADPath, optional
        What `nomad_path` returned for the same points: the number of parts at other ``K``. It costs a solve for each;
        without it, the rough solutions of an automatic choice are shown, which cost nothing more.

    Examples
    --------
    >>> import os, tempfile
    >>> from sknomad import NOMAD, report
    >>> from sknomad.datasets import two_rings
    >>> X, _ = two_rings(60)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "report.html")
    ...     report(NOMAD(K=12).fit(X), X, path)
    ...     os.path.getsize(path) < 100_000
    True
    """
    if not isinstance(model, NOMAD | MultiLayerNOMAD):
        raise TypeError(
            f"model must be a fitted NOMAD or MultiLayerNOMAD, got {type(model).__name__}. Pass NOMAD().fit(X)."
        )
    check_is_fitted(model)
    n = len(model.labels_)
    if K_path is not None:
        _check_path(K_path, n)
    if columns is None and X is not None and hasattr(X, "columns"):
        columns = [str(name) for name in X.columns]
    table = None if X is None else _check_table(X, n)
    named, known = (_check_texts(texts, name, n) for texts, name in ((names, "names"), (labels, "labels")))
    if columns is not None and (table is None or len(columns) != table.shape[1]):
        width = 0 if table is None else table.shape[1]
        raise ValueError(f"columns must name the {width} columns of X, got {len(columns)} names.")
    contents = contents_of(model, table, images, named, known, columns, command, K_path)
    with written_whole(path) as file:
        # What is no text in UTF-8, half of a surrogate pair, becomes a question mark.
        file.write(page(contents).encode("utf-8", "replace"))


def page(contents: dict[str, Content]) -> str:
    """The page: the template with its style, its script and the contents, none of which can break out of it."""
    folder = files(__package__)
    parts = {name: folder.joinpath(name).read_text(encoding="utf-8") for name in ("page.html", "page.css", "page.js")}
    data = json.dumps(contents, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character, escape in ESCAPES.items():
        data = data.replace(character, escape)
    text = parts["page.html"].replace("{{word}}", str(contents["word"]))
    text = text.replace("{{verdict}}", html.escape(str(contents["verdict"])))
    text = text.replace("{{style}}", parts["page.css"]).replace("{{script}}", parts["page.js"])
    return text.replace("{{data}}", data)  # last: what users wrote is never searched for marks


def _check_path(path: object, n: int) -> None:
    if not isinstance(path, NOMADPath):
        raise TypeError(f"K_path must be a NOMADPath, got {type(path).__name__}. Pass nomad_path(X, [4, 8, 16]).")
    if path.labels.shape[1] != n:
        raise ValueError(f"K_path must be of the {n} points of the model, got one of {path.labels.shape[1]}.")


def _check_table(X: Data, n: int) -> Table:
    table: Table = X.tocsr() if is_sparse(X) else np.asarray(to_numpy(cast("Array", X)) if is_array(X) else X)
    if table.ndim != 2 or table.shape[0] != n:
        raise ValueError(
            f"X must hold the {n} points that the model was fitted to, one per row, got shape {table.shape}. "
            "Pass the X of model.fit(X), or None."
        )
    return table


def _check_texts(texts: Sequence[object] | None, name: str, n: int) -> list[str] | None:
    if texts is None:
        return None
    if isinstance(texts, str) or len(texts) != n:
        got = "a single string" if isinstance(texts, str) else f"{len(texts)}"
        raise ValueError(f"{name} must hold one text for each of {n} points, got {got}.")
    return [str(text) for text in texts]
