#!/bin/sh
# The measured figures of the README, again: converters, whole-record streams by the recommended plan and transposes, each
# beside a plain copy of the same bytes; kernels beside hand-written ones of the same candidate; whole records of an array
# of structures beside shuffles by hand, beside C's assignment, and beside what trove (peers.tsv) reached. Prints every
# figure, then the lowest and the highest of each kind. Where there is no GPU or no nvcc it says so, which is no failure.
#
#   tests/gpu/figures.sh [prepare|run]    prepare: only writes the code to build/gpu/figures; run: only uses what is there
#
# SECTORWISE, NVCC, GPU_ARCH (native), JOBS and PROGRAMS (some of those below) may be set.
# shellcheck disable=SC2046,SC2086
set -u
cd "$(dirname "$0")/../.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
work=build/gpu/figures
PROGRAMS=${PROGRAMS:-soa aosoa8 aosoa32 aosoa128 streams transposes hands2 hands4 hands8 hands16 records}

# ---- descriptions ---------------------------------------------------------------------------------------------------

# describe_record NAME WORDS TYPE
describe_record() {
    printf '<layout xmlns="urn:sectorwise:layout:1" name="%s">\n  <struct name="Rec">\n' "$1"
    field=0
    while [ $field -lt "$2" ]; do
        printf '    <field name="f%d" type="%s"/>\n' $field "$3"
        field=$((field + 1))
    done
    echo '  </struct>'
}

# describe NAME WORDS: records of so many floats, 512 MiB of them, read, written and updated whole
describe() {
    describe_record "$1" "$2" float
    records=$((134217728 / $2 / 4096 * 4096))
    printf '  <array name="a" of="Rec" extent="%d"/>\n' $records
    for op in read write update; do
        printf '  <kernel name="%ss" block="256" grid="%d"><%s array="a" index="thread"/></kernel>\n' \
            $op $((records / 256)) $op
    done
    echo '</layout>'
}

describe_records() { # ARRAY TYPE, as many as records.cuh has
    printf '  <array name="%s" of="%s" extent="16384000"/>\n' "$1" "$2"
}

# describe_move NAME WORDS KIND
describe_move() {
    describe_record "$1" "$2" int32
    describe_records a Rec
    case $3 in
    load) describe_records sums int32 ;;
    gather | scatter)
        describe_records b Rec
        echo '  <table name="places" extent="16384000" values="permutation"/>'
        ;;
    esac
    echo '  <kernel name="move" block="256" grid="64000">'
    case $3 in
    load) echo '    <read array="a" index="thread"/><write array="sums" index="thread"/>' ;;
    store) echo '    <write array="a" index="thread"/>' ;;
    gather) echo '    <read array="a" index="places[thread]"/><write array="b" index="thread"/>' ;;
    scatter) echo '    <read array="a" index="thread"/><write array="b" index="places[thread]"/>' ;;
    esac
    printf '  </kernel>\n</layout>\n'
}

# describe_transpose NAME ROWS COLUMNS: through tiles of 64 x 64, whose reads are what is staged
describe_transpose() {
    cat <<END
<layout xmlns="urn:sectorwise:layout:1" name="$1">
  <array name="in" of="float" extent="$2 $3"/>
  <array name="out" of="float" extent="$3 $2"/>
  <kernel name="turn" block="32 8" grid="$((($2 + 63) / 64)) $((($3 + 63) / 64))">
    <for var="row" to="64" step="8">
      <let name="y" value="blockIdx.y * 64 + threadIdx.y + row"/>
      <for var="column" to="64" step="32">
        <let name="x" value="blockIdx.x * 64 + threadIdx.x + column"/>
        <if test="x lt $2 and y lt $3">
          <read array="in" index="x, y"/>
          <write array="out" index="y, x"/>
        </if>
      </for>
    </for>
  </kernel>
</layout>
END
}

# ---- programs -------------------------------------------------------------------------------------------------------

# generate PROGRAM NAME [OPTION...]: from the description on standard input; PROGRAM.cu includes it. A command for later,
# since those with tables take seconds
generate() {
    program=$1 name=$2
    shift 2
    cat >"$work/$name.xml"
    { printf "'%s' " "$tool" generate "$work/$name.xml" -o "$work" "$@" && echo '>/dev/null'; } >"$work/$name.sh"
    echo "#include \"${name}_kernels.cuh\"" >>"$work/$program.cu"
}

