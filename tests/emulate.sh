#!/bin/sh
# Compiles FOLDER/PROGRAM.cu, which includes what *.cuh is beside it, by the host's compiler on the stand-in for CUDA's
# runtime in tests/emulation, and runs it: its output, and its exit status.
#
#   tests/emulate.sh FOLDER PROGRAM     CXX may be set
set -u
here=$(dirname "$0")
folder=$1 program=$2
mkdir -p "$folder/emulated" || exit 2
# What is no C++ becomes calls of the emulation.
for file in "$folder"/*.cuh "$folder/$program.cu"; do
    sed -E -e 's/extern __shared__ __align__\([0-9]+\) unsigned char (\w+)\[\];/unsigned char *const \1 = emulation::shared;/' \
        -e 's/__shared__ __align__\(([0-9]+)\)/alignas(\1) static/' \
        -e 's/^( *)(\w+)<<<(\w+), (\w+)>>>\((.*)\);/\1emulation::launch(\3, \4, 0, [\&] { \2(\5); });/' \
        "$file" >"$folder/emulated/${file##*/}"
done
"${CXX:-g++}" -std=c++17 -O0 -w -D__restrict__= -I"$here/emulation" -x c++ -o "$folder/emulated/$program" \
    "$folder/emulated/$program.cu" && "$folder/emulated/$program"
