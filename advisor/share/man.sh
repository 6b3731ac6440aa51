#!/bin/sh
# Writes the manual pages, sectorwise.1 and sectorwise-COMMAND.1 for each command, into a folder. Their source is what
# --help says, so that the two cannot differ; what all pages share stands below.
#
#   advisor/share/man.sh TOOL FOLDER
set -eu
tool=$1 folder=$2
share=$(dirname "$0")
version=$("$tool" --version | sed 's/.* //')
commands=$("$tool" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')

# head NAME SUMMARY
head_of_page() {
    title=$(echo "$1" | tr '[:lower:]' '[:upper:]')
    printf '.TH "%s" 1 "" "Sectorwise %s" "User commands"\n' "$title" "$version"
    printf '.SH NAME\n%s \\- %s\n' "$(echo "$1" | sed 's/-/\\-/g')" "$2"
}

rest_of_page() {
    cat <<'END'
.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
a finding: stale code, a regression, a description that does not hold, counts that differ
.TP
.B 2
bad usage or bad input; nothing was written
.TP
.B 3
a fault of the tool, or of the machine it runs on
.SH ENVIRONMENT
.TP
.B NO_COLOR
where it is set and not empty, there are no colours unless
.B \-\-color always
asks for them
.TP
.B TERM
.B dumb
means no colours
.SH SEE ALSO
END
    for command in $commands; do
        if [ "$command" != "$1" ]; then printf '.BR sectorwise\\-%s (1),\n' "$command"; fi
    done | if [ -n "$1" ]; then
        printf '.BR sectorwise (1),\n'
        cat
    else
        cat
    fi | sed '$s/,$//'
}

mkdir -p "$folder"
{
    head_of_page sectorwise 'which memory layout moves the least on a GPU'
    "$tool" --help | awk -f "$share/man.awk"
    rest_of_page ''
} >"$folder/sectorwise.1"
for command in $commands; do
    {
        head_of_page "sectorwise-$command" "$("$tool" --help | sed -n "s/^  $command  *//p")"
        "$tool" "$command" --help | awk -f "$share/man.awk"
        rest_of_page "$command"
    } >"$folder/sectorwise-$command.1"
done
