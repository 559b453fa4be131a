#!/bin/bash
# Elastic bodies on the command line: what check prints, mistakes, what a run writes, resuming and threads to the byte,
# pictures, report and page.
. "$(dirname "$0")/common.sh"
cat >jelly.lua <<'LUA'
domain  { size = {1, 1, 0.5}, cells = 12 }
time    { fps = 50, seconds = 0.16 }
elastic { name = "beam", shape = box{size = {0.5, 0.1, 0.1}}:move(0.3, 0.7, 0.25), element = 0.05, density = 500,
          young = 2e4, poisson = 0.4, pins = {{ where = plane{normal = {1, 0, 0}, offset = 0.051} }}, color = {0.8, 0.2, 0.2} }
elastic { name = "ball", shape = sphere{radius = 0.12}:move(0.75, 0.5, 0.25), element = 0.06, viscosity = 1, drag = 0.1,
          pins = {{ where = function(x, y, z) return y > 0.58 end,
                    motion = function(t) return { position = {0, 0.1 * math.sin(9 * t), 0} } end }} }
LUA
check() { expect "$1" "$2" "$MONOLITH" check jelly.lua "${@:3}"; }

check 0 "elastic     'beam', density 500 kg/m^3, Young's modulus 20000 Pa, Poisson's ratio 0.4, 1 pin, x 0.05..0.55 m"
check 0 "            99 vertices, 200 tetrahedra, edges 0.05..0.0707 m, angles 54.7..90.0 degrees, volume +0.00 % off"
check 0 "elastic     'ball', density 1000 kg/m^3, Young's modulus 100000 Pa, Poisson's ratio 0.45, viscosity 1 Pa s, drag 0.1 1/s"
check 0 "Young's modulus 3e+06 Pa" --set elastic.young=3e6
check 0 "St. Venant-Kirchhoff" --set 'elastic[1].model=st-venant-kirchhoff'
check 2 "jelly.lua:3: elastic 'beam': young must be > 0, got -1 (--set elastic.young=-1)" --set elastic.young=-1
check 2 "jelly.lua:3: elastic 'beam': poisson must be 0..0.499" --set elastic.poisson=0.5
check 2 "unknown key 'yuong' (did you mean 'young'?)" --set elastic.yuong=1
check 2 "jelly.lua:3: elastic 'beam': shape and mesh exclude each other" --set elastic.mesh=a.msh

# Meshes from files, relative to the scene; what is wrong with them names file and line.
mkdir meshes
printf 'MeshVersionFormatted 1\nDimension 3\nVertices\n4\n.2 .2 .2 0\n.6 .2 .2 0\n.2 .6 .2 0\n.2 .2 .4 0\nTetrahedra\n1\n1 2 3 4 0\nEnd\n' \
    >meshes/one.mesh
printf 'domain { size = {1, 1, 0.5}, cells = 12 }\nelastic { name = "t", mesh = "one.mesh" }\n' >meshes/scene.lua
expect 0 "4 vertices, 1 tetrahedra" "$MONOLITH" check meshes/scene.lua
expect 0 "warning     elastic 't': it is one element thick and bends much too stiffly" "$MONOLITH" check meshes/scene.lua
sed -i 's/^1 2 3 4 0$/1 2 2 4 0/' meshes/one.mesh
expect 2 "meshes/one.mesh:11: tetrahedron 1 is flat" "$MONOLITH" check meshes/scene.lua
sed -i 's/^1 2 2 4 0$/1 2 3 4 0/' meshes/one.mesh
# A file that has changed is told when a run is resumed.
expect 0 "" "$MONOLITH" run meshes/scene.lua -o mesh_run -q --frames 1
cp meshes/one.mesh kept.mesh
sed -i 's/^.2 .6 .2 0$/.2 .61 .2 0/' meshes/one.mesh
expect 2 "holds a run of other mesh files: their contents have changed" "$MONOLITH" run meshes/scene.lua -o mesh_run -q --resume --frames 2
cp kept.mesh meshes/one.mesh
expect 0 "" "$MONOLITH" run meshes/scene.lua -o mesh_run -q --resume --frames 2
sed -i 's/^.2 .6 .2 0$/.2 nan .2 0/' meshes/one.mesh
expect 2 "meshes/one.mesh:7: " "$MONOLITH" check meshes/scene.lua
expect 2 "meshes/scene.lua:2: elastic 't': " "$MONOLITH" run meshes/scene.lua -o bad
rm meshes/one.mesh
expect 2 "meshes/scene.lua:2: elastic 't': cannot read 'meshes/one.mesh'" "$MONOLITH" check meshes/scene.lua
sed 's/offset = 0.051/offset = 0/' jelly.lua >loose.lua
expect 2 "elastic 'beam': no vertex lies where pin 1 is" "$MONOLITH" run loose.lua -o bad
expect 2 "elastic 'beam': no vertex lies where pin 1 is" "$MONOLITH" check loose.lua
[ -e bad ] && fail "a run that never started left a directory"

