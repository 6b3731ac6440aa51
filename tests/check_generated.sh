#!/bin/sh
# Generates code for the descriptions in tests/generated, each with the candidates that its first line names, and
# compiles it as users would: NAME.cuh as C++17 without CUDA, NAME.h as C11, NAME_check.cu by nvcc where there is one.
# NAME_check.cu also runs here, on the stand-in for CUDA's runtime in tests/emulation; Clang says whether the host's
# functions call the device's. Closes with "N passed, N failed".
#
# SECTORWISE_TEST_SCALE small: one candidate a description, nothing compiled by nvcc.
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
cxx=${CXX:-g++}
cc=${CC:-cc}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
scale=${SECTORWISE_TEST_SCALE:-full}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
strict='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align -Werror' # as strict users may be

# check WHAT COMMAND...: counts it, and shows what it said where it fails.
check() {
    what=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$what: failed"
        grep -E 'error|FAILED|warning|not' "$scratch/log" | head -n 6 | sed 's/^/    /'
    fi
}

# A program that includes the header twice, in two translation units, and uses what the array `a` offers.
write_users() {
    printf '#include "%s.cuh"\n#include "%s.cuh"\nlong long other();\nint main()\n{\n' "$1" "$1"
    printf '    return other() == static_cast<long long>(%s::a_view{nullptr}.%s()) ? 0 : 1;\n}\n' "$1" "$2"
} >"$scratch/user.cpp"
write_other() {
    printf '#include "%s.cuh"\nlong long other();\nlong long other()\n{\n' "$1"
    printf '    return static_cast<long long>(%s::a_view{nullptr}.%s());\n}\n' "$1" "$2"
} >"$scratch/other.cpp"

compile_host() {
    name=$1
    bytes=bytes
    if [ "$name" = names ]; then bytes=bytes_; fi
    write_users "$name" $bytes
    write_other "$name" $bytes
    for compiler in "$cxx" clang++; do
        if ! command -v "$compiler" >/dev/null; then continue; fi
        # shellcheck disable=SC2086
        check "$case: $compiler" "$compiler" -std=c++17 $strict -I"$scratch" -o "$scratch/user" \
            "$scratch/user.cpp" "$scratch/other.cpp"
        check "$case: run" "$scratch/user"
    done
    printf '#include "%s.h"\n#include "%s.h"\nint main(void)\n{\n    return 0;\n}\n' "$name" "$name" >"$scratch/user.c"
    for compiler in "$cc" clang; do
        if ! command -v "$compiler" >/dev/null; then continue; fi
        # shellcheck disable=SC2086
        check "$case: $compiler" "$compiler" -std=c11 $strict -I"$scratch" -o "$scratch/user" "$scratch/user.c"
    done
}

# The text for HIP, twice in a file that needs every kernel, under a stub of HIP's header; the data sheet is made, too.
compile_hip() {
    name=$1
    hidden=
    if [ "$name" = words ]; then hidden=-Wno-shadow; fi # its names are those of variables
    check "$case: generate for HIP" "$tool" generate "$spec" -o "$scratch" --candidate "a=$candidate" \
        --template kernels.hip.mustache --template sheet.md.mustache
    if [ ! -f "$scratch/$name.hip" ] || grep -q 'HIP adds no halves' "$scratch/$name.hip"; then return; fi
    {
        printf '#include "%s.hip"\n#include "%s.hip"\n' "$name" "$name"
        printf 'struct nothing {\n    template <class Step>\n    void operator()(Step &) const\n    {\n    }\n};\n'
        printf 'int main()\n{\n    const void *used = nullptr;\n'
        sed -n 's/^inline hipError_t \(launch_[A-Za-z0-9_]*\)(.*/\1/p' "$scratch/$name.hip" | sort -u |
            sed "s/.*/    used = reinterpret_cast<const void *>($name::&<nothing>);/"
        printf '    return used == nullptr;\n}\n'
    } >"$scratch/user_hip.cpp"
    for compiler in "$cxx" clang++; do
        if ! command -v "$compiler" >/dev/null; then continue; fi
        # shellcheck disable=SC2086
        check "$case: $compiler for HIP" "$compiler" -std=c++17 $strict -Wno-unknown-pragmas $hidden -I"$scratch" \
            -isystem tests/emulation -c -o "$scratch/user_hip.o" "$scratch/user_hip.cpp"
    done
}

# Layouts for mdspan lead where the accessors lead.
compile_mdspan() {
    check "$case: generate for mdspan" "$tool" generate "$spec" -o "$scratch" --candidate "a=$candidate" \
        --template mdspan.hpp.mustache --template tests/mdspan.cpp.mustache
    for compiler in "$cxx" clang++; do
        if ! command -v "$compiler" >/dev/null; then continue; fi
        # shellcheck disable=SC2086
        check "$case: $compiler for mdspan" "$compiler" -std=c++17 $strict -o "$scratch/user" "$scratch/$1.cpp"
        check "$case: mdspan" "$scratch/user"
    done
}

