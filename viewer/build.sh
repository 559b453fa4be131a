#!/bin/sh
# Builds the viewer: one HTML file that needs nothing else. Called by CMake; by hand:
#   viewer/build.sh [OUTPUT]          default build/viewer.html
#   viewer/build.sh --tools DIR       only installs the packages, with those of the tests, into DIR
# Packages go beside the output, never into the sources. Without a network the page is left out with a message.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# Packages need no scripts of their own, and must not run as root: then npm runs as nobody, where nobody may write there.
install_packages() {
    if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && chown 65534:65534 . &&
        setpriv --reuid=65534 --regid=65534 --clear-groups test -w . 2>/dev/null; then
        chown -R 65534:65534 .
        setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$PWD" npm ci --ignore-scripts "$@" || return 1
        chown -R 0:0 .
        rm -rf .npm
    else
        npm ci --ignore-scripts "$@"
    fi
}

# packages DIR [npm options]: those of package-lock.json, unless they are there already
packages() {
    dir=$1
    shift
    mkdir -p "$dir"
    wanted="$(cksum <"$here/package-lock.json") $*"
    [ "$(cat "$dir/installed" 2>/dev/null)" = "$wanted" ] && return 0
    cp "$here/package.json" "$here/package-lock.json" "$dir/"
    (cd "$dir" && install_packages --no-audit --no-fund --fetch-retries=1 --fetch-timeout=60000 --loglevel=error "$@" >npm.log 2>&1) || {
        tail -3 "$dir/npm.log" >&2
        return 1
    }
    printf '%s\n' "$wanted" >"$dir/installed"
}

if [ "${1:-}" = --tools ]; then
    packages "$2"
    exit
fi
output=${1:-$here/../build/viewer.html}
work=$(dirname "$output")/viewer-build
if ! packages "$work" --omit=dev; then
    echo "viewer: its packages could not be fetched, so 'monolith view' has no page; make again with a network" >&2
    exit 0
fi
node "$here/bundle.mjs" "$work/node_modules" "$output"
