"""The hypothesis tests with one random seed after another: `python tests/fuzz.py SECONDS [WORKERS]`, or `make fuzz`.

A round that has begun is finished. The first round that fails is the last, and says how to repeat what failed.
"""

from __future__ import annotations

import secrets
import shlex
import subprocess
import sys
import time

# The settings of a round; with them and the seed every test draws the same examples, alone or among others.
ROUND = [sys.executable, "-m", "pytest", "--hypothesis-profile=fuzz"]
SELECTION = ["-q", "-m", "hypothesis and not slow and not gpu"]


def run_round(seed: int, workers: int) -> tuple[int, list[str]]:
    """Exit status of pytest, and the tests that failed."""
    command = [*ROUND, f"--hypothesis-seed={seed}", *SELECTION, "-n", str(workers)]
    failed = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            if line.startswith(("FAILED ", "ERROR ")):
                failed.append(line.split(" ", 1)[1].split(" - ")[0].strip())
    return process.returncode, failed


def fuzz(seconds: float, workers: int = 2) -> int:
    """Rounds until `seconds` have passed or one fails; the exit status."""
    end, rounds = time.monotonic() + seconds, 0
    while rounds == 0 or time.monotonic() < end:
        seed, rounds = secrets.randbelow(2**32), rounds + 1
        print(f"Round {rounds}, seed {seed}", flush=True)
        status, failed = run_round(seed, workers)
        if status:
            print(f"Round {rounds} failed. The blobs above repeat single examples; this repeats the whole test:")
            for test in failed:
                print("  " + shlex.join([*ROUND, f"--hypothesis-seed={seed}", test]))
            return status
    print(f"{rounds} rounds, each with another seed, found nothing.")
    return 0


if __name__ == "__main__":
    sys.exit(fuzz(float(sys.argv[1]), *map(int, sys.argv[2:])))
