# The way in: `make help` lists what there is. CMake does the building; tools/setup.sh sees to the packages.
# Variables: BUILD (build directory), JOBS, PREFIX and DESTDIR (install), CMAKE_FLAGS (passed to every configuration),
# VALIDATE_FLAGS (e.g. --quick), AUDIT_FLAGS (e.g. --count 20).
BUILD ?= build
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
CMAKE_FLAGS ?=
VALIDATE_FLAGS ?=
AUDIT_FLAGS ?=
SECONDS ?= 60
TRIES ?= 1000000
COVERAGE_FLAGS ?=
ifeq ($(origin CC),default)
CC := gcc
endif

# Those who change the code take warnings as errors; those who only build it do not fail with a newer compiler.
strict = -DMONOLITH_WERROR=ON
configure = cmake -S . -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_FLAGS)
compile = cmake --build $(1) -j $(JOBS)
ctest = ctest --test-dir $(1) --output-on-failure -j 2
sources = $(shell find include src app tests validate bench -name '*.[ch]' 2>/dev/null)

.PHONY: all configure command test clang bits demo bench plots tables tables-elastic figures-elastic routes cholesky compare validate audit install sanitize sanitize-clang sanitize-fast torture fuzz coverage tsan tidy format format-check clean help
.DEFAULT_GOAL := all
MAKEFLAGS += --no-print-directory

all: configure ## Build build/monolith, libmonolith and the tests
	@$(call compile,$(BUILD))

configure:
	@tools/setup.sh build
	@tools/setup.sh --optional test viewer
	@command -v npm >/dev/null || tools/setup.sh --optional npm
	@mkdir -p $(BUILD)
	@CC=$(CC) $(configure) -B $(BUILD) >$(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; exit 1; }

command: configure
	@$(call compile,$(BUILD)) --target monolith_command

test: ## Build with gcc and clang, warnings are errors; clang-tidy; run all tests
	@tools/setup.sh build test
	@tools/setup.sh --optional browser
	@$(MAKE) all CMAKE_FLAGS="$(strict) $(CMAKE_FLAGS)"
	@$(MAKE) clang
	@$(MAKE) tidy
	@$(MAKE) bits
	$(call ctest,$(BUILD))

clang: ## Compile everything with clang, warnings are errors (skipped where there is none)
	@tools/setup.sh build
	@tools/setup.sh --optional test clang
	@if command -v clang >/dev/null; then \
	    CC=clang $(configure) $(strict) -B $(BUILD)-clang >/dev/null && $(call compile,$(BUILD)-clang); \
	else echo "clang is missing: its warnings are not checked"; fi

bits: ## Small runs give the same bytes by gcc with AVX2, gcc without it, and clang
	@$(MAKE) command CMAKE_FLAGS="$(strict) $(CMAKE_FLAGS)"
	@CC=$(CC) $(configure) $(strict) -DMONOLITH_NATIVE=OFF -DMONOLITH_VIEWER=OFF -B $(BUILD)-plain >/dev/null
	@$(call compile,$(BUILD)-plain) --target monolith_command
	@if command -v clang >/dev/null; then CC=clang $(configure) $(strict) -B $(BUILD)-clang >/dev/null && \
	    $(call compile,$(BUILD)-clang) --target monolith_command; fi
	tests/bits.sh $(BUILD)/monolith $(BUILD)-plain/monolith $$(command -v clang >/dev/null && echo $(BUILD)-clang/monolith)

demo: command ## A small dam break into out/demo, with a summary
	@tools/demo.sh $(BUILD)/monolith out/demo

bench: command ## Run the benchmarks; tables go to bench/results
	@tools/bench.sh $(BUILD)/monolith bench/results pressure scaling step triad "kernels --threads 1" "kernels --threads 2" stokes "stokes --bodies 3" contact "elastic --threads 1"

plots: all ## Figures of the benchmarks from bench/results, into docs/images
	$(BUILD)/bench_plots bench/results docs/images

tables: tables-elastic ## The papers' tables at reduced resolution, into docs/tables.md, docs/tables_elastic.md (40 minutes)
	$(BUILD)/bench_tables $(TABLES_SECONDS) >docs/tables.md.new && mv docs/tables.md.new docs/tables.md

tables-elastic: all ## ElastoMonolith's alone (5 minutes)
	$(BUILD)/bench_tables_elastic >docs/tables_elastic.md.new && mv docs/tables_elastic.md.new docs/tables_elastic.md

figures-elastic: command ## ElastoMonolith's figures at the paper's sizes, into docs/figures_elastic.md (an hour; goes on where it was stopped)
	tools/figures_elastic.sh $(BUILD)/monolith out/figures_elastic >docs/figures_elastic.md.new && mv docs/figures_elastic.md.new docs/figures_elastic.md

routes: all ## The Monolith paper's scenes on both routes, into docs/routes.md (a quarter of an hour)
	$(BUILD)/bench_routes >docs/routes.md.new && mv docs/routes.md.new docs/routes.md

cholesky: ## Fill and times of the sparse Cholesky factor beside CHOLMOD's, which this installs
	@tools/setup.sh build cholmod
	@$(MAKE) configure CMAKE_FLAGS="-DMONOLITH_CHOLMOD=ON $(CMAKE_FLAGS)"
	@$(call compile,$(BUILD)) --target bench_cholesky
	$(BUILD)/bench_cholesky

