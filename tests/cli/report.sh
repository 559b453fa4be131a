#!/bin/bash
# monolith report: pages of one run and of several, of runs in progress, and what it says when there is nothing to show.
. "$(dirname "$0")/common.sh"
scene dam.lua 16 6

"$MONOLITH" run dam.lua -o fast -q --threads 1 || fail "the run failed"
"$MONOLITH" run dam.lua -o paper -q --threads 1 --set solver.route=paper || fail "the run failed"

expect 0 "Examples:" "$MONOLITH" report --help
expect 0 "fast/report.html" "$MONOLITH" report fast
grep -q '<title>fast ' fast/report.html || fail "the page has no title"
grep -q '<td>Frames</td><td>6 of 6' fast/report.html || fail "the page does not tell the frames"
grep -qE 'https?://' fast/report.html && fail "the page refers to the network"
steps=$(grep -c . fast/stats.jsonl)
grep -q "<td>Steps</td><td>$steps</td>" fast/report.html || fail "the page does not tell the $steps steps"
for plot in 'Volume error' Volume 'Kinetic energy' Energy Momentum 'Largest speed' Particles Iterations Residual \
    'Largest divergence' 'Time step' 'Time per step'; do
    grep -q "aria-label=\"$plot over time\"" fast/report.html || fail "no plot of: $plot"
done
cp fast/report.html first.html
expect 0 "" "$MONOLITH" report fast
cmp -s first.html fast/report.html || fail "two reports of one run differ"

expect 0 "routes.html" "$MONOLITH" report fast paper -o routes.html
grep -q '<td>solver.route</td><td>fast</td><td>paper</td>' routes.html || fail "the difference is not shown"
grep -q '<td>Steps</td><td>.*<small>×' routes.html || fail "no ratios"
expect 0 "" "$MONOLITH" report paper/ --output=one.html
[ -e paper/report.html ] && fail "--output wrote into the directory too"

# A report is no part of the run: resuming and forcing leave it alone.
expect 0 "already done" "$MONOLITH" run dam.lua -o fast --resume
[ -s fast/report.html ] || fail "--resume removed the report"

# A run in progress: the line that is being written does not count yet.
cp -r fast part
truncate -s -30 part/stats.jsonl
sed -i 's/"status":"done"/"status":"running"/' part/run.json
expect 0 "" "$MONOLITH" report part
grep -q "<td>Steps</td><td>$((steps - 1))</td>" part/report.html || fail "a half-written line was counted"
grep -q 'class="status running"' part/report.html || fail "the status is not shown"

expect 2 "DIR is missing" "$MONOLITH" report
expect 2 "did you mean --output?" "$MONOLITH" report fast --outptu x
expect 2 "absent" "$MONOLITH" report absent
expect 2 "absent" "$MONOLITH" report fast absent
expect 2 "dam.lua" "$MONOLITH" report dam.lua
mkdir empty
expect 2 "empty: holds no run" "$MONOLITH" report empty
cp -r fast cut
truncate -s 200 cut/run.json
expect 2 "cut/run.json" "$MONOLITH" report cut
cp -r fast begun
: >begun/stats.jsonl
expect 2 "begun: the run has no steps yet" "$MONOLITH" report begun
cp -r fast torn
sed -i '2s/.*/{"step":/' torn/stats.jsonl
expect 2 "torn/stats.jsonl" "$MONOLITH" report torn
expect 2 "/proc/page.html: cannot create" "$MONOLITH" report fast -o /proc/page.html
expect 2 "nowhere/page.html: cannot create" "$MONOLITH" report fast -o nowhere/page.html
expect 2 "1 to 16 runs, got 17" "$MONOLITH" report $(yes fast | head -17)
# A full disk is bad luck, not a mistake; nothing half written stays.
cp -r fast full
rm full/report.html
(ulimit -f 8; expect 1 "report.html: cannot write" "$MONOLITH" report full; exit $FAILURES) || FAILURES=1
[ -e full/report.html ] || [ -e full/report.html.tmp ] && fail "a half-written page was left"
finish
