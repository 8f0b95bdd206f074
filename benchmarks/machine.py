"""The machine and the versions behind a result file."""

import os
import platform

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
        "sknomad": sknomad.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
    return {"machine": machine, "versions": versions}
