# `make demo` and `make test` need nothing but Python >= 3.11 and make: each sets up .venv first.
PYTHON ?= python3
BIN := .venv/bin
BENCH := .venv-bench/bin
KILLS ?= 10000
SEED ?= 0
# One BLAS thread per process: the tests run in parallel processes.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: setup demo paper experiments docs test soak lint house wheel bench-setup bench clean

setup: .venv/ready
.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	touch $@

demo: setup
	$(BIN)/likewise demo demo --force

paper: setup
	$(BIN)/python examples/paper_application.py --out demo

# docs/experiments.md out of the results; `python -m benchmarks.experiments` runs those that are missing.
experiments: setup
	$(BIN)/python -m benchmarks.experiments --docs

test: setup
	$(BIN)/python -m pytest -n 2 -m "not soak"

# A campaign of kills, docs/reliability.md: `make soak KILLS=500` is a share of it, and goes on where the last one ended.
soak: setup
	$(BIN)/python -m pytest -m soak --timeout 3600
	$(BIN)/python -m benchmarks.reliability --kills $(KILLS) --seed $(SEED)
	$(BIN)/python -m benchmarks.reliability --docs

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Makes the table of docs/architecture.md anew.
house: setup
	$(BIN)/python -m tools.house --docs --check

# Builds the wheel and tries it in an environment of its own, away from the sources.
wheel: setup
	$(BIN)/python -m tools.wheel

bench-setup: .venv-bench/ready
.venv-bench/ready: benchmarks/requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv-bench
	$(BENCH)/python -m pip install --quiet --upgrade pip
	$(BENCH)/python -m pip install --quiet --requirement benchmarks/requirements.txt --editable '.[all]'
	touch $@

bench: bench-setup
	$(BENCH)/python -m benchmarks suite
	$(BENCH)/python -m benchmarks report

clean:
	rm -rf .venv .venv-bench demo dist

# The documentation as a site in docs/_build/html; tutorials run, and a warning is an error.
docs: setup
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
