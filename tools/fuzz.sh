#!/bin/bash
# Runs the fuzz targets of a build: fuzz.sh BUILD SECONDS [NAME...]
# New inputs stay in BUILD/corpus/NAME; tests/fuzz/corpus/NAME has the first ones. An input that crashes, leaks or takes
# more than 20 s is left as BUILD/crash-..., and the exit code is 1.
set -u
build=$(realpath "$1") seconds=$2
shift 2
source=$(realpath "$(dirname "$0")/../tests/fuzz")
names=${*:-$(cd "$source" && ls *.c | sed 's/\.c$//')}
bad=0
for name in $names; do
    mkdir -p "$build/corpus/$name"
    "$build/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
        -artifact_prefix="$build/" "$build/corpus/$name" "$source/corpus/$name" >"$build/fuzz_$name.log" 2>&1 ||
        { bad=1 && echo "$name: FAILED: $(grep -m1 -E 'ERROR|runtime error|SUMMARY' "$build/fuzz_$name.log")"; }
    rm -rf /dev/shm/mo_fuzz_* /tmp/mo_fuzz_*
    echo "$name: $(sed -n 's/stat::number_of_executed_units: *//p' "$build/fuzz_$name.log") inputs in $seconds s"
done
exit $bad
