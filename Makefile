# Every target does its own set-up: a virtual environment in .venv, filled from pyproject.toml.
# Nothing to activate, any order; a second run finds its stamp and starts at once.

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.stamp

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export MPLBACKEND := Agg

.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test test-pythons wheel test-all test-matrix test-wild test-guards test-faults test-peers oracle sample audit check bench beside accuracy fuzz golden docs coverage site new-op clean

help:
	@echo 'make demo         train a network on the handwritten digits, with a generated gradient'
	@echo 'make test         the tests, without the slow ones'
	@echo 'make test-all     all tests'
	@echo 'make test-pythons the tests on Python 3.10 to 3.13, each with an environment of its own'
	@echo 'make wheel        dist/*.whl, tried in an environment of its own: the demo and a part of the tests'
	@echo 'make test-matrix  every operation in every kind of loop, every derivative (up to 90 minutes; goes on where it stopped)'
	@echo 'make test-wild    the doctests of fluids, chemicals and ht beside their compiled versions (ten minutes)'
	@echo 'make test-guards  compiled programs in memory with guard pages, and with memory refused (half an hour)'
	@echo 'make test-faults  plant faults in the compiler, see each one caught'
	@echo 'make oracle       what the compiler gives for every program, compared with what is frozen (ten minutes)'
	@echo 'make sample       a twentieth of the oracle and of the faults, another one for each commit (three minutes)'
	@echo 'make test-peers   the tests beside JAX, PyTorch and Autograd, which are skipped elsewhere'
	@echo 'make audit        what each pass changes, and what leaving it out costs (two hours; goes on where it stopped)'
	@echo 'make check        format, lint, types and the quick tests, in seconds'
	@echo 'make bench        gradients beside JAX, PyTorch and C written by hand (an hour)'
	@echo 'make beside       REVISION=main: our times there and in this tree, side by side (a quarter of an hour)'
	@echo 'make accuracy     errors and times of the vector functions, 10^6 points each (half an hour)'
	@echo 'make fuzz         random programs against differences'
	@echo 'make golden       rewrite the expected sources in tests/golden, and what README and docs/ show'
	@echo 'make docs         rewrite docs/errors.md, the messages with examples'
	@echo 'make coverage     rewrite docs/coverage.md: every public function of NumPy and SciPy, run (two minutes)'
	@echo 'make site         build/site: the documentation as pages; open build/site/index.html (two minutes)'
	@echo 'make new-op       NAME=dawsn: the skeleton of a new primitive (CONTRIBUTING.md)'
	@echo 'make clean        remove .venv and all that was built'

# --- the environment ---------------------------------------------------------------------------

# Some systems ship Python without ensurepip; there, the pip that Python has fills the environment.
$(STAMP)-venv:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 14))' || \
	  { echo "$(PYTHON) is not Python 3.10 to 3.13; try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@if $(PYTHON) -c 'import ensurepip' 2>/dev/null; then $(PYTHON) -m venv --clear $(VENV); \
	else $(PYTHON) -m venv --clear --without-pip $(VENV) && \
	  $(PYTHON) -m pip --python $(PY) install --quiet pip; fi
	@touch $@

# One stamp for each set of extras, renewed when pyproject.toml changes.
$(STAMP)-demo: EXTRAS := demo
$(STAMP)-test: EXTRAS := test,demo
$(STAMP)-check: EXTRAS := test,check
$(STAMP)-bench: EXTRAS := bench
$(STAMP)-peers: EXTRAS := test,demo,peers
$(STAMP)-accuracy: EXTRAS := accuracy
$(STAMP)-wild: EXTRAS := test,wild
$(STAMP)-docs: EXTRAS := docs,demo
$(STAMP)-demo $(STAMP)-test $(STAMP)-check $(STAMP)-bench $(STAMP)-peers $(STAMP)-accuracy $(STAMP)-wild $(STAMP)-docs: pyproject.toml | $(STAMP)-venv
	$(PY) -m pip install --quiet --editable '.[$(EXTRAS)]'
	@touch $@

# --- what one runs -----------------------------------------------------------------------------

demo: $(STAMP)-demo
	$(PY) examples/digits.py

test: $(STAMP)-test
	$(PY) -m pytest -n 2 -m 'not slow'

test-all: $(STAMP)-test
	$(PY) -m pytest -n 2

