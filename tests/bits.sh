#!/bin/bash
# Every build gives the same bytes: bits.sh MONOLITH MONOLITH...
# Small runs of inviscid, viscous, rigid and elastic scenes by each of the commands, and once more by the first of them with the
# functions that the C library has for old machines; the first runs are what the others are compared with.
# Makefile, `make bits`: gcc with AVX2, gcc without, clang.
. "$(dirname "$0")/cli/common.sh"
cd - >/dev/null || exit 1
SCENES=$(realpath "$(dirname "$0")/../scenes")

# The runs: scene, frames, cells.
RUNS="dam_break 6 32
drop 4 24
shear_thinning 3 24
viscous_bowl 6 24
bowl_afloat 12 20
card_house 30 48
elastic_jelly 10 20
elastic_honey 3 16"

# run COMMAND DIRECTORY: all scenes, and a hash of what they wrote without what may differ.
run()
{
    mkdir "$2"
    while read -r name frames cells; do
        "$1" run "$SCENES/$name.lua" -o "$2/$name" -q --threads 2 --frames "$frames" --set "domain.cells=$cells" ||
            fail "$1: $name failed"
        comparable "$2/$name" "$2/$name.files"
        sed -i 's/"compiler":"[^"]*"//' "$2/$name.files/run.json"
        (cd "$2/$name.files" && find . -type f | LC_ALL=C sort | xargs sha256sum) >"$2/$name.sums"
        rm -rf "${2:?}/$name" "$2/$name.files"
        echo "$(sha256sum <"$2/$name.sums" | cut -c -16)  $name  $1"
    done <<<"$RUNS"
}

# compare COMMAND NUMBER FIRST
compare()
{
    run "$(realpath "$1")" "$PLACE/run$2"
    for sums in "$PLACE"/run1/*.sums; do
        other=$PLACE/run$2/$(basename "$sums")
        cmp -s "$sums" "$other" && continue
        fail "$(basename "$sums" .sums): $1 and $3 differ, first in $(diff "$sums" "$other" | sed -n 's/^> [0-9a-f]* *//p' | head -1)"
    done
}

number=0
for command; do
    number=$((number + 1))
    compare "$command" $number "$1"
done
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4
compare "$1" old "itself without AVX2 and FMA in the C library"
finish