compare: command ## Figures 2, 3 and 6 under four schemes side by side, pages into docs/compare (half an hour)
	@OVERRIDES="--set volume.correct=false" tools/compare.sh $(BUILD)/monolith out/compare docs/compare bowl_on_ground 60 60 P-C C-P PC-iterative PC-unified
	@tools/compare.sh $(BUILD)/monolith out/compare docs/compare bowl_afloat 70 32 P-C C-P PC-iterative PC-unified
	@tools/compare.sh $(BUILD)/monolith out/compare docs/compare viscous_bowl 40 36 PV-C C-PV PVC-iterative PVC-unified

validate: all ## Compare with experiments and exact solutions; reports go to docs/validation; ONLY="NAME ..." runs some
	@ONLY="$(ONLY)" tools/validate.sh $(BUILD) docs/validation $(VALIDATE_FLAGS)

audit: all ## 300 random scenes and all of scenes/, coarse and short: what may a stranger trust? AUDIT_FLAGS="--only 17"
	$(BUILD)/validate_trust $(AUDIT_FLAGS)

install: all ## Install below PREFIX (/usr/local), staged below DESTDIR if that is set
	DESTDIR=$(DESTDIR) cmake --install $(BUILD)

sanitize: ## All tests under the address and undefined-behaviour sanitizers, of gcc and of clang
	@tools/setup.sh build test
	CC=$(CC) $(configure) $(strict) -B $(BUILD)-asan -DCMAKE_BUILD_TYPE=Debug -DMONOLITH_SANITIZE=address,undefined >/dev/null
	@$(call compile,$(BUILD)-asan)
	$(call ctest,$(BUILD)-asan)
	@if command -v clang >/dev/null; then $(MAKE) sanitize-clang; else echo "clang is missing: its sanitizers are not run"; fi

sanitize-clang: ## Those of clang alone, which also see arithmetic on null pointers
	@tools/setup.sh build test clang
	CC=clang $(configure) $(strict) -B $(BUILD)-asan-clang -DCMAKE_BUILD_TYPE=Debug -DMONOLITH_SANITIZE=address,undefined >/dev/null
	@$(call compile,$(BUILD)-asan-clang)
	$(call ctest,$(BUILD)-asan-clang)

sanitize-fast: ## The tests that take less than 2 s, under these sanitizers and with all asserts on
	@tools/setup.sh build test
	@CC=$(CC) $(configure) $(strict) -B $(BUILD)-asan -DCMAKE_BUILD_TYPE=Debug -DMONOLITH_SANITIZE=address,undefined >/dev/null
	@$(call compile,$(BUILD)-asan) --target fast_tests
	$(call ctest,$(BUILD)-asan) -L fast

torture: command ## Every system call and every allocation of the command fails once, and it is killed at each (hours; TRIES=n: n of each kind)
	TRIES=$(TRIES) tests/torture.sh $(BUILD)/monolith

fuzz: ## Fuzz everything that reads files or requests, SECONDS=n each (default 60), under clang's sanitizers
	@tools/setup.sh build clang
	@CC=clang $(configure) $(strict) -B $(BUILD)-fuzz -DCMAKE_BUILD_TYPE=Debug -DMONOLITH_VIEWER=OFF -DMONOLITH_FUZZ=ON -DMONOLITH_SANITIZE=address,undefined,fuzzer-no-link >/dev/null
	@$(call compile,$(BUILD)-fuzz) --target fuzz_targets
	tools/fuzz.sh $(BUILD)-fuzz $(SECONDS)

coverage: ## Lines of the library that the tests run, by gcov
	@tools/setup.sh build test
	@CC=gcc $(configure) -B $(BUILD)-coverage -DCMAKE_BUILD_TYPE=Debug -DMONOLITH_NATIVE=OFF -DCMAKE_C_FLAGS="--coverage -fprofile-update=atomic" >/dev/null
	@$(call compile,$(BUILD)-coverage)
	-$(call ctest,$(BUILD)-coverage) $(COVERAGE_FLAGS)
	tools/coverage.sh $(BUILD)-coverage

tsan: ## The C tests under the thread sanitizer (clang and libomp: gcc's runtime gives false alarms)
	@tools/setup.sh build test tsan
	CC=clang $(configure) $(strict) -B $(BUILD)-tsan -DCMAKE_BUILD_TYPE=Debug -DMONOLITH_SANITIZE=thread >/dev/null
	@$(call compile,$(BUILD)-tsan)
	$(call ctest,$(BUILD)-tsan) -R '^test_'

format: ## Format the sources in place
	@tools/setup.sh format
	clang-format -i $(sources)

format-check: ## Say which sources are not formatted
	@tools/setup.sh format
	@clang-format --dry-run -Werror $(sources) && echo "all sources are formatted"

tidy: ## Look for mistakes with clang-tidy, by the checks of .clang-tidy (skipped where there is none)
	@tools/setup.sh build
	@tools/setup.sh --optional test clang tidy
	@if command -v clang >/dev/null && command -v clang-tidy >/dev/null; then \
	    CC=clang $(configure) -DCMAKE_BUILD_TYPE=Debug -B $(BUILD)-tidy >/dev/null && tools/tidy.sh $(BUILD)-tidy $(JOBS); \
	else echo "clang-tidy is missing: its checks are not made"; fi

clean: ## Remove what the targets above built (results and runs stay)
	rm -rf $(BUILD) $(BUILD)-clang $(BUILD)-plain $(BUILD)-tidy $(BUILD)-asan $(BUILD)-asan-clang $(BUILD)-fuzz $(BUILD)-coverage $(BUILD)-tsan

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
