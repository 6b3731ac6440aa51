#!/bin/sh
# Measures the GPU at hand and writes a device file for `sectorwise --device`: CALIBRATE_NAME (gpu) and CALIBRATE_FILE
# (build/NAME.xml) say what it is called and where it goes. Without nvcc or a GPU says so and exits 2.
set -u
cd "$(dirname "$0")/.." || exit 2
name=${CALIBRATE_NAME:-gpu}
file=${CALIBRATE_FILE:-build/$name.xml}
nvcc=${NVCC:-nvcc}

command -v "$nvcc" >/dev/null || { echo 'make calibrate: there is no nvcc here' >&2; exit 2; }
mkdir -p build || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
"$nvcc" -O3 -std=c++17 -arch="${GPU_ARCH:-native}" -o "$work/calibrate" tests/gpu/calibrate.cu || exit 2
"$work/calibrate" "$name" ${CALIBRATE_TITLE:+"$CALIBRATE_TITLE"} >"$work/device.xml" || exit 2
mv "$work/device.xml" "$file" && echo "make calibrate: $file is written; use it as --device $file"
