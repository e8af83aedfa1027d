# Each target sets up what it needs in .venv: Python >= 3.11 and make are enough.

PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/installed
# Other libraries bring much that could hold numpy back: they stay away from .venv.
PEERS := .venv-peers
ARGS ?=
# LOCKED=1: of what is installed, the versions of constraints.txt.
LOCKED ?=
PIP = $(RUN) -m pip install --quiet --disable-pip-version-check $(if $(LOCKED),--constraint constraints.txt)

# Two installations into one environment at once would get in each other's way.
.NOTPARALLEL:
.PHONY: help demo test test-all matrix check format docs pages bench peers build clean
# A recipe that fails must not leave a stamp behind.
.DELETE_ON_ERROR:

help:
	@echo "make demo      calibrate, fuse and judge two speaker verifiers; results in demo_output/"
	@echo "make test      the tests, without the slow ones        (ARGS='-k eer' is passed on to pytest)"
	@echo "make test-all  all tests, with coverage"
	@echo "make matrix    the tests on each Python of this machine, with the newest and the least dependencies"
	@echo "make check     format, lint, types, import layers, docstrings"
	@echo "make format    put the code into the project's format"
	@echo "make docs      the documentation, in docs/_build/html"
	@echo "make pages     look at the documentation in Chromium: is anything cut off?"
	@echo "make bench     quick benchmarks of all operations  (ARGS='--sizes 1e7' for large ones)"
	@echo "make peers     compare with other libraries, on the same work; takes an hour"
	@echo "make build     source distribution and wheel, in dist/"
	@echo "make clean     remove what the targets above wrote, except .venv"
	@echo
	@echo "Each sets up .venv as needed. Another Python: make PYTHON=python3.12 ..."
	@echo "With LOCKED=1 the versions are those of constraints.txt."

demo: $(INSTALLED)/package
	$(RUN) examples/demo.py

# Without bytecode each process would rewrite the assertions of all tests again.
test test-all: export PYTHONDONTWRITEBYTECODE :=

test: $(INSTALLED)/test
	$(RUN) -m pytest --numprocesses auto -m "not slow" $(ARGS)

test-all: $(INSTALLED)/test $(INSTALLED)/dev
	HYPOTHESIS_PROFILE=thorough $(RUN) -m pytest --numprocesses auto --cov --cov-report=term $(ARGS)

matrix:
	.ci/matrix

check: $(INSTALLED)/dev
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports --no-logo
	$(RUN) -m numpydoc lint $$(find bosaris_py -name '*.py')

format: $(INSTALLED)/dev
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

# From scratch: pages of names that are gone would be warned about.
docs: $(INSTALLED)/docs
	rm -rf docs/_build docs/_drawn docs/api/generated docs/gallery/generated
	$(RUN) -m sphinx --nitpicky --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

# Needs Chromium, and the pages that `make docs` has built.
pages: $(INSTALLED)/docs
	$(RUN) docs/check_pages.py

bench: $(INSTALLED)/package
	$(RUN) benchmarks/run.py $(ARGS)

peers: $(PEERS)/installed
	$(PEERS)/bin/python benchmarks/compare_peers.py $(ARGS)

build: $(INSTALLED)/dev
	$(RUN) -m build

clean:
	rm -rf build dist demo_output docs/_build docs/_drawn docs/api/generated docs/gallery/generated *.egg-info .coverage .coverage.* .hypothesis
	rm -rf $(PEERS) .venv-test .venv-matrix .asv
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find bosaris_py tests docs examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per extra, renewed when the requirements change.
$(INSTALLED)/package: setup.cfg pyproject.toml $(if $(LOCKED),constraints.txt) | $(RUN)
	@echo "Installing bosaris_py into $(VENV) ..."
	$(PIP) --editable .
	@mkdir -p $(@D) && touch $@

$(INSTALLED)/%: setup.cfg pyproject.toml $(if $(LOCKED),constraints.txt) | $(RUN)
	@echo "Installing bosaris_py and what '$*' needs into $(VENV) ..."
	$(PIP) --editable '.[$*]'
	@mkdir -p $(@D) && touch $@

$(PEERS)/installed: setup.cfg pyproject.toml | $(RUN)
	@echo "Installing bosaris_py and the libraries that it is compared with into $(PEERS) ..."
	$(RUN) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "bosaris_py needs Python >= 3.11, but '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)" >&2; \
	    echo "Name a newer one, for instance: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; \
	    exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "'$(PYTHON)' cannot create virtual environments: its modules venv and ensurepip are missing." >&2; \
	    echo "Debian and Ubuntu keep them in a package of their own: apt install python3-venv" >&2; \
	    exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
