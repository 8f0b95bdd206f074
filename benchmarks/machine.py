"""The machine and the versions behind a result file."""

import os
import platform
import tomllib
from pathlib import Path

import numpy as np
import scipy

import sknomad


def facts(device="cpu"):
    """What a reader needs to judge the figures beside it."""
    machine = {
        "device": device,
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": os.environ.get("OMP_NUM_THREADS"),
    }
    if device == "cuda":
        import torch

        machine["gpu"], machine["torch"] = torch.cuda.get_device_name(), torch.__version__
    versions = {
        "sknomad": version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
    return {"machine": machine, "versions": versions}


def version():
    """That of the library as installed or, of a source tree on the path, as declared."""
    if sknomad.__version__ != "unknown":
        return sknomad.__version__
    project = Path(__file__).parent.parent / "pyproject.toml"
    return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
