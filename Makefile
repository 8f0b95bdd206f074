# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
WORKERS ?= 2
SECONDS ?= 600

# Two test processes share the machine, so each keeps to one BLAS thread.
TEST_ENV := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: demo test lint slow fuzz oldest docs bench bench-long bench-gpu bench-peers clean

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

# All read the MNIST files under $$SKNOMAD_DATA. The first takes just under 20 minutes on 2 cores.
bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/mnist.py ones --repeats 3 --out benchmarks/results/cpu_ones.json
	$(BIN)/python benchmarks/timing.py --out benchmarks/results/cpu_timing.json
	$(BIN)/python benchmarks/tables.py

# Gaps of 1e-6, the memory forecast, and the profile.
bench-long: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/accuracy.py --out benchmarks/results/cpu_accuracy.json
	$(BIN)/python benchmarks/memory.py --out benchmarks/results/cpu_memory.json
	$(BIN)/python benchmarks/profile.py ones --out benchmarks/results/cpu_profile.json
	$(BIN)/python benchmarks/tables.py

bench-gpu: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/mnist.py zeros fine --device cuda --repeats 3 --out benchmarks/results/h200_zeros.json
	$(BIN)/python benchmarks/mnist.py all --device cuda --out benchmarks/results/h200_all.json
	$(BIN)/python benchmarks/mnist.py growth --device cuda --out benchmarks/results/h200_growth.json
	$(BIN)/python benchmarks/profile.py zeros all --device cuda --out benchmarks/results/h200_profile.json
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
