"""``sknomad transform``: places of new points in a fitted model."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np

from .. import load
from .columns import choose_columns, standardized
from .command import DONE
from .given_table import choices_of, tell_notes
from .places import check_out_file
from .raw_table import RawTable, TableError
from .result_table import give_table
from .shared_options import limited
from .table import NONE, Table, listed
from .table_file import read_raw


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.standardize:
        raise ValueError("--standardize must be said to the command that fits, whose scale the model keeps.")
    check_out_file(options.out, overwrite=options.overwrite)
    model = load(options.model)
    with limited(options):
        table = _table_for(model, options)
        give_table(options, _places(model, table))
    return DONE


def _table_for(model: Any, options: argparse.Namespace) -> Table:
    """The columns that the model was fitted to, in their order, and on its scale."""
    choices, known = choices_of(options), getattr(model, "_table", None) or {}
    raw = read_raw(options.file, choices)
    names = known.get("names")
    if names and set(names) <= set(raw.names):
        # By position, because a name may be a pattern or look like a number.
        places = [raw.names.index(name) for name in names]
        table = choose_columns(
            _only(raw, places), replace(choices, index_column=NONE, columns=(), drop=(), label_columns=())
        )
    else:
        table = choose_columns(raw, choices)
    if table.X.shape[1] != model.n_features_in_:
        missing = [name for name in names or [] if name not in raw.names]
        told = f", and no {listed(missing)}" if missing else ""
        raise TableError(
            f"FILE must have the {model.n_features_in_} columns that the model was fitted to, got "
            f"{table.X.shape[1]}{told}. Name them with --columns, or leave others out with --drop."
        )
    tell_notes(options, table)
    centre = known.get("centre")
    return table if centre is None else standardized(table, centre, known["scale"])


def _only(raw: RawTable, places: list[int]) -> RawTable:
    names = [raw.names[j] for j in places]
    if raw.matrix is not None:
        return replace(raw, names=names, matrix=raw.matrix[:, places])
    return replace(raw, names=names, columns=[raw.columns[j] for j in places])


def _places(model: Any, table: Table) -> dict[str, Any]:
    """The label of each point and where it lies, by column."""
    is_kmeans, kind = hasattr(model, "cluster_centers_"), "manifold" if hasattr(model, "n_manifolds_") else "cluster"
    labels, where = np.asarray(model.predict(table.X)), np.asarray(model.transform(table.X))
    coordinate = "distance" if is_kmeans else "embedding"
    is_measured = not is_kmeans and model.metric == "euclidean" and not hasattr(table.X, "toarray")
    return {
        "row": table.rows,
        kind: labels,
        **{f"{coordinate}_{j + 1}": column for j, column in enumerate(where.T)},
        **({"remoteness": model.remoteness(table.X)} if is_measured else {}),
    }
