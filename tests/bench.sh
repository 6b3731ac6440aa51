#!/bin/sh
# Measures the budgets of the design (section 9) and prints one line each: the budget, what was measured, and whether it
# is within. Times are medians of wall time; in brackets stands the least time that a run took on all cores together,
# which says more where others use the machine too. A time is `busy` where it is over the budget but the one in brackets
# is not: an idle machine would have been within. Rates a core go by the time in brackets. Exits 1 where something fails
# or two ways to count differ, never because of a time.
#
#   SECTORWISE=TOOL BENCH_DIR=DIR tests/bench.sh      DIR holds bench_run, bench_score, bench_groups and bench_render
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
bench=${BENCH_DIR:-build/default/tests}
data=tests/data/bench
failed=0
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# row WORK BUDGET MEASURED VERDICT NOTE
row() {
    printf '%-52s %15s %15s  %-6s  %s\n' "$@"
}

fail() {
    row "$1" "$2" '-' 'failed' "$3"
    failed=1
}

# judge MEASURED at-most|at-least LIMIT: within or over
judge() {
    awk -v a="$1" -v how="$2" -v b="$3" 'BEGIN { print (how == "at-most" ? a <= b : a >= b) ? "within" : "over" }'
}

# judge_time MS CPU_MS LIMIT_MS: within, busy or over
judge_time() {
    verdict=$(judge "$1" at-most "$3")
    if [ "$verdict" = over ] && [ "$(judge "$2" at-most "$3")" = within ]; then verdict=busy; fi
    echo "$verdict"
}

# calculate FORMAT EXPRESSION
calculate() {
    awk "BEGIN { printf \"$1\", $2 }"
}

# time_row WORK LIMIT_MS MS CPU_MS NOTE; an empty limit: no budget
time_row() {
    if [ -n "$2" ]; then
        row "$1" "<= $2 ms" "$(calculate '%.2f ms' "$3")" "$(judge_time "$3" "$4" "$2")" "$5 $(calculate '[%.2f ms]' "$4")"
    else
        row "$1" '' "$(calculate '%.2f ms' "$3")" '' "$5 $(calculate '[%.2f ms]' "$4")"
    fi
}

# process_row WORK LIMIT_MS RUNS CORES ARGUMENT...: the tool's own time, start of the process included
process_row() {
    work=$1 limit=$2 runs=$3 cores=$4
    shift 4
    if result=$(OMP_NUM_THREADS=$cores "$bench/bench_run" "$runs" "$tool" "$@"); then
        # shellcheck disable=SC2086
        set -- $result
        time_row "$work" "$limit" "$1" "$2" "$runs runs, process"
        peak=$3
    else
        fail "$work" "$limit ms" "$tool $*"
        peak=
    fi
}

# memory_row WORK LIMIT_MIB NOTE: of the last process_row
memory_row() {
    if [ -n "$peak" ]; then
        row "$1" "<= $2 MiB" "$peak MiB" "$(judge "$peak" at-most "$2")" "$3"
    fi
}

# score_row WORK LIMIT_MS RUNS SPEC: counting alone
score_row() {
    if result=$(OMP_NUM_THREADS=2 "$bench/bench_score" tool "$3" "$4"); then
        work=$1 limit=$2 runs=$3
        # shellcheck disable=SC2086
        set -- $result
        time_row "$work" "$limit" "$1" "$2" "$runs runs, in process, $(calculate '%.3g' "$3") lane addresses"
    else
        fail "$1" "$2 ms" "$4"
    fi
}

# rate_row WORK LIMIT_MILLIONS WAY CORES RUNS SPEC: lane addresses a second a core, by the time that the cores spent; an
# empty limit: a yardstick. A core that waits for one that others keep busy is not to spend its time on that.
rate_row() {
    work=$1 limit=$2 way=$3 cores=$4 runs=$5 spec=$6
    if ! result=$(OMP_WAIT_POLICY=passive OMP_NUM_THREADS=$cores "$bench/bench_score" "$way" "$runs" "$spec"); then
        fail "$work" "$limit M/s" "$spec"
        return
    fi
    # shellcheck disable=SC2086
    set -- $result
    rate=$(calculate '%.1f' "$3 / $2 / 1000")
    note="$runs runs, in process, $3 lane addresses, $(calculate '%.1f ms [%.1f ms]' "$1, $2")"
    if [ -n "$limit" ]; then
        row "$work" ">= $limit M/s" "$rate M/s" "$(judge "$rate" at-least "$limit")" "$note"
    else
        row "$work" '' "$rate M/s" '' "$note"
    fi
    shift 2
    [ -n "$counted" ] || counted=$*
    if [ "$counted" != "$*" ]; then
        fail "$work" 'equal counts' "counts $*, the tool $counted"
    fi
}

