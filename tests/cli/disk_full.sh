#!/bin/bash
# A disk that fills up: a clear message, exit code 1, and nothing lost once there is room again.
. "$(dirname "$0")/common.sh"
scene dam.lua 24 8
whole dam.lua

# A limit on the size of files, just below the largest ones: works for every user.
largest=$(find whole -type f -size +1 -printf '%s\n' | sort -n | tail -1)
for kilobytes in $((largest / 1024 - 1)) $((largest / 2048)) 1 0; do
    rm -rf full
    (
        ulimit -f $kilobytes
        exec "$MONOLITH" run dam.lua -o full -q 2>message
    )
    code=$?
    [ $code -eq 1 ] || fail "exit code $code with files limited to $kilobytes kB"
    # The shell's own redirection is limited too: with 0 kB there is no room for the message.
    [ $kilobytes -eq 0 ] || grep -q "full/.*File too large" message || fail "no clear message: $(cat message)"
    find full -name '*.tmp' | grep -q . && fail "a temporary file was left"
    "$MONOLITH" run dam.lua -o full -q --resume || fail "no resume after a limit of $kilobytes kB"
    same_runs whole full "after a limit of $kilobytes kB"
done

# A really full file system, where we may mount one.
mkdir small
total=$(du -sk whole | cut -f1)
if mount -t tmpfs -o size=$((total / 2))k tmpfs small 2>/dev/null; then
    trap 'umount "$PLACE/small"; rm -rf "$PLACE"' EXIT
    expect 1 "No space left on device" "$MONOLITH" run dam.lua -o small/run
    find small -name '*.tmp' | grep -q . && fail "a temporary file was left"
    expect 1 "No space left on device" "$MONOLITH" run dam.lua -o small/run --resume
    mount -o remount,size=$((4 * total))k small
    expect 0 "done: 8 frames" "$MONOLITH" run dam.lua -o small/run --resume
    same_runs whole small/run "after a full file system"
else
    echo "note: no permission to mount a small file system, that part is skipped"
fi
finish
