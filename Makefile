# `make demo` and `make test` install everything they need. They require only Python 3.11 or newer, make and access to a
# package index.
.DELETE_ON_ERROR:
SHELL := bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.dev-ready
HEAVY_READY := $(VENV)/.heavy-ready
SUDO := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)

.PHONY: demo test test-all lint style bench browser docs languages clean help

help:
	@echo "make demo       simulated workers complete the rules study; its site stays open (ONCE=1: exit instead)"
	@echo "make test       lint, types, import direction, tests"
	@echo "make test-all   the checks of make test, and the longer tests"
	@echo "make bench      measure the figures of docs/performance.md"
	@echo "make docs       build the documentation as a site, in site/"
	@echo "make languages  add new sentences of worker pages to the translations (NEW=it: start a language)"
	@echo "make clean      remove the virtual environment and caches"

# Extras that the tests need in addition to a base install.
EXTRAS := [encryption,liquid,pdf,postgres,rules,site,text]

# Compiled modules are kept even if the environment forbids it: without them, a command takes a second longer to start.
export PYTHONDONTWRITEBYTECODE :=

# uv takes a quarter of pip's time. If uv is not available, or does not find packages that pip is configured to find,
# pip installs them.
define install
if ! $(BIN)/uv pip install -q --python $(BIN)/python $(1) $(2) 2>/dev/null; then $(BIN)/pip install -q $(1); fi
endef

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Chorale needs Python 3.11 or newer: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade "pip>=25.1"
	$(BIN)/pip install -q uv || true

$(READY): pyproject.toml | $(VENV)/bin/python
	$(call install,-e '.[site]',--compile-bytecode)
	$(BIN)/python -m compileall -q src
	touch $@

$(DEV_READY): $(READY)
	$(call install,-e '.$(EXTRAS)' --group dev)
	touch $@

# Torch first, at the tested version: otherwise, other packages would install the newest one, with gigabytes for GPUs.
# Only with pip, which may be configured to find torch's CPU build.
$(HEAVY_READY): $(DEV_READY)
	$(BIN)/pip install -q --group heavy
	$(BIN)/pip install -q -e '.[encryption,models,pdf,postgres,rules,site,spark,text]'
	touch $@

demo: $(READY)
	$(BIN)/chorale demo $(if $(ONCE),--once)

languages: $(DEV_READY)
	$(BIN)/python -m chorale.testing.languages $(NEW)

lint: style
	$(BIN)/mypy
	$(BIN)/lint-imports

style: $(DEV_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Tests make thousands of small databases. In memory, where Linux has room for them, a new one takes a tenth of the time.
define in_memory
if [ -w /dev/shm ] && [ "$$(df --output=avail /dev/shm | tail -n 1)" -gt 4000000 ]; then \
  export TMPDIR=$$(mktemp -d /dev/shm/chorale-tests.XXXXXX); trap 'rm -rf "$$TMPDIR"' EXIT; \
fi
endef

# Many tests wait for a server, a browser or a clock: five at a time keep two cores busy. Types use one core for a
# minute, so they are checked beside the tests. Collecting once first compiles the tests: otherwise each of the five
# processes would compile all of them.
test: style browser
	$(MAKE) --no-print-directory lint >.lint.log 2>&1 & types=$$!; $(in_memory); \
	$(BIN)/pytest --collect-only -qq >/dev/null; $(BIN)/pytest -n 5 --dist worksteal -m "not slow"; tests=$$?; \
	wait $$types; lint=$$?; [ $$lint = 0 ] || cat .lint.log; exit $$((tests | lint))

test-all: $(HEAVY_READY) lint browser
	$(in_memory); CHORALE_EXAMPLES=thorough $(BIN)/pytest -n 3 --dist worksteal

BENCHES := calibration qasrl srl crowdtruth aggregate agreement irt learn commands decisions rehearsal serve questions prepare baselines frames console export importing report

bench: $(DEV_READY)
	for name in $(BENCHES); do echo; echo "## $$name"; PYTHONPATH=tests $(BIN)/python -m bench.$$name || exit 1; done

# The browser tests use the distribution's own Chromium.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || { \
	  command -v apt-get >/dev/null || { echo "Install Chromium for the browser tests, then run make again." >&2; exit 1; }; \
	  $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; }

# Nothing is loaded from elsewhere, so the site also works without a network. Each version has its own folder, so that
# versions built before stay in the menu. Look at it: make docs && python3 -m http.server -d site
docs: $(DEV_READY)
	$(call install,--group docs)
	version=$$($(BIN)/python -c 'import chorale; print(chorale.__version__)') && \
	  NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site/$$version
	$(BIN)/python docs/site_versions.py site

clean:
	rm -rf $(VENV) site .lint.log .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
