#!/bin/sh
# ElastoMonolith's figures at the paper's sizes on route fast: runs each scene on one thread and writes a table of times
# and memory beside the paper's, as Markdown, to standard output. Runs that were stopped go on where they were, and those
# that are complete are kept.
#   figures_elastic.sh COMMAND RUNS [FIGURE...]     FIGURE: 9, 13b, ...; default all. Others that RUNS holds are in the table too
set -eu
command=$1 runs=$2
shift 2
wanted=${*:-all}

# figure|scene|frames|overrides|the paper's vertices, tetrahedra, particles|its seconds per frame
figures='3|elastic_beam|50||2.3k, 8.8k, none|20.3
5|elastic_rabbit|25|param.element=0.0225|5.0k, 20.0k, none|32.5
7|elastic_dam|16|domain.cells=80 param.element=0.019|2.2k, 9.0k, 967.7k|58.0
9|elastic_bowl|30|domain.cells=128 param.element=0.041|3.7k, 12.8k, 52.3k|253.2
11|elastic_honey|30|domain.cells=64 param.element=0.0205 param.height=0.63|2.3k, 8.8k, 52.5k|84.4
13a|elastic_torus|16|domain.cells=160 param.height=0.642 param.soft=false|rigid, 101.7k|8.6
13b|elastic_torus|24|domain.cells=160 param.height=0.642 param.element=0.041|2.3k, 8.8k, 101.7k|352.0
13c|elastic_torus|16|domain.cells=160 param.height=0.642 param.soft=false param.viscosity=100|rigid, 101.7k|12.4
13d|elastic_torus|8|domain.cells=160 param.height=0.642 param.element=0.041 param.viscosity=100|2.3k, 8.8k, 101.7k|574.9
1 left|elastic_sheet|20|domain.cells=144 param.element=0.028 param.height=0.515|3.9k, 12.2k, 52.5k|225.3
1 right|elastic_sheet|20|domain.cells=144 param.element=0.028 param.height=0.515 param.viscosity=100|3.9k, 12.2k, 52.5k|211.7'

directory() { printf '%s/figure_%s' "$runs" "$(printf '%s' "$1" | tr -d ' ')"; }

simulate() { # figure scene frames overrides
    case " $wanted " in *" all "* | *" $(printf '%s' "$1" | tr -d ' ') "*) ;; *) return 0 ;; esac
    dir=$(directory "$1")
    how=--force
    [ -e "$dir/checkpoint" ] && how=--resume
    set -- "$2" "$3" $4
    scene=$1 frames=$2
    shift 2
    for setting; do
        set -- "$@" --set "$setting"
        shift
    done
    "$command" run "scenes/$scene.lua" -o "$dir" "$how" --frames "$frames" --threads 1 --quiet --no-particles --no-elements "$@" </dev/null
}

row() { # figure scene overrides paper seconds
    dir=$(directory "$1")
    [ -s "$dir/stats.jsonl" ] || return 0
    size=$(tr -d '\n' <"$dir/run.json" | sed -n 's/.*"vertices":\([0-9]*\),"elements":\([0-9]*\),.*/\1, \2/p')
    settings=$(for s in $3; do printf ' `%s`' "$s"; done)
    awk -v figure="$1" -v scene="$2" -v settings="$settings" -v size="${size:-rigid}" -v paper="$4" -v theirs="$5" '
    function number(key) { # behind "key": in a line of stats.jsonl
        if (!match($0, "\"" key "\":[-+.0-9eE]+")) return 0
        return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0
    }
    function most(so_far, x) { x = x < 0 ? -x : x; return x > so_far ? x : so_far }
    {
        frame = number("frame")
        if (NR == 1) particles = number("particles")
        cpu[frame] += number("cpu_seconds")
        sum += number("cpu_seconds")
        memory = most(memory, number("memory_bytes"))
        contacts = most(contacts, number("contacts"))
        volume = most(volume, number("volume_error"))
        energy = most(energy, number("energy_error"))
        overlap = most(overlap, number("max_penetration"))
        inverted = most(inverted, number("inverted"))
        fallbacks += number("fallbacks")
        if ($0 !~ /"reason":"(converged|nothing_to_do)"/) unsolved++
    }
    END {
        for (f in cpu) if (cpu[f] > slowest) slowest = cpu[f]
        printf "| %s, `%s`%s | %s, %s | %d | %.2f, %.2f | %.0f | %d | %.2g, %.2g, %.2g | %s | %s | %.0f |", figure, scene, settings, size,
            particles ? particles : "none", frame, sum / frame, slowest, memory / 1e6, contacts, 100 * energy, 100 * volume, 1000 * overlap,
            paper, theirs, theirs * frame / sum
        if (unsolved) printf " %d steps unconverged", unsolved
        if (fallbacks) printf " %d fallbacks", fallbacks
        if (inverted) printf " up to %d elements inverted", inverted
        print " |"
    }' "$dir/stats.jsonl"
}

each() { # function: for every figure
    printf '%s\n' "$figures" | while IFS='|' read -r figure scene frames settings paper seconds; do
        if [ "$1" = simulate ]; then simulate "$figure" "$scene" "$frames" "$settings"; else row "$figure" "$scene" "$settings" "$paper" "$seconds"; fi
    done
}

each simulate
cat <<END
# The figures of ElastoMonolith at the paper's sizes

Written by \`make figures-elastic\`: the first frames (50 per second) of the scenes of the paper's figures with its
grids, elements and numbers of particles, on route fast with one thread. Seconds are those of the processor for whole
steps; the paper's are wall seconds of its own method's solve (figures 3 to 11) or of a whole frame (13 and 1) on a
machine with 8 cores. *Ratio* is theirs over ours. Memory is what the library holds at the end of a step. Energy is the
largest [energy_error](output.md#energy), volume that of the liquid's volume, overlap the deepest of solids.

| figure, scene, overrides | vertices, tetrahedra, particles | frames | CPU s per frame: mean, most | MB | contacts, most | energy %, volume %, overlap mm | paper: vertices, tetrahedra, particles | s per frame | ratio | |
|---|---|---|---|---|---|---|---|---|---|---|
END
each row