printf 'domain { size = {1, 1, 1}, cells = 12 }\nliquid { shape = box{size = {1, 0.4, 1}}:move(0.5, 0.2, 0.5) }
elastic { name = "leaf", shape = box{size = {0.5, 0.02, 0.5}}:move(0.5, 0.6, 0.5), element = 0.08 }\n' >leaf.lua
expect 0 "warning     elastic 'leaf': about 0.25 cells thick, and liquid seeps through less than 2" "$MONOLITH" check leaf.lua

# What a run writes, and the same again after a kill, in parts and with other numbers of threads.
whole jelly.lua
for f in elastic_beam_00008.ply elastic_beam_00008.vtu elastic_ball.pvd elastic_ball.ply.series; do
    [ -e whole/frames/$f ] || fail "no frames/$f"
done
grep -qa "property float von_mises" whole/frames/elastic_beam_00003.ply || fail "a surface without stress"
grep -q '"elastic":{"newton":' whole/stats.jsonl || fail "stats.jsonl tells nothing of elastic bodies"
grep -q '"name":"ball","position":.*"elastic_energy":' whole/bodies.jsonl || fail "bodies.jsonl lacks the ball"
"$MONOLITH" run jelly.lua -o parts -q --frames 3 --threads 1 || fail "the first part failed"
"$MONOLITH" run jelly.lua -o parts -q --resume --threads 3 || fail "resuming failed"
same_runs whole parts "after a resume with other threads"
"$MONOLITH" run jelly.lua -o killed -q --threads 2 2>/dev/null &
pid=$!
nap $((took / 2))
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
"$MONOLITH" run jelly.lua -o killed -q --resume --threads 4 || fail "resuming after a kill failed"
same_runs whole killed "after a kill"
expect 2 "repeat the options --set, --no-surface, --no-particles, --no-elastic, --no-elements and --no-smoke" \
    "$MONOLITH" run jelly.lua -o parts --resume --no-elements
expect 0 "" "$MONOLITH" run jelly.lua -o parts -q --force --no-elements --frames 2
[ -e parts/frames/elastic_ball_00008.ply ] && fail "--force left frames of the old run"
[ -e parts/frames/elastic_ball_00001.vtu ] && fail "--no-elements wrote elements"

# Pictures, report and page.
expect 0 "" "$MONOLITH" render whole --frames 8 --size 64x48 --samples 4 -q
cp whole/images/frame_00008.png plain.png
expect 0 "stress is violet at 0 and red at" "$MONOLITH" render whole --frames 8 --size 64x48 --samples 4 --color stress
cmp -s plain.png whole/images/frame_00008.png && fail "stress has no colours"
expect 0 "" "$MONOLITH" report whole
grep -q "Elastic energy" whole/report.html || fail "the report does not plot the elastic energy"
scene dam.lua 16 1
expect 0 "" "$MONOLITH" run dam.lua -o plain -q
expect 2 "plain: has no elastic body to colour by stress" "$MONOLITH" render plain --color stress
grep -q '"elastic":' plain/stats.jsonl && fail "a run without elastic bodies tells of them"
finish
