#!/bin/bash
# Exit codes and messages for arguments, scenes and directories, good and bad.
. "$(dirname "$0")/common.sh"
scene dam.lua 16 3

expect 0 "Usage: monolith COMMAND" "$MONOLITH" --help
expect 0 "monolith 0." "$MONOLITH" --version
for command in run check render bench; do
    expect 0 "Examples:" "$MONOLITH" $command --help
done
expect 2 "which command" "$MONOLITH"
expect 2 "did you mean 'run'?" "$MONOLITH" rnu dam.lua
expect 2 "Commands: run, check, " "$MONOLITH" simulate out

expect 2 "SCENE is missing" "$MONOLITH" run
expect 2 "did you mean --frames?" "$MONOLITH" run dam.lua --fraems 3
expect 2 "did you mean --checkpoint-every?" "$MONOLITH" run dam.lua --checkpoint 3
expect 2 "did you mean --resume?" "$MONOLITH" run dam.lua --resum
expect 2 "unknown option --xyzzy" "$MONOLITH" run dam.lua --xyzzy
expect 2 "--frames needs a value" "$MONOLITH" run dam.lua --frames
for bad in 0 -1 x 3x 1e9 99999999999 ''; do
    expect 2 "--frames must be a whole number from 1 to 1000000, got '$bad'" "$MONOLITH" run dam.lua "--frames=$bad"
done
expect 2 "--threads must be" "$MONOLITH" run dam.lua --threads 0
expect 2 "--quiet takes no value" "$MONOLITH" run dam.lua --quiet=yes
expect 2 "unexpected argument 'b.lua'" "$MONOLITH" run dam.lua b.lua

expect 2 "--set needs key=value" "$MONOLITH" run dam.lua --set solver.route
expect 2 "absent.lua" "$MONOLITH" run absent.lua
expect 2 "absent.lua" "$MONOLITH" check absent.lua
[ -e out ] && fail "a mistake left a directory behind"
echo 'liquid {' >broken.lua
expect 2 "broken.lua:" "$MONOLITH" run broken.lua
expect 2 "broken.lua:" "$MONOLITH" check broken.lua
[ -e out ] && fail "a broken scene left a directory behind"

expect 0 "2D, 16 x 16 cells" "$MONOLITH" check dam.lua
expect 0 "3 frames at 50 per second" "$MONOLITH" check dam.lua
expect 0 "'paddle'" "$MONOLITH" check dam.lua
expect 0 "2D, 24 x 24 cells" "$MONOLITH" check dam.lua --set domain.cells=24

expect 0 "done: 3 frames in out/dam" "$MONOLITH" run dam.lua
[ -s out/dam/frames/surface_liquid_00003.ply ] || fail "no surface of the last frame"
[ "$(grep -c . out/dam/bodies.jsonl)" -eq 4 ] || fail "bodies.jsonl should have 4 lines"
expect 2 "already holds a run" "$MONOLITH" run dam.lua
expect 0 "already done (3 frames)" "$MONOLITH" run dam.lua --resume
expect 0 "done: 2 frames" "$MONOLITH" run dam.lua --force --frames 2
[ -e out/dam/frames/surface_liquid_00003.ply ] && fail "--force left an old frame"
expect 0 "done: 4 frames" "$MONOLITH" run dam.lua --resume --frames 4
"$MONOLITH" run dam.lua -o long --frames 4 -q
same_runs long out/dam "a run made longer differs from a long run"
expect 0 "" "$MONOLITH" run dam.lua -o quiet -q --no-surface --no-particles
[ -s printed ] && fail "--quiet printed: $(cat printed)"
[ -z "$(ls quiet/frames)" ] || fail "--no-surface --no-particles wrote frames"
expect 0 "starting from the beginning" "$MONOLITH" run dam.lua -o new --resume

# Not the run that is there.
expect 2 "other settings" "$MONOLITH" run dam.lua -o new --resume --set domain.cells=24
cp dam.lua other.lua
echo '-- changed' >>other.lua
expect 2 "another scene" "$MONOLITH" run other.lua -o new --resume
cp -r new cut
truncate -s -1 cut/checkpoint/state.bin
cp -r cut before
expect 2 "cut/checkpoint/state.bin: damaged checkpoint" "$MONOLITH" run dam.lua -o cut --resume
diff -r cut before >/dev/null || fail "a refused resume changed the directory"
rm cut/checkpoint/state.bin
expect 2 "cut/checkpoint/state.bin: missing" "$MONOLITH" run dam.lua -o cut --resume

# Directories that cannot be.
touch file
expect 2 "file: exists and is not a directory" "$MONOLITH" run dam.lua -o file
expect 2 "/proc/monolith: cannot create directory" "$MONOLITH" run dam.lua -o /proc/monolith
expect 1 "standard output" sh -c "'$MONOLITH' check dam.lua > /dev/full"

expect 0 "pressure" "$MONOLITH" bench
expect 2 "did you mean 'pressure'?" "$MONOLITH" bench presure
expect 2 "is more than --max-cells" "$MONOLITH" bench pressure --min-cells 64 --max-cells 32
expect 2 "--bodies" "$MONOLITH" bench stokes --bodies 7
expect 2 "nowhere/bowl_afloat.lua" "$MONOLITH" bench contact --scenes nowhere
# Pages do not take the place of a run's own files, nor of anything else that is no page.
"$MONOLITH" run dam.lua -o reported --frames 1 -q || fail "the run failed"
cp -r reported unchanged
for file in run.json stats.jsonl bodies.jsonl checkpoint/state.bin frames/surface_liquid_00000.ply ../dam.lua; do
    expect 2 "is not replaced" "$MONOLITH" report reported -o "reported/$file"
    expect 2 "is not replaced" "$MONOLITH" view reported --export "reported/$file"
done
diff -r reported unchanged >/dev/null || fail "a page changed the run"
expect 0 "" "$MONOLITH" report reported -o reported/page.html
expect 0 "" "$MONOLITH" report reported -o reported/page.html

# Names of scenes that would lead out of out/.
for name in ...lua ..lua; do
    cp dam.lua $name
    expect 2 "say where with -o DIR" "$MONOLITH" run $name
done
[ ! -e run.json ] && [ ! -e out/run.json ] || fail "a scene wrote into the working directory"

# A mesh file that changed belongs to another run.
cat >box.off <<'END'
OFF
8 12 0
0 0 0
1 0 0
1 1 0
0 1 0
0 0 1
1 0 1
1 1 1
0 1 1
3 0 2 1
3 0 3 2
3 4 5 6
3 4 6 7
3 0 1 5
3 0 5 4
3 1 2 6
3 1 6 5
3 2 3 7
3 2 7 6
3 3 0 4
3 3 4 7
END
cat >mesh.lua <<'LUA'
domain { size = {4, 4, 4}, cells = 8 }
time { fps = 50, seconds = 0.04 }
rigid { shape = mesh("box.off"):move(1.5, 1.5, 1.5) }
LUA
expect 0 "" "$MONOLITH" run mesh.lua -o meshed --frames 1 -q
sed -i 's/^1 1 1$/1 1 1.5/' box.off
expect 2 "other mesh files: their contents have changed" "$MONOLITH" run mesh.lua -o meshed --resume
sed -i 's/^1 1 1.5$/1 1 1/' box.off
expect 0 "" "$MONOLITH" run mesh.lua -o meshed --resume -q
grep -q '"mixed_builds":false' meshed/run.json || fail "run.json does not know its build"
finish
