# Everything a developer or a visitor does with Noren. `make` alone lists it.
# Each target that needs the environment makes it first, once: it is made again only when
# pyproject.toml or constraints.txt changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := $(patsubst benchmarks/peers/%.txt,%,$(wildcard benchmarks/peers/*.txt))
PEERS_READY := $(PEERS:%=.peers/%/.ready)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check docs bench slow clean format lint types layers

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## set up, ask questions of generated data, write one HTML report
	$(BIN)/noren demo

test: $(READY) ## set up, run unit and property tests, docstring and Markdown examples
	$(BIN)/pytest -n 2 -m "not slow"

check: format lint types layers ## formatting, lint, types and layers

docs: $(READY) ## build the documentation into docs/_build/html; warnings are errors
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "The documentation is at docs/_build/html/index.html"

bench: $(READY) $(PEERS_READY) ## print every benchmark's table
	$(BIN)/python -m benchmarks

slow: $(READY) $(PEERS_READY) ## heavy audits, full reproductions, cross-checks with peers
	$(BIN)/pytest -n 2 -m slow

clean: ## remove what was built, the environments included
	rm -rf $(VENV) .peers docs/_build build dist noren-demo .hypothesis .pytest_cache
	rm -rf .mypy_cache .ruff_cache .import_linter_cache
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

# The pieces of `make check`, each a pre-commit hook too.
format: $(READY)
	$(BIN)/ruff format --check .

lint: $(READY)
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports

$(READY): pyproject.toml constraints.txt
	PYTHON="$(PYTHON)" tools/make-environment $(VENV) -c constraints.txt -e '.[test]'
	@touch $@

# Peers are libraries that we compare with. Their pins clash with ours, so each has its own
# environment; nothing but `make slow` and `make bench` uses them.
.peers/%/.ready: benchmarks/peers/%.txt
	PYTHON="$(PYTHON)" tools/make-environment .peers/$* -r $<
	@touch $@
