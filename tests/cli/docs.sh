# The pages tell the truth about the tree: every function, file and page that they name exists, and so does every page
# that a comment points to. Nothing is built or run for it.
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

# Words that begin with mo_ in pages; a trailing ... or _ stands for a family of names.
check_names()
{
    sources "$1" | found "$1" '\bmo_[a-z0-9_]+' | sed 's/.*://' | sort -u >known
    pages "$1" | found "$1" '\bmo_[a-z0-9_]+(\.\.\.)?' | while IFS=: read -r page name; do
        case $name in
        *... | *_) grep -q "^${name%...}" known || echo "$page: nothing begins with ${name%...}" ;;
        *) grep -qx "$name" known || echo "$page: there is no $name" ;;
        esac
    done
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
    check_names "$1"
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
printf '// docs/math.md 1, docs/math.md 7, MATH.md\nvoid mo_sim_step(void);\n' >wrong/src/sim/step.c
check_tree "$PLACE/wrong" >found
cat >expected <<'END'
docs/page.md: there is no mo_no_such_function
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
