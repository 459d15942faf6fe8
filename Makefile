# `make site` and `make test` are all that a fresh machine with Python, make and git needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.set-up
PEERS := .venv-peers
ENGINE := .venv-transformers
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
ENGINE_SETUP := $(ENGINE)/.set-up

.PHONY: help setup site serve test lint bench peers transformers-caches llama-cpp-caches check lock clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 22

setup: $(SETUP) ## Make the virtual environment from the locked dependencies

$(SETUP): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Upheld needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

check: $(SETUP) ## Judge the corpus and verify its snapshots
	$(BIN)/upheld check
	$(BIN)/upheld snapshot verify

site: check ## Set up, check the corpus, and build the site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The site is in site/; read it with: make serve"

serve: $(SETUP) ## Serve the site and reload it when a record changes
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

lint: $(SETUP) ## Formatting, linting, types, and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint ## Set up, lint, and pass every test
	$(BIN)/pytest

bench: $(SETUP) ## Time Upheld itself; the result goes to bench.json
	$(BIN)/pytest benchmarks --benchmark-only --benchmark-json=bench.json --quiet

peers: $(SETUP) ## Compare with memory calculators of the registry; keep the run and its page
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check \
		-r benchmarks/memory_calculator_checks/requirements.txt
	$(BIN)/python benchmarks/memory_calculators.py --python $(PEERS)/bin/python --json > $(PEERS)/results.json
	$(BIN)/python benchmarks/memory_calculators.py --results $(PEERS)/results.json --markdown > $(PEERS)/page.md
	mv $(PEERS)/results.json tests/corpora/memory-calculators/results.json
	mv $(PEERS)/page.md docs/memory-calculators.md

$(ENGINE_SETUP): requirements.lock benchmarks/transformers_caches.txt
	$(PYTHON) -m venv $(ENGINE)
	$(ENGINE)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--extra-index-url $(TORCH_INDEX) --constraint benchmarks/transformers_caches.txt torch
	$(ENGINE)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/transformers_caches.txt
	$(ENGINE)/bin/python -m pip install --quiet --disable-pip-version-check --editable . hypothesis pytest
	touch $@

transformers-caches: $(ENGINE_SETUP) ## Measure the caches of Transformers anew and compare them
	$(ENGINE)/bin/python -m pytest -m engine tests/arithmetic/test_transformers_caches.py

# LLAMA_FAMILIES is a folder of models that llama.cpp's test-llama-archs --out wrote.
LLAMA_CPP_CACHES := tests/corpora/llama-cpp-caches
llama-cpp-caches: $(SETUP) ## Start LLAMA_SERVER with LLAMA_MODEL over many settings, and keep what it prints
	@test -x "$(LLAMA_SERVER)" && test -f "$(LLAMA_MODEL)" || { \
		echo "give LLAMA_SERVER, a llama-server to run, and LLAMA_MODEL, a GGUF file" >&2; exit 2; }
	PYTHONPATH=benchmarks $(BIN)/python benchmarks/llama_cpp_caches.py \
		--run "$(LLAMA_SERVER)" "$(LLAMA_MODEL)" \
		$(if $(LLAMA_FAMILIES),--families "$(LLAMA_FAMILIES)") > $(LLAMA_CPP_CACHES)/printed.json.new
	mv $(LLAMA_CPP_CACHES)/printed.json.new $(LLAMA_CPP_CACHES)/printed.json

lock: $(SETUP) ## Lock the dependencies anew
	$(BIN)/python -m pip install --quiet 'uv>=0.8'
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
		--generate-hashes --no-header --quiet --upgrade --output-file requirements.lock

clean: ## Remove what the other targets made
	rm -rf $(VENV) $(PEERS) $(ENGINE) site bench.json .benchmarks .hypothesis .import_linter_cache \
		.mypy_cache .ruff_cache .pytest_cache
