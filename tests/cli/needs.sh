#!/bin/bash
# A scene that needs more memory than is free is refused before anything is written, with both numbers; check says the
# same and takes seconds at any size.
. "$(dirname "$0")/common.sh"
cat >deep.lua <<'LUA'
domain { size = {1, 1, 1}, cells = 16 }
time   { fps = 50, seconds = 0.02 }
liquid { shape = box{size = {1, 0.5, 1}}:move(0.5, 0.25, 0.5) }
LUA
expect 0 "particles   16384 at the start" "$MONOLITH" check deep.lua
grep -q "^memory      about .* MB; .* are free" printed || fail "check does not tell the memory: $(cat printed)"
grep -q "^time        about .* s of CPU time per frame" printed || fail "check does not tell the time: $(cat printed)"
expect 0 "the run would not fit into memory" "$MONOLITH" check deep.lua --quick --set domain.cells=1200
grep -q "^time        about" printed && fail "check --quick measured something"
expect 1 "--force to start it nevertheless" "$MONOLITH" run deep.lua -o big --set domain.cells=1200
grep -q "needs about [0-9.]* [GT]B of memory, and [0-9.]* [MG]B are free" printed || fail "no numbers: $(cat printed)"
[ ! -e big ] || fail "a refused run left a directory"
expect 2 "more than 2^31 cells" "$MONOLITH" check deep.lua --set domain.cells=1279
expect 2 "4..4096" "$MONOLITH" check deep.lua --set domain.cells=5000

# A limit of the process counts as well; with --force the run is started, and what the system refuses is an error.
limited() { (ulimit -v 300000 && exec "$@"); }
if limited "$MONOLITH" --version >/dev/null 2>&1; then # sanitizers need more
    expect 1 "--force to start it nevertheless" limited "$MONOLITH" run deep.lua -o big --set domain.cells=80
    expect 1 "out of memory" limited "$MONOLITH" run deep.lua -o big --set domain.cells=200 --force
fi
expect 0 "" "$MONOLITH" run deep.lua -o small -q
finish
