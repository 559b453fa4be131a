#!/bin/sh
# Looks for mistakes with clang-tidy: by the checks of .clang-tidy in all C files, and by clang's analyzer, which follows
# paths through functions, in the folders that read and write files and own memory. In the numerical folders the analyzer
# is slow and wrong more often than right: it cannot see that sizes agree.
#   tidy.sh BUILD [JOBS]    BUILD: a build directory configured with clang, Debug so that asserts are seen
set -eu
build=${1:?usage: tidy.sh BUILD [JOBS]}
jobs=${2:-2}
analyzer='-*,clang-analyzer-core.*,clang-analyzer-unix.*,clang-analyzer-deadcode.*'

# tidy OPTION < FILES. What clang-tidy prints to stderr are counts of what it does not show.
tidy() {
    xargs -n 4 -P "$jobs" clang-tidy --quiet -p "$build" "$@" 2>/dev/null
}

cd "$(dirname "$0")/.."
# Programs that other scripts compile, some with other libraries, are left out.
find src app tests validate bench -name '*.c' ! -path 'bench/*/*' ! -path 'tests/*/*' | sort | tidy
find src/base src/output src/scene src/report src/view app -name '*.c' ! -path src/base/base.c | sort |
    tidy --checks="$analyzer" --extra-arg=-include --extra-arg="$PWD/tools/analyzer.h"
echo "clang-tidy finds no mistakes"
