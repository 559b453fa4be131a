#!/bin/sh
# One scene under several schemes, side by side: runs each, renders its first, middle and last frame, and writes
# PAGES/SCENE.html with `monolith report`. Runs that are complete are kept.
#   compare.sh COMMAND RUNS PAGES SCENE FRAMES CELLS SCHEME...
# OVERRIDES: more options of `monolith run`. A scheme that breaks down is shown as far as it came: that is compared.
set -eu
command=$1 runs=$2 pages=$3 scene=$4 frames=$5 cells=$6
shift 6
mkdir -p "$pages"
dirs=
for scheme; do
    dir=$runs/$scene/$scheme
    dirs="$dirs $dir"
    if ! grep -q '"status":"done"' "$dir/run.json" 2>/dev/null; then
        "$command" run "scenes/$scene.lua" -o "$dir" --force --quiet --frames "$frames" --no-particles --threads "${THREADS:-1}" \
            --set domain.cells="$cells" --set solver.scheme="$scheme" ${OVERRIDES:-} || [ $? = 1 ]
    fi
    for frame in 0 $((frames / 2)) "$frames"; do
        "$command" render "$dir" --frames "$frame" --size 300x225 --samples 24 --quiet --threads "${THREADS:-1}" || [ $? = 2 ]
    done
done
# shellcheck disable=SC2086
"$command" report $dirs -o "$pages/$scene.html"
