#!/bin/sh
# Prints the line coverage of each advisor/*.c and of all together, from the counters that an instrumented run left in
# BUILD. Needs gcov alone.
#
#   tests/coverage.sh BUILD
set -u
build=$1
for notes in "$build"/*.gcno; do
    if [ -f "$notes" ]; then ${GCOV:-gcov} -n "$notes" 2>/dev/null; fi
done | awk '
    /^File / {
        file = $0
        gsub(/^File .|.$/, "", file)
    }
    # A header counts with each source that includes it; sources count once.
    /^Lines executed:/ && file ~ /^advisor\/[^\/]*\.c$/ {
        split($0, part, /[:% ]+/)
        percent[file] = part[3]
        lines[file] = part[5]
        file = ""
    }
    END {
        for (file in lines) {
            printf "%6.2f %% of %5d lines  %s\n", percent[file], lines[file], file | "sort -k 6"
            all += lines[file]
            hit += int(lines[file] * percent[file] / 100 + 0.5)
        }
        close("sort -k 6")
        if (all == 0) {
            print "coverage: no counters in " build
            exit 1
        }
        printf "%6.2f %% of %5d lines  advisor/ in all\n", 100 * hit / all, all
    }' build="$build"