# irregular_rows NAME SPEC: the tool, then the yardsticks, which must count the same
irregular_rows() {
    counted=
    rate_row "$1, 1 core" 400 tool 1 5 "$2"
    rate_row "$1, 2 cores, each" 400 tool 2 5 "$2"
    rate_row "  yardstick: a loop in C, 1 core" '' compiled 1 3 "$2"
    rate_row "  yardstick: expr_evaluate a thread, 1 core" '' evaluated 1 1 "$2"
}

# The most threads (a power of two) that a scatter walks in 20 s, as a small one foretells; 2^26 at least.
scatter_exponent() {
    # shellcheck disable=SC2046
    set -- $(OMP_NUM_THREADS=2 "$bench/bench_run" 1 "$tool" score -D 'THREADS=1 shl 26' "$data/scatter.xml")
    awk -v ms="${1:-20000}" 'BEGIN { for (e = 26; e < 30 && ms * 2 <= 20000; e++) ms *= 2; print e }'
}

# groups_row WORK LIMIT_MS RUNS SPEC: the search alone, and the process's peak memory
groups_row() {
    if result=$(OMP_NUM_THREADS=2 "$bench/bench_groups" "$3" "$4") &&
        held=$(OMP_NUM_THREADS=2 "$bench/bench_run" 1 "$bench/bench_groups" 1 "$4"); then
        work=$1 limit=$2 runs=$3 peak=${held##* }
        # shellcheck disable=SC2086
        set -- $result
        time_row "$work" "$limit" "$1" "$2" "$runs runs, in process, $3 found"
        memory_row '  its peak memory' 64 'reading included'
    else
        fail "$1" "$2 ms" "$4"
    fi
}

render_row() {
    if result=$("$bench/bench_render" 9); then
        # shellcheck disable=SC2086
        set -- $result
        row 'render a page of 10,000 records' '' "$(calculate '%.1f MB/s' "$2 / $1 / 1000")" '' \
            "9 runs, in process, $2 bytes in $(calculate '%.1f ms' "$1")"
    else
        fail 'render a page of 10,000 records' '' bench_render
    fi
}

row work budget measured '' 'how; [least time on all cores together]'
row ---- ------ -------- '' ---

process_row 'rank: 1 record type, a million records, 3 kernels' 30 21 2 rank layouts/particles.xml

for shape in stream strided grid tiles; do
    case $shape in
    stream) what='2^30 threads, structure of arrays' ;;
    strided) what='2^30 threads, records apart, a tail test' ;;
    grid) what='2^30 threads, a 2-D grid, a loop, edges' ;;
    tiles) what='2^30 threads, a stencil on a plane in tiles' ;;
    esac
    score_row "score: $what" 20 11 "$data/affine_$shape.xml"
    process_row '  the same, start of the process included' 20 11 2 score "$data/affine_$shape.xml"
    if [ $shape = stream ]; then affine_peak=$peak; fi
done

irregular_rows 'score: hashed indices' "$data/hashed.xml"
irregular_rows 'score: indices from a table' "$data/gather.xml"

process_row 'rank: 64 fields, 20 kernels (layouts as they are)' 1000 5 2 rank "$data/fields.xml"
memory_row '  its peak memory' 64 'the largest of 5 runs'
groups_row 'search over groups: 64 fields, 20 kernels, gathers' 1000 3 "$data/field_groups.xml"
groups_row '  the same fields streamed' 1000 3 "$data/fields.xml"

peak=$affine_peak
memory_row 'peak memory: 2^30 threads, affine' 256 'score of the structure of arrays above, 11 runs'
exponent=$(scatter_exponent)
process_row "score: 2^$exponent threads write hashed records of 4 GiB" '' 1 2 score -D "THREADS=1 shl $exponent" "$data/scatter.xml"
memory_row '  its peak memory' 256 "2^$exponent threads, of 2^30 as many as about 20 s allow; the array is always 2^30 words"

render_row
process_row 'generate: layouts/particles.xml, all files' '' 11 2 generate layouts/particles.xml -o "$scratch"

exit $failed
