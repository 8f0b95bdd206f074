"""The door: every public name can be imported, is documented in full, and has an example that runs."""

import dataclasses
import doctest
import enum
import importlib
import inspect
import re

import pytest
from numpydoc.validate import validate

# The contract: other people's code imports these. A name that goes missing here breaks theirs.
PUBLIC = {
    "sknomad": """
        CPRankProfile Certificate CertificateError CertifiedKMeans ConditionalGradientResult DensePoint FactorPoint
        FormatError Gram Iterate KMeansCertificate KMeansSDP LandmarkSolution Layer MixedPoint MultiLayerNOMAD NOMAD
        NOMADPath OnlineNOMAD PartsProgress Progress SoftPoint Solution SpectralPoint Status SymmetricNMF
        Verification assignment_matrix certify certify_kmeans
        circulance_factor conditional_gradient cp_rank_profile diagonal_dominance_factor inertia_bound kmeans_objective
        lloyd_iterate load nomad_path repair report solve solve_by_landmarks symmetric_nmf upper_bound
        verify_certificate
    """,
    "sknomad.solvers": """
        ADMM Auto BurerMonteiro ConditionalGradient Reference SOLVERS SoftAssignment Solver configured
        cuda_is_available resolve takes_weights
    """,
    "sknomad.ring": """
        CompletelyPositiveOptimum InactiveK RingPath RingSolution SphereSolution TorusSolution best_completely_positive
        best_completely_positive_value completely_positive_factor cone_half_angle diagonal_path inactive_K
        ring_closed_form ring_optimum ring_path ring_points sphere_completely_positive_value sphere_design
        sphere_optimum torus_optimum torus_points
    """,
    "sknomad.datasets": """
        DataDamagedError DataUnavailableError Images blobs double_swiss_roll fetch_coil100 fetch_coil20 fetch_mnist
        fetch_teapots fetch_yale_faces linked_rings moons ring square_grid swiss_roll swiss_roll_3d thin_lines
        three_spirals trefoil trefoil_pair two_rings
    """,
    "sknomad.metrics": """
        active_modes bullseye_score circular_rank_correlation continuity graph_geodesics hardness trustworthiness
    """,
    "sknomad.plot": """
        CYCLIC DIVERGING FAINT INK MUTED PALETTE SEQUENTIAL affinity bounds certificate colour_map convergence
        embedding layers map overview path point_colours scatter_data spectrum style tree
    """,
    "sknomad.sc": "cluster nomad",
    "sknomad.reproduce": "Claim EXPERIMENTS Experiment Outcome Record Verdict load run_experiments",
    "sknomad.cli": "main",
}
NAMES = [(module, name) for module, names in PUBLIC.items() for name in names.split()]

# What numpydoc looks at: a docstring with known sections in their order, a summary of one sentence on one line,
# every parameter documented, with its type, in the order of the signature, what is returned, and an example.
CHECKS = {
    "GL03", "GL05", "GL06", "GL07", "GL08", "SS01", "SS02", "SS03", "SS06", "PR01", "PR02", "PR03", "PR04", "PR10",
    "RT01", "YD01", "EX01",
}  # fmt: skip
# Methods and properties: a summary, and no parameter that does not exist.
CHECKS_OF_MEMBERS = {"GL03", "GL05", "GL06", "GL07", "GL08", "SS01", "SS03", "PR02", "PR03"}
# Made by methods with names of their own, never by the class itself.
NOT_CALLED = {"Solver", "Gram"}
# Examples that would need the files of others.
NEED_DATA = {"fetch_coil100", "fetch_coil20", "fetch_mnist", "fetch_teapots", "fetch_yale_faces"}


def public(module, name):
    return getattr(importlib.import_module(module), name)


def documented():
    """Public names with docstrings of their own; constants have comments."""
    return [pair for pair in NAMES if callable(public(*pair))]


def is_record(thing):
    return inspect.isclass(thing) and (dataclasses.is_dataclass(thing) or issubclass(thing, enum.Enum))


def complaints(path, checks):
    return [f"{code}: {text}" for code, text in validate(path)["errors"] if code in checks]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_public_name_can_be_imported(module, name):
    space = {}
    exec(f"from {module} import {name} as found", space)
    assert space["found"] is public(module, name)


@pytest.mark.parametrize("module", PUBLIC)
def test_nothing_else_is_said_to_be_public(module):
    assert set(importlib.import_module(module).__all__) == set(PUBLIC[module].split())


@pytest.mark.parametrize(("module", "name"), documented())
def test_public_name_is_documented(module, name):
    thing = public(module, name)
    checks = CHECKS - {"PR01"} if is_record(thing) or name in NOT_CALLED else CHECKS
    assert complaints(f"{module}.{name}", checks) == []


@pytest.mark.parametrize(("module", "name"), [pair for pair in documented() if inspect.isclass(public(*pair))])
def test_members_of_public_classes_are_documented(module, name):
    own = [
        member
        for member, value in vars(public(module, name)).items()
        if not member.startswith("_") and (callable(value) or isinstance(value, property | classmethod | staticmethod))
    ]
    found = {member: complaints(f"{module}.{name}.{member}", CHECKS_OF_MEMBERS) for member in own}
    assert not any(found.values()), found


@pytest.mark.parametrize(("module", "name"), [pair for pair in documented() if dataclasses.is_dataclass(public(*pair))])
def test_every_field_of_a_record_is_explained(module, name):
    """Under Parameters, or by a comment on the line of the field."""
    record = public(module, name)
    source = inspect.getsource(record)
    for field in dataclasses.fields(record):
        as_parameter = re.search(rf"^(\w+, )*{field.name}(, \w+)* : ", inspect.getdoc(record), re.MULTILINE)
        with_comment = re.search(rf"^    {field.name}: .*  # (?!noqa|type:)", source, re.MULTILINE)
        assert as_parameter or with_comment, f"{name}.{field.name} must be explained."


@pytest.mark.parametrize(("module", "name"), documented())
def test_example_runs(module, name):
    """Its examples are run where it is defined; here, that there are some and that they are not skipped."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(public(module, name)))
    assert any(doctest.SKIP not in example.options for example in examples) or (examples and name in NEED_DATA)
