# Everything a newcomer needs: `make crawl` and `make test` set up what is missing by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CONFIG ?=

.DEFAULT_GOAL := help
.PHONY: help setup crawl test lint types contract unit constraints clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev --editable .
	@touch $@

setup: $(STAMP)  ## create the virtual environment

test: lint types contract unit  ## everything CI runs

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

contract: $(STAMP)
	$(BIN)/lint-imports

unit: $(STAMP)
	$(BIN)/pytest

constraints: $(STAMP)  ## pin what is installed now
	$(BIN)/python scripts/write_constraints.py > constraints.txt.new
	mv constraints.txt.new constraints.txt

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
