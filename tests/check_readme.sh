#!/bin/sh
# Tests that what the documents paste as a command's output is what it prints now: every block that follows a comment
# `output of: COMMAND`, run from the top of the repository. Closes with "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
unset NO_COLOR
passed=0 failed=0
# Commands call the tool by its name.
mkdir "$scratch/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$tool" >"$scratch/bin/sectorwise"
chmod +x "$scratch/bin/sectorwise"

# Writes N.command, N.line and N.wanted for each block of a document.
take_blocks() {
    awk -v to="$scratch" '
        state == 2 && /^```/ { state = 0; close(to "/" count ".wanted") }
        state == 2 { print >(to "/" count ".wanted") }
        state == 1 && /^```/ { state = 2; printf "" >(to "/" count ".wanted") }
        state == 0 && /^<!-- output of: .* -->$/ {
            state = 1
            count++
            command = $0
            sub(/^<!-- output of: /, "", command)
            sub(/ -->$/, "", command)
            print command >(to "/" count ".command")
            print FNR >(to "/" count ".line")
        }' "$1"
}

# A fence that nobody closes turns the rest of a page inside out: a heading of the page is inside one then.
for document in README.md advisor/*.md; do
    lost=$(awk '/^```/ { inside = !inside; opened = FNR }
        inside && /^##+ / { print FILENAME ":" opened ": a block of code is not closed before \"" $0 "\""; exit }
        END { if (inside) print FILENAME ":" opened ": a block of code is not closed" }' "$document")
    if [ -z "$lost" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$lost"
    fi
done

for document in README.md advisor/MODEL.md; do
    rm -f "$scratch"/*.command
    take_blocks "$document"
    for command in "$scratch"/*.command; do
        if [ ! -f "$command" ]; then continue; fi
        block=${command%.command}
        PATH=$scratch/bin:$PATH sh "$command" >"$scratch/got" 2>&1 </dev/null
        if cmp -s "$block.wanted" "$scratch/got"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "$document:$(cat "$block.line"): the output of '$(cat "$command")' differs (- pasted, + printed)"
            diff -u "$block.wanted" "$scratch/got" | sed 1,2d | head -n 20
        fi
    done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
