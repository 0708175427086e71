# Everything a person or CI does with this repository. `make help` lists it.
# Needs only Python 3.11 or newer and make; the rest is fetched by the targets that use it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

PYTHON ?= python3
# Test processes side by side; one file always stays in one process, in file order.
WORKERS ?= 2
# Peers that `make test` talks to (`tools/peers list` shows all that can be built).
PEERS ?= versitygw nmstatectl openshift-install
# Peers of `make test-lab`.
LAB_PEERS ?= coreos-installer nmstatectl openshift-install etcd kube-apiserver kube-controller-manager kubectl
# Anything more for pytest: make test TESTS='-k vips'
TESTS ?=

# Tests start hundreds of Python processes: without compiled modules each would compile a thousand files again.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
UV := UV_PROJECT_ENVIRONMENT=.venv UV_PYTHON_DOWNLOADS=never $(BIN)/uv
PYTEST := $(BIN)/python -m pytest

.PHONY: help
help: ## Show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 20

# --- environment --------------------------------------------------------------------------------------------------

$(BIN)/uv:
	@tools/venv $(PYTHON)

# The stamps live in the environment itself: removing .venv removes them.
.venv/.runtime: $(BIN)/uv pyproject.toml uv.lock
	$(UV) sync --frozen --quiet --inexact --no-default-groups --extra server --group ui
	@touch $@

.venv/.development: $(BIN)/uv pyproject.toml uv.lock
	$(UV) sync --frozen --quiet --all-extras --all-groups
	@touch $@ .venv/.runtime

.PHONY: setup
setup: .venv/.development ## Create .venv with everything for development

.PHONY: system
system:
	@tools/system-packages

.PHONY: peers
peers: ## Build the servers the tests talk to (PEERS='etcd …' for others)
	@tools/peers build $(PEERS)

# --- use ----------------------------------------------------------------------------------------------------------

.PHONY: ui
ui: .venv/.runtime ## Build the web UI, if ui/ changed (with Node from .venv)
	@$(BIN)/python tools/build_ui.py

.PHONY: run
run: .venv/.runtime ## Start the service on http://127.0.0.1:8090
	@$(BIN)/python tools/build_ui.py --if-possible
	@exec $(BIN)/firstlight serve

.PHONY: demo
demo: .venv/.runtime ## Start the service with a simulated 3+2 fleet and install it
	@$(BIN)/python tools/build_ui.py --if-possible
	@exec $(BIN)/firstlight demo

.PHONY: bench
bench: .venv/.development ## Measure CPU per poll, registration and idle host; prints JSON
	@exec $(BIN)/python -m bench

.PHONY: bench-images
bench-images: .venv/.development ## Measure image streaming beside nginx (if installed); prints JSON
	@exec $(BIN)/python -m bench.images

.PHONY: images
images: .venv/.runtime ## Build the agent's, the installer's and the controller's container images (buildah; needs root)
	@deploy/build

.PHONY: agent-image
agent-image: .venv/.runtime ## Build only the agent's
	@deploy/build agent

# --- checks -------------------------------------------------------------------------------------------------------

.PHONY: test
test: .venv/.development system peers ## Run every test that needs no virtual machine
	@$(BIN)/python tools/build_ui.py
	@$(BIN)/python tools/build_ui.py test
	$(PYTEST) -n $(WORKERS) --dist loadfile --no-loadscope-reorder --ignore=tests/lab $(TESTS)

.PHONY: test-lab
test-lab: .venv/.development ## Run the tests that boot machines
	@tools/system-packages lab
	@tools/peers build $(LAB_PEERS)
	@tools/test-lab $(TESTS)

.PHONY: coverage
coverage: .venv/.development ## Branch coverage of the core, 95 % at least
	$(BIN)/coverage run -m pytest -q -n 0 tests/core
	$(BIN)/coverage report --skip-covered --skip-empty --show-missing --fail-under=95

.PHONY: lint
lint: .venv/.development ## Style, types, import directions, file lengths
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/check_lengths.py
	$(BIN)/python tools/build_ui.py types

.PHONY: audit
audit: .venv/.development ## Look the locked packages up among known vulnerabilities
	@tools/audit

.PHONY: clean
clean: ## Remove the environment and every cache (built peers stay)
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.* htmlcov dist ui/node_modules src/firstlight/server/web/dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
