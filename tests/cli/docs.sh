# The pages tell the truth about the tree: every function, file and page that they name exists, and so does every
# function, file and page that a comment names. Nothing is built or run for it.
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/common.sh"
export LC_ALL=C

# Pages of a tree, without those that programs write and the history, which names what is gone.
pages()
{
    (cd "$1" && find . -name '*.md' -not -path './build*' -not -path '*/node_modules/*' -not -name CHANGELOG.md | sed 's|^\./||' | sort)
}

# sources TREE: the files in which names are looked up and comments are checked.
sources()
{
    (cd "$1" && find include src app tests validate bench tools cmake viewer -type f \
        \( -name '*.[ch]' -o -name '*.sh' -o -name '*.cmake' -o -name '*.js' -o -name '*.mjs' \) \
        -not -path '*/node_modules/*' -not -path tests/cli/docs.sh 2>/dev/null | sort)
}

# found TREE PATTERN: what a pattern finds in the files that standard input lists, once each, as FILE:TEXT.
found()
{
    (cd "$1" && xargs grep -oHE -- "$2" /dev/null | sort -u)
}

# Words of the code without its comments, once each.
words()
{
    (cd "$1" && sources . | grep -E '\.(c|h|js|mjs)$' | xargs sed -E 's|//.*||' | grep -oE '\b[A-Za-z_][A-Za-z0-9_]+' | sort -u)
    (cd "$1" && sources . | grep -vE '\.(c|h|js|mjs)$' | xargs -r grep -ohE '\b[A-Za-z_][A-Za-z0-9_]+' | sort -u)
}

# Words that begin with mo_, as FILE:WORD on standard input; a trailing ... or _ stands for a family of names.
check_names()
{
    awk -F: 'NR == FNR { known[$0] = 1; for (i = 4; i < length($0); i++) begins[substr($0, 1, i)] = 1; next }
        { name = $2; family = sub(/\.\.\.$/, "", name) || name ~ /_$/ }
        family && !(name in begins) { print $1 ": nothing begins with " name }
        !family && !(name in known) { print $1 ": there is no " name }' known -
}

# Functions and variables that the pages for developers name in code type, such as `choose_dt`.
check_words()
{
    (cd "$1" && ls docs/develop.md docs/step.md 2>/dev/null) | found "$1" '`[a-z]{2,}(_[a-z0-9]+)+`' | tr -d '`' |
        while IFS=: read -r page word; do
            grep -qx "$word" known || (cd "$1" && compgen -G "tests/$word.c" >/dev/null) || echo "$page: there is no $word"
        done
}

