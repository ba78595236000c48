# certibit: `make` sets up and runs the main job, `make test` runs the tests.

BIN := .venv/bin
OLDEST := .venv-oldest/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
FIGURES := figure1 figure2 figure3 figure4
# Tests run on one thread, and keep their compiled files even where the environment forbids it.
TESTING := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1

.PHONY: all demo figures $(FIGURES) pictures audit certified deep episode faults fuzz mutants theory proofs bench report docs wheels gpu test test-all test-oldest smoke-oldest test-cluster lint types clean

all: demo

# The main job on embedded data: every method, its bits to 1e-3 and 1e-6, and a figure.
demo: .venv/installed
	$(BIN)/certibit demo

# Figures 1-4 of the LoCoDL paper, with its parameters and with the best theoretical ones;
# CERTIBIT_DATA names the folder with the LibSVM files.
figures: .venv/installed
	$(BIN)/certibit figures all

# One of them, with the paper's parameters.
$(FIGURES): figure%: .venv/installed
	$(BIN)/certibit figures $* --version paper

# The figures of EPISODE and its rivals, with verdicts.
episode: .venv/installed
	$(BIN)/certibit figures episode

# A recurrent network trained by the methods of the EPISODE papers; takes the extra `torch`.
deep: .venv/installed
	OMP_NUM_THREADS=1 $(BIN)/certibit deep

# The pictures of the README, with their numbers inside; needs figure 1 and EPISODE, long.
pictures: .venv/installed-dev episode
	$(BIN)/python docs/making/pictures.py results

# The proofs of EPISODE and LoCoDL, step by step.
audit: .venv/installed
	$(BIN)/certibit audit

# Certified against published rates of all methods, and measured bits.
certified: .venv/installed
	$(BIN)/certibit figures certified

# Every theorem on standard problems; which check catches which planted fault.
theory: .venv/installed
	$(BIN)/certibit figures theory

# The theorems of theory/rocq, from their definitions, by the kernel of Rocq (Debian: `apt-get install coq`).
# coqchk checks the compiled files again; axioms.txt lists the axioms of each theorem.
PROOFS := build/rocq
proofs:
	rm -rf $(PROOFS) && mkdir -p $(PROOFS) && cp -r theory/rocq/* $(PROOFS)
	cd $(PROOFS) && ulimit -v 4000000 && coq_makefile -f _CoqProject -o Makefile.coq \
	    && { timeout 900 $(MAKE) --no-print-directory -f Makefile.coq > log || { cat log; exit 1; }; } \
	    && timeout 900 coqchk -silent -Q . Certibit $$(sed -n 's|/|.|; s/^\(.*\)\.v$$/Certibit.\1/p' _CoqProject) \
	    && sh axioms.sh | diff axioms.txt -
	@echo "All theorems of theory/rocq are proved; theory/rocq/axioms.txt lists their axioms."

faults: .venv/installed-dev
	$(BIN)/python tests/theory/planted/test_planted_faults.py results/theory

# What everything costs, as ratios, against the last time: docs/benchmark.md.
bench: .venv/installed
	OMP_NUM_THREADS=1 $(BIN)/python tests/benchmark/bench.py

# One HTML page of everything in results/; what has not been run is named there.
report: .venv/installed
	$(BIN)/certibit report

# The site, with a page for every method, compressor and audited proof.
docs: .venv/installed-docs
	$(BIN)/python docs/making/site.py
	$(BIN)/sphinx-build -W --keep-going docs build/site

# What a machine with a GPU and no network needs besides cupy, numba, scikit-learn, pytest and its
# extensions xdist and hypothesis; CARRIED_TO names its Python.
CARRIED_TO := 3.12
WHEELS := build/wheels
wheels: .venv/installed
	rm -rf $(WHEELS)
	$(BIN)/python -m pip download --quiet --no-deps --only-binary=:all: --dest $(WHEELS) \
	    --python-version $(CARRIED_TO) --implementation cp --platform manylinux2014_x86_64 \
	    array-api-compat array-api-strict platformdirs pooch python-flint
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(WHEELS) .

# On that machine: the tests on cupy and torch, and what an iteration takes; docs/gpu.md.
gpu:
	python3 -m pip install --quiet --no-index --no-deps --upgrade --target build/gpu $(WHEELS)/*.whl
	OMP_NUM_THREADS=1 PYTHONPATH=build/gpu python3 -m pytest -p no:benchmark --quiet \
	    --numprocesses auto -k "cupy or cuda" tests/solvers tests/data
	mkdir -p results
	OMP_NUM_THREADS=1 PYTHONPATH=build/gpu python3 tests/benchmark/gpu.py $(GPU) | tee results/gpu.jsonl

# The tests; those marked `long` are left out, but for some of their cases.
test: .venv/installed-dev
	$(TESTING) $(BIN)/python -m pytest --numprocesses auto --dist loadfile --quiet --quick

# All tests.
test-all: .venv/installed-dev
	$(TESTING) $(BIN)/python -m pytest --numprocesses auto --dist loadfile --quiet

# The tests of `make test` with the lowest versions that pyproject.toml allows.
test-oldest: .venv-oldest/installed
	$(TESTING) $(OLDEST)/python -m pytest --numprocesses auto --dist loadfile --quiet --quick

# A minute's part of it; a warning is an error.
smoke-oldest: .venv-oldest/installed
	PYTHONWARNINGS=error $(OLDEST)/certibit certify gd --n 3 --kappa 10
	PYTHONWARNINGS=error $(OLDEST)/certibit run breast-cancer@9 diana rand-k:1 --kappa 100 --iterations 50
	PYTHONWARNINGS=error $(OLDEST)/certibit compare quadratic:d=10@3 gd diana+rand-k:1
	PYTHONWARNINGS=error $(OLDEST)/certibit check quadratic:d=10@3 diana rand-k:1

# The tests of SLURM and Dask; what is missing is named, and nothing is installed.
test-cluster:
	@$(BIN)/python tests/figures/missing_for_clusters.py
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --quiet tests/figures/test_places.py

# The fuzzer of words with 100 times as many inputs as in `make test`.
fuzz: .venv/installed-dev
	CERTIBIT_FUZZ=100 $(BIN)/python -m pytest --numprocesses auto --quiet tests/test_fuzz_*.py

# Faults made by machine in what a user writes: `certibit check` sees them; docs/mutants.md.
mutants: .venv/installed-dev
	nice $(BIN)/python tests/mutants/user_faults.py results/mutants

lint: .venv/installed-dev types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy -p certibit

.venv/installed: pyproject.toml
	python3 -m venv .venv
	$(PIP) --config-settings editable_mode=compat --editable .
	touch $@

.venv/installed-docs: .venv/installed
	$(PIP) --config-settings editable_mode=compat --editable ".[docs]"
	touch $@

.venv/installed-dev: .venv/installed
	$(PIP) --config-settings editable_mode=compat --editable ".[dev]"
	touch $@

.venv-oldest/installed: pyproject.toml
	python3 -m venv --clear .venv-oldest
	$(OLDEST)/python -m pip install --quiet --disable-pip-version-check uv
	$(OLDEST)/uv pip install --quiet --compile-bytecode --python $(OLDEST)/python --resolution lowest-direct --config-settings editable_mode=compat --editable ".[test]"
	touch $@

clean:
	rm -rf .venv .venv-oldest build results docs/atlas docs/gallery *.egg-info
