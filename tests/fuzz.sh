#!/bin/sh
# Runs fuzz targets one after the other, each on a copy of its corpus under BUILD, so that the tree stays as it is.
# An input that crashes is kept in BUILD/tests/found/NAME: once mended, it belongs into tests/corpus/NAME.
#
#   tests/fuzz.sh BUILD SECONDS NAME...       FUZZ_FLAGS: more options of libFuzzer
set -u
# Stacks of allocations and a large quarantine cost more than the targets do. (No trace of where a block was allocated:
# a found input is run again by hand.)
export ASAN_OPTIONS="${ASAN_OPTIONS-malloc_context_size=0:quarantine_size_mb=4:thread_local_quarantine_size_kb=64}"
export OMP_NUM_THREADS=1
if [ -w /dev/shm ]; then export TMPDIR="${TMPDIR-/dev/shm}"; fi

# The longest inputs that are made: long enough for whatever the target knows, and no longer.
max_len() {
    case $1 in
    expr) echo 256 ;;
    table) echo 512 ;;
    template) echo 1024 ;;
    *) echo 4096 ;;
    esac
}

build=$1 seconds=$2
shift 2
status=0
if [ $# -eq 0 ]; then echo 'there is no tests/fuzz_*.c: nothing to fuzz'; fi
for name in "$@"; do
    corpus=$build/tests/corpus/$name
    found=$build/tests/found/$name
    mkdir -p "$corpus" "$found"
    if [ -d "tests/corpus/$name" ]; then find "tests/corpus/$name" -type f -exec cp {} "$corpus" \;; fi
    dictionary=
    if [ -f "tests/corpus/$name.dict" ]; then dictionary=-dict=tests/corpus/$name.dict; fi
    echo "fuzz $name: $seconds s, $(find "$corpus" -type f | wc -l) inputs to start with"
    # shellcheck disable=SC2086
    if "$build/tests/fuzz_$name" "$corpus" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len="$(max_len "$name")" \
        -artifact_prefix="$found/" -print_final_stats=1 $dictionary ${FUZZ_FLAGS-} >"$build/tests/fuzz_$name.log" 2>&1; then
        grep -E '^stat::(number_of_executed_units|new_units_added)' "$build/tests/fuzz_$name.log"
    else
        echo "fuzz $name: FAILED; the input is in $found"
        tail -n 60 "$build/tests/fuzz_$name.log"
        status=1
    fi
done
exit $status
