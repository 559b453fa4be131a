#!/bin/sh
# A small dam break: run, picture, video, report, what its statistics say, and how to look at it.
#   demo.sh COMMAND DIR
set -eu
command=$1
dir=$2
"$command" run scenes/dam_break.lua -o "$dir" --force --set domain.cells=48 --set time.seconds=1.5
"$command" render "$dir" --every 2 --size 480x270 --samples 16 --video
"$command" render "$dir" -o "$dir/picture" --frames 30 --size 960x540 --samples 64
"$command" report "$dir"

awk '
# The number behind "key": in a line of stats.jsonl.
function number(key) {
    if (!match($0, "\"" key "\":[-+.0-9eE]+")) return 0
    return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0
}
{
    iterations = number("iterations")
    total += iterations
    if (iterations > most) most = iterations
    error = number("volume_error")
    if (error < 0 ? -error > worst : error > worst) worst = error < 0 ? -error : error
    seconds += number("cpu_seconds")
    if ($0 !~ /"reason":"converged"/) unconverged++
    particles = number("particles")
    frames = number("frame")
}
END {
    if (!NR) { print "no steps were recorded" > "/dev/stderr"; exit 1 }
    printf "\n%d particles, %d frames, %d steps, %.1f s of processor time\n", particles, frames, NR, seconds
    printf "pressure solve      %.1f iterations on average, %d at most, %d of %d did not converge\n",
        total / NR, most, unconverged, NR
    printf "volume error        %.2g %% at the end, %.2g %% at worst\n", 100 * error, 100 * worst
}' "$dir/stats.jsonl"

video=$(ls "$dir"/images/video.* | head -n 1)
printf 'picture             %s\nvideo               %s\nreport              %s\nframes              %s (docs/output.md)\n' \
    "$dir/picture/frame_00030.png" "$video" "$dir/report.html" "$dir/frames"
printf '\nTo look at it in a browser:\n    %s view %s\n' "$command" "$dir"
