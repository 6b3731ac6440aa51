#!/bin/sh
# The dependency files of `generate --depfile` under the real make and ninja, and the CMake package on a small project
# (tests/cmake): code is made anew when what it comes from has changed, and only then. Closes with
# "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
top=$PWD
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS CFLAGS CXXFLAGS LDFLAGS
passed=0 failed=0 skipped=0

# expect WHAT COMMAND...: the command succeeds.
expect() {
    what=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$what"
        sed 's/^/    /' "$scratch/log" | tail -n 20
    fi
}

skip() {
    echo "skipped: $1"
    skipped=$((skipped + 1))
}

# A copy of tests/cmake to work in, with a tool that leaves a trace of each run.
project() {
    cp -R "$top/tests/cmake" "$scratch/$1"
    cd "$scratch/$1" || exit 2
    awk 'BEGIN { for (i = 1023; i >= 0; i--) print i }' >order.txt
    cp "$top/advisor/devices/h200.xml" device.xml
    echo '{{#params}}{{name}}={{value}} {{/params}}{{#arrays}}{{candidate}} {{/arrays}}{{device}}' >points.txt.mustache
    printf '#!/bin/sh\necho run >>"%s/runs"\nexec "%s" "$@"\n' "$PWD" "$tool" >traced
    chmod +x traced
}

# A file's time is kept no finer than a clock's tick.
renew() {
    sleep 0.1
    touch "$1"
    sleep 0.1
}
edit() {
    sed "$1" points.xml >edited && cat edited >points.xml
    renew points.xml
}

# ran N COMMAND...: the command succeeds and runs the tool so often.
ran() {
    wanted=$1
    shift
    : >runs
    "$@" >log 2>&1 || { cat log && return 1; }
    got=$(wc -l <runs | tr -d ' ')
    test "$got" = "$wanted" || { echo "ran $got times, not $wanted" && cat log && false; }
}

# ---- the file itself ----

says() { "$tool" generate "$@" --depfile rule >/dev/null && diff wanted rule; }

writes_none() {
    rm -f rule
    "$tool" generate "$@" --depfile rule
    ! test -e rule
}

the_rule() {
    project rule
    cat >wanted <<'END'
out/points.cuh out/points_kernels.cuh out/points.h out/points_check.cu: \
  points.xml \
  order.txt
points.xml:
order.txt:
END
    expect 'description and table' says points.xml -o out
    cat >wanted <<'END'
a\ b c$$d: \
  points.xml \
  order.txt \
  points.txt.mustache \
  device.xml
points.xml:
order.txt:
points.txt.mustache:
device.xml:
END
    expect 'templates, a device file, targets' says points.xml -o out --device device.xml \
        --template points.txt.mustache --dep-target 'a b' --dep-target 'c$d'
    expect 'nothing under --check' writes_none points.xml -o out --check
    expect 'nothing of a bad description' writes_none order.txt -o out
}

# ---- make and ninja ----

under_make() {
    project make
    cat >Makefile <<'END'
out/stamp: points.xml
	./traced generate points.xml -o out --depfile out.d --dep-target $@
	touch $@
-include out.d
END
    expect 'make: the first time' ran 1 make
    expect 'make: nothing to do' ran 0 make
    renew order.txt
    expect 'make: a table file is newer' ran 1 make
    # A rule names each file as a target too: one that is gone is no error of make's.
    edit 's/ file="order.txt"/ values="permutation"/'
    rm order.txt
    expect 'make: a table file is gone' ran 1 make
    expect 'make: nothing to do again' ran 0 make
}

under_ninja() {
    project ninja
    cat >build.ninja <<'END'
rule generate
  command = ./traced generate $in -o out --depfile out.d --dep-target $out && touch $out
  depfile = out.d
  deps = gcc
build out/stamp: generate points.xml
END
    expect 'ninja: the first time' ran 1 ninja
    expect 'ninja: nothing to do' ran 0 ninja
    renew order.txt
    expect 'ninja: a table file is newer' ran 1 ninja
    expect 'ninja: nothing to do again' ran 0 ninja
}

# ---- CMake ----

