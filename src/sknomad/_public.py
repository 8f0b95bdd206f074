"""All names that `sknomad` offers: importing this loads every room, so that whatever was saved can be read."""

from ._algorithms.completely_positive import (
    CPRankProfile,
    circulance_factor,
    cp_rank_profile,
    diagonal_dominance_factor,
)
from ._algorithms.frank_wolfe import ConditionalGradientResult, conditional_gradient
from ._algorithms.symmetric_nmf import SymmetricNMF, symmetric_nmf
from ._certificate.certificate import Certificate, CertificateError
from ._certificate.certify import certify
from ._certificate.iterate import Iterate
from ._certificate.lower import repair
from ._certificate.upper import upper_bound
from ._estimators.layers import Layer
from ._estimators.multilayer import MultiLayerNOMAD
from ._estimators.nomad import NOMAD
from ._estimators.online import OnlineNOMAD
from ._files.archive import FormatError
from ._files.models import load
from ._kmeans.certificate import KMeansCertificate
from ._kmeans.certify import certify_kmeans
from ._kmeans.clustering import assignment_matrix, lloyd_iterate
from ._kmeans.estimator import CertifiedKMeans
from ._kmeans.inertia import inertia_bound, kmeans_objective
from ._kmeans.parts import PartsProgress
from ._manifolds.path import NOMADPath, nomad_path
from ._points.forms import DensePoint, FactorPoint, SoftPoint, SpectralPoint
from ._points.mixed import MixedPoint
from ._program.gram import Gram
from ._program.problem import KMeansSDP
from ._report.write import report
from ._scale.landmarks import LandmarkSolution, solve_by_landmarks
from ._solving.certificate_file import Verification, verify_certificate
from ._solving.run_state import Progress
from ._solving.solution import Solution, Status
from ._solving.solve import solve

__all__ = [
    "NOMAD",
    "CPRankProfile",
    "Certificate",
    "CertificateError",
    "CertifiedKMeans",
    "ConditionalGradientResult",
    "DensePoint",
    "FactorPoint",
    "FormatError",
    "Gram",
    "Iterate",
    "KMeansCertificate",
    "KMeansSDP",
    "LandmarkSolution",
    "Layer",
    "MixedPoint",
    "MultiLayerNOMAD",
    "NOMADPath",
    "OnlineNOMAD",
    "PartsProgress",
    "Progress",
    "SoftPoint",
    "Solution",
    "SpectralPoint",
    "Status",
    "SymmetricNMF",
    "Verification",
    "assignment_matrix",
    "certify",
    "certify_kmeans",
    "circulance_factor",
    "conditional_gradient",
    "cp_rank_profile",
    "diagonal_dominance_factor",
    "inertia_bound",
    "kmeans_objective",
    "lloyd_iterate",
    "load",
    "nomad_path",
    "repair",
    "report",
    "solve",
    "solve_by_landmarks",
    "symmetric_nmf",
    "upper_bound",
    "verify_certificate",
]
