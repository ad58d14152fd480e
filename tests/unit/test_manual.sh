#!/bin/sh
# The manual page knows every option and subcommand of the program, and the program every option of the manual page. TAP.
page=$srcdir/doc/hangtop.1
hangtop=$builddir/hangtop
commands="run $("$hangtop" --help | sed -n '/^Other subcommands/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')"
told=$(for command in $commands; do "$hangtop" $command --help; done | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u)
written=$(sed -n '/^.SH OPTIONS/,/^.SH KEYS/p' "$page" | sed 's/\\-/-/g' | grep '^\.B' | grep -oE -- '--[a-z-]+' | sort -u)

n=0
result() { # STATUS NAME
	n=$((n + 1))
	[ "$1" = 0 ] && echo "ok $n - $2" || echo "not ok $n - $2"
}

echo 1..4
[ -n "$told" ] && [ "$told" = "$written" ]
result $? "the options of --help are those of the manual page"
[ "$told" = "$written" ] || { echo "# --help: $(echo $told)"; echo "# page:   $(echo $written)"; }
status=0
for command in $commands; do
	sed -n '/^.SH SUBCOMMANDS/,/^.SH OPTIONS/p' "$page" | grep -qE "^\.BI? $command( |\$)" || { echo "# $command is not described"; status=1; }
done
result $status "the subcommands are described"
"$hangtop" --nonsense 2>/dev/null
[ $? = 64 ]
result $? "wrong usage is status 64, as the page says"
offered=$(PATH=$builddir:$PATH bash -c '. "$1"; COMP_WORDS=(hangtop ""); COMP_CWORD=1; _hangtop 2>/dev/null; echo "${COMPREPLY[*]}"' bash "$srcdir/data/completions/hangtop.bash")
[ "$(for word in $offered; do echo $word; done | sort)" = "$(for word in $commands help; do echo $word; done | sort)" ]
result $? "bash completes every subcommand"
