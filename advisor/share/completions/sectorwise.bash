# Completion for bash: asks the tool itself, which knows its commands and options, the devices that are built in, and the
# params, arrays and kernels of the description on the line.

_sectorwise() {
    local words=() last=-1 word joining= open= value cut= line
    # Bash parts words at '=', the tool wants them whole.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ $last -ge 0 && ($word == = || $joining) ]]; then
            words[last]+=$word
        else
            words[++last]=$word
        fi
        joining=
        if [[ $word == = ]]; then joining=yes; fi
    done
    case ${words[last]} in [\"\']*) open=${words[last]:0:1} ;; esac
    words=("${words[@]//\\/}")
    words=("${words[@]#[\"\']}")
    words=("${words[@]%[\"\']}")
    value=${words[last]}
    if [[ $value == *=* && -z $open && $COMP_WORDBREAKS == *=* ]]; then cut=${value%"${value##*=}"}; fi
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files | :folders)
            compopt -o filenames
            word=-f
            if [[ $line == :folders ]]; then word=-d; fi
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen $word -- "${value##--*=}")
            ;;
        *)
            if [[ $line == *= ]]; then compopt -o nospace; fi
            line=${line#"$cut"}
            if [[ -z $open ]]; then printf -v line %q "$line"; fi
            COMPREPLY+=("$line")
            ;;
        esac
    done < <("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null)
}

complete -F _sectorwise sectorwise
