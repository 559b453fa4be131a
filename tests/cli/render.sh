#!/bin/bash
# monolith render: pictures of a small run, bad arguments, damaged runs, videos with and without ffmpeg.
. "$(dirname "$0")/common.sh"
scene dam.lua 16 4
"$MONOLITH" run dam.lua -o run -q || fail "the run failed"
SMALL="--size 64x36 --samples 4"

expect 0 "Examples:" "$MONOLITH" render --help
expect 2 "DIR is missing" "$MONOLITH" render
expect 2 "absent" "$MONOLITH" render absent
mkdir empty
expect 2 "empty: holds no run" "$MONOLITH" render empty
for bad in x 5..3 -1 1...2 3x ..x; do
    expect 2 "--frames must be a frame" "$MONOLITH" render run "--frames=$bad"
done
for bad in 64 64x 8x8 64x36x 99999x36; do
    expect 2 "--size must be WIDTHxHEIGHT" "$MONOLITH" render run "--size=$bad"
done
expect 2 "--camera must be eye;target;degrees" "$MONOLITH" render run --camera 1,2,3
expect 2 "two different points" "$MONOLITH" render run --camera '1,1,1;1,1,1'
expect 2 "fov must be" "$MONOLITH" render run --camera '1,1,1;1,1,0;500'
expect 2 "--color must be speed, height, viscosity or stress" "$MONOLITH" render run --particles --color pressure
expect 2 "--color speed is for --particles" "$MONOLITH" render run --color speed
expect 2 "--samples must be" "$MONOLITH" render run --samples 0
expect 2 "holds frames 0..4, none of those" "$MONOLITH" render run --frames 9
[ -e run/images ] && [ -n "$(ls run/images)" ] && fail "a mistake left pictures behind"

# All frames; the same pictures for any number of threads; one frame elsewhere.
expect 0 "done: 5 pictures in run/images" "$MONOLITH" render run $SMALL --threads 1
for i in 0 1 2 3 4; do [ -s run/images/frame_0000$i.png ] || fail "no picture of frame $i"; done
expect 0 "done: 3 pictures in other" "$MONOLITH" render run $SMALL --every 2 --threads 4 -o other
for i in 0 2 4; do cmp -s run/images/frame_0000$i.png other/frame_0000$i.png || fail "threads changed picture $i"; done
expect 0 "" "$MONOLITH" render run $SMALL --frames 3 -o single/deep -q
[ -s printed ] && fail "--quiet prints: $(cat printed)"
[ "$(ls single/deep)" = frame_00003.png ] || fail "--frames 3 wrote $(ls single/deep)"
expect 0 "done: 2 pictures" "$MONOLITH" render run $SMALL --frames 3.. --particles --color height -o balls
expect 0 "done: 1 pictures" "$MONOLITH" render run $SMALL --frames ..0 --camera '0.5,0.5,3;0.5,0.5,0' -o seen
cmp -s seen/frame_00000.png run/images/frame_00000.png && fail "--camera changed nothing"

# Missing and cut frames are skipped with a note; a frame that is alone and bad is an error; so is a closed door.
rm run/frames/*_00001.*
truncate -s 400 run/frames/surface_liquid_00002.ply
expect 0 "frames 1..1 are missing" "$MONOLITH" render run $SMALL -o gaps
expect 0 "surface_liquid_00002.ply: cut short" "$MONOLITH" render run $SMALL -o gaps
[ "$(ls gaps | wc -l)" = 3 ] || fail "gaps holds $(ls gaps)"
expect 2 "surface_liquid_00002.ply" "$MONOLITH" render run $SMALL --frames 2 -o gaps
expect 2 "/dev/null" "$MONOLITH" render run $SMALL -o /dev/null/x

# Videos: without ffmpeg an animated PNG.
mkdir nothing
expect 0 "there is no ffmpeg" env PATH="$PWD/nothing" "$MONOLITH" render run $SMALL --video -o film
grep -q acTL film/video.png || fail "video.png is not animated"
if command -v ffmpeg >/dev/null; then
    expect 0 "video: film/video.mp4" "$MONOLITH" render run --size 65x37 --samples 2 --video -o film
    head -c 12 film/video.mp4 | grep -q ftyp || fail "video.mp4 is no MP4"
fi
mkdir fake
printf '#!/bin/sh\nexit 3\n' >fake/ffmpeg
chmod +x fake/ffmpeg
expect 1 "ffmpeg" env PATH="$PWD/fake:/usr/bin:/bin" "$MONOLITH" render run $SMALL --video -o broken
[ -e broken/video.mp4 ] && fail "a failed ffmpeg left a video"

echo '{"status": "done"' >run/run.json
expect 2 "run.json: damaged" "$MONOLITH" render run
finish
