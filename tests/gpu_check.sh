#!/bin/sh
# Proof on a GPU. For the descriptions of EVERY each candidate that `rank` lists, for the others in layouts/ the best one,
# the default and some more kinds (gpu/choose.awk), for those in tests/generated, which have every layout and plan, what
# their first lines name: generated, compiled for the GPU at hand, and run; each program must close with "N passed, 0
# failed". Again, with small extents, under compute-sanitizer (memcheck, racecheck). Where Nsight Compute is installed, what
# it counts for one launch of each kernel stands beside what `sectorwise score` counts; a line that differs is a failure.
# The programs of layouts/ are timed, one at a time, and stand beside what `rank` estimates; whether its pick was the
# fastest is told for each description, and judged by nobody. Where there is no GPU or no nvcc it says so, which is no failure.
#
#   tests/gpu_check.sh [prepare|run]    prepare: only writes the code to build/gpu; run: only uses what is there
#
# SECTORWISE, NVCC, CC, GPU_ARCH (native), JOBS, DESCRIPTIONS (their names), PASSES (9, of measuring times) and STEPS (some
# of those below) may be set.
set -u
cd "$(dirname "$0")/.." || exit 2
EVERY=${EVERY:-particles transpose bvh}
STEPS=${STEPS:-compile run_programs run_example sanitize measure_times profile compare_counts compare_estimates}
COUNTED='blocks stream turn' # of tests/generated: the others have atomics of bytes, whose retries nobody can predict
PASSES=${PASSES:-9}
tool=${SECTORWISE:-build/sectorwise}
work=build/gpu
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
tools=$(dirname "$nvcc")

# ---- what is checked ------------------------------------------------------------------------------------------------

# Extents for compute-sanitizer, under which a program takes long: odd ones, where a description allows them.
small_extents() {
    case $1 in
    bonds) echo BONDS=1003 ;;
    bvh) echo DEPTH=9 RAYS=512 ;;
    convolution) echo WIDTH=256 HEIGHT=128 ;;
    csr_product) echo ROWS=992 NONZEROS=5003 ;;
    detector_hits) echo HITS=1030 MODULES=50 ;;
    event_momenta) echo EVENTS=521 ;;
    hash_table) echo SLOTS=1024 QUERIES=256 ;;
    histogram) echo N=8192 ;;
    image_to_grey) echo WIDTH=64 HEIGHT=35 ;;
    lbm_d2q9) echo NX=128 NY=9 ;;
    md_boxes) echo SIDE=3 EACH=33 ;;
    md_particles) echo N=1056 NEIGHBOURS=16 ;;
    nbody) echo BODIES=257 ;;
    options) echo OPTIONS=777 ;;
    particles) echo N=1021 ;;
    resonances) echo POLES=1024 LOOKUPS=300 ;;
    space_points) echo POINTS=1100 SEEDS=300 ;;
    sph_fluid) echo N=1100 NEIGHBOURS=4 REACH=64 ;;
    stream_cluster) echo POINTS=603 CANDIDATE=47 DIMENSIONS=3 ;;
    transpose) echo ROWS=64 COLUMNS=96 ;;
    tree_sum) echo N=1111 ;;
    triangles) echo TRIANGLES=1030 RAYS=300 ;;
    wave_3d) echo NX=100 NY=13 NZ=14 ;;
    *) echo ;;
    esac
}

# generate_candidate DIR SPEC LINE [DEFINITIONS]: LINE is one of gpu/choose.awk's, without its marks
generate_candidate() {
    into=$1 description=$2 pairs=$3
    shift 3
    set -- $(for definition in "$@"; do echo "-D $definition"; done)
    old=$IFS
    IFS='	'
    for pair in $pairs; do set -- "$@" --candidate "$pair"; done
    IFS=$old
    mkdir -p "$into"
    "$tool" generate "$description" -o "$into" "$@" --format json >"$into/chosen" 2>"$into/messages" ||
        ! cat "$into/messages"
}

# Counted is what was generated, also of the arrays that nobody asked a candidate for.
predict_candidate() {
    into=$1 description=$2 old=$IFS
    IFS='
'
    set -- $(awk -F'"' '/^  "arrays": \{/ { inside = 1; next } inside && /\}/ { exit }
        inside { print "--candidate"; print $2 "=" $4 }' "$into/chosen")
    IFS=$old
    predict "$into/predicted" score gpu/counts "$description" "$@" &&
        predict "$into/estimated" rank gpu/estimates "$description" "$@"
}

# predict FILE COMMAND TEMPLATE [OPERAND...]
predict() {
    to=$1 command=$2 template=$3
    shift 3
    "$tool" "$command" "$@" --format json | "$tool" render "tests/$template.mustache" --data - -o "$to"
}

# prepare_description SPEC NAME CANDIDATES [DEFINITIONS]: a folder for each line of CANDIDATES, "MARKS<tab>..."
prepare_description() {
    spec=$1 name=$2 candidates=$3
    shift 3
    number=0
    while IFS='	' read -r marks line; do
        folder=$work/$name.$((number += 1))
        generate_candidate "$folder" "$spec" "$line" && predict_candidate "$folder" "$spec" &&
            generate_candidate "$folder/small" "$spec" "$line" "$@" || {
            echo "$name: $line: nothing could be generated"
            return 1
        }
        echo "$line" >"$folder/candidate"
        echo "$marks" >"$folder/marks"
    done <"$candidates"
}

is_among() {
    case " $2 " in *" $1 "*) return 0 ;; esac
    return 1
}

