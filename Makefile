# `make help` lists what there is. `make demo` and `make test` work as the first command on a fresh clone.

.DEFAULT_GOAL := help
.PHONY: help setup demo check test lint bench bench-estimators faults fuzz lock release clean

bin := .venv/bin
BOARD ?= stm32f407-virtual
scripts = .ci/run $(wildcard .setup/*.sh)
cpp = $(shell find firmware tests/unit/firmware -name '*.cc' -o -name '*.h')

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

setup: ## install what is missing: Debian packages, and the Python packages in .venv
	@.setup/setup.sh $(SETUP_FLAGS)

demo: setup ## estimate, flash, measure and reconcile four models (BOARD=stm32f407-virtual)
	@$(bin)/harness demo --board $(BOARD)

check: setup lint ## what to run before each commit: style, types, and all unit and contract tests that are quick
	$(bin)/pytest -q -n "$${JOBS:-$$(nproc)}" --dist loadgroup -m "not hil and not slow" tests/unit tests/contract

test: SETUP_FLAGS = --for-tests
test: setup lint ## check and test everything, also what takes long (JOBS=number of cores)
	$(bin)/pytest -n "$${JOBS:-$$(nproc)}" --dist loadgroup

lint: setup ## check style (Python, shell, C++), types and who imports whom
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/mypy
	$(bin)/lint-imports --no-logo
	shellcheck $(scripts)
	$(bin)/clang-format --dry-run --Werror $(cpp)

bench: setup ## measure the speed and memory of the harness itself
	@$(bin)/python -m tests.bench

bench-estimators: setup ## compare estimators on the same models (installs 2 GB of other tools into .cache, once)
	@$(bin)/python -m tests.bench.estimators

faults: setup ## break a virtual board in every way; the table goes into tests/faults/README.md
	@$(bin)/python -m tests.faults --write

fuzz: setup ## feed damaged models and serial streams to harness (FUZZ_SECONDS=600)
	@$(bin)/python -m tests.fuzz --seconds "$${FUZZ_SECONDS:-600}"

lock: ## pin the Python packages anew, keeping present pins (needs uv; LOCK_FLAGS=--upgrade takes the newest)
	PATH="$(CURDIR)/$(bin):$$PATH" uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	    --extra virtual --extra esp32 --extra oracle --extra cluster --extra report --extra dev --generate-hashes \
	    --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(LOCK_FLAGS) \
	    --output-file .setup/requirements.txt

release: ## make one release of what changed, and set the version (VERSION=2027.1.0)
	@.setup/release.sh "$(VERSION)"

clean: ## remove .venv and what tools left behind; results stay
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	find harness tests -name __pycache__ -type d -prune -exec rm -rf {} +