# begin PROGRAM HEADER [ALLOCATE], then lines by `add PROGRAM LINE`, then `end PROGRAM`
begin() {
    echo "#include \"../../../tests/gpu/$2\"" >"$work/$1.cu"
    printf 'int main()\n{\n    %s();\n' "${3:-allocate}" >"$work/$1.end"
}
add() {
    echo "    $2" >>"$work/$1.end"
}
end() {
    { cat "$work/$1.end" && echo '}'; } >>"$work/$1.cu"
}

prepare_converters() { # PROGRAM LAYOUT
    begin "$1" figures.cuh
    words=2
    while [ $words -le 32 ]; do
        describe "c${words}_$1" $words | generate "$1" "c${words}_$1" --candidate "a=$2/direct"
        add "$1" "FIGURES_CONVERTER($words, \"$2\", c${words}_$1)"
        words=$((words + 1))
    done
    end "$1"
}

prepare_streams() {
    begin streams figures.cuh
    for words in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        describe s$words $words | generate streams s$words
        add streams "FIGURES_STREAM($words, s$words)"
    done
    end streams
}

prepare_transposes() {
    begin transposes figures.cuh
    for size in 8192:8192 10000:3000; do
        name=t${size%:*}
        describe_transpose "$name" "${size%:*}" "${size#*:}" |
            generate transposes "$name" --candidate 'in=row-major/staged(pad=1)' --candidate out=row-major/direct
        add transposes "FIGURES_TRANSPOSE(\"${size%:*} x ${size#*:}\", $name, launch_turn)"
    done
    generate transposes transpose -D ROWS=8192 -D COLUMNS=8192 <layouts/transpose.xml
    add transposes 'FIGURES_TRANSPOSE("8192 x 8192, 32 x 32", transpose, launch_transpose)'
    end transposes
}

# Candidates that have a kernel by hand: CANDIDATE:RECORDS a thread, KERNEL, ARGUMENTS after the mode
list_hands() { # WORDS
    echo "aos/direct:1, direct_by_hand, 1"
    echo "soa/direct:1, direct_by_hand, 0"
    echo "soa/wide(4):4, wide_by_hand, 0"
    for tile in 8 32 128; do
        echo "aosoa($tile)/direct:1, direct_by_hand, $tile"
        echo "aosoa($tile)/wide(4):4, wide_by_hand, $tile"
    done
    if [ $(($1 % 4)) = 0 ]; then
        echo "aos/vector:1, vector_by_hand, 4, $1"
    else
        echo "aos/vector:1, vector_by_hand, 2, $1"
        echo "aos(align=16)/vector:1, vector_by_hand, 4, $((($1 + 3) / 4 * 4))"
    fi
    echo "aos/staged:1, staged_by_hand, 0"
    echo "aos/staged(pad=1):1, staged_by_hand, 1"
}

prepare_hands() { # PROGRAM WORDS
    begin "$1" hands.cuh
    list_hands "$2" >"$work/$1.list"
    number=0
    while IFS= read -r line; do
        name=h$2_$((number += 1))
        describe "$name" "$2" | generate "$1" "$name" --candidate "a=${line%%:*}"
        add "$1" "FIGURES_HAND($2, \"${line%%:*}\", $name, ${line#*:})"
    done <"$work/$1.list"
    end "$1"
}

# The plan that `rank` puts first for array `a` as C has it
recommended() { # NAME
    "$tool" rank "$work/$1.xml" --candidate a=aos --top 1 --format json |
        awk -F '"' '$2 == "candidates" { inside = 1 } inside && $2 == "a" { print $4; exit }'
}

prepare_move() { # WORDS KIND PLAN [OPTION...]
    words=$1 kind=$2 plan=$3 name=r$1_$2_$(echo "$3" | tr -d '()=')
    shift 3
    describe_move "$name" "$words" "$kind" | generate records "$name" --candidate "a=aos/$plan" "$@"
    mark=$([ "aos/$plan" = "$best" ] && echo ' first')
    add records "FIGURES_$kind($words, \"aos/$plan$mark\", $name)"
}

# Loads and stores by every plan there is for them; gathers and scatters by `shuffle`, and as a kernel of one's own has them
# by the same. Records of one piece, of 4 words, have no use for it.
prepare_records() {
    begin records records.cuh allocate_records
    for words in 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        whole=$([ $words = 4 ] && echo vector || echo shuffle)
        for plan in direct $([ $((words % 2)) = 1 ] || [ $words = 4 ] || echo vector) $whole staged 'staged(pad=1)'; do
            for kind in load store; do
                describe_move best $words $kind >"$work/best.xml"
                best=$(recommended best)
                prepare_move $words $kind "$plan" $([ $kind = store ] || echo --candidate sums=aos/direct)
            done
        done
        best=''
        for kind in gather scatter; do
            prepare_move $words $kind $whole --candidate "b=aos/$whole"
            [ $words = 4 ] || add records "FIGURES_TOGETHER($words, $kind, r${words}_load_direct)"
        done
    done
    end records
}