prepare() {
    rm -rf "$work"
    mkdir -p "$work/example"
    awk -f tests/gpu/example.awk README.md >"$work/example/program.cu"
    "$tool" generate layouts/particles.xml -o "$work/example" >/dev/null || return 1
    for spec in layouts/*.xml tests/generated/*.xml; do
        name=$(basename "$spec" .xml)
        is_among "$name" "${DESCRIPTIONS:-$name}" || continue
        case $spec in
        tests/*) sed -n '1s/^<!-- candidates: //p' "$spec" | tr ';' '\n' | sed 's/^ */-\ta=/; s/ *$//' >"$work/candidates" ;;
        *) "$tool" rank "$spec" --format json |
            awk -v every="$(is_among "$name" "$EVERY" && echo 1)" -f tests/gpu/choose.awk >"$work/candidates" ;;
        esac
        # shellcheck disable=SC2046
        prepare_description "$spec" "$name" "$work/candidates" $(small_extents "$name") || return 1
        case $spec in tests/*)
            rm "$work/$name".*/estimated
            is_among "$name" "$COUNTED" || rm "$work/$name".*/predicted
            ;;
        esac
    done
    rm -f "$work/candidates"
}

# ---- running --------------------------------------------------------------------------------------------------------

passed=0 failed=0
count() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$2: FAILED"
        sed 's/^/    /' "$3" | tail -n 12
    fi
}

# Runs "$1 FOLDER" for each folder, so many at a time; its exit status goes to FOLDER/LOG.status, all else to FOLDER/LOG.
each_folder() {
    for folder in "$work"/*.*/; do echo "$folder"; done |
        xargs -P "$2" -I{} sh -c "( $1 ) >{}$3 2>&1; echo \$? >{}$3.status"
    for folder in "$work"/*.*/; do
        count "$(cat "$folder$3.status")" "$(title "$folder"), $3" "$folder$3"
    done
}

title() {
    echo "$(basename "$1" | sed 's/\.[0-9]*$//') as $(tr '\t' ' ' <"$1/candidate")"
}

# Programs are shared objects, which run in a process of their own or one after another in one (gpu/run_programs.c). They
# share no names.
compile() {
    ${CC:-cc} -O2 -Wall -Wextra -o "$work/run_programs" tests/gpu/run_programs.c -ldl || exit 1
    flags="-std=c++17 -O2 -Werror all-warnings -arch=${GPU_ARCH:-native} -shared -Xcompiler -fPIC,-fno-gnu-unique"
    # Where there are no small extents, both programs are one.
    each_folder "$nvcc $flags -o {}program.so {}*_check.cu && if cmp -s {}*_check.cu {}small/*_check.cu; then
        cp {}program.so {}small; else $nvcc $flags -o {}small/program.so {}small/*_check.cu; fi" "$jobs" compile
}

# A program may take 2 GiB of the GPU's memory.
run_programs() {
    room=$(nvidia-smi --query-gpu=memory.free --format=csv,noheader,nounits | awk 'NR == 1 { print int($1 / 2200) + 1 }')
    each_folder "$work/run_programs {}program.so >{}output && tail -n 1 {}output | grep -E '^[1-9][0-9]* passed, 0 failed\$' || ! cat {}output" \
        $((room < jobs ? room : jobs)) run
}

# The program in the README.
run_example() {
    example=$work/example
    {
        "$nvcc" -std=c++17 -O2 -Werror all-warnings -arch="${GPU_ARCH:-native}" -o "$example/run" "$example/program.cu" &&
            "$example/run" && [ "$("$example/run")" = '1 2 3' ]
    } >"$example/log" 2>&1
    count $? "the README's example" "$example/log"
}

sanitize() {
    sanitizer=$(command -v compute-sanitizer || echo "$tools/compute-sanitizer")
    if ! command -v "$sanitizer" >/dev/null; then
        echo 'gpu-check: there is no compute-sanitizer here, so accesses and races were not checked'
        return
    fi
    for check in memcheck racecheck; do
        each_folder "$sanitizer --tool $check --error-exitcode 9 $work/run_programs {}small/program.so" "$jobs" $check
    done
}

# list_programs FILE: the programs whose folders have it and that did not fail
list_programs() {
    for file in "$work"/*.*/"$1"; do
        folder=${file%/*}
        if [ -f "$folder/program.so" ] && [ "$(cat "$folder/run.status" 2>/dev/null || echo 0)" = 0 ]; then
            echo "$folder/program.so"
        fi
    done
}

# "PROGRAM REST" of each line "WORD REST" that a program printed.
lines_of_programs() {
    awk -v word="$1" '$1 == "program" { count = split($2, part, "/"); program = part[count - 1] }
        $1 == word { sub(/^[^ ]* /, ""); print program, $0 }'
}

# One at a time, and nothing else beside them; PASSES times, each with memory elsewhere.
measure_times() {
    for pass in $(seq "$PASSES"); do
        list_programs estimated | xargs "$work/run_programs" --time || echo "failed in pass $pass"
    done >"$work/times.log" 2>&1
    ! grep -q -e '^failed' -e FAILED "$work/times.log"
    count $? 'times' "$work/times.log"
    lines_of_programs timed <"$work/times.log" >"$work/times"
}

# What Nsight Compute counts: the sums of these over a launch, with empty caches.
metrics() {
    for op in ld st red atom; do
        echo "l1tex__t_requests_pipe_lsu_mem_global_op_$op.sum"
        echo "l1tex__t_sectors_pipe_lsu_mem_global_op_$op.sum"
    done
    for op in ld st; do
        echo "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_$op.sum"
        echo "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_$op.sum"
    done
    for op in read write; do
        echo "lts__t_sectors_srcunit_tex_op_$op.sum"
        echo "dram__sectors_$op.sum"
    done
}

# Whether a program looks anything up in tables, which is no part of the prediction.
looks_up() {
    grep -q '^// Table ' "${1%/*}"/*_check.cu
}

# profile_programs NCU PART [OPTIONS]: one profiler, and one process, for the programs listed in $work/PART
profile_programs() {
    ncu=$1 part=$2
    shift 2
    kernels=$(awk '!seen[$1]++ { names = names (names == "" ? "" : "|") $1 "_*" } END { print names }' "$work"/*.*/predicted)
    xargs "$ncu" --force-overwrite --clock-control none --print-units base --csv --page raw \
        --kernel-name "regex:^($kernels)\$" --metrics "$(metrics | paste -sd, -)" "$@" "$work/run_programs" --launch \
        <"$work/$part" 2>>"$work/ncu.log"
}

