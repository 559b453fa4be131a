#!/bin/sh
# Makes sure that the Debian packages of the named groups are installed: as root it installs what is missing,
# otherwise it prints the command and fails. Quick when nothing is missing: one dpkg-query.
#   setup.sh [--optional] GROUP...      groups: build test viewer npm browser clang tsan tidy format cholmod
# With --optional, what cannot be installed is only reported.
set -eu

optional=no
if [ "${1:-}" = --optional ]; then
    optional=yes
    shift
fi

wanted=
for group; do
    case $group in
    build) packages="gcc libc6-dev make cmake pkg-config liblua5.4-dev libembree-dev libcjson-dev libpng-dev" ;;
    test) packages="libcmocka-dev" ;;
    viewer) packages="libmicrohttpd-dev" ;;
    npm) packages="nodejs npm" ;; # only where no other Node installation is: Debian's would clash with it
    browser) packages="chromium" ;;
    clang) packages="clang libomp-dev" ;;
    tsan) packages="clang libomp-dev libclang-rt-dev" ;;
    tidy) packages="clang-tidy" ;;
    format) packages="clang-format" ;;
    cholmod) packages="libsuitesparse-dev libopenblas-dev" ;; # for a comparison only; its supernodal part is under the GPL
    *) echo "setup: there is no group '$group'" >&2; exit 2 ;;
    esac
    wanted="$wanted $packages"
done

if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system, so nothing was checked; here the packages are called$wanted" >&2
    exit 0
fi

installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted 2>/dev/null || true)
missing=
for package in $wanted; do
    case "
$installed
" in
    *"
installed $package
"*) ;;
    *) case " $missing " in *" $package "*) ;; *) missing="$missing $package" ;; esac ;;
    esac
done
[ -n "$missing" ] || exit 0

command="apt-get update && apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" != 0 ]; then
    printf 'setup: these packages are missing:%s\nsetup: install them with\n    sudo sh -c "%s"\n' "$missing" "$command" >&2
    [ $optional = yes ] && exit 0
    exit 1
fi

echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq || echo "setup: apt-get update complained; trying with the package lists there are" >&2
apt-get install -y -qq --no-install-recommends $missing >/dev/null || {
    echo "setup: could not install$missing; the command was: $command" >&2
    [ $optional = yes ]
}
