#!/bin/sh
# Runs every test of a build and closes with "N passed, N failed": the suites of check_all, the corpora of the fuzz
# targets (tests/corpus/NAME), and the scripts (tests/check_*.sh, golden.sh, invalid.sh), JOBS of them at a time.
#
#   tests/run.sh BUILD [ITEM...]      ITEM as the first column of the output shows it: suite:diag script:golden ...
#
# UNDER="valgrind ..." runs each program under another. A script gets SECTORWISE, the tool to test, and counts as one
# test by its exit status unless its last line is itself "N passed, N failed".
set -u

list_items() {
    "$build/tests/check_all" --list | sed 's/^/suite:/'
    for program in "$build"/tests/replay_*; do
        name=${program##*/replay_}
        case $name in *.o | *.d | *.gc* | '*' | main) continue ;; esac
        if [ -d "tests/corpus/$name" ]; then echo "corpus:$name"; fi
    done
    for script in tests/check_*.sh tests/golden.sh tests/invalid.sh; do
        if [ -f "$script" ]; then
            script=${script##*/}
            echo "script:${script%.sh}"
        fi
    done
}

run_item() {
    case $1 in
    suite:*) $UNDER "$build/tests/check_all" "${1#suite:}" ;;
    corpus:*) $UNDER "$build/tests/replay_${1#corpus:}" "tests/corpus/${1#corpus:}" ;;
    script:*) sh "tests/${1#script:}.sh" ;;
    *) echo "run.sh: no such item: $1" >&2 && return 2 ;;
    esac
}

# Writes LOG and LOG.count ("passed failed skipped").
record_item() {
    log=$logs/$(echo "$1" | tr ':/' '--')
    run_item "$1" >"$log" 2>&1 </dev/null
    status=$?
    counts=$(sed -n -e '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2 0/p' \
        -e '$s/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log")
    if [ $status -gt 1 ]; then echo "(exit status $status)" >>"$log"; fi
    # shellcheck disable=SC2086
    set -- ${counts:-none}
    if [ "$1" = none ]; then
        counts="$((status == 0)) $((status != 0)) 0"
    elif [ $status -ne 0 ] && [ "$2" -eq 0 ]; then
        # It counted no failure and failed all the same: a sanitizer's or valgrind's finding.
        counts="$1 1 $3"
    fi
    echo "$counts" >"$log.count"
}

show_item() {
    log=$logs/$(echo "$1" | tr ':/' '--')
    read -r passed failed skipped <"$log.count"
    if [ "$failed" -gt 0 ]; then
        printf '%-28s FAILED %d of %d\n' "$1" "$failed" $((passed + failed))
        sed -e '/^[0-9]* passed, [0-9]* failed/d' -e 's/^/    /' "$log" | head -n 200
    elif [ "$skipped" -gt 0 ]; then
        printf '%-28s %d, %d skipped\n' "$1" "$passed" "$skipped"
        sed -n 's/^skipped: /    skipped: /p' "$log"
    else
        printf '%-28s %d\n' "$1" "$passed"
    fi
    total_passed=$((total_passed + passed))
    total_failed=$((total_failed + failed))
    total_skipped=$((total_skipped + skipped))
}

if [ "${1-}" = --record ]; then
    build=$2 logs=$3
    record_item "$4"
    exit 0
fi

build=${1:?usage: tests/run.sh BUILD [ITEM...]}
shift
cd "$(dirname "$0")/.." || exit 2
UNDER=${UNDER-}
SECTORWISE=$build/sectorwise
logs=$build/tests/logs$$
rm -rf "$build"/tests/logs*
mkdir -p "$logs"
trap 'rm -rf "$logs"' EXIT
if [ -n "$UNDER" ]; then
    SECTORWISE=$logs/sectorwise
    printf '#!/bin/sh\nexec %s "%s/%s" "$@"\n' "$UNDER" "$PWD" "$build/sectorwise" >"$SECTORWISE"
    chmod +x "$SECTORWISE"
fi
export SECTORWISE UNDER

if [ $# -gt 0 ]; then items=$*; else items=$(list_items) || exit 2; fi
# shellcheck disable=SC2086
printf '%s\n' $items | xargs -P "${JOBS:-1}" -n 1 sh tests/run.sh --record "$build" "$logs"

total_passed=0 total_failed=0 total_skipped=0
for item in $items; do show_item "$item"; done
result="$total_passed passed, $total_failed failed"
if [ "$total_skipped" -gt 0 ]; then result="$result, $total_skipped skipped"; fi
echo "$result" | tee "$build/tests/result"
[ "$total_failed" -eq 0 ] && [ "$total_passed" -gt 0 ]
