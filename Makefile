# Each target sets up what it needs in .venv: Python >= 3.11 and make are enough.
PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/installed
# LOCKED=1: of what is installed, the versions of constraints.txt.
PIP = $(RUN) -m pip install --quiet --disable-pip-version-check $(if $(LOCKED),--constraint constraints.txt)
MADE := docs/_build docs/_drawn docs/api/generated docs/gallery/generated
.NOTPARALLEL:
.PHONY: help demo test test-all matrix check format docs pages build clean
.DELETE_ON_ERROR:

help:
	@echo "make demo      calibrate, fuse and judge two speaker verifiers; results in demo_output/"
	@echo "make test      the tests, without the slow ones  (ARGS='-k eer' is passed on to pytest)"
	@echo "make test-all  all tests, with coverage;  make matrix: on each Python of this machine"
	@echo "make check     format, lint, types, import layers, docstrings;  make format mends what it can"
	@echo "make docs      the documentation, in docs/_build/html;  make pages looks at it in Chromium"
	@echo "make build     source distribution and wheel, in dist/;  make clean removes what was made"
	@echo "Another Python: make PYTHON=python3.12 ...  LOCKED=1: the versions of constraints.txt."

demo: $(INSTALLED)/package
	@$(RUN) examples/demo.py
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
	rm -rf $(MADE)
	$(RUN) -m sphinx --nitpicky --fail-on-warning --keep-going -b html docs docs/_build/html
pages: $(INSTALLED)/docs
	$(RUN) .ci/look
build: $(INSTALLED)/dev
	$(RUN) -m build
clean:
	rm -rf build dist demo_output $(MADE) *.egg-info .coverage* .hypothesis .venv-test .venv-matrix .*_cache

# One stamp for each extra, renewed when the requirements change; "package" is none.
$(INSTALLED)/%: setup.cfg pyproject.toml $(if $(LOCKED),constraints.txt) | $(RUN)
	@echo "Installing bosaris_py and what '$*' needs into $(VENV) ..."
	@$(PIP) --editable '.$(if $(filter-out package,$*),[$*])'
	@mkdir -p $(@D) && touch $@
$(RUN):
	@$(PYTHON) -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' || { echo \
	    "bosaris_py needs Python >= 3.11 with venv: make PYTHON=python3.12 ..., or apt install python3-venv" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
