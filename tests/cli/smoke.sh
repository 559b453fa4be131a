#!/bin/bash
# The files of smoke as others read them: OpenVDB's Python module finds the soot of the statistics and the motion of the
# air, and Blender finds the volumes where they belong. Each part is skipped where its program is missing.
. "$(dirname "$0")/common.sh"

cat >smoke.lua <<'LUA'
domain { size = {1, 1.5, 1}, cells = 24 }
time   { fps = 25, seconds = 0.2 }
air    { temperature = 300 }
smoke  { shape = box{size = {0.5, 0.25, 0.5}}:move(0.5, 0.375, 0.5), density = 2e-3, temperature = 350 }
LUA
"$MONOLITH" run smoke.lua -o run -q || { echo "FAIL: the run failed"; exit 1; }
FILE=run/frames/smoke_00005.vdb
[ -s $FILE ] || fail "there is no $FILE"

# The first frame has the soot and heat of its box. Soot is conserved, and its mass is that of the statistics. Its mean
# height moves by its mean velocity; the two are of different moments of a step, which makes some percent.
PYTHON=/usr/bin/python3
if $PYTHON -c 'import pyopenvdb' 2>/dev/null; then
    $PYTHON - run >found 2>&1 <<'PY' || fail "OpenVDB: $(cat found)"
import json, sys
import pyopenvdb as vdb
run = sys.argv[1]
lines = [json.loads(line) for line in open(run + '/stats.jsonl')]

def soot(frame):
    path = '%s/frames/smoke_%05d.vdb' % (run, frame)
    names = sorted(g.name for g in vdb.readAllGridMetadata(path))
    assert names == ['density', 'temperature', 'velocity'], names
    density, velocity = vdb.read(path, 'density'), vdb.read(path, 'velocity').getConstAccessor()
    edge = density.transform.voxelSize()[0]
    assert abs(edge - 1.5 / 24) < 1e-9, edge
    mass = height = speed = 0
    for item in density.citerOnValues():
        assert item.count == 1 and item.value > 0
        weight = item.value * edge ** 3
        mass += weight
        height += weight * density.transform.indexToWorld(item.min)[1]
        speed += weight * velocity.getValue(item.min)[1]
    hot = vdb.read(path, 'temperature').evalMinMax()[1]
    return mass, height / mass, speed / mass, hot

first, last, before = soot(0), soot(5), soot(4)
assert abs(last[0] - lines[-1]['smoke']['mass']) < 1e-5 * last[0], (last[0], lines[-1]['smoke'])
assert abs(first[0] - last[0]) < 1e-5 * last[0], (first, last)
box = 2e-3 * 0.5 * 0.25 * 0.5 # its faces are faces of cells
assert abs(first[0] - box) < 1e-6 * box, (first[0], box)
assert abs(first[1] - 0.375) < 1e-6, first[1]
assert abs(first[3] - 50) < 1e-3 and last[3] < 50.001, (first[3], last[3])
way, expected = last[1] - before[1], 0.04 * 0.5 * (last[2] + before[2])
assert last[2] > 0 and abs(way - expected) < 0.1 * expected, (way, expected)
print('soot %.4g kg, risen by %.4g m' % (last[0], last[1] - first[1]))
PY
    cat found
else
    echo "OpenVDB's Python module is missing (Debian: python3-openvdb): it does not read the files of smoke"
fi

# Blender computes nothing here: it loads the file and tells its volumes, their types and the size of a voxel.
if command -v blender >/dev/null; then
    cat >look.py <<'PY'
import bpy, sys
volume = bpy.data.volumes.new('smoke')
volume.filepath = sys.argv[sys.argv.index('--') + 1]
assert volume.grids.load(), volume.grids.error_message
found = {grid.name: (grid.data_type, grid.channels, round(grid.matrix_object[0][0], 6)) for grid in volume.grids}
size = round(1.5 / 24, 6)
assert found == {'density': ('FLOAT', 1, size), 'temperature': ('FLOAT', 1, size), 'velocity': ('VECTOR_FLOAT', 3, size)}, found
print('Blender reads', sorted(found))
PY
    timeout 200 blender --background --factory-startup --python-exit-code 1 --python look.py -- "$PWD/$FILE" >blended 2>&1 ||
        fail "Blender: $(tail -5 blended)"
    grep -a 'Blender reads' blended || fail "Blender did not look at the file: $(tail -5 blended)"
else
    echo "Blender is missing: it does not read the files of smoke"
fi
finish