configure() {
    cmake -S . -B out -G "$1" -DCMAKE_PREFIX_PATH="$scratch/root/opt" -DSECTORWISE_EXECUTABLE="$PWD/traced" $2
}
built() { ran "$1" cmake --build out; }
prints() { out/host | grep -qx "2.5 in $1 bytes"; }
# The file is not compiled again where the code stays the same.
keeps_object() {
    find out -name 'host.cpp.o' -newer "$1" | (! grep .)
}

# $1: a generator
under_cmake() {
    project "cmake-$2"
    expect "$1: configured" configure "$1" ''
    expect "$1: the first time" built 2
    expect "$1: the program" prints 16384
    expect "$1: the other target" grep -qx 'N=1024 BLOCK=128 aos/direct h200' out/notes/points.txt
    expect "$1: nothing to do" built 0
    edit 's/<kernel name="gather"/<!-- said otherwise -->&/'
    expect "$1: a description that says the same" built 2
    renew mark
    expect "$1: nothing to do then" built 0
    expect "$1: what includes the code was compiled at once" keeps_object mark
    renew order.txt
    renew mark
    expect "$1: a table file is newer" built 2
    expect "$1: what includes the code stays" keeps_object mark
    expect "$1: nothing to do again" built 0
    renew points.txt.mustache
    expect "$1: a template is newer" built 1
    renew device.xml
    expect "$1: a device file is newer" built 1
    edit 's/name="mass" type="float"/name="mass" type="float" count="2"/; s/field="mass"/field="mass[0]"/'
    sed 's/mass(3)/mass(3, 0)/g' host.cpp >edited && cat edited >host.cpp
    expect "$1: a record of more fields" built 2
    expect "$1: the program of it" prints 20480
    renew traced
    expect "$1: a newer tool" built 2
}

with_cuda() {
    project cuda
    expect 'CUDA: configured' configure "$1" -DWITH_CUDA=ON
    expect 'CUDA: kernels around a functor' built 2
    expect 'CUDA: the program is there' test -x out/device
    renew mark
    edit 's/name="BLOCK" value="256"/name="BLOCK" value="128"/'
    expect 'CUDA: other blocks' built 2
    expect 'CUDA: compiled anew' sh -c 'find out -name "device.cu.o" -newer mark | grep .'
    expect 'CUDA: nothing to do' built 0
}

wrong_calls() {
    project wrong
    sed 's/^sectorwise_generate(points_layout.*/sectorwise_generate(points_layout SPECS points.xml)/' CMakeLists.txt >edited
    cat edited >CMakeLists.txt
    expect 'an argument that is none' sh -c '! cmake -S . -B out -DCMAKE_PREFIX_PATH="$1" >log 2>&1 && grep -q "needs SPEC" log' \
        sh "$scratch/root/opt"
}

the_rule
if command -v make >/dev/null; then under_make; else skip 'there is no make'; fi
if command -v ninja >/dev/null; then under_ninja; else skip 'there is no ninja'; fi
case $tool in
*/build/default/sectorwise | */build/sectorwise) installs=yes ;;
*) installs=no ;;
esac
new_enough() { printf '3.20\n%s\n' "$(cmake --version | sed -n '1s/.* \([0-9.]*\).*/\1/p')" | sort -V -C; }
if ! command -v cmake >/dev/null; then
    skip 'there is no cmake'
elif ! new_enough; then
    skip 'cmake is older than 3.20'
elif [ $installs = no ]; then
    skip "$tool is not the build that is installed: no CMake package of it"
else
    cd "$top" || exit 2
    expect 'installed' make -s install-built DESTDIR="$scratch/root" PREFIX=/opt CONFIG=default
    under_cmake 'Unix Makefiles' make
    if command -v ninja >/dev/null; then under_cmake Ninja ninja; fi
    wrong_calls
    if ! command -v nvcc >/dev/null; then
        skip 'there is no nvcc: the CUDA half of the project is not built'
    elif command -v ninja >/dev/null; then
        with_cuda Ninja
    else
        with_cuda 'Unix Makefiles'
    fi
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
