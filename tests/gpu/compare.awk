# Puts what Nsight Compute counted beside what was predicted: a line for each program's kernel, closing with "equal" or
# "DIFFERENT"; where a count differs both are shown, "predicted|measured". Files: lines "PROGRAM CANDIDATES MARKS KERNEL
# SPACE OP PHASE REQUESTS SECTORS WAVEFRONTS CONFLICTS" of the prediction; "PROGRAM KERNEL" of the launches, in their order;
# ncu's raw page of these launches, then its source page of the first ones, as CSV. What was counted in L2 and DRAM goes to
# the file `traffic`: "PROGRAM KERNEL", sectors of L2 read and written, of DRAM read and written.
#
# Counters of shared memory carry arbitration with other traffic on top of the bank conflicts, in both of their kinds:
# wavefronts minus conflicts must be equal (of stores, which come out otherwise from run to run, to 1 %), and what is on top
# be 8 % at most, of stores, which wait for what global loads bring, 30 %. Of what the warps of a `shuffle` exchange only
# the sum of loads, stores and their conflicts must be equal but for that.

function predict(key, wavefronts) {
    if ($5 == "global" && $6 == "atomic") {
        predicted[key, "atomics"] += $8
        predicted[key, "their sectors"] += $9
    } else if ($5 == "global") {
        predicted[key, $6 == "read" ? "loads" : "stores"] += $8
        predicted[key, $6 == "read" ? "load sectors" : "store sectors"] += $9
    }
    # A warp's exchange has its passes twice, stored and loaded; the pieces' side, as in memory, has the conflicts.
    if ($5 == "global" && $7 == "threads") {
        predicted[key, "shared loads"] += ($10 - $11) / 2
        predicted[key, "shared stores"] += ($10 - $11) / 2
        predicted[key, $6 == "read" ? "shared stores conflicts" : "shared loads conflicts"] += $11
        exchanged[key] = exchanged[key] || $10 > 0
        return
    }
    # Words of a copy are stored on the way in and loaded on the way out.
    wavefronts = $7 == "copy-out" || ($7 == "threads" && $6 == "read") ? "shared loads" : "shared stores"
    predicted[key, wavefronts] += $10 - $11
    predicted[key, wavefronts " conflicts"] += $11
}

# Splits a line of CSV, whose fields may be quoted, into cell[1...].
function split_csv(line, fields, from, field) {
    fields = 0
    while (line != "") {
        if (substr(line, 1, 1) == "\"") {
            from = 2
            while (substr(line, from, 1) != "\"" || substr(line, from + 1, 1) == "\"")
                from += substr(line, from, 1) == "\"" ? 2 : 1
            field = substr(line, 2, from - 2)
            line = substr(line, from + 2)
        } else {
            from = index(line ",", ",")
            field = substr(line, 1, from - 1)
            line = substr(line, from + 1)
        }
        cell[++fields] = field
    }
    return fields
}

function read_header(fields, i) {
    fields = split_csv($0)
    for (i in column)
        delete column[i]
    for (i = 1; i <= fields; i++)
        column[cell[i]] = i
}

function metric(name, value) {
    value = column[name] == "" ? 0 : cell[column[name]]
    gsub(/,/, "", value)
    return value + 0
}

