# CI and developers run the same targets. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The oldest supported compiler, as Cargo.toml names it.
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

DEBIAN_PACKAGES := $(shell grep -v '^\#' requirements/debian.txt)
BENCH_PACKAGES := $(shell grep -v '^\#' requirements/bench.txt)
# True if all given Debian packages are installed; dpkg-query also knows packages that others only suggest.
are_installed = [ -z "$$(dpkg-query --show --showformat='$${db:Status-Status}\n' $(1) 2>&1 | grep -vx installed)" ]

.PHONY: help setup quick ci-packages bench-packages check format lint types msrv arm msrv-version test test-rust test-python docs docs-pictures \
  playground fuzz-short fuzz coverage mutants reproduce quote-reports bench quote-speed bench-sweeps bench-scale bench-instructions bench-live bench-playground fidelity lock \
  deny wheel sbom release reproducible clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 20

setup: $(VENV)/built ## create .venv with the pinned packages and build perhop into it

$(VENV)/packages: requirements/dev.lock
	@command -v cargo > /dev/null || { echo "error: cargo is missing; install Rust from https://rustup.rs" >&2; exit 5; }
	@command -v cc > /dev/null || { echo "error: a C linker is missing; on Debian: apt-get install gcc libc6-dev" >&2; exit 5; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Python 3.11 or newer is needed, as PYTHON=python3.11 make ..." >&2; exit 5; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || { \
	  echo "Python's venv module lacks ensurepip" >&2; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    apt-get update -qq && apt-get install -qq --no-install-recommends python3-venv > /dev/null; \
	  else echo "error: on Debian, run: sudo apt-get install python3-venv" >&2; exit 5; fi; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	@touch $@

$(VENV)/built: $(VENV)/packages pyproject.toml $(RUST_SOURCES)
	PATH=$(abspath $(BIN)):$$PATH VIRTUAL_ENV=$(abspath $(VENV)) maturin develop --uv --release --locked --quiet
	@touch $@

quick: $(VENV)/packages ## build perhop into .venv without link-time optimization: for development, not for measuring
	PATH=$(abspath $(BIN)):$$PATH VIRTUAL_ENV=$(abspath $(VENV)) maturin develop --uv --profile quick --locked --quiet
	@touch $(VENV)/built

ci-packages: ## install the Debian packages that tests need (requirements/debian.txt; root on Debian)
	@if $(call are_installed,$(DEBIAN_PACKAGES)); then exit 0; fi; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then \
	  echo "skipped: tests that need $(DEBIAN_PACKAGES) (only root on Debian can install them)"; exit 0; fi; \
	install() { DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $(DEBIAN_PACKAGES) > /dev/null; }; \
	install 2> /dev/null || { apt-get update -qq && install; } || { \
	  echo "error: apt-get cannot install $(DEBIAN_PACKAGES): tests that need them would be skipped;" \
	    "'make check' runs without them" >&2; exit 5; }

check: format lint types docs test ## everything that CI requires

format: $(VENV)/packages ## check the formatting of Rust and Python
	cargo fmt --check
	cargo fmt --check --manifest-path fuzz/Cargo.toml
	$(BIN)/ruff format --check --quiet

lint: $(VENV)/packages ## clippy, ruff and the width of prose; warnings are errors
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	@cargo metadata --manifest-path fuzz/Cargo.toml --locked --format-version 1 > /dev/null || \
	  { echo "error: fuzz/Cargo.lock is behind the crates; run: make lock" >&2; exit 1; }
	$(BIN)/ruff check --quiet
	$(BIN)/python tools/prose_width.py

types: setup ## mypy, and stubtest of the extension module's stub
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest perhop._core

msrv: ## check the workspace with the oldest supported compiler (rustup toolchain install of it first)
	cargo +$(MSRV) check --workspace --all-targets --locked

arm: ## check the live path for 64-bit ARM (rustup target add aarch64-unknown-linux-gnu first)
	cargo check --package perhop-live --locked --target aarch64-unknown-linux-gnu

msrv-version:
	@echo $(MSRV)

test: test-rust test-python ## all tests

test-rust: ## cargo test
	cargo test --workspace --locked --quiet

test-python: setup ## pytest
	$(BIN)/pytest -n auto --dist loadfile

docs: setup ## build the Rust and Python documentation; warnings are errors
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
	$(BIN)/python docs/generate_reference.py
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

docs-pictures: setup ## make the pictures of README and docs with perhop itself (docs/pictures)
	$(BIN)/python tools/docs_pictures.py

PLAYGROUND := python/perhop/playground/assets
PLAYGROUND_SOURCES := $(wildcard playground/*.json playground/*.mjs playground/src/*.js playground/src/*/*.js) $(wildcard examples/*)

playground: $(PLAYGROUND)/perhop.wasm $(PLAYGROUND)/playground.js ## build what `perhop playground` opens (npm; Rust for WebAssembly)

$(PLAYGROUND)/perhop.wasm: tools/build_playground_module.sh $(RUST_SOURCES)
	tools/build_playground_module.sh $@

$(PLAYGROUND)/playground.js: $(PLAYGROUND_SOURCES)
	@command -v npm > /dev/null || { echo "error: npm is missing; it comes with Node.js from https://nodejs.org, on Debian: apt-get install npm" >&2; exit 5; }
	cd playground && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	node playground/build.mjs $(abspath $(PLAYGROUND))

reproduce: setup ## run the published studies, print published and measured values, write results/
	@# Exit code 4 means that a claim is not met. The table and the report show it; it is not a failure.
	@code=0; $(BIN)/perhop study run --all --output results || code=$$?; \
	if [ $$code != 0 ] && [ $$code != 4 ]; then exit $$code; fi
	$(BIN)/perhop report results --output results/report.html

quote-reports: reproduce ## copy the measured tables into the READMEs of the studies
	$(BIN)/python docs/quote_reports.py results

FUZZ_TARGETS := $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
FUZZ_SECONDS ?= 3600
# Cargo puts what is built for a target named in fuzz/.cargo/config.toml into a folder of that name.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
# What fuzzing begins with, besides what it found before (fuzz/corpus, not committed).
FUZZ_SEEDS_configuration := $(sort $(wildcard vectors/ios/* tests/configurations/*))
FUZZ_SEEDS_tc_commands := $(sort $(wildcard vectors/tc/*))
FUZZ_SEEDS_scenario := $(sort $(wildcard examples/*.yaml crates/perhop-scenario/tests/diagnostics/*.yaml))
# Inputs of a short run: half a minute or so for each target.
FUZZ_RUNS_buffer := 300000
FUZZ_RUNS_capture := 500000
FUZZ_RUNS_configuration := 15000
FUZZ_RUNS_frame := 3000000
FUZZ_RUNS_meter := 300000
FUZZ_RUNS_port := 100000
FUZZ_RUNS_scenario := 10000
FUZZ_RUNS_scheduler := 100000
FUZZ_RUNS_tc_commands := 15000
FUZZ_RUNS_tcp := 100000
space := $(subst ,, )
comma := ,

fuzz-short: ## fuzz every reader of foreign bytes and the port for a short time (needs a C++ compiler)
	@# From the same seeds in the same order, so that everybody's run is the same and a finding can be repeated.
	$(MAKE) --no-print-directory fuzz FUZZ_SHORT=yes

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
	  $(if $(FUZZ_SHORT),-seed=1 -runs=$(FUZZ_RUNS_$*), \
	    -max_total_time=$(FUZZ_SECONDS) fuzz/corpus/$*) 2> fuzz/artifacts/$*.log || \
	  { tail -n 40 fuzz/artifacts/$*.log; grep -a -A 2 'panicked at' fuzz/artifacts/$*.log; exit 1; }; \
	echo "$*: $$(sed -n 's/.*number_of_executed_units: //p' fuzz/artifacts/$*.log) inputs, no finding"

coverage: ## lines that the Rust tests run, by crate, against floors (needs cargo-tarpaulin)
	$(PYTHON) tools/coverage.py

MUTANTS_FLOOR := 0.9
mutants: ## small faults in the data plane and in measuring, and how many the tests find (needs cargo-mutants)
	$(PYTHON) tools/mutants.py perhop-qos --floor $(MUTANTS_FLOOR)
	$(PYTHON) tools/mutants.py perhop-measure --tests perhop-sim --sample 200 --floor $(MUTANTS_FLOOR)

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

bench-scale: ## measure set-up, run and memory of growing networks and tables; writes docs/scale.md
	$(PYTHON) benchmarks/scale.py

bench-instructions: ## count instructions of engine and data plane against the baseline (needs valgrind)
	$(PYTHON) benchmarks/instructions.py

bench-live: ## compare the live forwarder with a loop that only copies frames (needs root and two idle CPUs)
	$(PYTHON) benchmarks/live.py

bench-playground: setup playground ## compare a run in the playground's module with a native one (needs Node.js)
	$(BIN)/python benchmarks/playground.py

fidelity: setup ## compare with theory, ns-2, Linux and readings of routers, as far as installed; writes docs/fidelity.md
	$(BIN)/python -m fidelity

lock: ## update the pinned development packages, and fuzz/Cargo.lock after a change of dependencies
	@# What is fuzzed are the versions that are shipped: cargo keeps these, and adds what fuzzing alone needs.
	cp Cargo.lock fuzz/Cargo.lock
	cargo metadata --manifest-path fuzz/Cargo.toml --format-version 1 > /dev/null
	$(BIN)/uv pip compile --quiet --group dev pyproject.toml --generate-hashes --universal \
	  --python-version 3.11 --output-file requirements/dev.lock --custom-compile-command 'make lock'

deny: ## hold both Cargo.lock to the licenses, bans and sources of deny.toml, without a network (needs cargo-deny)
	@command -v cargo-deny > /dev/null || { \
	  echo "error: cargo-deny is missing; run: cargo install cargo-deny --locked" >&2; exit 5; }
	@for manifest in Cargo.toml fuzz/Cargo.toml; do \
	  cargo fetch --locked --quiet --manifest-path $$manifest; \
	  cargo deny --manifest-path $$manifest --config deny.toml --offline check licenses bans sources; done

wheel: $(VENV)/packages ## build wheel and source distribution in dist/; the same commit gives the same bytes
	MATURIN=$(abspath $(BIN)/maturin) tools/build_wheel.sh dist

sbom: $(VENV)/packages ## write the list of everything in the wheel and needed by it to dist/ (CycloneDX)
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python tools/sbom.py dist

release: playground wheel sbom ## wheel with the playground, source distribution and CycloneDX SBOM in dist/

reproducible: $(VENV)/packages ## build the wheel of HEAD twice, in different folders, and compare the bytes
	$(PYTHON) tools/reproducible.py

clean: ## remove everything that was built
	rm -rf $(VENV) target results dist docs/_build docs/reference/generated