# Words in code type with the file that they are in: `choose_dt` (`src/sim/step.c`), `src/fluid/transfer.c`: `fly`.
check_places()
{
    local name='`[A-Za-z_][A-Za-z0-9_]*`' file='`(src|include|app|tests)/[a-z0-9_/]*\.[ch]`'
    pages "$1" | while read -r page; do # lines are joined, for names and files may be on two
        tr '\n' ' ' <"$1/$page" | grep -oE "$name \\($file|$file: $name" | tr -d '`():' | while read -r a b; do
            case $a in */*) set -- "$1" "$b" "$a" ;; *) set -- "$1" "$a" "$b" ;; esac
            [ ! -e "$1/$3" ] || grep -qw -- "$2" "$1/$3" || echo "$page: $2 is not in $3"
        done
    done
}

# What each function, table and macro names: lines "FILE PLACE NAME WORD", the place being the file again if the name is
# known only there, else "-". Functions begin at the start of a line, and so do the tables that lead to others.
calls()
{
    (cd "$1" && find src app -name '*.[ch]' 2>/dev/null | sort | xargs awk '
        FNR == 1 { name = "" }
        name == "" { place = /^(static|#define)/ && FILENAME ~ /\.c$/ ? FILENAME : "-" }
        { line = $0; sub(/\/\/.*/, "", line); gsub(/"[^"]*"/, "", line) }
        name == "" && line ~ /^[a-zA-Z_].*\(/ && line !~ /;$/ {
            name = line; sub(/\(.*/, "", name); sub(/.*[^A-Za-z0-9_]/, "", name)
            begun = line ~ /\{.*\}$/; end = begun ? "now" : "^}" }
        name == "" && line ~ /^(static |extern )?const .* = \{/ {
            name = line; sub(/ = .*/, "", name); sub(/\[.*/, "", name); sub(/.*[^A-Za-z0-9_]/, "", name)
            begun = 1; end = line ~ /\};$/ ? "now" : "\\};$" }
        name == "" && line ~ /^#define [A-Z_]+ .*\\$/ { name = $2; begun = 1; end = "[^\\\\]$" }
        name != "" && !begun { if (line ~ /;$/) name = ""; else begun = line ~ /^\{/ } # a prototype, or a head of two lines
        name != "" && begun {
            rest = line
            while (match(rest, /[A-Za-z_][A-Za-z0-9_]+/)) {
                print FILENAME, place, name, substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH) }
            if (end == "now" || line ~ end) name = "" }' /dev/null | sort -u)
}

# The walk of docs/develop.md: a line of its tables begins with a stage and ends with functions, which the stage must
# reach. Before the stages, mo_sim_step does.
check_walk()
{
    [ -e "$1/docs/develop.md" ] || return 0
    calls "$1" | awk '
        function node(file, word) { return (file, word) in to ? file SUBSEP word : "-" SUBSEP word }
        NR == FNR { to[$2, $3] = to[$2, $3] " " $4; file[$2, $3] = $1; next }
        !/^\| `?[a-z]+`? \|/ || /^\| stage / { next }
        { split($0, cell, "|"); stage = cell[2]; gsub(/[` ]/, "", stage)
          root = "-" SUBSEP (stage == "before" ? "mo_sim_step" : "mo_stage_" stage)
          if (!(root in to)) next
          split("", seen); split("", known); split("", todo); todo[1] = root; seen[root]; last = 1
          known[substr(root, 3)]
          if (stage == "solve") todo[++last] = "-" SUBSEP "mo_elastic_law_of" # its functions are called by their addresses
          for (first = 1; first <= last; first++) {
              n = split(to[todo[first]], word, " ")
              for (k = 1; k <= n; k++) {
                  next_one = node(file[todo[first]], word[k])
                  if (!(next_one in to) || next_one in seen) continue
                  seen[next_one]; known[word[k]]; todo[++last] = next_one } }
          names = cell[4]
          while (match(names, /`[a-z_0-9]+`/)) {
              name = substr(names, RSTART + 1, RLENGTH - 2); names = substr(names, RSTART + RLENGTH)
              if (!(name in known)) print "docs/develop.md: stage " stage " does not reach " name } }' - "$1/docs/develop.md"
}

# Paths of the tree in pages, such as src/sim/step.c; NAME, <name> and * stand for anything.
check_paths()
{
    local top='(src|include|app|tests|validate|bench|tools|cmake|scenes|docs|viewer)'
    pages "$1" | found "$1" "(^|[^A-Za-z0-9_./-])$top/[A-Za-z0-9_./*<>-]*" | sed -E 's/[.,]*$//' |
        while IFS=: read -r page path; do
            path=$(echo "$path" | grep -oE "$top/.*")
            pattern=$(echo "$path" | sed -e 's/NAME/*/g' -e 's/<[a-z]*>/*/g')
            (cd "$1" && compgen -G "$pattern" >/dev/null) || echo "$page: there is no $path"
        done
}

# The anchors that headings of a page have.
anchors()
{
    grep -E '^#+ ' "$1" | sed -E 's/^#+ //' | tr 'A-Z' 'a-z' | sed -E -e 's/[^a-z0-9 _-]//g' -e 's/ /-/g'
}

# Links between pages: the file, and the heading behind #.
check_links()
{
    for page in $(pages "$1"); do
        grep -oE '\]\([^)]*\)' "$1/$page" | sed -E 's/^\]\((.*)\)$/\1/' | grep -vE '^[a-z]+:' | sort -u | while read -r link; do
            file=${link%%#*} heading=
            case $link in *#*) heading=${link#*#} ;; esac
            target=$1/$page
            [ -z "$file" ] || target=$(dirname "$1/$page")/$file
            if [ ! -e "$target" ]; then
                echo "$page: link to $link, which is not there"
            elif [ -n "$heading" ] && ! anchors "$target" | grep -qx -- "$heading"; then
                echo "$page: link to $link, which has no such heading"
            fi
        done
    done
}

# Files that comments of C sources name: by their path from the root or from a folder in it, or by their name alone.
check_files()
{
    (cd "$1" && find . -type f -name '*.[ch]' -not -path './build*' -not -path '*/node_modules/*') >files
    sources "$1" | grep '\.[ch]$' | found "$1" '//.*\.[ch]\b.*' |
        awk -F: 'NR == FNR { for (name = $0; i = index(name, "/"); ) { name = substr(name, i + 1); there[name] = 1 }; next }
            { comment = substr($0, length($1) + 1)
              while (match(comment, /(^|[^A-Za-z0-9_\/.])[a-z][a-z0-9_\/]+[a-z0-9_]\.[ch]($|[^a-zA-Z0-9_])/)) {
                  name = substr(comment, RSTART, RLENGTH); comment = substr(comment, RSTART + RLENGTH - 1)
                  gsub(/^[^a-z]|[^a-z]$/, "", name)
                  if (!(name in there)) print $1 ": names " name ", which is not there" } }' files - | sort -u
}

# Pages that sources point to, and sections of docs/math.md and docs/volume.md: "docs/math.md 3.1".
check_comments()
{
    sources "$1" | found "$1" '[A-Za-z0-9_/.-]+\.md( [0-9]+(\.[0-9]+)?)?' | while IFS=': ' read -r file page section; do
        if [ ! -e "$1/$page" ] && [ ! -e "$1/docs/$page" ]; then
            echo "$file: points to $page, which is not there"
        elif [ -n "$section" ]; then
            grep -qE "^#+ $section\.? " "$1/$page" || echo "$file: $page has no section $section"
        fi
    done
}

# Every scene has a line in docs/scene.md.
check_scenes()
{
    (cd "$1" && ls scenes) | grep '\.lua$' | while read -r scene; do
        grep -q "\`$scene\`" "$1/docs/scene.md" || echo "docs/scene.md: does not tell of scenes/$scene"
    done
}

check_tree()
{
    words "$1" | sort -u >known
    pages "$1" | found "$1" '\bmo_[a-z0-9_]+(\.\.\.)?' | check_names
    sources "$1" | grep '\.[ch]$' | found "$1" '//.*\bmo_.*' | grep -oE '^[^:]*:|\bmo_[a-z0-9_]+(\.\.\.)?' |
        awk '/:$/ { file = $0; next } { print file $0 }' | sort -u | check_names
    check_words "$1"
    check_walk "$1"
    check_places "$1"
    check_files "$1"
    check_paths "$1"
    check_links "$1"
    check_comments "$1"
    check_scenes "$1"
}

# What is wrong is found: a tree with one mistake of each kind.
mkdir -p wrong/docs wrong/src/sim wrong/scenes
printf '# Scenes\n`told.lua`\n' >wrong/docs/scene.md
touch wrong/scenes/told.lua wrong/scenes/untold.lua
cat >wrong/docs/page.md <<'END'
# A page
`mo_sim_step` and mo_sim_... are there, `mo_no_such_function` is not; src/sim/step.c is there, `src/sim/gone.c` is not.
[here](#a-page), [there](other.md), [nowhere](page.md#nothing)
END
printf '# The equations\n\n## 1. Unknowns\n' >wrong/docs/math.md
printf '// docs/math.md 1, docs/math.md 7, MATH.md; step.c, sim/gone.c; mo_sim_step, mo_sim_leap\nvoid mo_sim_step(void);\n' >wrong/src/sim/step.c
cat >wrong/docs/develop.md <<'END'
# Developing
`mo_sim_step` calls `choose_step`.
| stage | what happens | functions |
|---|---|---|
| `apply` | Something. | `reached`, `beyond`, `mo_sim_step` |
Then `beyond` (`src/sim/apply.c`), `reached`
(`src/sim/step.c`); `src/sim/step.c`: `mo_sim_step`.
END
cat >wrong/src/sim/apply.c <<'END'
static void beyond(void) {}
static void reached(void)
{
    beyond();
}
static const stage list[] = {
    {"reached", reached},
};
void mo_stage_apply(void)
{
    list[0].run();
}
END
check_tree "$PLACE/wrong" >found
cat >expected <<'END'
docs/page.md: there is no mo_no_such_function
src/sim/step.c: there is no mo_sim_leap
docs/develop.md: there is no choose_step
docs/develop.md: stage apply does not reach mo_sim_step
docs/develop.md: reached is not in src/sim/step.c
src/sim/step.c: names sim/gone.c, which is not there
docs/page.md: there is no src/sim/gone.c
docs/page.md: link to other.md, which is not there
docs/page.md: link to page.md#nothing, which has no such heading
src/sim/step.c: points to MATH.md, which is not there
src/sim/step.c: docs/math.md has no section 7
docs/scene.md: does not tell of scenes/untold.lua
END
diff expected found >difference || fail "mistakes in pages are not found as they should be: $(cat difference)"

check_tree "$ROOT" >found
while read -r line; do fail "$line"; done <found
finish
