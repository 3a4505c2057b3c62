# CI and developers run the same targets. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
# Container images set it. Each start of Python would then compile all its imports, which takes seconds.
unexport PYTHONDONTWRITEBYTECODE
# The environment of users, benchmarks and documentation: perhop installed from a release build.
VENV := .venv
BIN := $(VENV)/bin
# The environment of tests: the tree, with an extension module with debug assertions and overflow checks.
TEST_VENV := .venv-test
TEST_BIN := $(TEST_VENV)/bin
# The oldest supported compiler, as Cargo.toml names it.
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
# With the data that the crates include: pages of rules and profiles of platforms.
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -path '*/src/*' -o -path '*/rules/*' -o -path '*/profiles/*' \
  -o -name Cargo.toml)
PYTHON_SOURCES := pyproject.toml $(shell find python studies -type f -not -name '*.pyc' -not -name '*.so')

DEBIAN_PACKAGES := $(shell grep -v '^\#' requirements/debian.txt)
BENCH_PACKAGES := $(shell grep -v '^\#' requirements/bench.txt)
# True if all given Debian packages are installed; dpkg-query also knows packages that others only suggest.
are_installed = [ -z "$$(dpkg-query --show --showformat='$${db:Status-Status}\n' $(1) 2>&1 | grep -vx installed)" ]

.PHONY: help setup test-setup ci-packages bench-packages fast check touched thorough format lint lint-rust lint-python \
  types msrv arm msrv-version test test-rust test-python test-python-thorough test-playground test-properties \
  docs docs-rust docs-pages docs-pictures bless playground playground-tested playground-if-possible page-scripts \
  page-scripts-if-possible fuzz coverage mutants mutants-sample reproduce quote-reports bench \
  quote-speed bench-sweeps bench-scale bench-network bench-instructions bench-live bench-playground bench-install fidelity lock deny \
  wheel sbom release reproducible clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 20

# The packages are installed while the wheel is compiled.
setup: ## create .venv with the pinned packages and a release build of perhop
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/built

test-setup: $(TEST_VENV)/built ## create .venv-test, which runs this tree with debug assertions in the extension module

