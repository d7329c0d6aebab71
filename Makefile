# Every target does its own set-up: Python 3.11+ and make are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.dev

.PHONY: check test lint verify audit platforms bench clean

check: $(READY)  ## the gate: both implementations of all models on all cases
	@$(BIN)/concordance check

test: $(DEV)  ## the whole test suite
	@$(BIN)/python -m pytest -n auto

lint: $(DEV)  ## formatting, lint, types, import rules
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

verify: $(READY)  ## recompute every published byte
	@$(BIN)/concordance verify

audit: $(DEV)  ## what injected faults the cases catch, survivors tried on further inputs too: minutes
	@for model in emergency-fund refinance relocation; do \
		$(BIN)/python tests/further.py $$model | $(BIN)/concordance audit $$model --further /dev/stdin || exit 1; \
	done

platforms: $(DEV)  ## the published bytes on every Python here, with the oldest and the newest numpy
	@$(BIN)/nox

bench: $(DEV)  ## speed as ratios, measured in one run
	@$(BIN)/python -m benchmarks

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Concordance needs Python 3.11 or newer; run make PYTHON=/path/to/python3.11")'
	@echo "setting up $(VENV) (once)"
	@$(PYTHON) -m venv $(VENV)

$(READY): pyproject.toml constraints.txt | $(VENV)/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(DEV): $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV)
