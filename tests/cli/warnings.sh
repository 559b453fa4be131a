#!/bin/bash
# What is wrong is told: live, in a summary, in run.json and first on the report's page; --strict makes it a failure that
# keeps what was computed; what is beyond all bounds fails in any case.
. "$(dirname "$0")/common.sh"
scene dam.lua 16 6
run() { expect "$1" "$2" "$MONOLITH" run dam.lua --threads 1 --force "${@:3}"; }
short="--set solver.max_iterations=1"

# A good run says so.
run 0 "done: 6 frames in good, no warnings" -o good
grep -q "^warning" printed && fail "a good run is warned of: $(cat printed)"
grep -q '^"warnings":\[\],$' good/run.json || fail "run.json of a good run: $(grep warnings good/run.json)"
run 0 "" -o good --strict
expect 0 "" "$MONOLITH" report good
grep -q '<p class="status done">No warnings</p>' good/report.html || fail "the report does not say that all is well"

# Solves that are not let finish: told once when it happens, summed up at the end, exit code 0.
run 0 "  unsolved  12 steps from 0.01 s on, worst residual " -o short $short
[ "$(grep -c '^warning: step 0, 0.01 s: unsolved: a solve ended before it reached its tolerance (residual' printed)" = 1 ] ||
    fail "not told once: $(cat printed)"
tail -1 printed | grep -q '^done: 6 frames in short$' || fail "the end of a run with warnings: $(tail -1 printed)"
grep -q '^"warnings":\[{"kind":"unsolved","text":"a solve ended before.*","steps":12,"first_step":0,"first_time":0.01,"worst":' \
    short/run.json || fail "run.json: $(grep warnings short/run.json)"
grep -q '^"status":"done"' short/run.json || fail "the status of a run with warnings"
"$MONOLITH" run dam.lua --threads 1 -o silent -q $short 2>silence || fail "quiet run failed"
[ -s silence ] && fail "--quiet told: $(cat silence)"
expect 0 "" "$MONOLITH" report short good -o both.html
grep -q '<div class="card warned"><h3>Warnings</h3>' both.html || fail "the report does not mark warnings"
grep -q '<td>short</td><td><b>unsolved</b></td><td>a solve ended before.*</td><td>12 of 12</td>' both.html ||
    fail "the report's table of warnings"
[ "$(grep -n 'class="card warned"' both.html | cut -d: -f1)" -lt "$(grep -n '<td>Status</td>' both.html | cut -d: -f1)" ] ||
    fail "warnings are not first on the page"

# Resumed: the same summary as an undisturbed run, and nothing is told twice.
run 0 "" -o resumed $short --frames 3
expect 0 "  unsolved  12 steps from 0.01 s on" "$MONOLITH" run dam.lua --threads 1 -o resumed $short --resume
grep -q "^warning:.*unsolved" printed && fail "told again after resuming: $(cat printed)"
same_runs short resumed "warnings of a resumed run"

# Strict, by option and by key: the first warning ends it, what was computed stays.
for how in --strict "--set solver.strict=true"; do
    run 1 "monolith: strict: step 0, 0.01 s: unsolved: a solve ended before it reached its tolerance (residual" -o strict \
        $short $how
    grep -q '^"status":"failed","message":"strict: step 0, 0.01 s: unsolved' strict/run.json || fail "run.json of $how"
    grep -q '"warnings":\[{"kind":"unsolved"' strict/run.json || fail "run.json of $how has no warnings"
    grep -q '"strict":true' strict/run.json || fail "run.json does not tell strict"
    [ "$(grep -c . strict/stats.jsonl)" = 1 ] ||
        fail "$how did not keep the step"
done
run 1 "" -o strict $short --strict
expect 0 "done: 6 frames" "$MONOLITH" run dam.lua --threads 1 -o strict $short --resume
sed -i 's/"strict":true/"strict":false/' strict/run.json
same_runs short strict "a strict run that was continued without"
expect 0 ", strict" "$MONOLITH" check dam.lua --set solver.strict=true
expect 2 "strict must be true or false" "$MONOLITH" check dam.lua --set solver.strict=7
expect 0 "stop at the first warning, with exit code 1" "$MONOLITH" run --help
finish
