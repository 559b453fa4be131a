#!/bin/bash
# Cloth on the command line: what check prints, mistakes, what a run writes, resuming and threads to the byte, pictures,
# report and page.
. "$(dirname "$0")/common.sh"
cat >cloth.lua <<'LUA'
domain { size = {1, 1, 1}, cells = 12 }
time   { fps = 50, seconds = 0.14 }
fixed  { name = "ball", shape = sphere{radius = 0.2}:move(0.5, 0.3, 0.5) }
cloth  { name = "lower", sheet = plate{size = {0.6, 0.6}, edge = 0.12}:move(0.5, 0.55, 0.5), damping = 1e-3, velocity = {0, -2, 0} }
cloth  { name = "flag", sheet = plate{size = {0.3, 0.2}, edge = 0.1}:rotate{axis = {1, 0, 0}, degrees = 90}:move(0.2, 0.8, 0.1),
         pins = {{ where = function(x, y, z) return x < 0.06 end, motion = function(t) return { position = {0, 0.1*t, 0} } end }},
         cords = {{ from = {0.35, 0.8, 0.1}, to = {0.5, 0.95, 0.1} }} }
LUA
check() { expect "$1" "$2" "$MONOLITH" check cloth.lua "${@:3}"; }

check 0 "cloth       'lower', density 0.2 kg/m^2, stretch 2000 N/m, bend 1e-05 N m, Poisson's ratio 0.3, damping 0.001 s, 36 vertices, 50 triangles"
check 0 "cloth       'flag', density 0.2 kg/m^2, stretch 2000 N/m, bend 1e-05 N m, Poisson's ratio 0.3, 1 pin, 1 cord,"
check 0 "bend 0.001 N m" --set cloth.bend=1e-3
check 2 "cloth.lua:4: cloth 'lower': stretch must be > 0, got -1 (--set cloth.stretch=-1)" --set cloth.stretch=-1
check 2 "cloth 'lower': thickness must be at most half of its shortest edge" --set cloth.thickness=0.1
sed 's/0.5, 0.55, 0.5/0.5, 0.4, 0.5/' cloth.lua >inside.lua
expect 2 "cloth 'lower': goes through 'ball' at the start" "$MONOLITH" run inside.lua -o bad
(cat cloth.lua; echo 'liquid { shape = box{size = {2, 0.1, 2}}, surface_tension = 0.07 }') >wet.lua
for command in "check wet.lua" "run wet.lua -o bad"; do
    # shellcheck disable=SC2086
    expect 2 "cloth 'lower': scenes with cloth in liquid cannot have surface tension yet" "$MONOLITH" $command
done
[ -e bad ] && fail "a run that never started left a directory"

# What a run writes, and the same again in parts and with other numbers of threads.
whole cloth.lua
for f in cloth_lower_00007.ply cloth_flag_00000.ply cloth_flag.ply.series; do
    [ -e whole/frames/$f ] || fail "no frames/$f"
done
grep -q '"cloth":{"impacts":' whole/stats.jsonl || fail "stats.jsonl tells nothing of cloth"
grep -q '"name":"flag","position":.*"bending_energy":' whole/bodies.jsonl || fail "bodies.jsonl lacks the flag"
grep -q '"cloths":' whole/run.json || fail "run.json lacks the cloths"
"$MONOLITH" run cloth.lua -o parts -q --frames 4 --threads 1 || fail "the first part failed"
"$MONOLITH" run cloth.lua -o parts -q --resume --threads 3 || fail "resuming failed"
same_runs whole parts "after a resume with other threads"
expect 0 "" "$MONOLITH" run cloth.lua -o parts -q --force --no-elastic --frames 2
[ -e parts/frames/cloth_flag_00001.ply ] && fail "--no-elastic wrote cloth"
[ -e parts/frames/cloth_flag_00007.ply ] && fail "--force left frames of the old run"

# Pictures, report and page.
expect 0 "" "$MONOLITH" render whole --frames 7 --size 64x48 --samples 4 -q
cp whole/images/frame_00007.png cloth.png
expect 0 "" "$MONOLITH" run cloth.lua -o hidden -q --set 'cloth[1].visible=false' --set 'cloth[2].visible=false'
expect 0 "" "$MONOLITH" render hidden --frames 7 --size 64x48 --samples 4 -q
cmp -s cloth.png hidden/images/frame_00007.png && fail "cloth is not in the picture"
expect 0 "" "$MONOLITH" report whole
finish
