#!/bin/sh
# Compares the tool's output with tests/golden/CASE/, or rewrites what is expected there (--update; then look at the
# difference). Each case runs inside its own folder:
#
#   cmd               the arguments, as a shell would read them: rank spec.xml --format json
#   expected          standard output, whole
#   expected.err      standard error, whole; absent where nothing is written there
#   expected.status   the exit status; absent for 0
#   stdin             what is given as standard input; absent for none
#
#   tests/golden.sh [--update] [CASE...]
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
update=no
if [ "${1-}" = --update ]; then
    update=yes
    shift
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

# shellcheck disable=SC2120
run_case() {
    (
        cd "$folder" || exit 99
        eval "set -- $(cat cmd)"
        if [ -f stdin ]; then exec <stdin; else exec </dev/null; fi
        exec "$tool" "$@"
    ) >"$scratch/expected" 2>"$scratch/expected.err"
    echo $? >"$scratch/expected.status"
    # What is usual has no file of its own.
    if [ ! -s "$scratch/expected.err" ]; then rm "$scratch/expected.err"; fi
    if [ "$(cat "$scratch/expected.status")" = 0 ]; then rm "$scratch/expected.status"; fi
}

compare_case() {
    same=yes
    for part in expected expected.err expected.status; do
        want=$folder/$part
        got=$scratch/$part
        if [ ! -f "$want" ]; then want=/dev/null; fi
        if [ ! -f "$got" ]; then got=/dev/null; fi
        if ! cmp -s "$want" "$got"; then
            echo "tests/golden/$case: $part differs (- wanted, + got)"
            diff -u "$want" "$got" | sed 1,2d
            same=no
        fi
    done
    [ $same = yes ]
}

if [ $# -eq 0 ]; then
    for folder in tests/golden/*/; do
        if [ -f "${folder}cmd" ]; then set -- "$@" "$(basename "$folder")"; fi
    done
fi
for case in "$@"; do
    folder=tests/golden/$case
    rm -f "$scratch"/*
    run_case
    if [ $update = yes ]; then
        rm -f "$folder/expected" "$folder/expected.err" "$folder/expected.status"
        cp "$scratch"/* "$folder/"
    elif compare_case; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
if [ $update = yes ]; then
    echo "$# cases rewritten in tests/golden"
    exit 0
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
