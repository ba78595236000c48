# bitbound: `make` sets up and runs the main job, `make test` runs the tests.

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
FIGURES := figure1 figure2 figure3 figure4

.PHONY: all demo figures $(FIGURES) audit test lint types clean

all: demo

# The main job on embedded data: every method, its bits to 1e-3 and 1e-6, and a figure.
demo: .venv/installed
	$(BIN)/bitbound demo

# The figures of the LoCoDL paper; BITBOUND_DATA names the folder with the LibSVM files.
figures: .venv/installed
	$(BIN)/bitbound figures all

$(FIGURES): figure%: .venv/installed
	$(BIN)/bitbound figures $*

# The proofs of EPISODE and LoCoDL, step by step.
audit: .venv/installed
	$(BIN)/bitbound audit

test: .venv/installed-dev
	$(BIN)/python -m pytest

lint: .venv/installed-dev types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Type checkers cannot follow the mapping of the rooms: the built package is checked.
types: .venv/installed-dev
	rm -rf build
	$(PIP) --no-deps --target build/typed .
	cd build/typed && ../../$(BIN)/mypy --config-file ../../pyproject.toml -p bitbound

.venv/installed: pyproject.toml
	python3 -m venv .venv
	$(PIP) --editable .
	touch $@

.venv/installed-dev: .venv/installed
	$(PIP) --editable ".[dev]"
	touch $@

clean:
	rm -rf .venv build results *.egg-info
