# fish completion of hangtop. Asks `hangtop SUBCOMMAND --help`, so that it knows what this hangtop knows.

function __hangtop_commands
    echo run
    hangtop --help 2>/dev/null | string replace -rf -- '^  ([a-z]+) +(.*)$' '$1\t$2'
end

function __hangtop_command
    set -l words (commandline -opc)
    if contains -- "$words[2]" (__hangtop_commands | string replace -r '\t.*' '')
        echo $words[2]
    else
        echo run
    end
end

function __hangtop_options
    hangtop (__hangtop_command) --help 2>/dev/null | string replace -rf -- '^ +(?:-., )?(--[a-z-]+=?)[A-Z]* +(.*)$' '$1\t$2'
end

function __hangtop_choices
    set -l option (commandline -ct | string replace -rf -- '^(--[a-z]+)=.*' '$1')
    hangtop (__hangtop_command) --help 2>/dev/null | string replace -rf -- "^ +(?:-., )?$option=[A-Z]+ +([^(]*).*" '$1' |
        string replace -a ',' '' | string replace ' or ' ' ' | string split -n ' ' | string replace -r -- '^' "$option="
end

complete -c hangtop -n '__fish_is_nth_token 1' -a '(__hangtop_commands)'
complete -c hangtop -n 'string match -qr -- "^--(scenario|gpu|color|palette)=" (commandline -ct)' -f -a '(__hangtop_choices)'
complete -c hangtop -n 'string match -qr -- "^-[^=]*\$" (commandline -ct)' -a '(__hangtop_options)'
