# Puts what Nsight Compute counted beside what was predicted: a line for each program's kernel, closing with "equal" or
# "DIFFERENT"; where a count differs both are shown, "predicted|measured". Files: lines "PROGRAM CANDIDATES KERNEL SPACE
# OP PHASE REQUESTS SECTORS WAVEFRONTS CONFLICTS" of the prediction, then ncu's raw page as CSV.

# Loads of shared memory carry arbitration on top of their bank conflicts; the difference of both counters does not.
function predict(key) {
    if ($4 == "global" && $5 == "atomic") {
        predicted[key, "atomics"] += $7
        predicted[key, "atomic sectors"] += $8
    } else if ($4 == "global") {
        predicted[key, $5 == "read" ? "loads" : "stores"] += $7
        predicted[key, $5 == "read" ? "load sectors" : "store sectors"] += $8
    }
    # Words of a copy are stored on the way in and loaded on the way out.
    if ($6 == "copy-out" || ($6 == "threads" && $5 == "read"))
        predicted[key, "shared loads"] += $9 - $10
    else {
        predicted[key, "shared stores"] += $9
        predicted[key, "conflicts"] += $10
    }
}

# Splits a line of CSV whose fields may be quoted into cell[1...].
function split_csv(line, count) {
    count = 0
    while (match(line, /^("([^"]|"")*"|[^,]*)(,|$)/)) {
        field = substr(line, 1, RLENGTH)
        line = substr(line, RLENGTH + 1)
        sub(/,$/, "", field)
        gsub(/^"|"$/, "", field)
        cell[++count] = field
        if (line == "")
            break
    }
    return count
}

function metric(name, value) {
    value = cell[column[name]]
    gsub(/,/, "", value)
    return value + 0
}

function measure(key) {
    measured[key]++
    count[key, "loads"] += metric(requests "ld.sum")
    count[key, "load sectors"] += metric(sectors "ld.sum")
    count[key, "stores"] += metric(requests "st.sum")
    count[key, "store sectors"] += metric(sectors "st.sum")
    count[key, "atomics"] += metric(requests "red.sum") + metric(requests "atom.sum")
    count[key, "atomic sectors"] += metric(sectors "red.sum") + metric(sectors "atom.sum")
    count[key, "shared loads"] += metric(wavefronts "ld.sum") - metric(conflicts "ld.sum")
    count[key, "shared stores"] += metric(wavefronts "st.sum")
    count[key, "conflicts"] += metric(conflicts "st.sum")
}

BEGIN {
    requests = "l1tex__t_requests_pipe_lsu_mem_global_op_"
    sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
    wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_"
    columns = split("loads,load sectors,stores,store sectors,atomics,atomic sectors,shared loads,shared stores,conflicts",
        title, ",")
}

FNR == 1 {
    file++
}

file == 1 {
    key = $1 SUBSEP $3
    if (!(key in candidate)) {
        candidate[key] = $2
        order[++keys] = key
    }
    predict(key)
}

file == 2 && /^"ID"/ {
    fields = split_csv($0)
    for (i = 1; i <= fields; i++)
        column[cell[i]] = i
}

file == 2 && /^"[0-9]/ {
    split_csv($0)
    name = cell[column["Kernel Name"]]
    sub(/^void /, "", name)
    sub(/[<(].*$/, "", name)
    sub(/^.*::/, "", name)
    sub(/_*$/, "", name)
    measure(cell[column["Process Name"]] SUBSEP name)
}

END {
    printf "%-16s %-16s %-40s", "description", "kernel", "candidate"
    for (c = 1; c <= columns; c++)
        printf " %14s", title[c]
    print ""
    for (k = 1; k <= keys; k++) {
        key = order[k]
        split(key, part, SUBSEP)
        sub(/\.[0-9]*$/, "", part[1])
        printf "%-16s %-16s %-40s", part[1], part[2], candidate[key]
        verdict = measured[key] == 1 ? "equal" : "DIFFERENT: " measured[key] + 0 " launches were seen"
        for (c = 1; c <= columns; c++) {
            p = predicted[key, title[c]] + 0
            m = count[key, title[c]] + 0
            if (p != m && measured[key] == 1)
                verdict = "DIFFERENT"
            printf " %14s", p == m ? p : p "|" m
        }
        print " " verdict
    }
}
