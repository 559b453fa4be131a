#!/bin/bash
# 1, 2 and 4 threads write the same files.
. "$(dirname "$0")/common.sh"
scene dam.lua 32 8

for threads in 1 2 4; do
    "$MONOLITH" run dam.lua -o run$threads -q --threads $threads || fail "$threads threads failed"
done
same_runs run1 run2 "1 and 2 threads"
same_runs run1 run4 "1 and 4 threads"
# Also when a run changes its number of threads on the way.
"$MONOLITH" run dam.lua -o mixed -q --threads 1 --frames 3 || fail "mixed run failed"
"$MONOLITH" run dam.lua -o mixed -q --threads 4 --resume || fail "mixed run failed to resume"
same_runs run1 mixed "1, then 4 threads"
finish