# As many of the four as this machine has: on the path, or where pyenv keeps them.
test-pythons:
	@failed=0; for v in 3.10 3.11 3.12 3.13; do \
	  p=; for c in python$$v $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$$v.*/bin/python; do \
	    $$c -c '' 2>/dev/null && p=$$c; done; \
	  if [ -z "$$p" ]; then echo "python$$v is not on this machine"; continue; fi; \
	  echo "--- $$($$p -V)"; $(MAKE) --no-print-directory VENV=$(VENV)-$$v PYTHON=$$p test || failed=1; \
	done; exit $$failed

# The tests that ask JAX, PyTorch or Autograd; nothing is skipped for want of them.
PEERS := $(shell grep -rlE '"jax"|"torch"|PEERS' --include='test_*.py' tests)

# What is tried is the wheel: nothing of this tree but the examples and the tests is where it runs.
TRIED := tests/face/test_api.py tests/face/test_cli.py tests/face/test_command.py tests/codegen/test_jit.py tests/test_corpus.py
wheel: $(STAMP)-venv
	rm -rf build dist $(VENV)-wheel
	$(PY) -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(MAKE) --no-print-directory VENV=$(VENV)-wheel PYTHON=$(PYTHON) $(VENV)-wheel/.stamp-venv
	$(VENV)-wheel/bin/python -m pip install --quiet "$$(ls $(CURDIR)/dist/*.whl)[test,demo]"
	@where=$$(mktemp -d) && cp -r examples tests pyproject.toml README.md $$where && cd $$where && \
	  $(CURDIR)/$(VENV)-wheel/bin/python examples/digits.py && \
	  $(CURDIR)/$(VENV)-wheel/bin/python -m pytest -q -n 2 -m 'not slow and not numba' $(TRIED); status=$$?; rm -rf $$where; exit $$status

test-peers: $(STAMP)-peers
	$(PY) -m pytest -q -n 2 -rs $(PEERS)

test-matrix: $(STAMP)-test
	@failed=0; for part in 0 1 2 3 4 5 6 7; do \
	  TRANSPILE_MATRIX=.pytest_cache/matrix TRANSPILE_MATRIX_PART=$$part/8 $(PY) -m pytest -q -n 2 tests/matrix || failed=1; \
	done; $(PY) tests/matrix/run.py --counts .pytest_cache/matrix; exit $$failed

test-wild: $(STAMP)-wild
	$(PY) tests/wild/run.py --write

test-guards: $(STAMP)-test
	$(PY) tests/guards/run.py

test-faults: $(STAMP)-test
	$(PY) tests/faults/run.py

oracle: $(STAMP)-test
	$(PY) tests/oracle/run.py

# A part of the programs and of the faults, another one for each commit.
PART ?= $(shell echo $$(( 0x$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0) % 20 + 1 )))
sample: $(STAMP)-test
	$(PY) tests/oracle/run.py --part $(PART)/20
	$(PY) tests/faults/run.py --part $(PART)/20

audit: $(STAMP)-wild
	$(PY) tests/audit/run.py --write

check: $(STAMP)-check
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(PY) -m pytest -q -m 'quick and not slow and not numba'

bench: $(STAMP)-bench
	$(PY) tests/bench/run.py

beside: $(STAMP)-test
	$(PY) tests/bench/beside.py $(REVISION)

accuracy: $(STAMP)-accuracy
	$(PY) tests/accuracy/run.py

fuzz: $(STAMP)-test
	$(PY) tests/fuzz/run.py
	$(PY) tests/fuzz/run.py --kinds
	$(PY) tests/fuzz/run_nests.py

docs: $(STAMP)-test
	$(PY) tests/mistakes.py

coverage: $(STAMP)-test
	$(PY) docs/_generate/coverage_table.py

site: $(STAMP)-docs
	$(PY) docs/_generate/build_site.py

golden: $(STAMP)-test
	TRANSPILE_GOLDEN=rewrite $(PY) -m pytest -q tests/codegen/test_golden.py tests/face/test_readme.py

new-op: $(STAMP)-test
	$(PY) tests/house/new_op.py $(NAME) $(KIND)

clean:
	rm -rf $(VENV) $(VENV)-* build dist *.egg-info examples/out .pytest_cache .ruff_cache .mypy_cache
	find transpile runtime tests examples docs -name __pycache__ -type d -prune -exec rm -rf {} +
