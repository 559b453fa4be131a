#!/bin/bash
# Lines of src/ and app/ that were run in a build with --coverage: coverage.sh BUILD. Prints each folder and the total.
set -eu
build=$(realpath "$1")
cd "$build"
find . -name '*.gcda' \( -path '*/mo_*.dir/*' -o -path '*/monolith_command.dir/*' \) -print0 |
    xargs -0 -r gcov -n 2>/dev/null |
    awk -F"'" '/^File/ { file = $2 }
        /^Lines executed/ && file ~ /\/(src|app)\/.*\.c$/ {
            split($0, part, /[:% ]+/); percent = part[3]; lines = part[5]
            match(file, /\/(src\/[a-z]+|app)\//); folder = substr(file, RSTART + 1, RLENGTH - 2)
            if (percent * lines > done[file]) done[file] = percent * lines
            size[file] = lines; of[file] = folder; file = "" }
        END { for (f in size) { run[of[f]] += done[f]; all[of[f]] += size[f]; total += done[f]; sum += size[f] }
            for (d in all) printf "%-14s %6.2f%% of %d lines\n", d, run[d] / all[d], all[d] | "sort"
            close("sort"); printf "%-14s %6.2f%% of %d lines\n", "all", total / sum, sum }'
