#!/bin/sh
# Dependencies between the folders of src/ point downwards only; the command sees the public header and the folders
# from output/ upwards, which work with the files of a run. Folders that a simulation runs through take their elementary
# functions from base/elementary.h: the C library's are not the same on every machine.
#   layers.sh TREE         checks a source tree; prints every violation as file:line
#   layers.sh --self-test  checks that violations are found, in a tree made for it
set -eu

# Lowest first; a file may include from its own folder and from those to the left.
LAYERS="base sparse qp geometry grid fluid solid system cases sim scene output render report view bench"

check_tree() {
    (cd "$1" && find src app -name '*.[ch]' -exec grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} +) |
        sort | awk -v layers="$LAYERS" '
        BEGIN { n = split(layers, name, " "); for (i = 1; i <= n; i++) level[name[i]] = i }
        function bad(why) { print place ": " why; failures++ }
        {
            match($0, /^[^:]*:[0-9]*/)
            place = substr($0, 1, RLENGTH)
            split(place, part, "/")
            included = $0
            sub(/^[^"]*"/, "", included); sub(/".*$/, "", included)
            includes++
            if (included == "monolith/monolith.h") next
            from = part[1] == "src" ? part[2] : "app"
            slash = index(included, "/")
            to = slash ? substr(included, 1, slash - 1) : from
            if (from == "app") {
                if (to != "app" && level[to] < level["output"]) bad("app/ may not include \"" included "\"")
            } else if (!(from in level)) bad("src/" from "/ has no place in the order of layers")
            else if (!(to in level)) bad("\"" included "\" is in no known folder")
            else if (level[to] > level[from]) bad("src/" from "/ may not include \"" included "\"")
        }
        END {
            if (!includes) bad("no #include found: is this the source tree?")
            print (failures + 0) " violations in " (includes + 0) " includes"
            exit failures > 0
        }'
}

# What the simulation may not call of the C library. Comments and strings are not looked at.
check_functions() {
    (cd "$1" && for layer in base sparse qp geometry grid fluid solid system sim scene; do
        [ ! -d "src/$layer" ] || find "src/$layer" -name '*.[ch]' -exec grep -HnE '(^|[^a-z_0-9.>])(a?(sin|cos|tan)|atan2|exp2?|expm1|log(2|10)?|pow|sinh|cosh|tanh)f?\(' {} +
    done) | sort | awk '
        { line = $0; sub(/^[^:]*:[0-9]*:/, "", line)
          sub(/\/\/.*/, "", line); gsub(/"[^"]*"/, "", line)
          if (line !~ /(^|[^a-z_0-9.>])(a?(sin|cos|tan)|atan2|exp2?|expm1|log(2|10)?|pow|sinh|cosh|tanh)f?\(/) next
          match($0, /^[^:]*:[0-9]*/); print substr($0, 1, RLENGTH) ": use base/elementary.h: " line; failures++ }
        END { exit failures > 0 }'
}

check() {
    status=0
    check_tree "$1" || status=1
    check_functions "$1" || status=1
    return $status
}

# expect STATUS TEXT: the tree must pass (0) or fail (1) with a message that contains TEXT.
expect() {
    status=0
    output=$(check "$tree") || status=$?
    if [ "$status" != "$1" ] || ! printf '%s\n' "$output" | grep -qF "$2"; then
        printf 'expected status %s and "%s", got status %s:\n%s\n' "$1" "$2" "$status" "$output"
        exit 1
    fi
}

# with FILE LINE STATUS TEXT: expects that of the good tree with LINE appended to FILE.
with() {
    cp "$tree/$1" "$tree/saved"
    printf '%s\n' "$2" >>"$tree/$1"
    expect "$3" "$4"
    mv "$tree/saved" "$tree/$1"
}

self_test() {
    tree=$(mktemp -d)
    trap 'rm -rf "$tree"' EXIT
    mkdir -p "$tree/src/base" "$tree/src/sim" "$tree/src/output" "$tree/app"
    echo '#include "monolith/monolith.h"' >"$tree/src/base/base.c"
    printf '#include "base/base.h"\n#include "sim/sim.h"\n#include "step.h"\n' >"$tree/src/sim/step.c"
    printf '#include <math.h>\n#include "scene/scene.h"\n' >"$tree/src/output/run.c"
    printf '#include "monolith/monolith.h"\n#include "output/run.h"\n#include "command.h"\n' >"$tree/app/main.c"
    expect 0 "0 violations in 8 includes"
    with src/base/base.c '#include "sim/sim.h"' 1 'src/base/base.c:2: src/base/ may not include "sim/sim.h"'
    with src/sim/step.c '  #  include "output/run.h"' 1 'src/sim/step.c:4: src/sim/ may not include "output/run.h"'
    with src/sim/step.c '#include "utils/all.h"' 1 '"utils/all.h" is in no known folder'
    with src/sim/step.c '#include "../output/run.h"' 1 '"../output/run.h" is in no known folder'
    with app/main.c '#include "base/base.h"' 1 'app/main.c:4: app/ may not include "base/base.h"'
    with src/sim/step.c 'double a = exp(1) + mo_sin(2);' 1 'src/sim/step.c:4: use base/elementary.h'
    with src/sim/step.c '// sin(x) and "cos(x)" may be named, mo_exp(x) and s->log(x) called' 0 "0 violations"
    with src/output/run.c 'double a = sin(1);' 0 "0 violations"
    mkdir "$tree/src/utils"
    echo '#include "base/base.h"' >"$tree/src/utils/all.c"
    expect 1 "src/utils/ has no place in the order of layers"
    rm -r "$tree/src" "$tree/app"
    mkdir "$tree/src" "$tree/app"
    expect 1 "no #include found"
    echo "violations are found"
}

case "${1:-}" in
--self-test) self_test ;;
?*) check "$1" ;;
*) echo "usage: layers.sh TREE | --self-test" >&2; exit 2 ;;
esac
