#!/bin/bash
# Lets the command meet a failing system: torture.sh MONOLITH [--sample]
# For every command and every kind of call (write, rename, sync, open, malloc, thread), the n-th call fails, for all n;
# then the process is killed at every write, rename and sync. Each time: no crash, a message if it failed, every file
# complete or absent, and a run continues to the same bytes. --sample tries a few n of each, in seconds.
. "$(dirname "$0")/cli/common.sh"
[ "${2:-}" = --sample ] && TRIES=${TRIES:-3} || TRIES=${TRIES:-1000000}
FAULTS=$(dirname "$MONOLITH")/libmonolith_faults.so
[ -e "$FAULTS" ] || { echo "there is no $FAULTS (sanitizers have functions of their own): nothing was tested"; exit 0; }

cat >dam.lua <<'LUA'
domain { size = {1, 1}, cells = 10 }
time   { fps = 50, seconds = 0.04 }
liquid { shape = box{size = {0.4, 0.6}}:move(0.2, 0.3) }
rigid  { name = "box", shape = box{size = {0.2, 0.2}}:move(0.7, 0.5) }
LUA
TOLD=0 CASES=0 FINE=0

with_fault() # KIND AT HOW COMMAND...
{
    local kind=$1 at=$2 manner=$3
    shift 3
    rm -f count
    { env LD_PRELOAD="$FAULTS" MO_FAULT="$kind" MO_FAULT_AT="$at" MO_FAULT_HOW="$manner" MO_FAULT_COUNT="$PWD/count" \
        "$@" >printed 2>&1; } 2>/dev/null # the shell would tell of every kill
}

run_fresh() { rm -rf broken; with_fault "$@" "$MONOLITH" run dam.lua -o broken --threads 2; }
run_resumed()
{
    rm -rf broken
    cp -r half broken
    with_fault "$@" "$MONOLITH" run dam.lua -o broken --resume --threads 2
}
run_report() { rm -f page.html; with_fault "$@" "$MONOLITH" report whole -o page.html; }
run_export() { rm -f page.html; with_fault "$@" "$MONOLITH" view whole --export page.html; }
run_render() { rm -rf pictures; with_fault "$@" "$MONOLITH" render whole -o pictures --frames 1 --size 16x16 --samples 1; }
run_check() { with_fault "$@" "$MONOLITH" check dam.lua --quick; }

# What must hold after a fault: judge COMMAND CODE WHAT
judge()
{
    CASES=$((CASES + 1))
    case $2 in
    0) FINE=$((FINE + 1)) ;;
    1 | 2) TOLD=$((TOLD + 1)) && { grep -q . printed || fail "$3: exit code $2 without a message"; } ;;
    137) [ "$4" = kill ] || fail "$3: killed" ;;
    *) fail "$3: exit code $2: $(head -c 300 printed)" ;;
    esac
    case $1 in
    fresh | resumed)
        [ ! -e broken/run.json ] || grep -q '"scene"' broken/run.json || fail "$3: run.json is not complete"
        "$MONOLITH" run dam.lua -o broken --resume --threads 2 -q >again 2>&1 || fail "$3: cannot resume: $(head -c 300 again)"
        same_runs whole broken "$3"
        ;;
    report | export) [ "$2" -eq 0 ] || [ ! -e page.html ] || fail "$3: half a page was left" ;;
    render) [ "$2" -eq 0 ] || [ -z "$(ls pictures/*.png 2>/dev/null)" ] || file_is_whole "$3" ;;
    esac
}
file_is_whole() { tail -c 8 pictures/frame_00001.png | grep -q IEND || fail "$1: half a picture was left"; }

# torture COMMAND KIND HOW: the n-th call for all n, or TRIES of them spread evenly.
torture()
{
    local total n step code
    "run_$1" "$2" 0 fail || { fail "$1: fails without a fault: $(head -c 300 printed)"; return; }
    total=$(cat count)
    step=$(((total + TRIES - 1) / TRIES))
    for ((n = 1 + (step - 1) / 2; n <= total; n += step)); do
        "run_$1" "$2" $n "$3"
        code=$?
        judge "$1" $code "$1, $2 $n of $total: $3" "$3"
        [ $FAILURES -lt 20 ] || { echo "too many failures"; exit 1; }
    done
}

# The system gives no thread at all. (One that is refused just after others were granted ends Embree's scheduler.)
no_threads()
{
    "run_$1" thread 1 always
    judge "$1" $? "$1 without threads" always
}

"$MONOLITH" run dam.lua -o whole --threads 2 -q || { echo "FAIL: the undisturbed run failed"; exit 1; }
"$MONOLITH" run dam.lua -o half --threads 2 -q --frames 1 || fail "the first half failed"
sed -i 's/"frames":1,/"frames":2,/' half/run.json
COMMANDS="fresh resumed report check render"
[ -s "$(dirname "$MONOLITH")/viewer.html" ] && COMMANDS="$COMMANDS export"
for command in $COMMANDS; do
    for kind in write rename sync open; do
        torture "$command" $kind fail
    done
    no_threads "$command"
    torture "$command" malloc fail
done
for command in fresh resumed; do
    torture "$command" write short
    for kind in write rename sync; do torture "$command" $kind kill; done
done
echo "$CASES faults: $TOLD were told, $FINE did no harm, the others killed the process"
finish
