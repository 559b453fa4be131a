#!/bin/sh
# Runs every validation program of a build (validate/NAME.c -> BUILD/validate_NAME) and collects what they print.
# Fails if one of them fails; the report then says so, and the old report is replaced either way.
# Plots go beside the report. Further arguments are passed to the programs.
#   validate.sh BUILD REPORT [ARGUMENT...]
set -eu
build=$1
report=$2
shift 2
plots=$(dirname "$report")
mkdir -p "$plots"
failed=
count=0
echo "Written by 'make validate' with $("$build/monolith" --version)." >"$report.new"
for program in "$build"/validate_*; do
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
    name=${program##*/validate_}
    count=$((count + 1))
    printf '\n==== %s ====\n' "$name" | tee -a "$report.new"
    status=0
    "$program" --plots "$plots" "$@" >"$report.part" || status=$?
    tee -a "$report.new" <"$report.part"
    if [ $status != 0 ]; then
        failed="$failed $name"
        echo "FAILED with status $status" | tee -a "$report.new"
    fi
done
rm -f "$report.part"
if [ $count = 0 ]; then
    rm -f "$report.new"
    echo "validate: there are no validation programs yet (validate/*.c)"
    exit 0
fi
mv "$report.new" "$report"
echo "report in $report"
[ -z "$failed" ] || { echo "validate: failed:$failed" >&2; exit 1; }
