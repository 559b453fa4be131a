#!/bin/sh
# Some knowledge has one owner: how the unknowns of bodies are numbered (system/bodies.h), how faces are numbered
# (grid/sites.h) and samples of stress (system/stress.h), how many axes a grid has (grid/grid.h), and which kinds of
# blocks there are (system/system.h and the schemes). Whoever writes it down a second time breaks this test. Files stay short enough to be read, and functions too.
#   owners.sh TREE         checks a source tree; prints every violation as file:line
#   owners.sh --sizes TREE prints how long files and functions are
#   owners.sh --self-test  checks that violations are found, in a tree made for it
set -eu

MOST_LINES=500 # of a file in src/system
MOST_P90=25    # lines that 90% of all functions do not exceed

# Prints file:line:code without comments and strings of the C files in the named folders of the tree.
code_of() {
    tree=$1
    shift
    (cd "$tree" && for folder; do [ ! -d "$folder" ] || find "$folder" -name '*.[ch]'; done | sort | xargs awk '
        { line = $0; sub(/\/\/.*/, "", line); gsub(/"[^"]*"/, "\"\"", line); print FILENAME ":" FNR ":" line }')
}

# forbid PATTERN OWNER WHY FOLDERS...: no line of the folders matches, except in the owner.
forbid() {
    pattern=$1 owner=$2 why=$3
    shift 3
    ! code_of "$tree_root" "$@" | grep -v "^$owner:" | grep -E ":.*$pattern" | sed "s|^\([^:]*:[0-9]*\):.*|\1: $why|" | grep .
}

# No statement outside the owners lists three kinds of blocks or more.
check_kinds() {
    code_of "$1" src | awk -F: '
        BEGIN { kinds = split("PRESSURE STRESS ELASTIC CONTACT FRICTION", kind, " ") }
        $1 ~ /^src\/system\/(system\.h|scheme\.c)$/ { next }
        { line = $0; sub(/^[^:]*:[^:]*:/, "", line)
          if ($1 != file) statement = ""
          if (statement == "") place = $1 ":" $2
          file = $1; statement = statement " " line
          if (line !~ /[;{}]/) next
          named = 0
          for (k = 1; k <= kinds; k++) named += index(statement, "MO_BLOCK_" kind[k]) > 0
          if (named >= 3) { print place ": the kinds of blocks are listed in system/system.h and by the schemes"; bad++ }
          statement = "" }
        END { exit bad > 0 }'
}

