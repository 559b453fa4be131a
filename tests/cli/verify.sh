#!/bin/bash
# monolith run --verify: what it prints and records, that the run stays the same to the last byte, and its warnings.
. "$(dirname "$0")/common.sh"
cat >float.lua <<'LUA'
domain { size = {1, 1}, cells = 20, walls = "no-slip" }
time   { fps = 100, seconds = 0.04 }
liquid { shape = box{size = {0.5, 0.5}}:move(0.25, 0.25), viscosity = 20 }
rigid  { name = "block", shape = box{size = {0.2, 0.2}}:move(0.7, 0.095), density = 300 }
LUA
run() { expect "$1" "$2" "$MONOLITH" run float.lua --threads 1 --force "${@:3}"; }

run 0 "" -o plain
grep -q "verif\|difference" printed && fail "an unverified run talks of it: $(cat printed)"
run 0 "verified: 4 steps; from route paper velocities differ by at most" -o checked --verify
grep -q "solves of the run: [0-9]* iterations, .* s; of route paper: [0-9]* iterations, .* s" printed ||
    fail "the summary lacks what it cost: $(cat printed)"
grep -q "frame 4/4 .*  difference [0-9.]*e-0" printed || fail "the frames' lines lack the difference: $(cat printed)"
grep -q "warning:" printed && fail "a good run is warned of: $(cat printed)"
grep -q '"verify":true' checked/run.json || fail "run.json does not tell"
[ "$(grep -c '"verify":{"velocity":[0-9.e-]*,"pressure":[0-9.e-]*,"contact":[0-9.e-]*,"iterations":[1-9]' \
    checked/stats.jsonl)" = 4 ] || fail "stats.jsonl does not tell: $(head -1 checked/stats.jsonl)"
grep -q '"verify":{' plain/stats.jsonl && fail "an unverified step has a difference"

# The same run, apart from what was asked for.
sed -i 's/"verify":true/"verify":false/' checked/run.json
same_runs plain checked "verified and plain"

# Resumed with it and without, and by its key.
run 0 "verified: 2 steps" -o resumed --verify --frames 2
expect 0 "verified: 2 steps" "$MONOLITH" run float.lua --threads 1 -o resumed --verify --resume
sed -i 's/"verify":true/"verify":false/' resumed/run.json
same_runs plain resumed "verified and resumed"
run 0 "verified: 4 steps" -o key --set solver.verify=true
expect 0 "every step verified" "$MONOLITH" check float.lua --set solver.verify=true
expect 2 "verify must be true or false" "$MONOLITH" check float.lua --set solver.verify=7
run 2 "cone is not for route paper, which bounds friction on each tangent, nor for verify" -o cone --verify \
    --set solver.cone=true
expect 0 "solve every step again by route paper and print the difference" "$MONOLITH" run --help

# A solve that is not let finish is far from its reference: told, and no failure.
run 0 " of 4 steps differ from route paper by more than 10 times the tolerance (1.0e-05); the worst is step" \
    -o short --verify --set solver.max_iterations=2
finish
