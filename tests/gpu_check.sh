#!/bin/sh
# Compiles each generated/*_check.cu and runs it on the GPU; each must close with "N passed, 0 failed". Where there is
# no GPU or no nvcc it says so, which is no failure. NVCC and GPU_ARCH (native) may be set.
set -u
cd "$(dirname "$0")/.." || exit 2
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if ! command -v "$nvcc" >/dev/null; then
    echo 'gpu-check: there is no nvcc here, so nothing was checked'
    exit 0
fi
if ! nvidia-smi -L >/dev/null 2>&1; then
    echo 'gpu-check: there is no GPU here, so nothing was checked'
    exit 0
fi
build=build/gpu
mkdir -p "$build"
passed=0 failed=0
for source in generated/*_check.cu; do
    if [ ! -f "$source" ]; then break; fi
    program=$build/$(basename "$source" .cu)
    if "$nvcc" -std=c++17 -O2 -Werror all-warnings -arch="${GPU_ARCH:-native}" -o "$program" "$source" >"$program.log" 2>&1 &&
        "$program" >>"$program.log" 2>&1 && tail -n 1 "$program.log" | grep -Eq '^[1-9][0-9]* passed, 0 failed$'; then
        passed=$((passed + 1))
        echo "$source: $(tail -n 1 "$program.log")"
    else
        failed=$((failed + 1))
        echo "$source: FAILED"
        sed 's/^/    /' "$program.log"
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
