# Which candidates are tried, from the JSON of `rank`: lines "MARKS<tab>a=aos/direct<tab>b=soa/direct", where MARKS is some
# of "pick" and "default", or "-". every=1: all of them. Else the best, the default, and the next ones of other kinds,
# which differ in more than the numbers of their notation: five at most.

BEGIN {
    most = 5
}

/^      "arrays": \{/ {
    inside = 1
    count++
    next
}

inside && /\}/ {
    inside = 0
}

inside {
    split($0, part, "\"")
    line[count] = line[count] "\t" part[2] "=" part[4]
}

/^      "default": true/ {
    usual = count
}

function choose(i, kind) {
    kind = line[i]
    gsub(/\([^)]*\)/, "", kind)
    if (!chosen[i] && (every || i == usual || !(kind in seen))) {
        chosen[i] = 1
        seen[kind]
        taken++
    }
}

END {
    choose(1)
    if (usual)
        choose(usual)
    for (i = 1; i <= count && (every || taken < most); i++)
        choose(i)
    for (i = 1; i <= count; i++)
        if (chosen[i])
            print (i == 1 ? i == usual ? "pick,default" : "pick" : i == usual ? "default" : "-") line[i]
}
