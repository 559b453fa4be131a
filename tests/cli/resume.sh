#!/bin/bash
# Runs killed with SIGKILL at random moments, several times each, and resumed: the same files as an undisturbed run.
. "$(dirname "$0")/common.sh"
scene dam.lua 24 12

whole dam.lua

# A chain of kills: each process dies somewhere between its start and the time a whole run takes.
chain()
{
    local kills=0 code=1 delay
    rm -rf killed
    while [ $code -ne 0 ] && [ $kills -lt 6 ]; do
        delay=$((RANDOM * took / 32768))
        "$MONOLITH" run dam.lua -o killed --resume -q --checkpoint-every "$1" 2>messages &
        local pid=$!
        nap $delay
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        code=$?
        [ $code -eq 0 ] || [ $code -eq 137 ] || fail "exit code $code after $delay ms: $(cat messages)"
        kills=$((kills + 1))
    done
    "$MONOLITH" run dam.lua -o killed --resume -q --checkpoint-every 1 || fail "resuming failed"
    sed -i 's/"checkpoint_every":[0-9]*/"checkpoint_every":1/' killed/run.json
    same_runs whole killed "after $kills kills, a checkpoint every $1 frames"
}

deadline=$((SECONDS + 25))
for every in 1 1 3 1 5 1 1 2 1 1; do
    [ $SECONDS -lt $deadline ] && chain $every
done
finish