# uv installs in seconds what takes pip minutes; pip installs uv, and everything where uv cannot.
$(VENV)/installer $(TEST_VENV)/installer: requirements/dev.lock
	@command -v cargo > /dev/null || { echo "error: cargo is missing; install Rust from https://rustup.rs" >&2; exit 5; }
	@command -v cc > /dev/null || { echo "error: a C linker is missing; on Debian: apt-get install gcc libc6-dev" >&2; exit 5; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Python 3.11 or newer is needed, as PYTHON=python3.11 make ..." >&2; exit 5; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || { \
	  echo "Python's venv module lacks ensurepip" >&2; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    apt-get update -qq && apt-get install -qq --no-install-recommends python3-venv > /dev/null; \
	  else echo "error: on Debian, run: sudo apt-get install python3-venv" >&2; exit 5; fi; }
	$(PYTHON) -m venv $(@D)
	@sed -n -e '/^uv==/,/[^\]$$/p' -e '/^maturin==/,/[^\]$$/p' $< > $@.lock
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $@.lock
	@touch $@

$(VENV)/packages $(TEST_VENV)/packages: %/packages: %/installer
	$*/bin/uv pip install --quiet --python $*/bin/python --require-hashes -r requirements/dev.lock || \
	  $*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	@touch $@

$(VENV)/compiled: $(VENV)/installer $(PYTHON_SOURCES) $(RUST_SOURCES)
	@rm -rf $(VENV)/wheel
	$(BIN)/maturin build --release --locked --quiet --out $(VENV)/wheel
	@touch $@

$(VENV)/built: $(VENV)/packages $(VENV)/compiled
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --reinstall $(VENV)/wheel/*.whl
	@touch $@

$(TEST_VENV)/built: $(TEST_VENV)/packages pyproject.toml $(RUST_SOURCES)
	PATH=$(abspath $(TEST_BIN)):$$PATH VIRTUAL_ENV=$(abspath $(TEST_VENV)) \
	  maturin develop --uv --profile dev --locked --quiet
	@touch $@

ci-packages: ## install the Debian packages that tests need (requirements/debian.txt; root on Debian)
	@if $(call are_installed,$(DEBIAN_PACKAGES)); then exit 0; fi; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then \
	  echo "skipped: tests that need $(DEBIAN_PACKAGES) (only root on Debian can install them)"; exit 0; fi; \
	install() { DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $(DEBIAN_PACKAGES) > /dev/null; }; \
	install 2> /dev/null || { apt-get update -qq && install; } || { \
	  echo "error: apt-get cannot install $(DEBIAN_PACKAGES): tests that need them would be skipped;" \
	    "'make check' runs without them" >&2; exit 5; }

# A change is compared with this commit: by default main, or on main itself the last commit.
SINCE ?=

fast: $(TEST_VENV)/packages ## what the changed lines need: format, lints, the tests that tests/touched.toml names (SINCE=commit)
	@$(TEST_BIN)/python tools/fast.py $(if $(SINCE),--since $(SINCE))

check: $(TEST_VENV)/packages ## everything that an ordinary change can break; what CI requires
	@$(TEST_BIN)/python tools/steps.py check

touched: $(TEST_VENV)/built ## the long tests that tests/touched.toml names for the changed paths (SINCE=commit)
	@$(TEST_BIN)/python tools/fast.py --long $(if $(SINCE),--since $(SINCE))

thorough: $(TEST_VENV)/packages ## everything else, in hours: studies, faults, fuzzing, mutants, coverage (STEP=name)
	@$(TEST_BIN)/python tools/steps.py thorough $(addprefix --step ,$(STEP))

format: $(TEST_VENV)/packages ## check the formatting of Rust and Python
	cargo fmt --check
	cargo fmt --check --manifest-path fuzz/Cargo.toml
	$(TEST_BIN)/ruff format --check --quiet

lint: lint-rust lint-python ## clippy, ruff, the width and style of prose; warnings are errors

lint-rust:
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	@cargo metadata --manifest-path fuzz/Cargo.toml --locked --format-version 1 > /dev/null || \
	  { echo "error: fuzz/Cargo.lock is behind the crates; run: make lock" >&2; exit 1; }

lint-python: $(TEST_VENV)/packages
	$(TEST_BIN)/ruff check --quiet
	$(TEST_BIN)/python tools/prose_width.py
	$(TEST_BIN)/python tools/prose_style.py $(if $(SINCE),--since $(SINCE))

types: $(TEST_VENV)/built ## mypy, and stubtest of the extension module's stub
	$(TEST_BIN)/mypy
	$(TEST_BIN)/python -m mypy.stubtest perhop._core

msrv: ## check the workspace with the oldest supported compiler (rustup toolchain install of it first)
	cargo +$(MSRV) check --workspace --all-targets --locked

arm: ## check the live path for 64-bit ARM (rustup target add aarch64-unknown-linux-gnu first)
	cargo check --package perhop-live --locked --target aarch64-unknown-linux-gnu

msrv-version:
	@echo $(MSRV)

test: test-rust test-python ## all tests of `make check`

test-rust: ## cargo test; Python tests the extension module
	cargo test --workspace --locked --quiet

test-python: $(TEST_VENV)/built ## pytest
	$(TEST_BIN)/pytest -n $(or $(WORKERS),4) $(PYTEST)

test-python-thorough: $(TEST_VENV)/built ## every test of Python, long ones in full, with a new seed
	@tools/playground_if_possible.sh playground-tested
	@seed=$${PERHOP_SEED:-$$(date +%s)}; echo "PERHOP_SEED=$$seed"; \
	PERHOP_SEED=$$seed PERHOP_FLIPS=all PERHOP_POWER=all PERHOP_FAULTS=all PERHOP_SIGNALS=1000 PERHOP_FORGED=1000 \
	  PERHOP_MALFORMED=10000 $(TEST_BIN)/pytest -n 2 -m "touched or thorough" -o faulthandler_timeout=14400 $(PYTEST)

test-playground: $(TEST_VENV)/built playground-tested ## the tests of the playground in a browser
	$(TEST_BIN)/pytest -n $(or $(WORKERS),4) -m touched tests/test_playground*.py

test-properties: ## property tests of Rust with a new seed, which is printed, and more cases
	@seed=$${PROPTEST_RNG_SEED:-$$(date +%s)}; echo "PROPTEST_RNG_SEED=$$seed PROPTEST_CASES=2000"; \
	PROPTEST_RNG_SEED=$$seed PROPTEST_CASES=2000 cargo test --workspace --locked --quiet

bless: $(TEST_VENV)/packages ## write everything that is generated and committed, and say what moved (ONLY=part)
	$(TEST_BIN)/python tools/bless.py $(addprefix --only ,$(ONLY))

docs: docs-rust docs-pages ## build the Rust and Python documentation; warnings are errors

docs-rust:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

# NOTEBOOKS=off leaves them without output: tests of notebooks run them.
docs-pages: $(TEST_VENV)/built
	$(TEST_BIN)/python docs/generate_reference.py
	$(TEST_BIN)/sphinx-build -W --keep-going -q -b html $(addprefix -D nb_execution_mode=,$(NOTEBOOKS)) docs docs/_build/html

docs-pictures: setup ## make the pictures of README and docs with perhop itself (docs/pictures)
	$(BIN)/python tools/docs_pictures.py

PLAYGROUND := python/perhop/playground/assets
PAGE_SCHEMA := schema/perhop-scenario.schema.json
PLAYGROUND_SOURCES := $(wildcard playground/*.json playground/*.mjs playground/src/*.js playground/src/*/*.js) $(wildcard examples/*)

# A stamp names the module in the folder: one for releases (whole-program optimization, minutes), or one for
# tests. The first serves tests as well.
playground: $(PLAYGROUND)/.released ## build what `perhop playground` opens (npm; Rust for WebAssembly)

$(PLAYGROUND)/.released: $(PLAYGROUND)/playground.js tools/build_playground_module.sh $(RUST_SOURCES) $(PAGE_SCHEMA)
	tools/build_playground_module.sh $(PLAYGROUND)/perhop.wasm web
	@touch $@

playground-tested: $(PLAYGROUND)/.tested ## build the playground for tests: without whole-program optimization

$(PLAYGROUND)/.tested: $(PLAYGROUND)/playground.js tools/build_playground_module.sh $(RUST_SOURCES) $(PAGE_SCHEMA)
	@if $(MAKE) --no-print-directory --question $(PLAYGROUND)/.released 2> /dev/null; then :; else \
	  rm -f $(PLAYGROUND)/.released; tools/build_playground_module.sh $(PLAYGROUND)/perhop.wasm web-tested; fi
	@touch $@

$(PLAYGROUND)/playground.js: $(PLAYGROUND_SOURCES)
	@command -v npm > /dev/null || { echo "error: npm is missing; it comes with Node.js from https://nodejs.org, on Debian: apt-get install npm" >&2; exit 5; }
	cd playground && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	node playground/build.mjs $(abspath $(PLAYGROUND))

playground-if-possible: ## build the playground where npm and Rust for WebAssembly are there (PROFILE=tested for tests)
	@tools/playground_if_possible.sh $(if $(filter tested,$(PROFILE)),playground-tested,playground)

page-scripts: $(PLAYGROUND)/playground.js ## build the scripts of pages: the view of a run, the playground (npm)

page-scripts-if-possible:
	@tools/playground_if_possible.sh page-scripts

reproduce: ## run the published studies, end with their verdicts, write results/
	tools/reproduce.sh

quote-reports: reproduce ## copy the measured tables into the READMEs of the studies
	$(BIN)/python docs/quote_reports.py results

FUZZ_TARGETS := $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
FUZZ_SECONDS ?= 3600
# Cargo puts what is built for a target named in fuzz/.cargo/config.toml into a folder of that name.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
# The initial seeds of fuzzing, in addition to earlier findings (fuzz/corpus, not committed).
FUZZ_SEEDS_capture := $(sort $(wildcard examples/*.pcapng crates/perhop-scenario/tests/diagnostics/*.pcapng))
FUZZ_SEEDS_configuration := $(sort $(wildcard vectors/ios/* tests/configurations/*))
FUZZ_SEEDS_tc_commands := $(sort $(wildcard vectors/tc/*))
FUZZ_SEEDS_scenario := $(sort $(wildcard examples/*.yaml crates/perhop-scenario/tests/diagnostics/*.yaml))
space := $(subst ,, )
comma := ,

fuzz: ## fuzz for FUZZ_SECONDS each, by default an hour; a finding lies in fuzz/artifacts (CONTRIBUTING.md)
	@command -v c++ > /dev/null || { echo "error: a C++ compiler is missing; on Debian: apt-get install g++" >&2; exit 5; }
	cd fuzz && cargo build --release --locked --quiet
	@# One target on each processor.
	@$(MAKE) --no-print-directory --jobs=$(shell nproc) $(addprefix fuzz-target-,$(FUZZ_TARGETS))

fuzz-target-%:
	@mkdir -p fuzz/corpus/$* fuzz/artifacts/$*; \
	fuzz/target/$(HOST)/release/$* -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
	  -artifact_prefix=fuzz/artifacts/$*/ \
	  $(if $(FUZZ_SEEDS_$*),-seed_inputs=$(subst $(space),$(comma),$(FUZZ_SEEDS_$*))) \
	  -max_total_time=$(FUZZ_SECONDS) fuzz/corpus/$* 2> fuzz/artifacts/$*.log || \
	  { tail -n 40 fuzz/artifacts/$*.log; grep -a -A 2 'panicked at' fuzz/artifacts/$*.log; exit 1; }; \
	echo "$*: $$(sed -n 's/.*number_of_executed_units: //p' fuzz/artifacts/$*.log) inputs, no finding"

coverage: ## lines that the Rust tests run, by crate, against floors (needs cargo-tarpaulin)
	$(PYTHON) tools/coverage.py

MUTANTS_FLOOR := 0.9
mutants: ## small faults in the data plane and in measuring, and how many the tests find (needs cargo-mutants)
	$(PYTHON) tools/mutants.py perhop-qos --tests perhop-qos-tests --floor $(MUTANTS_FLOOR)
	$(PYTHON) tools/mutants.py perhop-measure --tests perhop-sim-tests --sample 200 --floor $(MUTANTS_FLOOR)

mutants-sample: ## 300 faults of the data plane, drawn at random, against the same floor (needs cargo-mutants)
	@if cargo mutants --version > /dev/null 2>&1; then \
	  $(PYTHON) tools/mutants.py perhop-qos --tests perhop-qos-tests --sample 300 --floor $(MUTANTS_FLOOR); \
	else echo "skipped: mutants (cargo-mutants is missing: cargo install --locked cargo-mutants)"; fi

bench-packages: ## install the Debian packages that benchmarks compare with (requirements/bench.txt; root on Debian)
	@missing=; \
	for package in $(BENCH_PACKAGES); do $(call are_installed,$$package) || missing+=" $$package"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then \
	  echo "skipped: comparisons that need$$missing (only root on Debian can install them)"; exit 0; fi; \
	apt-get update -qq || true; \
	for package in $$missing; do \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $$package > /dev/null || \
	    echo "skipped: comparisons that need $$package, which apt-get cannot install"; done

bench: bench-packages bench-sweeps ## time engine, data plane and sweeps, and the installed peers (ns-2, ns-3, DPDK)
	$(PYTHON) benchmarks/compare.py

bench-sweeps: setup ## compare a sweep with a shell loop, a pool of processes and a Dask cluster
	$(BIN)/python benchmarks/sweeps.py

quote-speed: bench-packages ## run the benchmarks of `make bench` and copy their tables into docs/speed.md
	$(PYTHON) benchmarks/compare.py --quote docs/speed.md

bench-scale: ## measure growing networks and tables, and networks on several threads; writes docs/scale.md
	$(PYTHON) benchmarks/scale.py
	$(PYTHON) benchmarks/parallel.py

bench-network: $(VENV)/built ## measure reading, checking and walking a folder of 500 configurations
	$(BIN)/python benchmarks/network.py

bench-instructions: ## count instructions of engine and data plane against the baseline (needs valgrind)
	$(PYTHON) benchmarks/instructions.py

bench-live: ## compare the live forwarder with a loop that only copies frames (needs root and two idle CPUs)
	$(PYTHON) benchmarks/live.py

bench-install: wheel ## time the installation of the wheel into an empty environment, and the first run
	$(PYTHON) benchmarks/install.py

bench-playground: setup playground ## compare a run in the playground's module with a native one (needs Node.js)
	$(BIN)/python benchmarks/playground.py

fidelity: setup ## compare with theory, ns-2, Linux and readings of routers, as far as installed; writes docs/fidelity.md
	$(BIN)/python -m fidelity

lock: $(TEST_VENV)/packages ## update the pinned development packages, and fuzz/Cargo.lock after a change of dependencies
	@# What is fuzzed are the versions that are shipped: cargo keeps these, and adds what fuzzing alone needs.
	cp Cargo.lock fuzz/Cargo.lock
	cargo metadata --manifest-path fuzz/Cargo.toml --format-version 1 > /dev/null
	$(TEST_BIN)/uv pip compile --quiet --group dev pyproject.toml --generate-hashes --universal \
	  --python-version 3.11 --output-file requirements/dev.lock --custom-compile-command 'make lock'

deny: ## hold both Cargo.lock to the licenses, bans and sources of deny.toml, without a network (needs cargo-deny)
	@command -v cargo-deny > /dev/null || { \
	  echo "error: cargo-deny is missing; run: cargo install cargo-deny --locked" >&2; exit 5; }
	@for manifest in Cargo.toml fuzz/Cargo.toml; do \
	  cargo fetch --locked --quiet --manifest-path $$manifest; \
	  cargo deny --manifest-path $$manifest --config deny.toml --offline check licenses bans sources; done

wheel: $(VENV)/packages playground ## build the wheel, with the playground, and the source distribution in dist/
	MATURIN=$(abspath $(BIN)/maturin) tools/build_wheel.sh dist

sbom: $(VENV)/packages ## write the list of everything in the wheel and needed by it to dist/ (CycloneDX)
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python tools/sbom.py dist

release: wheel sbom ## wheel with the playground, source distribution and CycloneDX SBOM in dist/

reproducible: $(VENV)/packages ## build the wheel of HEAD twice, in different folders, and compare the bytes
	$(PYTHON) tools/reproducible.py

clean: ## remove everything that was built
	rm -rf $(VENV) $(TEST_VENV) target results dist docs/_build docs/reference/generated