# Instructions are counted one by one where there are tables, to tell what look-ups take. Raw pages, then source pages.
profile_all() {
    : >"$work/plain" && : >"$work/tables" && : >"$work/ncu.log" && : >"$work/source.csv" && : >"$work/raw.csv"
    list_programs predicted | while read -r program; do
        echo "$program" >>"$work/$(looks_up "$program" && echo tables || echo plain)"
    done
    if [ -s "$work/tables" ]; then
        profile_programs "$1" tables --section SourceCounters --export "$work/report" >"$work/ncu.out" || return 1
        lines_of_programs launched <"$work/ncu.out" >"$work/launched"
        "$1" --import "$work/report.ncu-rep" --csv --print-units base --page raw >"$work/raw.csv" || return 1
        "$1" --import "$work/report.ncu-rep" --csv --page source --print-source sass >"$work/source.csv" || return 1
    fi
    if [ -s "$work/plain" ]; then
        profile_programs "$1" plain >"$work/plain.csv" || return 1
        lines_of_programs launched <"$work/plain.csv" >>"$work/launched"
        cat "$work/plain.csv" >>"$work/raw.csv"
    fi
}

profile() {
    ncu=$(command -v ncu || echo "$tools/ncu")
    if ! command -v "$ncu" >/dev/null; then
        echo 'gpu-check: Nsight Compute is not here, so counts were not compared'
        return
    fi
    profile_all "$ncu"
    count $? 'Nsight Compute' "$work/ncu.log"
}

# join_folders FILE: its lines of all folders, "PROGRAM CANDIDATES MARKS LINE"
join_folders() {
    for file in "$work"/*.*/"$1"; do
        folder=${file%/*}
        sed "s/^/$(basename "$folder") $(tr '\t ' ',_' <"$folder/candidate" | sed 's/[|&\/]/\\&/g') $(cat "$folder/marks") /" "$file"
    done
}

compare_counts() {
    if [ ! -s "$work/raw.csv" ]; then return; fi
    join_folders predicted >"$work/predicted"
    awk -v traffic="$work/traffic" -f tests/gpu/compare.awk "$work/predicted" "$work/launched" "$work/raw.csv" \
        "$work/source.csv" >"$work/counts"
    cat "$work/counts"
    passed=$((passed + $(grep -c ' equal$' "$work/counts")))
    failed=$((failed + $(grep -c ' DIFFERENT' "$work/counts")))
}

compare_estimates() {
    if [ ! -s "$work/times" ]; then return; fi
    join_folders estimated >"$work/estimated"
    if [ ! -f "$work/traffic" ]; then : >"$work/traffic"; fi
    awk -f tests/gpu/estimates.awk "$work/times" "$work/traffic" "$work/estimated" | tee "$work/estimates"
}

if ! command -v "$nvcc" >/dev/null; then
    echo 'gpu-check: there is no nvcc here, so nothing was checked'
    exit 0
fi
if [ "${1-}" != prepare ] && ! nvidia-smi -L >/dev/null 2>&1; then
    echo 'gpu-check: there is no GPU here, so nothing was checked'
    exit 0
fi
if [ "${1-}" != run ]; then prepare || exit 1; fi
if [ "${1-}" = prepare ]; then exit 0; fi
for step in $STEPS; do "$step"; done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
