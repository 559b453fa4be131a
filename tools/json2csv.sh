#!/bin/sh
# JSON lines -> CSV: one row per object, one column per key in the order in which keys first appear.
#   json2csv.sh [FILE...]       reads standard input without files
#   json2csv.sh --self-test
# Objects are flat: values are strings, numbers, true, false or null (an empty cell). Anything else is an error.
set -eu

convert() {
    awk '
    function fail(why) { printf "json2csv: line %d: %s\n", NR, why > "/dev/stderr"; failed = 1; exit 1 }
    function blank() { sub(/^[ \t\r]+/, "", rest) }
    function expect(c) { blank(); if (substr(rest, 1, 1) != c) fail("expected " c); rest = substr(rest, 2) }
    # Takes a string off the rest of the line, without quotes; \u escapes stay as they are.
    function take_string(    text, c) {
        expect("\"")
        text = ""
        while (rest != "") {
            c = substr(rest, 1, 1)
            if (c == "\"") { rest = substr(rest, 2); return text }
            if (c == "\\") {
                c = substr(rest, 2, 1)
                if (c == "n") text = text "\n"
                else if (c == "t") text = text "\t"
                else if (c == "u") text = text "\\u"
                else if (c == "\"" || c == "\\" || c == "/") text = text c
                else fail("unknown escape")
                rest = substr(rest, 3)
            } else { text = text c; rest = substr(rest, 2) }
        }
        fail("a string does not end")
    }
    function take_value(    text) {
        blank()
        if (substr(rest, 1, 1) == "\"") return take_string()
        if (!match(rest, /^(-?[0-9][-+.0-9eE]*|true|false|null)/)) fail("expected a flat value")
        text = substr(rest, 1, RLENGTH)
        rest = substr(rest, RLENGTH + 1)
        return text == "null" ? "" : text
    }
    function quoted(text) {
        if (text !~ /[",\n]/) return text
        gsub(/"/, "\"\"", text)
        return "\"" text "\""
    }
    /^[ \t\r]*$/ { next }
    {
        rest = $0
        rows++
        expect("{")
        blank()
        if (substr(rest, 1, 1) != "}") while (1) {
            key = take_string()
            expect(":")
            if (!(key in column)) { column[key] = ++columns; name[columns] = key }
            cell[rows, column[key]] = take_value()
            blank()
            if (substr(rest, 1, 1) != ",") break
            rest = substr(rest, 2)
        }
        expect("}")
        blank()
        if (rest != "") fail("text after the object")
    }
    END {
        if (failed) exit 1
        for (i = 1; i <= columns; i++) printf "%s%s", (i > 1 ? "," : ""), quoted(name[i])
        if (columns) print ""
        for (r = 1; r <= rows; r++) {
            for (i = 1; i <= columns; i++) printf "%s%s", (i > 1 ? "," : ""), (((r, i) in cell) ? quoted(cell[r, i]) : "")
            print ""
        }
    }' "$@"
}

# try INPUT OUTPUT: the conversion of INPUT must be OUTPUT, or must fail if OUTPUT is "error".
try() {
    got=$(printf '%s\n' "$1" | convert 2>/dev/null) || got=error
    [ "$got" = "$2" ] || { printf 'of: %s\nexpected: %s\ngot: %s\n' "$1" "$2" "$got"; exit 1; }
}

self_test() {
    try '{"bench":"step","cells":64,"error":1.5e-7}' 'bench,cells,error
step,64,1.5e-7'
    try '{"a":1}

{ "b" : true , "a" : null }' 'a,b
1,
,true'
    try '{"a":"x, \"y\"","b":"back\\slash"}' 'a,b
"x, ""y""",back\slash'
    try '{"a":{"b":1}}' error
    try '{"a":[1]}' error
    try '{"a":1' error
    try '{"a":1} x' error
    try '{"a":"x}' error
    echo "lines become rows"
}

if [ "${1:-}" = --self-test ]; then self_test; else convert "$@"; fi
