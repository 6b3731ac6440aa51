#!/bin/sh
# The measured figures of the README, again: converters, whole-record streams by the recommended plan, transposes, each
# beside a plain copy of the same bytes, and kernels beside hand-written ones of the same candidate. Prints every figure,
# then the lowest and the highest of each kind. Where there is no GPU or no nvcc it says so, which is no failure.
#
#   tests/gpu/figures.sh [prepare|run]    prepare: only writes the code to build/gpu/figures; run: only uses what is there
#
# SECTORWISE, NVCC and GPU_ARCH (native) may be set.
set -u
cd "$(dirname "$0")/../.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
work=build/gpu/figures

# describe NAME WORDS: records of so many floats, 512 MiB of them, read, written and updated whole
describe() {
    printf '<layout xmlns="urn:sectorwise:layout:1" name="%s">\n  <struct name="Rec">\n' "$1"
    i=0
    while [ $i -lt "$2" ]; do
        printf '    <field name="f%d" type="float"/>\n' $i
        i=$((i + 1))
    done
    records=$((134217728 / $2 / 4096 * 4096))
    printf '  </struct>\n  <array name="a" of="Rec" extent="%d"/>\n' $records
    for op in read write update; do
        printf '  <kernel name="%ss" block="256" grid="%d"><%s array="a" index="thread"/></kernel>\n' \
            $op $((records / 256)) $op
    done
    printf '</layout>\n'
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

# generate PROGRAM NAME [OPTION...]: from the description on standard input; PROGRAM.cu includes it
generate() {
    program=$1 name=$2
    shift 2
    cat >"$work/$name.xml"
    "$tool" generate "$work/$name.xml" -o "$work" "$@" >/dev/null || exit 1
    echo "#include \"${name}_kernels.cuh\"" >>"$work/$program.cu"
}

prepare() {
    rm -rf "$work"
    mkdir -p "$work"
    for program in streams hands converters transposes; do
        echo '#include "../../../tests/gpu/figures.cuh"' >"$work/$program.cu"
        printf 'int main()\n{\n    allocate();\n' >"$work/$program.end"
    done
    for words in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        describe s$words $words | generate streams s$words
        echo "    FIGURES_STREAM($words, s$words)" >>"$work/streams.end"
    done
    for words in 2 4 8 16; do
        for candidate in soa/direct:soa aos/direct:aos 'aos/staged(pad=1):staged'; do
            name=h${words}_${candidate#*:}
            describe "$name" $words | generate hands "$name" --candidate "a=${candidate%:*}"
            echo "    FIGURES_HAND($words, \"${candidate%:*}\", $name, ${candidate#*:}_by_hand)" >>"$work/hands.end"
        done
    done
    for words in 2 3 4 5 7 8 12 13 16 17 24 31 32; do
        for layout in soa:soa 'aosoa(32):aosoa'; do
            name=c${words}_${layout#*:}
            describe "$name" $words | generate converters "$name" --candidate "a=${layout%:*}/direct"
            echo "    FIGURES_CONVERTER($words, \"${layout%:*}\", $name)" >>"$work/converters.end"
        done
    done
    for size in 8192:8192 10000:3000; do
        name=t${size%:*}
        describe_transpose "$name" "${size%:*}" "${size#*:}" |
            generate transposes "$name" --candidate 'in=row-major/staged(pad=1)' --candidate out=row-major/direct
        echo "    FIGURES_TRANSPOSE(\"${size%:*} x ${size#*:}\", $name)" >>"$work/transposes.end"
    done
    for program in streams hands converters transposes; do
        { cat "$work/$program.end" && echo '}'; } >>"$work/$program.cu"
    done
}

run() {
    if ! command -v "$nvcc" >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
        echo 'figures: there is no nvcc or no GPU here, so nothing was measured'
        return 0
    fi
    printf '%s\n' streams hands converters transposes | xargs -P 4 -I '{}' \
        "$nvcc" -std=c++17 -O3 -arch="${GPU_ARCH:-native}" -o "$work/{}" "$work/{}.cu" || return 1
    for program in converters streams transposes hands; do
        "$work/$program" >"$work/$program.tsv" || return 1
    done
    cat "$work/converters.tsv" "$work/streams.tsv" "$work/transposes.tsv" "$work/hands.tsv" | awk -F '\t' '
        { printf "%-10s %3d  %-24s %6d GB/s  %6.1f %%\n", $1, $2, $3, $4, $5 }
        {
            kind = $1 == "by hand" ? "beside a kernel by hand" : $1 " " $3
            if (!(kind in low)) order[++count] = kind
            if (!(kind in low) || $5 < low[kind]) low[kind] = $5
            if (!(kind in high) || $5 > high[kind]) high[kind] = $5
        }
        END {
            print ""
            for (i = 1; i <= count; i++)
                printf "%-28s %6.1f to %6.1f %%\n", order[i], low[order[i]], high[order[i]]
        }'
}

case ${1-} in
prepare) prepare ;;
run) run ;;
'') prepare && run ;;
*) echo 'usage: tests/gpu/figures.sh [prepare|run]' >&2 && exit 2 ;;
esac
