#!/bin/sh
# Runs the named benchmarks and keeps each as DIR/NAME.csv; an old table stays until the new one is complete.
#   bench.sh COMMAND DIR NAME...
set -eu
command=$1
dir=$2
shift 2
mkdir -p "$dir"
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
for name; do
    echo "bench $name"
    "$command" bench "$name" --json >"$lines"
    sh "$(dirname "$0")/json2csv.sh" "$lines" >"$dir/$name.csv.new"
    mv "$dir/$name.csv.new" "$dir/$name.csv"
    cat "$dir/$name.csv"
done
echo "tables in $dir"