# Host code that calls what is for the device alone ends the program. In templates nvcc does not say so; Clang does.
check_callers() {
    if ! command -v clang++ >/dev/null; then return; fi
    check "$case: who calls whom" clang++ -x cuda --cuda-host-only -nocudainc -nocudalib -fsyntax-only -std=c++17 -w \
        -isystem tests/emulation -include cuda_runtime.h "$scratch/$1_check.cu"
}

# A check program that is ended from elsewhere counts that as a failure. For one candidate of all.
end_early() {
    if [ -n "$ended" ]; then return; fi
    ended=1
    sed -i 's/report(.*"accessors on the device");/std::exit(0);/' "$scratch/emulated/$1_check.cu"
    check "$case: a program that ends early compiles" "$cxx" -std=c++17 -O0 -w -D__restrict__= -Itests/emulation \
        -x c++ -o "$scratch/emulated/$1_check" "$scratch/emulated/$1_check.cu"
    "$scratch/emulated/$1_check" | tail -n 2 >"$scratch/end"
    printf 'FAILED  the program ended before its last check\n2 passed, 1 failed\n' >"$scratch/end.expected"
    check "$case: an early end" diff "$scratch/end" "$scratch/end.expected"
}

# For one candidate a description: it takes long.
compile_cuda() {
    if [ "$candidate" != "$last" ] || [ "$scale" = small ] || ! command -v "$nvcc" >/dev/null; then return; fi
    check "$case: nvcc $arch" "$nvcc" -std=c++17 -Werror all-warnings -arch="$arch" -c -o "$scratch/check.o" \
        "$scratch/$1_check.cu"
    # Twice in a file, in two files that are linked as device code.
    printf '#include "%s_kernels.cuh"\n#include "%s_kernels.cuh"\nint main()\n{\n}\n' "$1" "$1" >"$scratch/user.cu"
    printf '#include "%s_kernels.cuh"\nint other();\nint other()\n{\n    return 0;\n}\n' "$1" >"$scratch/other.cu"
    check "$case: nvcc, separable" "$nvcc" -std=c++17 -Werror all-warnings -Xcompiler -Wall,-Wextra -rdc=true \
        -arch="$arch" -I"$scratch" -o "$scratch/separable" "$scratch/user.cu" "$scratch/other.cu"
    check "$case: nvcc, cuda::std::mdspan" "$nvcc" -x cu -std=c++17 -Werror all-warnings -arch="$arch" \
        "-DMDSPAN=<cuda/std/mdspan>" -DMDSPAN_IN=cuda::std -o "$scratch/user" "$scratch/$1.cpp"
    check "$case: cuda::std::mdspan" "$scratch/user"
    # The next case is for another GPU.
    case $arch in sm_75) arch=sm_80 ;; sm_80) arch=sm_90 ;; *) arch=sm_75 ;; esac
}

# The program in the README, on the stand-in and by nvcc.
check_example() {
    case=example folder=$scratch/example
    mkdir "$folder"
    awk -f tests/gpu/example.awk README.md >"$folder/program.cu"
    check "$case: generate" "$tool" generate layouts/particles.xml -o "$folder" -D N=4096
    sh tests/emulate.sh "$folder" program >"$folder/printed"
    echo '1 2 3' >"$folder/wanted"
    check "$case: what it prints" diff "$folder/printed" "$folder/wanted"
    if [ "$scale" = small ] || ! command -v "$nvcc" >/dev/null; then return; fi
    check "$case: nvcc" "$nvcc" -std=c++17 -Werror all-warnings -Xcompiler -Wall,-Wextra -arch=sm_90 -I"$folder" \
        -o "$folder/run" "$folder/program.cu"
}

arch=sm_75 ended=
for spec in tests/generated/*.xml; do
    name=$(basename "$spec" .xml)
    candidates=$(sed -n '1s/^<!-- candidates: //p' "$spec" | tr ';' '\n' | sed 's/^ *//; s/ *$//')
    if [ "$scale" = small ]; then candidates=$(echo "$candidates" | sed -n 2p); fi
    last=$(echo "$candidates" | tail -n 1)
    # Candidates have blanks of their own.
    IFS='
'
    for candidate in $candidates; do
        unset IFS
        case="$name a=$candidate"
        rm -f "$scratch/$name"*
        check "$case: generate" "$tool" generate "$spec" -o "$scratch" --candidate "a=$candidate"
        if [ ! -f "$scratch/${name}_check.cu" ]; then continue; fi
        check "$case: --check" "$tool" generate "$spec" -o "$scratch" --candidate "a=$candidate" --check
        compile_host "$name"
        compile_hip "$name"
        compile_mdspan "$name"
        check_callers "$name"
        check "$case: emulation" sh tests/emulate.sh "$scratch" "${name}_check"
        end_early "$name"
        compile_cuda "$name"
    done
done
check_example
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
