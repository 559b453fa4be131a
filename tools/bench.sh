#!/bin/sh
# Runs the named benchmarks and keeps each as DIR/NAME.csv; an old table stays until the new one is complete.
#   bench.sh COMMAND DIR NAME...
# A NAME may carry options ("stokes --bodies 3"): what runs of one benchmark say goes to one table.
set -eu
command=$1
dir=$2
shift 2
mkdir -p "$dir"
lines=$(mktemp -d)
trap 'rm -rf "$lines"' EXIT
for name; do
    echo "bench $name"
    table=${name%% *}
    # shellcheck disable=SC2086 # options are words
    "$command" bench $name --json >>"$lines/$table"
    sh "$(dirname "$0")/json2csv.sh" "$lines/$table" >"$dir/$table.csv.new"
    mv "$dir/$table.csv.new" "$dir/$table.csv"
    cat "$dir/$table.csv"
done
echo "tables in $dir"
