# diskprof. `make run` opens it, `make test` tests it; both install what is missing first, and say so.
#
#   PYTHON=python3.12   the interpreter for .venv (otherwise the newest on the PATH, 3.11 or later)
#   ARGS='...'          words for `make run` (a command of diskprof), `make test` (options of pytest, or one file), `make vm-test` (the same) or `make fuzz`
#   AUDIT=--strict      `make audit` fails where nobody can be asked
#   DISKPROF_VM=DIR     where the guest of `make vm-test` lies (otherwise .vm)
#   JOBS=8              how many tests at once (tests on real disks always run one after the other)

.DEFAULT_GOAL := help
# An audit or a fuzzer may install while tests run, so that `make -j` is not for these but where it says so.
ifndef TOGETHER
.NOTPARALLEL:
endif
SHELL := /bin/sh
ARGS ?=
JOBS ?= 8
PYTHON ?=
export PYTHON

VENV := .venv
BIN := $(VENV)/bin
SETUP := scripts/setup.sh

.PHONY: help run setup setup-test ready test vm-test vm-shell check compiled format format-check lint types imports licences audit fuzz screenshots snapshots bench bench-compare bench-tables wheel pyz bundle test-bundle clean

help: ## List the targets
	@sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)/  make \1 - \2/p' Makefile | \
	while IFS= read -r line; do printf '%-20s %s\n' "$${line%% - *}" "$${line#* - }"; done

run: ## Install what is missing, then open diskprof
	@$(SETUP) run
	@$(BIN)/diskprof $(ARGS)

setup: ## Install what diskprof needs: fio, ioping, .venv
	@$(SETUP) run --again

setup-test: ## Install what the tests need too
	@$(SETUP) test --again

ready:
	@$(SETUP) test

test: ready $(if $(ARGS),,compiled) ## Install what is missing, then run every test
	@unset MAKEFLAGS MAKELEVEL PYTHONDONTWRITEBYTECODE; exec $(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder --durations=15 --durations-min=1 $(ARGS)

vm-test: ready ## Test on a machine with disks of every kind, in QEMU: root, 4 GB, up to 25 minutes: ARGS='-k power'
	@unset MAKEFLAGS MAKELEVEL; PYTHONPATH=tests $(BIN)/python -m vm.lane build && \
	exec $(BIN)/pytest -v -o faulthandler_timeout=3600 tests/vm $(ARGS)

vm-shell: ready ## Boot that machine, and open a shell in it
	@PYTHONPATH=tests $(BIN)/python -m vm.lane shell

check: format-check lint imports licences audit ## What must hold before a change goes in: format, lint, types, imports, licences, tests
	@$(MAKE) --no-print-directory -j2 TOGETHER=1 types compiled
	@$(MAKE) --no-print-directory test

# Otherwise each process of the tests would compile them for itself, at the same time, and so would the hundreds of programs that
# they start: 0.4 s of processor for 0.1 s.
compiled: ready
	@unset PYTHONDONTWRITEBYTECODE; said=$$($(BIN)/pytest --collect-only -qq) || { printf '%s\n' "$$said"; exit 1; }

format: ready ## Put the code into shape
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix --select I .

format-check: ready
	@$(BIN)/ruff format --check .

lint: ready ## Look for mistakes (ruff; shellcheck where it is there)
	@$(BIN)/ruff check .
	@if command -v shellcheck >/dev/null; then shellcheck scripts/*.sh .ci/run; fi

types: ready ## Check the types (mypy, strict)
	@$(BIN)/mypy

imports: ready ## Check who imports whom (import-linter)
	@$(BIN)/lint-imports --no-cache

licences: ready ## List the licences of what diskprof runs with; fails for one that is not allowed
	@$(BIN)/python scripts/licences.py

audit: ready ## Ask whether a vulnerability is known in what diskprof runs with (pip-audit; says so if nobody can be asked)
	@$(BIN)/python scripts/audit.py $(AUDIT)

fuzz: ready ## Try properties on examples drawn at random, fuzz what reads foreign bytes, a minute each: ARGS='--seconds 10 preset job'
	@$(if $(ARGS),,$(BIN)/pytest -q -n $(JOBS) -m hypothesis --hypothesis-profile=random tests/unit tests/tui)
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install -q -e '.[fuzz]'
	@$(BIN)/python -m fuzz $(ARGS)

screenshots: ready ## Draw screenshots/ from real runs on two loop disks: root, 8 minutes: ARGS='live compare'
	@$(BIN)/python scripts/screenshots.py $(ARGS)

snapshots: ready ## Draw anew what the tests hold the screens against
	@DISKPROF_GOLDEN=write $(BIN)/pytest -q tests/tui/test_snapshots.py $(ARGS)

bench: ready ## Measure what diskprof itself costs beside plain fio
	@for each in benchmarks/*.py; do $(BIN)/python "$$each" $(ARGS) || exit; done

bench-compare: ready ## Compare the figures of two files that `make bench ARGS='--json FILE'` wrote: A=before.json B=after.json
	@PYTHONPATH=benchmarks $(BIN)/python -m measuring.regressions $(A) $(B)

bench-tables: ready ## Print the figures of such a file as the tables of docs/benchmarks.md: A=after.json
	@PYTHONPATH=benchmarks $(BIN)/python -m measuring.markdown $(A)

wheel: ready ## Build the wheel and the source archive into dist/
	@$(BIN)/python -m build --outdir dist .

pyz: ready ## Build the zipapp into dist/, for Python 3.11 and later: ARGS='--machine aarch64'
	@$(BIN)/python scripts/pyz.py $(ARGS)

bundle: ready ## Build the bundle into dist/: diskprof with its own Python, for any Linux of this architecture
	@$(BIN)/python scripts/bundle.py $(ARGS)

test-bundle: pyz bundle ## Try the bundle and the zipapp in roots that are empty but for busybox and fio: root, busybox-static
	@unset MAKEFLAGS MAKELEVEL; exec $(BIN)/pytest -v tests/bundle $(ARGS)

clean: ## Remove what was built, .venv too
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .fuzz
	@if [ -e .vm ]; then echo 'The guest of make vm-test stays. As root: rm -r --one-file-system .vm'; fi
	find diskprof tests scripts benchmarks fuzz -name __pycache__ -type d -prune -exec rm -rf {} +
