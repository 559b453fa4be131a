#!/bin/bash
# SIGINT and SIGTERM stop a run inside a frame with a checkpoint, exit code 130, and it resumes to the same files.
. "$(dirname "$0")/common.sh"
scene dam.lua 32 15

whole dam.lua

stopped=0
for signal in INT TERM INT HUP; do
    rm -rf broken
    for part in 3 2 1; do
        # A background job of a script ignores SIGINT; env gives it back.
        env --default-signal=INT "$MONOLITH" run dam.lua -o broken --resume 2>messages &
        pid=$!
        nap $((20 + took / part / 2))
        kill -$signal $pid 2>/dev/null
        wait $pid
        code=$?
        if [ $code -eq 130 ]; then
            stopped=$((stopped + 1))
            grep -q "interrupted: .*--resume continues" messages || fail "no message: $(cat messages)"
            grep -q '"status":"interrupted"' broken/run.json || fail "run.json does not say interrupted"
        elif [ $code -ne 0 ]; then
            fail "exit code $code after SIG$signal: $(cat messages)"
        fi
    done
    "$MONOLITH" run dam.lua -o broken --resume -q || fail "resuming failed"
    same_runs whole broken "stopped by SIG$signal"
done
[ $stopped -ge 3 ] || fail "only $stopped signals met a running simulation"
finish
