#!/bin/bash
# Viscous scenes on the command line: what check prints, overrides of every new key, mistakes, and what a run records.
. "$(dirname "$0")/common.sh"
scene dam.lua 16 1
cat >honey.lua <<'LUA'
domain  { size = {1, 1}, cells = 16, walls = "no-slip" }
time    { fps = 100, seconds = 0.02 }
liquid  { shape = box{size = {0.4, 0.6}}:move(0.2, 0.3), viscosity = 10, surface_tension = 0.07 }
liquid  { shape = box{size = {0.2, 0.3}}:move(0.7, 0.15), surface_tension = 0.07,
          rheology = { consistency = 5, flow_index = 0.5, yield_stress = 10, threshold = 0.1 } }
emitter { shape = sphere{radius = 0.1}:move(0.7, 0.8), velocity = {-1, 0}, surface_tension = 0.07,
          viscosity = function(x, y, z, t) return 1 + t end }
fixed   { name = "belt", shape = box{size = {0.3, 0.05}}:move(0.7, 0.4), wall = "slip", surface_velocity = {1, 0} }
LUA
check() { expect "$1" "$2" "$MONOLITH" check honey.lua "${@:3}"; }
run() { expect "$1" "$2" "$MONOLITH" run honey.lua -o run --force "${@:3}"; }

check 0 "liquid      density 1000 kg/m^3, viscosity 10 Pa s, surface tension 0.07 N/m, x 0..0.4 m"
check 0 "consistency 5 Pa s^n, flow index 0.5, yield stress 10 Pa, threshold 0.1 1/s, surface tension 0.07 N/m"
check 0 "velocity (-1, 0, 0) m/s, viscosity by function(x, y, z, t), surface tension"
check 0 "fixed       'belt', slip, surface velocity (1, 0, 0) m/s, x 0.55..0.85 m"
check 0 "scheme unified, route fast, tolerance 1e-06, at most 10000 iterations, 2 rounds"
check 0 "scheme P-V-P" --set solver.scheme=P-V-P
check 0 "scheme PV-unified" --set solver.scheme=PV-unified
check 0 "iterations, 7 rounds, raw weights" --set solver.rounds=7 --set solver.weights=raw
check 0 "viscosity 0.5 Pa s" --set 'liquid[1].viscosity=0.5'
check 0 "flow index 1.5, yield stress 3 Pa" --set 'liquid[2].rheology.flow_index=1.5' \
    --set 'liquid[2].rheology.yield_stress=3'
check 0 "velocity (-1, 0, 0) m/s, viscosity 4 Pa s" --set emitter.viscosity=4
check 0 "surface tension 0.5 N/m" --set liquid.surface_tension=0.5 --set emitter.surface_tension=0.5
check 0 "'belt', surface velocity (2, 0, 0) m/s" --set fixed.wall=no-slip --set fixed.surface_velocity.x=2

check 2 "honey.lua:3: liquid: viscosity must be >= 0, got -1 (--set liquid[1].viscosity=-1)" \
    --set 'liquid[1].viscosity=-1'
check 2 "honey.lua:4: liquid: viscosity and rheology exclude each other" --set liquid.viscosity=1
check 2 "honey.lua:4: liquid: rheology: unknown key 'yeild_stress' (did you mean 'yield_stress'?)" \
    --set 'liquid[2].rheology.yeild_stress=1'
check 2 "honey.lua:4: liquid: surface_tension must be the same" --set 'liquid[1].surface_tension=1'
check 2 "got 'open' (--set fixed.wall=open)" --set fixed.wall=open
check 2 "rounds must be 1..100, got 0" --set solver.rounds=0
check 2 "weights must be one of \"clamped\", \"raw\", got 'thin'" --set solver.weights=thin
check 2 "unknown scheme \"V\"" --set solver.scheme=V

run 0 "done: 2 frames"
grep -q '"viscosity":10,"surface_tension":0.07' run/run.json || fail "run.json does not tell the viscosity"
grep -q '"rheology":{"consistency":5,"flow_index":0.5,"yield_stress":10,"threshold":0.1}' run/run.json ||
    fail "run.json does not tell the rheology"
grep -q '"wall":"slip","surface_velocity":\[1,0,0\]' run/run.json || fail "run.json does not tell the solid's wall"
grep -q '"dofs":{"p":[0-9]*,"s":[1-9]' run/stats.jsonl || fail "no stresses in stats.jsonl"
grep -q '"scheme":"PV-unified","route":"fast","rounds":2,"round_change":' run/stats.jsonl || fail "no rounds"
grep -qa 'Name="viscosity"' run/frames/particles_liquid_00002.vtp || fail "particles without viscosity"
expect 0 "" "$MONOLITH" report run
grep -q "Stress unknowns, most" run/report.html || fail "the report does not tell the stresses"
grep -q "Rounds over time" run/report.html || fail "the report does not plot the rounds"

# A function that goes wrong during the run says where, and the run fails as the user's mistake.
sed -i 's/return 1 + t end/return 0.005 - t end/' honey.lua
run 2 "honey.lua:7: emitter: viscosity at ("
grep -q "finite number >= 0, got -" printed || fail "the message does not tell the value: $(cat printed)"

# Without viscosity nothing of it appears.
expect 0 "" "$MONOLITH" run dam.lua -o plain -q
grep -qa 'Name="viscosity"' plain/frames/particles_liquid_00001.vtp && fail "inviscid particles have a viscosity"
grep -q '"s":0,.*"scheme":"P",.*"rounds":1,"round_change":0' plain/stats.jsonl || fail "an inviscid run has stresses"
"$MONOLITH" check dam.lua | grep -qi "viscos\|tension\|rounds\|weights" && fail "check tells of what is not there"
finish
