"""sknomad: separate and unroll the manifolds hidden in data, with a proof of how good the answer is."""

from ._certify import certify, repair, upper_bound
from ._frank_wolfe import ConditionalGradientResult, conditional_gradient
from ._gram import Gram
from ._nmf import SymmetricNMF, symmetric_nmf
from ._nomad import NOMAD
from ._points import DensePoint, FactorPoint, MixedPoint, SoftPoint, SpectralPoint
from ._problem import KMeansSDP
from ._run import Progress
from ._solution import Certificate, CertificateError, Iterate, Solution, Status
from ._solve import solve

__version__ = "0.1.0"

__all__ = [
    "NOMAD",
    "Certificate",
    "CertificateError",
    "ConditionalGradientResult",
    "DensePoint",
    "FactorPoint",
    "Gram",
    "Iterate",
    "KMeansSDP",
    "MixedPoint",
    "Progress",
    "SoftPoint",
    "Solution",
    "SpectralPoint",
    "Status",
    "SymmetricNMF",
    "certify",
    "conditional_gradient",
    "repair",
    "solve",
    "symmetric_nmf",
    "upper_bound",
]
