# Puts what was measured of the candidates of each description beside what was estimated, a candidate a line, the sums of
# its kernels, each times its calls; then, for each description, the pick and the fastest measured. Files: "PROGRAM KERNEL
# TIME us" of some passes, whose median counts; "PROGRAM KERNEL" and sectors of L2 read and written, of DRAM read and written, of a
# launch that finds caches empty; "PROGRAM CANDIDATES MARKS KERNEL CALLS TIME" and the estimates of the same, DRAM's in
# bytes.
#
# Times are of launches that are repeated, so that L2 may hold what the one before has left. What is written is mostly in
# L2 still when a launch ends: DRAM's writes are not compared.

BEGIN {
    near = 1.03
}

FNR == 1 {
    for (file = 1; ARGV[file] != FILENAME; file++)
        continue
}

# Keeps the times of a kernel in order.
file == 1 {
    key = $1 SUBSEP $2
    for (place = passes[key]++; place > 0 && times[key, place] > $3; place--)
        times[key, place + 1] = times[key, place]
    times[key, place + 1] = $3 + 0
    us[key] = times[key, int((passes[key] + 1) / 2)]
}

file == 2 {
    l2[$1, $2] = $3 + $4
    dram_read[$1, $2] = $5
}

file == 3 {
    key = $1 SUBSEP $4
    if (!($1 in candidates)) {
        candidates[$1] = $2
        marks[$1] = $3
        order[++programs] = $1
        timed[$1] = counted[$1] = 1
    }
    timed[$1] = timed[$1] && key in us
    counted[$1] = counted[$1] && key in l2
    estimated_us[$1] += $5 * $6
    measured_us[$1] += $5 * us[key]
    estimated_l2[$1] += $5 * ($7 + $8)
    measured_l2[$1] += $5 * l2[key]
    estimated_read[$1] += $5 * $9 / 32
    measured_read[$1] += $5 * dram_read[key]
}

function description_of(program) {
    sub(/\.[0-9]*$/, "", program)
    return program
}

# An estimate of so many digits, what was measured, and how far the one is from the other.
function put(estimate, measurement, known, digits) {
    if (known && measurement > 0)
        printf " %12.*f %12.*f %+6.0f%%", digits, estimate, digits, measurement, 100 * (estimate / measurement - 1)
    else
        printf " %12.*f %12s %7s", digits, estimate, "-", ""
}

function take(program, name) {
    name = description_of(program)
    if (!(name in fastest)) {
        names[++descriptions] = name
        fastest[name] = program
    }
    if (measured_us[program] < measured_us[fastest[name]])
        fastest[name] = program
    tried[name]++
    if (marks[program] ~ /pick/)
        pick[name] = program
}

END {
    printf "%-15s %33s %33s %33s  %s\n", "", "time, us, of repeated launches", "L2 sectors, L1 empty", \
        "DRAM sectors read, L2 empty", "estimated, measured, how far"
    for (i = 1; i <= programs; i++) {
        program = order[i]
        printf "%-15s", description_of(program)
        put(estimated_us[program], measured_us[program], timed[program], 2)
        put(estimated_l2[program], measured_l2[program], counted[program], 0)
        put(estimated_read[program], measured_read[program], counted[program], 0)
        print "  " candidates[program] (marks[program] == "-" ? "" : "  " marks[program])
        if (timed[program])
            take(program)
    }
    print "\ndescription     tried     pick us  fastest us  ratio  pick; the fastest, where it is another"
    for (i = 1; i <= descriptions; i++) {
        name = names[i]
        if (!(name in pick))
            continue
        ratio = measured_us[pick[name]] / measured_us[fastest[name]]
        good += ratio <= near
        judged++
        printf "%-15s %5d %11.2f %11.2f %6.3f  %s%s\n", name, tried[name], measured_us[pick[name]], \
            measured_us[fastest[name]], ratio, candidates[pick[name]], \
            fastest[name] == pick[name] ? "" : "; " candidates[fastest[name]]
    }
    printf "the pick is the fastest or within 3 %% of it in %d of %d descriptions\n", good, judged
}
