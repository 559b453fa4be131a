#!/bin/bash
# monolith view: who may ask for what, ports, a run that grows, exported pages; then both pages in headless Chromium.
SOURCE=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/common.sh"
BUILD=$(dirname "$MONOLITH")
SERVER=
trap '[ -z "$SERVER" ] || kill "$SERVER" 2>/dev/null; rm -rf "$PLACE"' EXIT

cat >dam.lua <<'LUA'
domain { size = {1, 0.6, 0.5}, cells = 16 }
time   { fps = 50, seconds = 0.12 }
liquid { shape = box{size = {0.4, 0.4, 0.5}}:move(0.2, 0.2, 0.25) }
elastic { name = "jelly", shape = sphere{radius = 0.09}:move(0.75, 0.45, 0.25), element = 0.05, young = 1e4 }
fixed  { name = "ball-1", shape = sphere{radius = 0.12}:move(0.8, 0.1, 0.25) }
moving { name = "paddle", shape = box{size = {0.08, 0.3, 0.3}},
         motion = function(t) return { position = {0.6 + 0.1 * math.sin(5 * t), 0.15, 0.25} } end }
LUA
"$MONOLITH" run dam.lua -o run --frames 3 -q || { echo "FAIL: the run to be viewed failed"; exit 1; }
echo secret >secret.txt
cp dam.lua run/

expect 0 "Examples:" "$MONOLITH" view --help
expect 2 "DIR is missing" "$MONOLITH" view
expect 2 "absent" "$MONOLITH" view absent
mkdir empty
expect 2 "holds no run" "$MONOLITH" view empty
expect 2 "--port must be" "$MONOLITH" view run --port 0
expect 2 "--every is for --export" "$MONOLITH" view run --every 2

# The page is found beside the program, or installed; without it the message says how to get it.
mkdir -p bare installed/bin installed/share/monolith
cp "$MONOLITH" bare/
cp "$MONOLITH" installed/bin/
expect 2 "npm" bare/monolith view run --export none.html
[ -e none.html ] && fail "a page was exported without the viewer"

PAGE=yes
if [ ! -s "$BUILD/viewer.html" ]; then
    echo "viewer.html was not built (npm or its registry cannot be reached): the page itself is not tested"
    PAGE=no
    echo '<!doctype html><body><!--monolith-data--></body>' >bare/viewer.html
    MONOLITH=$PLACE/bare/monolith
fi
cp "$(dirname "$MONOLITH")/viewer.html" installed/share/monolith/
expect 0 "installed.html: " installed/bin/monolith view run --export installed.html

cat >plume.lua <<'LUA'
domain { size = {1, 1, 1}, cells = 16, walls = { ymax = "open" } }
time   { fps = 50, seconds = 0.06 }
air    {}
smoke  { shape = sphere{radius = 0.2}:move(0.5, 0.3, 0.5), density = 4e-3, temperature = 400 }
fixed  { shape = sphere{radius = 0.1}:move(0.5, 0.6, 0.5) }
LUA
"$MONOLITH" run plume.lua -o air -q || fail "the run of air failed"
expect 0 "air.html: " "$MONOLITH" view air --export air.html
grep -q 'id="/frame/3/smoke"' air.html || fail "smoke was not exported"

expect 0 "one.html: " "$MONOLITH" view run --export one.html
expect 0 "two.html: " "$MONOLITH" view run --export two.html --every 2
expect 2 "cannot" "$MONOLITH" view run --export /proc/none.html
grep -q 'id="/frame/3/surface"' two.html || fail "--every left out the last frame"
grep -q 'id="/frame/1/surface"' two.html && fail "--every 2 exported frame 1"
[ "$(stat -c %s two.html)" -lt "$(stat -c %s one.html)" ] || fail "fewer frames are not smaller"
grep -q secret one.html && fail "the page holds what is not of the run"

# start ARGUMENTS...: a server in the background; sets SERVER, PORT.
start()
{
    "$MONOLITH" view "$@" --no-open >served 2>&1 &
    SERVER=$!
    for _ in $(seq 100); do
        PORT=$(sed -n 's|^http://127.0.0.1:\([0-9]*\)/$|\1|p' served)
        [ -z "$PORT" ] || return 0
        kill -0 $SERVER 2>/dev/null || return 1
        nap 50
    done
    return 1
}

# ask "REQUEST LINE" [HOST]: the whole answer goes to `answer`, its status to $STATUS.
ask()
{
    exec 3<>"/dev/tcp/127.0.0.1/$PORT" || { fail "no connection"; return; }
    printf '%s\r\nHost: %s\r\nConnection: close\r\n\r\n' "$1" "${2:-127.0.0.1:$PORT}" >&3
    timeout 10 cat <&3 >answer
    exec 3>&-
    STATUS=$(head -1 answer | cut -d' ' -f2)
}

# status CODE "REQUEST LINE" [HOST]
status()
{
    ask "$2" "${3:-}"
    [ "$STATUS" = "$1" ] || fail "'$2' ${3:+for host $3 }was answered with $STATUS instead of $1"
    grep -qa 'secret\|root:\|motion = ' answer && [ "$2" != "GET /run.json HTTP/1.1" ] && fail "'$2' showed a file"
}