function kernel_of(name) {
    sub(/^void /, "", name)
    sub(/[<(].*$/, "", name)
    sub(/^.*::/, "", name)
    sub(/_*$/, "", name)
    return name
}

function measure_shared(key, what, op, conflict) {
    conflict = metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" op ".sum")
    measured[key, what] += metric("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" op ".sum") - conflict
    measured[key, what " conflicts"] += conflict
}

function measure(key, requests, sectors) {
    requests = "l1tex__t_requests_pipe_lsu_mem_global_op_"
    sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
    launches[key]++
    measured[key, "loads"] += metric(requests "ld.sum")
    measured[key, "load sectors"] += metric(sectors "ld.sum")
    measured[key, "stores"] += metric(requests "st.sum")
    measured[key, "store sectors"] += metric(sectors "st.sum")
    measured[key, "atomics"] += metric(requests "red.sum") + metric(requests "atom.sum")
    measured[key, "their sectors"] += metric(sectors "red.sum") + metric(sectors "atom.sum")
    measure_shared(key, "shared loads", "ld")
    measure_shared(key, "shared stores", "st")
    if (traffic != "")
        print launched_as[rows], metric("lts__t_sectors_srcunit_tex_op_read.sum"),
            metric("lts__t_sectors_srcunit_tex_op_write.sum"), metric("dram__sectors_read.sum"),
            metric("dram__sectors_write.sum") >traffic
}

# A row of the source page: only tables are read through pointers to constants, arrays through views. An instruction that
# no thread's predicate lets through is executed and issues nothing.
function measure_instruction(key) {
    if (cell[column["Source"]] !~ /LDG[.A-Z0-9]*\.CONSTANT/ || metric("Predicated-On Thread Instructions Executed") == 0)
        return
    measured[key, "loads"] -= metric("Instructions Executed")
    measured[key, "load sectors"] -= metric("L2 Theoretical Sectors Global")
    looked_up[key] += metric("Instructions Executed")
}

BEGIN {
    columns = split("loads,load sectors,stores,store sectors,atomics,their sectors,shared loads,shared stores", title, ",")
}

FNR == 1 {
    for (file = 1; ARGV[file] != FILENAME; file++)
        continue
}

file == 1 {
    key = $1 SUBSEP $4
    if (!(key in candidate)) {
        candidate[key] = $2
        order[++keys] = key
    }
    predict(key)
}

file == 2 {
    launched[++launches_told] = $1 SUBSEP $2
    launched_as[launches_told] = $0
}

file == 3 && /^"ID"/ {
    read_header()
}

file == 3 && /^"[0-9]/ {
    split_csv($0)
    split(launched[++rows], part, SUBSEP)
    if (kernel_of(cell[column["Kernel Name"]]) != part[2])
        exit misplaced = 1
    measure(launched[rows])
}

# The page has one part a launch, and may say it twice: a part that begins at the address of the one before is the same.
file == 4 && /^"?Kernel Name"?,/ {
    name = $0
}

file == 4 && /"?Address"?,.*"?Source"?,/ {
    read_header()
    begins = 1
    next
}

file == 4 && begins {
    split_csv($0)
    place = name cell[column["Address"]]
    again = place == last_place
    source += !again
    last_place = place
    begins = 0
}

file == 4 && source > 0 && !again && /LDG/ {
    split_csv($0)
    measure_instruction(launched[source])
}

function noisy(key, what, share, p, m) {
    p = predicted[key, what " conflicts"] + 0
    m = measured[key, what " conflicts"] + 0
    return m < p || m > p + (predicted[key, what] + p) * share
}

function is_noisy(key) {
    return exchanged[key] ? noisy_exchange(key) : noisy(key, "shared loads", 0.08) || noisy(key, "shared stores", 0.3)
}

function shared_sum(counts, key) {
    return counts[key, "shared loads"] + counts[key, "shared loads conflicts"] + counts[key, "shared stores"] + \
        counts[key, "shared stores conflicts"]
}

function noisy_exchange(key, p, m) {
    p = shared_sum(predicted, key)
    m = shared_sum(measured, key)
    return m < p * 0.999 || m > p * 1.08
}

# An atomic instruction to many lines in no order takes up to two sectors more than its lanes' turns tell.
function may_be_more(key, what, more) {
    if (what == "shared stores" && (more < 0 ? -more : more) <= predicted[key, what] * 0.01)
        return 1
    return exchanged[key] && what ~ /^shared/ || what == "their sectors" && more >= 0 && more <= 2 * predicted[key, "atomics"]
}

END {
    printf "%-15s %-15s", "description", "kernel"
    for (c = 1; c <= columns; c++)
        printf " %13s", title[c]
    print "  look-ups  candidates"
    for (k = 1; k <= keys; k++) {
        key = order[k]
        split(key, part, SUBSEP)
        sub(/\.[0-9]*$/, "", part[1])
        printf "%-15s %-15s", part[1], part[2]
        verdict = launches[key] == 1 ? "equal" : "DIFFERENT: launches seen: " (launches[key] + 0)
        for (c = 1; c <= columns; c++) {
            p = predicted[key, title[c]] + 0
            m = measured[key, title[c]] + 0
            if (p != m && launches[key] == 1 && !may_be_more(key, title[c], m - p))
                verdict = "DIFFERENT"
            printf " %13s", p == m ? p : p "|" m
        }
        if (launches[key] == 1 && is_noisy(key))
            verdict = "DIFFERENT: shared conflicts " (predicted[key, "shared loads conflicts"] + 0) "|" \
                measured[key, "shared loads conflicts"] ", " (predicted[key, "shared stores conflicts"] + 0) "|" \
                measured[key, "shared stores conflicts"]
        printf " %9d  %s: %s\n", looked_up[key], candidate[key], verdict
    }
}
