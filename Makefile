# Everything a newcomer needs: `make crawl` and `make test` set up what is missing by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CONFIG ?=
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup crawl test lint types contract unit docs constraints clean \
	bench bench-instructions bench-tools bench-store bench-growth bench-rollup bench-rules bench-frontier bench-fairness bench-memory \
	bench-domains bench-reports check-real chaos soak fuzz

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 20

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev --editable .
	@touch $@

setup: $(STAMP)  ## create the virtual environment

crawl: $(STAMP)  ## crawl CONFIG=config.toml, or without it a sample web that it starts itself
	$(if $(CONFIG),$(BIN)/terrain crawl $(CONFIG) $(ARGS),$(BIN)/terrain demo $(ARGS))

test: lint types contract unit  ## everything CI runs

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

contract: $(STAMP)
	$(BIN)/lint-imports

# Two workers, a file to each: the files share served webs and finished crawls within themselves.
unit: $(STAMP)
	$(BIN)/pytest -n 2 --dist loadfile $(ARGS)

docs: $(STAMP)  ## write the generated parts of the documentation anew
	$(BIN)/python scripts/write_config_reference.py
	$(BIN)/python scripts/write_command_reference.py

bench: $(STAMP) bench-tools  ## Terrain against plain Scrapy, tuned Scrapy and a bare loop
	$(BIN)/python benchmarks/bench_crawl.py $(ARGS)

bench-instructions: $(STAMP) bench-tools  ## what a page costs in instructions, whatever else the machine does
	$(BIN)/python benchmarks/count_instructions.py $(ARGS)

bench-tools:  ## nginx, valgrind and documentation packages, for bench and check-real
	scripts/install_bench_tools.sh

bench-store: $(STAMP)  ## recording pages at 10 thousand and at 1 million stored
	$(BIN)/python benchmarks/bench_store.py $(ARGS)

bench-growth: $(STAMP)  ## what a page costs a crawl at 10 thousand and at 1 million stored
	$(BIN)/python benchmarks/bench_growth.py $(ARGS)

bench-rollup: $(STAMP)  ## what keeping nodes and edges costs
	$(BIN)/python benchmarks/bench_rollup.py $(ARGS)

bench-rules: $(STAMP)  ## URLs and extraction
	$(BIN)/python benchmarks/bench_urls.py
	$(BIN)/python benchmarks/bench_extract.py

bench-frontier: $(STAMP)  ## the frontier simulated up to 1,000,000 hosts
	$(BIN)/python benchmarks/bench_frontier.py $(ARGS)

bench-fairness: $(STAMP)  ## slow hosts beside fast ones, next to plain Scrapy
	$(BIN)/python benchmarks/bench_fairness.py $(ARGS)

bench-memory: $(STAMP)  ## a million discovered URLs
	$(BIN)/python benchmarks/bench_memory.py $(ARGS)

bench-domains: $(STAMP)  ## ten thousand domains, by their home pages
	$(BIN)/python benchmarks/bench_domains.py $(ARGS)

bench-reports: $(STAMP)  ## stats and summary on a million pages
	$(BIN)/python benchmarks/bench_reports.py $(ARGS)

check-real: $(STAMP)  ## crawl documentation that nobody here wrote
	scripts/install_real_docs.sh
	$(BIN)/python benchmarks/check_real.py $(ARGS)

chaos: $(STAMP)  ## faults and kills, then the count of what went wrong
	scripts/install_packages.sh faketime || echo "going on without: no clock jumps"
	$(BIN)/python -m benchmarks.chaos $(ARGS)

soak: $(STAMP)  ## an hour on faulty webs, watching memory
	$(BIN)/python -m benchmarks.soak $(ARGS)

fuzz: $(STAMP)  ## hostile input
	$(BIN)/python -m benchmarks.fuzz $(ARGS)

constraints: $(STAMP)  ## pin what is installed now
	$(BIN)/python scripts/write_constraints.py > constraints.txt.new
	mv constraints.txt.new constraints.txt

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
