# Everything runs in a virtual environment of its own: only python3 (3.11 or later), make and a C++
# compiler are needed. `make VENV=/some/where test` uses another one.

VENV ?= .venv
PYTHON ?= python3
WORKERS ?= auto

# Windows has its own names for these; `make` there needs a shell such as that of Git.
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
EXE := $(if $(filter Windows_NT,$(OS)),.exe)
DEMO := build/demo
COVERAGE := 90
PYTEST := $(BIN)/python -m pytest --numprocesses=$(WORKERS) --maxprocesses=4
# The core is built beside the sources, with tools that stay in the environment: so a changed file of it is
# compiled in seconds.
CORE := build/develop
INSTALL = $(BIN)/python -m pip install --quiet --no-build-isolation --config-settings build-dir=$(CORE) --editable

.PHONY: help demo develop test test-slow test-all coverage regression lint docs dist smoke wheels release-check bench bench-full study study-quick study-as-published study-page clean

help:
	@echo "make demo       what a budget of 10 buys, what the greedy rule buys instead, and a report"
	@echo "make develop    compile what has changed of the core"
	@echo "make test       the default tests"
	@echo "make test-slow  the slow tests only"
	@echo "make test-all   all tests"
	@echo "make coverage   the default tests, and which lines of the package they run"
	@echo "make regression the run time against that of another commit: make regression BASE=main"
	@echo "make lint       ruff, clang-format and mypy"
	@echo "make docs       the documentation site, in build/site; examples are run, links are checked"
	@echo "make smoke      the wheel in new environments, with the oldest and the newest dependencies"
	@echo "make dist       a wheel and a source archive, checked for publication, in dist/"
	@echo "make wheels     wheels for this system, each tried with the smoke test, in build/wheels"
	@echo "make release-check  what a release needs: version, changelog, archives, site"
	@echo "make bench      the benchmarks; some of them: make bench BENCH='--only grid tall'"
	@echo "make bench-full the benchmarks with other solvers and packages; an hour or two"
	@echo "make study      the paper's experiments, an hour of two cores; goes on where it stopped"
	@echo "make study-as-published  the paper's protocol on one draw, half an hour of a core"
	@echo "make study-quick  the same with a few draws of the data, in minutes"
	@echo "make study-page docs/study.md and its figures from the tables in study/results"
	@echo "make clean      remove the virtual environment and the caches"

demo: $(VENV)/.installed
	$(BIN)/shortlist demo
	mkdir -p $(DEMO)
	$(BIN)/shortlist simulate $(DEMO)/patients.csv $(DEMO)/costs.csv --seed 11
	$(BIN)/shortlist fit $(DEMO)/patients.csv --outcome outcome --costs $(DEMO)/costs.csv \
		--budget 10 --ridge 1 --resamples 9 --report $(DEMO)/report.html

develop: $(VENV)/.installed
	$(BIN)/cmake --build $(CORE)

test: $(VENV)/.installed-test develop
	$(PYTEST)

test-slow: $(VENV)/.installed-test develop
	$(PYTEST) -m slow

test-all: $(VENV)/.installed-test develop
	$(PYTEST) -m "slow or not slow"

coverage: $(VENV)/.installed-test develop
	$(PYTEST) --cov=shortlist --cov-report=term:skip-covered --cov-fail-under=$(COVERAGE)

# The base is checked out and compiled below build/, and both versions take turns on one thread.
BASE ?= main
MOST ?= 1.25
regression: $(VENV)/.installed develop
	git worktree add --force --detach build/base "$(BASE)"
	$(MAKE) -C build/base VENV=.venv PYTHON="$(PYTHON)" develop
	$(BIN)/python -m benchmarks.throughput --against build/base/.venv/bin/python --rounds 5 --most $(MOST); \
		status=$$?; git worktree remove --force build/base; exit $$status

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run --Werror core/*.?pp
	$(BIN)/mypy

docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --builder html \
		--doctree-dir build/doctrees docs build/site
	$(BIN)/python docs/check_site.py build/site
	@echo "The site is build/site/index.html."

dist: | $(BIN)/cmake$(EXE)
	$(BIN)/python -m pip install --quiet build twine
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*

smoke: dist
	tests/smoke.sh $(PYTHON) dist/*.whl

wheels: | $(BIN)/cmake$(EXE)
	$(BIN)/python -m pip install --quiet "cibuildwheel>=3.2"
	$(BIN)/python -m cibuildwheel --output-dir build/wheels

release-check: dist docs $(VENV)/.installed-test
	$(BIN)/python tests/release.py dist
	tests/smoke.sh $(PYTHON) dist/*.whl
	tests/smoke.sh $(PYTHON) dist/*.tar.gz

bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks.run $(BENCH)

bench-full: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.run --full $(BENCH)

# The tables, the figures and the page of a new run go to build/study or build/study-quick.
study study-quick: PRESET = $(if $(filter study,$@),paper,quick)
study study-quick: $(VENV)/.installed
	if [ -e build/$@/study.json ]; then $(BIN)/python -m study resume build/$@; \
		else $(BIN)/python -m study run --preset $(PRESET) --out build/$@; fi
	$(if $(filter study,$@),$(BIN)/python -m study parkinson --out build/$@)
	$(BIN)/python -m study figures build/$@
	$(BIN)/python -m study compare build/$@
	$(BIN)/python -m study page build/$@ --output build/$@/page.md
	$(if $(filter study,$@),$(MAKE) study-as-published)

# The paper's own protocol, on one draw: half an hour of a core.
study-as-published: $(VENV)/.installed
	if [ -e build/$@/study.json ]; then $(BIN)/python -m study resume build/$@; \
		else $(BIN)/python -m study run --preset as-published --out build/$@; fi
	$(BIN)/python -m study parkinson --out build/$@
	$(BIN)/python -m study figures build/$@
	$(BIN)/python -m study page build/$@ --output build/$@/page.md

study-page: $(VENV)/.installed
	$(BIN)/python -m study compare study/results
	$(BIN)/python -m study figures study/results --figures docs/study/figures
	$(BIN)/python -m study page study/results --figures docs/study/figures --output docs/study.md
	$(BIN)/python -m study figures study/results/as-published --figures docs/study/as-published
	$(BIN)/python -m study page study/results/as-published --figures docs/study/as-published --output docs/study/as-published.md

clean:
	rm -rf $(VENV) src/shortlist/native/*.so .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist docs/api docs/gallery

# The stamps hold what is installed; pip runs again only when pyproject.toml changes.
$(BIN)/cmake$(EXE):
	@echo "Making an environment in $(VENV) and compiling the core: a minute or two."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet scikit-build-core nanobind cmake ninja

$(VENV)/.installed: pyproject.toml | $(BIN)/cmake$(EXE)
	$(INSTALL) '.[explore,report]'
	touch $@

$(VENV)/.installed-%: pyproject.toml | $(BIN)/cmake$(EXE)
	$(INSTALL) '.[$*]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/cmake$(EXE)
	$(INSTALL) '.[dev]'
	touch $@ $(VENV)/.installed-test $(VENV)/.installed
