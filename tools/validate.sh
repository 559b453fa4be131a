#!/bin/sh
# Runs validation programs of a build (validate/NAME.c -> BUILD/validate_NAME), all but `trust` (make audit) or those in
# $ONLY, and keeps what each prints as REPORTS/NAME.txt, beside their plots. Fails if one of them fails; its report then says so.
# Further arguments are passed to the programs.
#   ONLY="NAME ..." validate.sh BUILD REPORTS [ARGUMENT...]
set -eu
build=$1
reports=$2
shift 2
mkdir -p "$reports"
failed=
all=$(for program in "$build"/validate_*; do [ -x "$program" ] && echo "${program##*/validate_}"; done | grep -vx trust)
names=${ONLY:-$all}
for name in $names; do
    program=$build/validate_$name
    [ -x "$program" ] || { echo "validate: there is no $program" >&2; exit 2; }
    printf '\n==== %s ====\n' "$name"
    status=0
    "$program" --plots "$reports" "$@" >"$reports/$name.txt.new" || status=$?
    if [ $status != 0 ]; then
        failed="$failed $name"
        echo "FAILED with status $status" >>"$reports/$name.txt.new"
    fi
    cat "$reports/$name.txt.new"
    mv "$reports/$name.txt.new" "$reports/$name.txt"
done
echo "reports in $reports"
[ -z "$failed" ] || { echo "validate: failed:$failed" >&2; exit 1; }
