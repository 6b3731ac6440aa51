#!/bin/sh
# Each tests/invalid/ID.xml is a description that is refused: `sectorwise score tests/invalid/ID.xml`, run from the top
# of the repository, exits 2 within TIMEOUT seconds, writes nothing to standard output, and to standard error what
# ID.err holds. The first error's id is ID, less a final -N or .N that tells cases of one id apart. ID.args, where
# there, holds the arguments to use in place of `score tests/invalid/ID.xml`.
#
#   tests/invalid.sh [--update] [ID...]     --update rewrites ID.err
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
update=no
if [ "${1-}" = --update ]; then
    update=yes
    shift
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
limit=
if command -v timeout >/dev/null; then limit="timeout ${TIMEOUT:-60}"; fi
passed=0 failed=0

run_case() {
    if [ -f "$base.args" ]; then
        eval "set -- $(cat "$base.args")"
    else
        set -- score "$base.xml"
    fi
    $limit "$tool" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

fault() {
    echo "$base.xml: $1"
    good=no
}

judge_case() {
    good=yes
    first=$(sed -n 's/^.*: error: .* \[\([a-z0-9-]*\)\]$/\1/p' "$scratch/err" | head -n 1)
    wanted=$(echo "$id" | sed 's/[-.][0-9][0-9]*$//')
    if [ $status -ne 2 ]; then fault "exit status $status, not 2"; fi
    if [ -s "$scratch/out" ]; then fault 'something on standard output'; fi
    if [ "$first" != "$wanted" ]; then fault "the first error is [$first], not [$wanted]"; fi
}

compare_case() {
    if [ ! -f "$base.err" ]; then
        fault "there is no $base.err"
    elif ! cmp -s "$base.err" "$scratch/err"; then
        fault 'standard error differs (- wanted, + got)'
        diff -u "$base.err" "$scratch/err" | sed 1,2d
    fi
}

if [ $# -eq 0 ]; then
    for file in tests/invalid/*.xml; do
        if [ -f "$file" ]; then set -- "$@" "$(basename "$file" .xml)"; fi
    done
fi
for id in "$@"; do
    base=tests/invalid/$id
    run_case
    judge_case
    if [ $update = yes ]; then cp "$scratch/err" "$base.err"; else compare_case; fi
    if [ $good = yes ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
if [ $update = yes ]; then echo "$# messages rewritten in tests/invalid"; fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
