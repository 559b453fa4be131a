# Shared by the tests of the command. Each is called as: NAME.sh MONOLITH_BINARY
set -u
MONOLITH=$(realpath "${1:?usage: $0 MONOLITH_BINARY}")
PLACE=$(mktemp -d /tmp/monolith_cli_XXXXXX)
trap 'rm -rf "$PLACE"' EXIT
cd "$PLACE" || exit 1
FAILURES=0
export OMP_WAIT_POLICY=passive # many tiny loops: threads that spin would starve each other on a busy machine

fail()
{
    echo "FAIL: $*"
    FAILURES=$((FAILURES + 1))
}

# expect CODE TEXT COMMAND...: the exit code, and a text (fixed string) in what it prints.
expect()
{
    local code=$1 text=$2 got
    shift 2
    "$@" >printed 2>&1
    got=$?
    [ $got -eq "$code" ] || fail "exit code $got instead of $code: $* : $(head -c 400 printed)"
    [ -z "$text" ] || grep -qF -- "$text" printed || fail "'$text' is not in the output of: $* : $(head -c 400 printed)"
}

# A small dam that breaks round a swinging paddle, in 2D. scene NAME CELLS FRAMES
scene()
{
    cat >"$1" <<LUA
domain { size = {1, 1}, cells = $2 }
time   { fps = 50, seconds = $3 / 50, max_step = 0.012 }
liquid { shape = box{size = {0.4, 0.6}}:move(0.2, 0.3) }
moving { name = "paddle", shape = box{size = {0.1, 0.5}},
         motion = function(t) return { position = {0.7 + 0.1 * math.sin(5 * t), 0.25} } end }
LUA
}

# A copy of a run without what may differ: timings, times, and the checkpoint (it holds the lengths of the former).
comparable()
{
    rm -rf "$2"
    cp -r "$1" "$2"
    rm -rf "$2/checkpoint"
    sed -i 's/"seconds":.*//' "$2/stats.jsonl"
    sed -i -e '/^"start":/d' -e 's/"threads":[0-9]*//' "$2/run.json"
}

# same_runs A B MESSAGE: directories identical, file by file and byte by byte.
same_runs()
{
    comparable "$1" compare_a
    comparable "$2" compare_b
    diff -r compare_a compare_b >difference 2>&1 || fail "$3: $(head -5 difference)"
}

# whole SCENE: an undisturbed run into whole/; $took = its milliseconds.
whole()
{
    local started=$(date +%s%N)
    "$MONOLITH" run "$1" -o whole -q || { echo "FAIL: the undisturbed run failed"; exit 1; }
    took=$((($(date +%s%N) - started) / 1000000))
}

nap() # milliseconds
{
    sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
}

finish()
{
    [ $FAILURES -eq 0 ] || exit 1
    echo "ok"
}