prepare() {
    rm -rf "$work"
    mkdir -p "$work"
    for program in $PROGRAMS; do
        case $program in
        soa) prepare_converters $program soa ;;
        aosoa*) prepare_converters $program "aosoa(${program#aosoa})" ;;
        hands*) prepare_hands $program "${program#hands}" ;;
        *) "prepare_$program" ;;
        esac
    done
    echo "$work"/*.sh | xargs -n 1 -P "$jobs" sh
}

# ---- running --------------------------------------------------------------------------------------------------------

# Every figure, then the range of each kind. Whole records are told as shares of the better of two: shuffles and C's
# assignment here, and trove's rows of the same; in ranges by the fastest plan, and by the one that `rank` puts first.
tell() {
    awk -F '\t' '
        FILENAME ~ /peers.tsv$/ {
            if ($1 !~ /^#/)
                peer[$1, $2] = $3 + 0 > $4 + 0 ? $3 + 0 : $4 + 0
            next
        }
        { printf "%-10s %3d  %-34s %6d GB/s  %6.1f %%", $1, $2, $3, $4, $5 }
        $1 == "records" { tell_record() }
        { print "" }
        $1 == "by hand" { note("beside a kernel by hand" ($3 ~ /staged / ? ", not padded" : ""), $5, $2 " " $3) }
        $1 != "by hand" && $1 != "records" { note($1 " " $3, $5, $2) }
        function tell_record(    part, here, trove) {
            split($3, part, " ")
            here = $6 > $7 ? $6 : $7
            trove = peer[part[1], $2]
            printf "  of %.0f directly, %.0f by shuffles here %.1f %%; of trove %.0f (%.1f %% of a copy) %.1f %%", $6, $7,
                $4 / here * 100, trove, trove / peer["copy", ""] * 100, $4 / trove * 100
            if (part[3] != "")
                note("records, " part[1] ", ranked first, of trove", $4 / trove * 100, $2 " " part[2])
            if ($4 > fastest[part[1], $2]) {
                fastest[part[1], $2] = $4
                plan[part[1], $2] = part[2]
                of_here[part[1], $2] = $4 / here * 100
                of_trove[part[1], $2] = $4 / trove * 100
            }
        }
        function note(kind, share, where) {
            if (!(kind in low)) {
                order[++count] = kind
                low[kind] = high[kind] = share
                place[kind] = where
            }
            if (share < low[kind]) {
                low[kind] = share
                place[kind] = where
            }
            high[kind] = share > high[kind] ? share : high[kind]
        }
        END {
            kinds = split("load store gather scatter", names, " ")
            for (i = 1; i <= kinds; i++)
                for (words = 3; words <= 16; words++)
                    if ((names[i], words) in fastest) {
                        where = words " " plan[names[i], words]
                        note("records, " names[i] ", fastest, of here", of_here[names[i], words], where)
                        note("records, " names[i] ", fastest, of trove", of_trove[names[i], words], where)
                    }
            print ""
            for (i = 1; i <= count; i++)
                printf "%-44s %6.1f to %6.1f %%  lowest: %s\n", order[i], low[order[i]], high[order[i]], place[order[i]]
        }' tests/gpu/peers.tsv "$@"
}

run() {
    if ! command -v "$nvcc" >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
        echo 'figures: there is no nvcc or no GPU here, so nothing was measured'
        return 0
    fi
    printf '%s\n' $PROGRAMS | xargs -P "$jobs" -I '{}' \
        "$nvcc" -std=c++17 -O3 -arch="${GPU_ARCH:-native}" -o "$work/{}" "$work/{}.cu" || return 1
    set --
    for program in $PROGRAMS; do
        "$work/$program" >"$work/$program.tsv" || { cat "$work/$program.tsv" && return 1; }
        set -- "$@" "$work/$program.tsv"
    done
    tell "$@"
}

case ${1-} in
prepare) prepare ;;
run) run ;;
'') prepare && run ;;
*) echo 'usage: tests/gpu/figures.sh [prepare|run]' >&2 && exit 2 ;;
esac