if start run; then
    [ "$PORT" -ge 8123 ] || fail "port $PORT by default"
    for path in / /run.json /stats /stats/2 /frame/0/surface /frame/3/particles /frame/2/bodies /frame/2/elastic /skin/jelly /body/paddle \
        /body/ball%2d1; do
        status 200 "GET $path HTTP/1.1"
    done
    status 200 "GET /run.json HTTP/1.1" "LOCALHOST:99"
    status 200 "GET /run.json HTTP/1.1" localhost
    grep -qi '^access-control' answer && fail "other origins are let in"
    grep -qai '^X-Content-Type-Options: nosniff' answer || fail "no nosniff"
    for path in /../secret.txt /%2e%2e/secret.txt /..%2fsecret.txt //etc/passwd /etc/passwd "file:///etc/passwd" \
        "$PLACE/secret.txt" /run/dam.lua /dam.lua /stats.jsonl /frames/surface_liquid_00000.ply /frame/../secret.txt \
        /frame/4/surface /frame/-1/surface /frame/00/surface /frame/0/surface/ /frame/0/../0/surface /frame/0%00/surface \
        /frame/99999999999999999999/surface /stats/x /body/ /body/.. /body/../dam.lua.ply /body/%2e%2e%2fsecret.txt \
        /body/paddle.ply /body/%zz /body/paddle%00 /run.json%00 /%72un.json /RUN.JSON /run.json/; do
        status 404 "GET $path HTTP/1.1"
    done
    for host in evil.example "evil.example:$PORT" localhost.evil.example 127.0.0.1.evil.example 0.0.0.0 "127.0.0.1:" \
        "127.0.0.1:$PORT@evil.example" "[::1]"; do
        status 403 "GET /run.json HTTP/1.1" "$host"
    done
    for method in POST PUT DELETE OPTIONS HEAD; do
        status 405 "$method /run.json HTTP/1.1"
    done
    # Connections that never finish their request keep nobody out.
    begun=$(date +%s)
    for i in $(seq 97); do
        exec {half}<>"/dev/tcp/127.0.0.1/$PORT"
        printf 'GET /run.json HTTP/1.1\r\nHost: ' >&$half
        held[i]=$half
    done
    status 200 "GET /run.json HTTP/1.1"
    [ $(($(date +%s) - begun)) -le 10 ] || fail "half-open connections kept a request waiting for $(($(date +%s) - begun)) s"
    for half in "${held[@]}"; do exec {half}>&-; done
    # Other addresses of this machine are not listened at.
    other=$(hostname -I 2>/dev/null | cut -d' ' -f1)
    if [ -n "$other" ] && timeout 2 bash -c "exec 3<>/dev/tcp/$other/$PORT" 2>/dev/null; then
        fail "the server listens at $other"
    fi

    # The port is taken: an error when it was asked for, another one otherwise.
    expect 2 "port $PORT is in use" timeout 10 "$MONOLITH" view run --no-open --port "$PORT"
    first=$SERVER first_port=$PORT
    if start run; then
        [ "$PORT" -gt "$first_port" ] || fail "the second server got port $PORT"
        kill -TERM $SERVER
        wait $SERVER || fail "a server that is told to end ends with $?"
    else
        fail "no second server: $(cat served)"
    fi
    SERVER=$first PORT=$first_port

    # A run that goes on is followed.
    "$MONOLITH" run dam.lua -o run --resume --frames 6 -q
    status 404 "GET /frame/6/surface HTTP/1.1"
    status 200 "GET /run.json HTTP/1.1"
    grep -qaF '"frames":[0,1,2,3,4,5,6]' answer || fail "new frames are not seen"
    status 200 "GET /frame/6/surface HTTP/1.1"
elif grep -q libmicrohttpd served; then
    echo "built without libmicrohttpd: the server is not tested"
    SERVER=
else
    fail "the server did not start: $(cat served)"
    finish
fi

CHROMIUM=$(command -v chromium || command -v chromium-browser || true)
if [ $PAGE = no ]; then
    : # said above
elif [ -z "$CHROMIUM" ]; then
    echo "Chromium is missing (Debian: apt-get install chromium): the page is not tested in a browser"
elif ! "$SOURCE/viewer/build.sh" --tools "$BUILD/viewer-tools"; then
    echo "playwright-core could not be fetched by npm: the page is not tested in a browser"
else
    export CHROMIUM
    browse() { timeout 120 node "$SOURCE/viewer/test.mjs" "$BUILD/viewer-tools/node_modules" "$1" shot.png || fail "in Chromium: $1"; }
    "$MONOLITH" view run --export all.html >/dev/null
    browse "file://$PLACE/all.html"
    BRIEF=1 browse "file://$PLACE/air.html"
    [ -z "$SERVER" ] || GROW="'$MONOLITH' run dam.lua -o run --resume --frames 8 -q" browse "http://127.0.0.1:$PORT/"
fi
finish
