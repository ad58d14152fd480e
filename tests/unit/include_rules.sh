#!/bin/sh
# Who may include whom: the table of doc/architecture.md's folders, checked on every #include line. Speaks TAP.
# It first proves on a broken tree that it can fail.
set -u
top=${srcdir:-.}

# folder|what its files may include, as extended regular expression of the path
rules='src/base|base/
src/parse|base/|parse/
src/model|base/|model/
src/store|base/|model/(observation|kinds|model|history|stacks)|store/
src/transport|base/|model/observation|transport/
src/source|base/|parse/|model/observation|transport/|source/
src/snapshot|base/|parse/|model/observation|transport/|snapshot/
src/app|base/|parse/|model/|store/|transport/|source/|snapshot/|app/|ui/
ui|base/|model/|parse/code_object|ui/'

# Prints one line for each broken rule in the tree $1.
broken() {
	echo "$rules" | while IFS='|' read -r folder allowed; do
		for file in "$1/$folder"/*.c "$1/$folder"/*.h; do
			[ -f "$file" ] || continue
			grep -nE '^#include "' "$file" | grep -vE "\"($allowed|config\.h)" | sed "s|^|${file#"$1"/}: may not include: |"
		done
	done
	grep -nE '^#include <(n?curses|term)(w?/.*)?\.h>' "$1"/src/*/*.c "$1"/ui/*.c 2>/dev/null | grep -vE '/(ui/term(_palette)?|src/app/(main|doctor_look))\.c:' | sed 's/$/: only ui\/term may know curses/'
	grep -nE '^#include (<(time|unistd|fcntl|sys/stat|dirent)\.h>|"base/clock\.h")' "$1"/src/parse/*.[ch] "$1"/src/model/*.[ch] 2>/dev/null | sed 's/$/: no clock and no files in parse and model/'
	grep -nE '(^|[^_[:alnum:]])(strcpy|strcat|sprintf|vsprintf|strtok|gets|atoi|atol|sscanf)\(' "$1"/src/*/*.c "$1"/ui/*.c 2>/dev/null | sed 's/$/: banned/'
}

echo 1..3
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/src/parse" "$tmp/src/model" "$tmp/ui"
printf '#include "store/reader.h"\nint f(char *s) { return atoi(s); }\n' >"$tmp/src/parse/a.c"
printf '#include <time.h>\n' >"$tmp/src/model/b.c"
printf '#include <ncurses.h>\n' >"$tmp/ui/panel_x.c"
[ "$(broken "$tmp" | wc -l)" = 4 ] && echo 'ok 1 - a broken tree is seen' || echo 'not ok 1 - a broken tree is not seen'
[ "$(ls "$top"/src/base/*.c | wc -l)" -ge 5 ] && echo 'ok 2 - the sources are there' || echo 'not ok 2 - no sources found'
found=$(broken "$top")
if [ -z "$found" ]; then
	echo 'ok 3 - every include keeps to its folder, nothing banned is called'
else
	echo 'not ok 3 - rules are broken'
	echo "$found" | sed 's/^/# /'
	exit 1
fi
