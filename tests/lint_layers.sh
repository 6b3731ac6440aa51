#!/bin/sh
# Checks who includes whom in advisor/. A file may include the headers of its own module and of the layers below, and
# nothing else; a library's headers only where the second table allows them. Exits 1 with FILE:LINE for each violation.
set -u
cd "$(dirname "$0")/.." || exit 2

# One layer a line, the highest first. A module owns MODULE.c, MODULE.h and MODULE_*.[ch], except what a longer name
# in the table owns. Modules joined by + are one: a description holds expressions, an expression names its tables.
layers='
main
cli
sectorwise
report
generate emit fmt
view
gate
diff
verify
rank cost
groups
estimate
explain
look_ups
score
candidates
stage wide
traffic
pattern
launch+evaluate+trace
coverage block_set
request
plan
layout
check
device_load
read embedded ncu
template
template_lex
steps varies
device
expr+spec
expr_lex notation
diag
unified
source
sort_warps sort_numbers lanes
beside
text progress arena checked vectors
'

# How a library's headers begin, and the modules whose files may include them.
libraries='
libxml/   read
pcre2     template_lex expr_lex
jansson   template view emit report generate cli
'

# shellcheck disable=SC2046
{
    echo "$layers" | awk 'NF { print "layer", $0 }'
    echo "$libraries" | awk 'NF { print "library", $0 }'
    grep -n '^[[:space:]]*#[[:space:]]*include' /dev/null $(ls advisor/*.[ch] 2>/dev/null)
} | awk '
    # The module that owns a file: the longest name of the table that is its stem, or its stem up to an underscore.
    function module_of(file, stem) {
        stem = file
        sub(/^.*\//, "", stem)
        sub(/\.[ch]$/, "", stem)
        while (!(stem in layer) && stem ~ /_/)
            sub(/_[^_]*$/, "", stem)
        return stem in layer ? module[stem] : ""
    }
    function layer_of(owner) {
        sub(/[+].*$/, "", owner)
        return layer[owner]
    }
    function complain(message) {
        print place ": " message
        bad = 1
    }
    function check_library(header, owner, prefix) {
        for (prefix in allowed)
            if (index(header, prefix) == 1 && index(allowed[prefix], " " owner " ") == 0)
                complain("<" header "> is for" allowed[prefix] "only")
    }
    function check_own(header, file, owner, other) {
        other = module_of(header)
        if (other == "")
            complain("\"" header "\" is of no module in the table of layers")
        else if (other != owner && layer_of(other) <= layer_of(owner))
            complain("\"" header "\" is not below " owner)
        if (file ~ /\.h$/)
            edges[file] = edges[file] " advisor/" header
    }
    # Headers of one module could still include each other in a circle.
    function visit(file, list, count, i) {
        state[file] = 1
        count = split(edges[file], list, " ")
        for (i = 1; i <= count; i++) {
            if (state[list[i]] == 1) {
                print file ":1: \"" list[i] "\" includes it in turn"
                bad = 1
            } else if (state[list[i]] == 0)
                visit(list[i])
        }
        state[file] = 2
    }
    $1 == "layer" {
        depth++
        for (i = 2; i <= NF; i++) {
            count = split($i, joined, "+")
            for (j = 1; j <= count; j++) {
                layer[joined[j]] = depth
                module[joined[j]] = $i
            }
        }
        next
    }
    $1 == "library" {
        allowed[$2] = " "
        for (i = 3; i <= NF; i++)
            allowed[$2] = allowed[$2] $i " "
        next
    }
    {
        split($0, part, ":")
        place = part[1] ":" part[2]
        header = $0
        gsub(/^[^<"]*[<"]|[>"].*$/, "", header)
        owner = module_of(part[1])
        if (owner == "") {
            if (!(part[1] in strange))
                complain(part[1] " is of no module in the table of layers")
            strange[part[1]] = 1
        } else if ($0 ~ /include[[:space:]]*</)
            check_library(header, owner)
        else
            check_own(header, part[1], owner)
    }
    END {
        for (file in edges)
            if (state[file] == 0)
                visit(file)
        exit bad
    }'