# Lines of every function: file:line name lines.
functions_of() {
    (cd "$1" && find src app -name '*.[ch]' | sort | xargs awk '
        FNR == 1 { start = 0 }
        /^[a-zA-Z_].*\(.*\{.*\}$/ && !/^(typedef|enum|struct|static const)/ && !/ = / { print FILENAME ":" FNR, 1; next }
        /^[a-zA-Z_].*\(/ && !/;$/ { head = FNR }
        /^\{$/ && head { start = head }
        /^\}$/ && start { print FILENAME ":" start, FNR - start + 1; start = head = 0 }')
}

sizes() {
    functions_of "$1" | sort -k2,2n | awk '
        { place[NR] = $1; lines[NR] = $2; sum += $2 }
        END {
            if (!NR) exit 1
            at = int(0.9 * NR + 0.999999)
            printf "%d functions: mean %.1f lines, median %d, p90 %d, longest %d (%s)\n", NR, sum / NR,
                   lines[int((NR + 1) / 2)], lines[at], lines[NR], place[NR]
        }'
    (cd "$1" && find src app -name '*.[ch]' | xargs wc -l) | awk '$2 != "total" { print $1, $2 }' | sort -n | awk '
        { lines[NR] = $1; name[NR] = $2 }
        END { printf "%d files: median %d lines, longest %d (%s)\n", NR, lines[int((NR + 1) / 2)], lines[NR], name[NR] }'
}

check_sizes() (
    status=0
    (cd "$1" && [ ! -d src/system ] || find src/system -name '*.[ch]' | xargs wc -l) | awk -v most=$MOST_LINES '
        $2 ~ /^src/ && $1 > most { print $2 ":" $1 ": a file of src/system has at most " most " lines"; bad++ }
        END { exit bad > 0 }' || status=1
    p90=$(sizes "$1" | sed -n 's/.* p90 \([0-9]*\),.*/\1/p')
    if [ "${p90:-0}" -gt $MOST_P90 ]; then
        echo "90% of all functions have up to $p90 lines, should be at most $MOST_P90"
        status=1
    fi
    exit $status
)

check() {
    tree_root=$1 status=0
    forbid '(^|[^.0-9a-z_-])6 \* *(\([a-z0-9_ ]+\) *)?(a|b|i|j|body[a-z_]*|bodies)([^a-z_0-9]|$)' src/system/bodies.h \
        "use MO_BODY_UNKNOWNS or mo_body_velocity of system/bodies.h" src/system src/sim src/solid || status=1
    forbid '[^0-9.]3 \* *(\([a-z0-9_ ]+\) *)?[a-z_]+ \+ axis([^a-z_0-9]|$)' src/grid/sites.h \
        "use mo_face_code of grid/sites.h" src/grid src/fluid src/sparse src/system src/sim || status=1
    forbid 'is_2d\(.*\) \? 2 : 3' src/grid/grid.h \
        'mo_grid_axes tells how many axes a grid has' src || status=1
    forbid 'sample_at\[[^]]*\] *(>>|&|%|/) ' src/system/stress.h \
        "use mo_stress_cell and mo_stress_component of system/stress.h" src/system src/sim || status=1
    check_kinds "$1" || status=1
    check_sizes "$1" || status=1
    [ $status != 0 ] || echo "every owner is the only one"
    return $status
}

# with FILE LINE TEXT: a tree with LINE appended to FILE must fail with a message that contains TEXT; without TEXT it
# must pass.
with() {
    cp "$made/$1" "$made/saved"
    printf '%s\n' "$2" >>"$made/$1"
    output=$(check "$made") && failed=no || failed=yes
    [ -n "${3:-}" ] && wanted=yes || wanted=no
    if [ $failed != $wanted ] || ! printf '%s\n' "$output" | grep -qF "${3:-the only one}"; then
        printf 'after "%s" expected "%s", got:\n%s\n' "$2" "${3:-success}" "$output"
        exit 1
    fi
    mv "$made/saved" "$made/$1"
}

self_test() {
    made=$(mktemp -d)
    trap 'rm -rf "$made"' EXIT
    mkdir -p "$made/src/system" "$made/src/grid" "$made/src/sim" "$made/app"
    printf 'int one(void)\n{\n    return 1;\n}\n' | tee "$made/src/system/form.c" "$made/src/sim/step.c" >"$made/app/main.c"
    echo 'enum { MO_BLOCK_PRESSURE, MO_BLOCK_STRESS, MO_BLOCK_CONTACT, MO_BLOCK_FRICTION };' >"$made/src/system/system.h"
    echo 'int mo_face_code(int sample, int axis) { return 3 * sample + axis; }' >"$made/src/grid/sites.h"
    with src/sim/step.c '// force[6 * b + k], 3 * sample + axis'
    with src/sim/step.c 'double x = 0.6 * b + 16 * i + 6 * rate;'
    with src/sim/step.c 'double x = force[6 * b + k];' 'src/sim/step.c:5: use MO_BODY_UNKNOWNS'
    with src/system/form.c 'double x = 6 * (int64_t)body;' 'src/system/form.c:5: use MO_BODY_UNKNOWNS'
    with src/system/form.c 'int x = 3 * face + axis;' 'src/system/form.c:5: use mo_face_code'
    with src/system/form.c 'int axes = mo_grid_is_2d(s->g) ? 2 : 3;' 'src/system/form.c:5: mo_grid_axes tells'
    with src/system/form.c 'int x = s->sample_at[r] >> 3;' 'src/system/form.c:5: use mo_stress_cell'
    with src/system/form.c 'int x[] = {MO_BLOCK_PRESSURE, MO_BLOCK_STRESS};'
    with src/system/form.c 'int x = 1 << MO_BLOCK_PRESSURE |
    1 << MO_BLOCK_STRESS | 1 << MO_BLOCK_FRICTION;' 'src/system/form.c:5: the kinds of blocks'
    with src/system/form.c "$(awk 'BEGIN { for (i = 0; i < 500; i++) print "//" }')" 'at most 500 lines'
    with src/sim/step.c "$(awk 'BEGIN { print "int f(void)\n{"; for (i = 0; i < 30; i++) print "    g();"; print "}" }')" \
        'up to 33 lines'
    echo "violations are found"
}

case "${1:-}" in
--self-test) self_test ;;
--sizes) sizes "${2:?usage: owners.sh --sizes TREE}" ;;
?*) check "$1" ;;
*) echo "usage: owners.sh TREE | --sizes TREE | --self-test" >&2; exit 2 ;;
esac
