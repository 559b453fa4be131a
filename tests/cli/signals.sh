#!/bin/bash
# SIGINT and SIGTERM end the command within a second wherever it is: filling liquids, making meshes, reading them,
# resuming, rendering, reporting. What it wrote is complete or absent.
. "$(dirname "$0")/common.sh"

# ends SIGNAL DELAY COMMAND...: the signal comes after DELAY ms, and the command must be gone a second later; a busy
# machine gets three tries. It ends with 130, or with 143 if it writes nothing and left SIGTERM to the system. CODE:
# another one.
ends()
{
    local signal=$1 delay=$2 pid code sent waited try
    shift 2
    for try in 1 2 3; do
        env --default-signal=INT "$@" >printed 2>&1 &
        pid=$!
        nap "$delay"
        sent=$(date +%s%N)
        kill -"$signal" $pid 2>/dev/null || fail "was over before the signal: $*: $(head -c 300 printed)"
        wait $pid
        code=$?
        waited=$((($(date +%s%N) - sent) / 1000000))
        case $code in ${CODE:-130} | 143) ;; *) fail "exit code $code after SIG$signal: $*: $(head -c 300 printed)" ;; esac
        [ $waited -gt 1000 ] || return
    done
    fail "$waited ms after SIG$signal: $*"
}

cat >fill.lua <<'LUA' # minutes of filling
domain { size = {1, 1, 1}, cells = 700 }
time { fps = 50, seconds = 1 }
liquid { shape = sphere{radius = 0.45}:move(0.5, 0.5, 0.5) }
LUA
cat >elements.lua <<'LUA' # minutes of meshing
domain { size = {1, 1, 1}, cells = 32 }
time { fps = 50, seconds = 1 }
elastic { shape = sphere{radius = 0.3}:move(0.5, 0.5, 0.5), element = 0.011 }
LUA
for signal in INT TERM; do
    for name in fill elements; do
        ends $signal 400 "$MONOLITH" run $name.lua -o started --force
        [ ! -e started ] || fail "$name: an empty directory was left behind: $(ls -R started)"
    done
    ends $signal 300 "$MONOLITH" check elements.lua
done

# A run that was started, a picture of it that takes long, a page of it.
scene dam.lua 24 3
"$MONOLITH" run dam.lua -o whole -q || fail "the run failed"
ends INT 400 "$MONOLITH" render whole --frames 2 --size 4000x4000 --samples 4096
ends TERM 400 "$MONOLITH" render whole --frames 2 --size 4000x4000 --samples 4096 -q
[ -z "$(ls whole/images 2>/dev/null)" ] || fail "half a picture was left: $(ls whole/images)"
CODE=0 ends INT 300 "$MONOLITH" view whole --no-open
CODE=0 ends TERM 300 "$MONOLITH" view whole --no-open

# A signal during the start leaves a run that starts anew.
cp -r whole begun
ends INT 400 "$MONOLITH" run fill.lua -o begun --force
"$MONOLITH" run dam.lua -o begun --force -q || fail "a run that was interrupted at its start cannot be replaced"
same_runs whole begun "after an interrupted start"
finish
