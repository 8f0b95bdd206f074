# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
WORKERS ?= 2
SECONDS ?= 600

# Two test processes share the machine, so each keeps to one BLAS thread.
TEST_ENV := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: demo test lint slow fuzz oldest docs bench bench-gpu bench-peers clean

demo: $(VENV)/.installed-demo
	@mkdir -p demo
	$(BIN)/sknomad demo --out demo --overwrite --report demo/report.html
	@echo "The report: $(CURDIR)/demo/report.html (open it in a browser)."

test: lint
	$(TEST_ENV) $(BIN)/python -m pytest -n $(WORKERS) -m "not slow and not gpu"

slow: $(VENV)/.installed-dev
	$(TEST_ENV) $(BIN)/python -m pytest -n $(WORKERS) -m slow

# The hypothesis tests with random seeds until SECONDS have passed; what fails is printed with how to repeat it.
fuzz: $(VENV)/.installed-dev
	$(TEST_ENV) $(BIN)/python tests/fuzz.py $(SECONDS) $(WORKERS)

# The estimators on the oldest versions that pyproject.toml allows, in an environment of its own.
oldest:
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check --editable . 'pytest<9' hypothesis 'pandas<3' \
		'numpy==1.26.*' 'scipy==1.12.*' 'scikit-learn==1.6.*' 'array-api-compat==1.9.*'
	$(TEST_ENV) $(VENV)-oldest/bin/python -m pytest -m "not slow and not gpu" \
		tests/estimators/test_nomad.py tests/estimators/test_multilayer.py tests/kmeans/test_kmeans_estimator.py tests/manifolds/test_linkage.py tests/program/test_duplicates.py

# The site, with its gallery, in docs/_build/html; nothing is fetched, and warnings are errors.
docs: $(VENV)/.installed-docs
	$(TEST_ENV) $(BIN)/python -m sphinx -E -W --keep-going -b html docs docs/_build/html

# All read the MNIST files under $$SKNOMAD_DATA. The first makes every table of the CPU on the page of performance, and
# README's, in one run of about an hour on 2 cores with nothing else to do.
RESULTS := benchmarks/results
bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/mnist.py ones --repeats 3 --out $(RESULTS)/cpu_ones.json
	$(BIN)/python benchmarks/timing.py --out $(RESULTS)/cpu_timing.json
	$(BIN)/python benchmarks/timing.py --data "double Swiss roll" --solvers sknomad "conditional gradient" \
		--cap 240 --long-cap 300 --out $(RESULTS)/cpu_timing_roll.json
	$(BIN)/python benchmarks/default_times.py --out $(RESULTS)/default_times.json
	$(BIN)/python benchmarks/suite.py run --jobs 2 --seeds 0 --out $(RESULTS)/suite_cpu_development.json
	$(BIN)/python benchmarks/suite.py run --jobs 2 --out $(RESULTS)/suite_cpu.json
	$(BIN)/python benchmarks/suite.py run --set wide --sizes 600 --jobs 2 --out $(RESULTS)/suite_wide.json
	$(BIN)/python benchmarks/accuracy.py --out $(RESULTS)/cpu_accuracy.json
	$(BIN)/python benchmarks/smooth_points.py growth --out $(RESULTS)/cpu_growth.json
	$(BIN)/python benchmarks/threads.py --sizes 100 200 400 600 1000 --repeats 3 --out $(RESULTS)/cpu_threads.json
	$(BIN)/python benchmarks/profile.py ones --out $(RESULTS)/cpu_profile.json
	$(BIN)/python benchmarks/memory.py --out $(RESULTS)/cpu_memory.json
	for digits in 6 4; do $(BIN)/python benchmarks/suite.py run --sizes 300 --tol 1e-$$digits --cap 5000 --jobs 2 \
		--out $(RESULTS)/suite_small_gaps_$$digits.json || exit 1; done
	$(BIN)/python benchmarks/suite.py run --tol 1e-4 --cap 5000 --seconds 60 --jobs 2 --out $(RESULTS)/suite_gap_4.json
	$(BIN)/python benchmarks/tables.py

bench-gpu: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/mnist.py zeros fine --device cuda --repeats 3 --out benchmarks/results/h200_zeros.json
	$(BIN)/python benchmarks/mnist.py all --device cuda --out benchmarks/results/h200_all.json
	$(BIN)/python benchmarks/mnist.py growth --device cuda --out benchmarks/results/h200_growth.json
	$(BIN)/python benchmarks/profile.py zeros all --device cuda --out benchmarks/results/h200_profile.json
	$(BIN)/python benchmarks/single_digits.py --out benchmarks/results/h200_digits_fine.json
	$(BIN)/python benchmarks/single_digits.py --patches 64 --tol 1e-3 --out benchmarks/results/h200_digits.json
	$(BIN)/python benchmarks/tables.py

# Other solvers on the same problems, judged by the same certificate; without $$SKNOMAD_DATA MNIST is left out.
# benchopt never overwrites a file, and one thread each is fair to solvers that use only one.
bench-peers: $(VENV)/.installed-bench
	rm -f benchmarks/results/benchopt_quick.parquet
	OMP_NUM_THREADS=1 $(BIN)/benchopt run benchmarks/benchopt --config benchmarks/benchopt/quick.yml \
		--output benchmarks/results/benchopt_quick.parquet
	$(BIN)/python benchmarks/plot.py benchmarks/results/benchopt_quick.parquet docs/images/gap_against_time.png

lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-demo: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable '.[plot]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable '.[dev]'
	@touch $@

$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable '.[docs]'
	@touch $@

$(VENV)/.installed-bench: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable '.[bench]'
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-oldest demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis \
		docs/_build docs/gallery docs/generated
