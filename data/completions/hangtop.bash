# bash completion of hangtop. Asks `hangtop SUBCOMMAND --help`, so that it knows what this hangtop knows.

# The words a choice may have, from the line of its option in the help.
_hangtop_choices() { # SUBCOMMAND --OPTION
	hangtop "$1" --help 2>/dev/null | sed -n "s/^ .*$2=[A-Z]* *//p" | sed 's/(.*//; s/,//g; s/ or / /; s/: .*//'
}

_hangtop() {
	local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=run words
	local commands
	commands="run help $(hangtop --help 2>/dev/null | sed -n '/^Other subcommands/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' | tr '\n' ' ')"

	[[ " $commands " == *" ${COMP_WORDS[1]} "* && $COMP_CWORD -gt 1 ]] && command=${COMP_WORDS[1]}
	if [[ $current == = ]]; then
		current=
	elif [[ $before == = ]]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	COMPREPLY=()
	case $before in
	--scenario | --gpu | --color | --palette) words=$(_hangtop_choices "$command" "$before") ;;
	--engine) words="atom vllm sglang torchrun" ;;
	*)
		if [[ $current == -* ]]; then
			words=$(hangtop "$command" --help 2>/dev/null | grep -oE -- '^ +(-., )?--[a-z-]+=?' | grep -oE -- '--[a-z-]+=?')
		elif [[ $COMP_CWORD == 1 ]]; then
			words=$commands
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
	return 0
}

complete -o bashdefault -o default -F _hangtop hangtop
