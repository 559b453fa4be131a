#!/bin/sh
# Installs a build into a temporary prefix and uses it as a stranger would: a C program by pkg-config, by CMake's
# find_package, and the installed command.
#   install.sh BUILD
set -eu
build=$1
version=$(sed -n 's/^Version: //p' "$build/monolith.pc")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
prefix=$work/moved # packages must not remember where they were installed
mv "$work/first" "$prefix"
libdir=$(dirname "$(dirname "$(find "$prefix" -name monolith.pc)")")
unset DESTDIR LD_LIBRARY_PATH

cat >"$work/user.c" <<'END'
#include <math.h>
#include <monolith/monolith.h>
#include <stdio.h>

int main(void)
{
    mo_shape *sphere = mo_shape_sphere(0.5);
    if (!sphere) return 1;
    double distance = mo_shape_distance(sphere, (mo_vec3){2, 0, 0});
    mo_shape_release(sphere);

    // A refused simulation: the linker must bring in all of the library, and the text must tell the reason.
    mo_sim_def def = mo_sim_def_default();
    def.domain.cells = -1;
    mo_sim *sim = NULL;
    mo_error error = {0};
    if (mo_sim_create(&def, &sim, &error) != MO_ERROR_INPUT || !error.text[0]) return 2;
    mo_scene *scene = NULL;
    if (mo_scene_load("/no/such/scene.lua", NULL, 0, &scene, &error) == MO_OK) return 3;
    if (mo_memory_in_use() != 0) return 4;

    printf("%s %g\n", mo_version(), distance);
    return fabs(distance - 1.5) < 1e-12 ? 0 : 5;
}
END

# expect WHO PROGRAM
expect() {
    got=$(LD_LIBRARY_PATH=$libdir "$2") || { echo "$1: the program failed with status $?"; exit 1; }
    [ "$got" = "$version 1.5" ] || { echo "$1: expected '$version 1.5', got '$got'"; exit 1; }
    echo "$1: $got"
}

export PKG_CONFIG_PATH="$libdir/pkgconfig"
# shellcheck disable=SC2046
${CC:-cc} -std=c17 -Wall -Wextra -Werror "$work/user.c" -o "$work/by_pkg_config" $(pkg-config --cflags --libs monolith) -lm
expect pkg-config "$work/by_pkg_config"
[ "$(pkg-config --modversion monolith)" = "$version" ]
unset PKG_CONFIG_PATH

cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
find_package(monolith $version REQUIRED)
add_executable(by_cmake user.c)
target_link_libraries(by_cmake PRIVATE Monolith::monolith m)
END
{ cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$work/build"; } >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
expect find_package "$work/build/by_cmake"

if [ -e "$prefix/bin/monolith" ]; then
    [ "$("$prefix/bin/monolith" --version)" = "monolith $version" ]
    "$prefix/bin/monolith" check "$prefix/share/monolith/scenes/dam_break.lua" >/dev/null
    echo "command and scenes: fine"
fi
