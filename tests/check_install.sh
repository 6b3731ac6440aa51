#!/bin/sh
# Installs into a scratch folder, uses what is there as someone else would, and takes it away again: the library from C
# with pkg-config, the manual pages, the completions. Closes with "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
passed=0 failed=0 skipped=0

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
    exit
}

skip() {
    echo "skipped: $1"
    skipped=$((skipped + 1))
}

# What a sanitizer or valgrind watches is not what is installed.
case $tool in
build/default/sectorwise | build/sectorwise) ;;
*)
    skip "$tool is not the build that is installed"
    finish
    ;;
esac

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root prefix=/opt/some\ where
# The make above has its own flags, and its job server is not ours.
unset MAKEFLAGS MAKELEVEL MFLAGS

# expect WHAT COMMAND...: the command succeeds.
expect() {
    what=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$what"
        sed 's/^/    /' "$scratch/log" | head -n 20
    fi
}

installed() { (cd "$1" && find . -type f -o -type l) | sort; }

built_make() { make -s "$@" PREFIX="$prefix" DESTDIR="$root" CONFIG=default; }

everything_there() {
    for file in bin/sectorwise include/sectorwise.h lib/libsectorwise.a lib/libsectorwise.so lib/libsectorwise.so.0 \
        lib/pkgconfig/sectorwise.pc lib/cmake/Sectorwise/SectorwiseConfig.cmake share/sectorwise/sectorwise.xsd \
        share/sectorwise/sectorwise.rng share/sectorwise/sectorwise-score-1.schema.json \
        share/bash-completion/completions/sectorwise share/zsh/site-functions/_sectorwise; do
        test -s "$root$prefix/$file" || { echo "$file is missing" && return 1; }
    done
    ! grep -r '@[A-Z]*@' "$root$prefix/lib/pkgconfig" "$root$prefix/lib/cmake"
}

# Nothing but the functions of the header, whatever the compiler adds.
symbols_of() {
    "$@" | sed -n 's/.* [A-Z] \(.*\)/\1/p' | sed 's/@.*//' | sort -u >"$scratch/symbols"
    sed -n 's/.*\(sectorwise_[a-z]*\)(.*/\1/p' advisor/sectorwise.h | sort -u >"$scratch/declared"
    grep -v SECTORWISE_0 "$scratch/symbols" | diff "$scratch/declared" -
}

# The pkg-config file names the prefix without DESTDIR; a sysroot puts that before it.
plain_prefix=/opt/plain
third_party() {
    make -s install-built PREFIX=$plain_prefix DESTDIR="$scratch/plain" CONFIG=default || return 1
    PKG_CONFIG_PATH=$scratch/plain$plain_prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$scratch/plain
    export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
    # The libraries below have a place of their own on this machine.
    "${CC:-cc}" -Wall -Werror -o "$scratch/shared" tests/installed/program.c \
        -I"$scratch/plain$plain_prefix/include" -L"$scratch/plain$plain_prefix/lib" \
        $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --libs-only-l sectorwise) || return 1
    test "$(LD_LIBRARY_PATH=$scratch/plain$plain_prefix/lib "$scratch/shared")" = '512 sectors'
}

static_program() {
    PKG_CONFIG_PATH=$scratch/plain$plain_prefix/lib/pkgconfig
    export PKG_CONFIG_PATH
    libraries=$(pkg-config --static --libs sectorwise | tr ' ' '\n' | grep -v "^-L$plain_prefix" | grep -vx -e -lsectorwise)
    # Of the other libraries many a system has no static form.
    "${CC:-cc}" -Wall -Werror -o "$scratch/static" tests/installed/program.c -I"$scratch/plain$plain_prefix/include" \
        "$scratch/plain$plain_prefix/lib/libsectorwise.a" $libraries || return 1
    test "$("$scratch/static")" = '512 sectors'
}

commands=$("$tool" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')

pages_match_commands() {
    for page in sectorwise $(for command in $commands; do echo "sectorwise-$command"; done); do echo "$page.1"; done |
        sort >"$scratch/wanted"
    ls "$root$prefix/share/man/man1" | sort | diff "$scratch/wanted" -
}

# Every option that --help tells has its paragraph in the page, and the page no other.
options_match_help() {
    "$tool" "$1" --help | sed -n 's/^  \(-[^ ]*\(, --[^ ]*\)\{0,1\}\).*/\1/p' | sort >"$scratch/wanted"
    test -s "$scratch/wanted" || return 1
    sed 's/\\-/-/g' "$root$prefix/share/man/man1/sectorwise-$1.1" |
        sed -n 's/^\.B \(-[^ ]*\(, --[^ ]*\)\{0,1\}\).*/\1/p' | grep -v -e '^--color always' | sort | uniq >"$scratch/got"
    diff "$scratch/wanted" "$scratch/got" | grep -v '^[0-9]' | grep -vx -e '> --color' | (! grep .)
}

# Without a date a page is the same whenever it is built.
mandoc_lint() {
    mandoc -Tlint -W warning "$root$prefix"/share/man/man1/*.1 | grep -v 'missing date, using "": TH' | (! grep .)
}

groff_lint() {
    for page in "$root$prefix"/share/man/man1/*.1; do groff -ww -man -Tascii "$page" 2>&1 >/dev/null; done | (! grep .)
}

man_shows() { man --warnings -l "$root$prefix/share/man/man1/sectorwise-score.1" | grep -q -e '--candidate'; }

cat >"$scratch/two.xml" <<'END'
<layout xmlns="urn:sectorwise:layout:1" name="two">
  <param name="N" value="4096"/> <param name="MANY" value="2"/>
  <struct name="P"><field name="x" type="float"/><field name="y" type="float"/></struct>
  <array name="left" of="P" extent="N"/> <array name="right" of="P" extent="N"/>
  <!-- <kernel name="not_this"/> -->
  <kernel name="first" block="256" grid="16"><read array="left" index="thread"/></kernel>
  <kernel
    name="second" block="256" grid="16"><read array="right" index="thread"/></kernel>
</layout>
END

# completes WANTED WORD...: what bash's function answers for the last word, on one line.
cat >"$scratch/complete.bash" <<'END'
source "$1"
shift
compopt() { :; }
complete -p sectorwise >/dev/null || exit 1
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_sectorwise
echo "${COMPREPLY[*]}"
END
completes() {
    wanted=$1
    shift
    got=$(cd "$scratch" && bash --norc complete.bash "$root$prefix/share/bash-completion/completions/sectorwise" \
        "$root$prefix/bin/sectorwise" "$@")
    test "$got" = "$wanted" || { echo "$*: '$got', not '$wanted'" && false; }
}

bash_completions() {
    expect 'all commands' completes "$(echo $commands)" ''
    expect 'a command' completes score sc
    expect 'options' completes --candidate score two.xml --cand
    expect 'an option of another command' completes '' score two.xml --partials
    expect 'choices' completes 'text json' score two.xml --format ''
    expect 'a choice behind =' completes json rank two.xml --format = j
    expect 'params' completes 'N= MANY=' score two.xml -D ''
    expect 'arrays with candidates' completes 'aosoa\(8\)/direct aosoa\(8\)/wide\(4\)' score two.xml --candidate left = 'aosoa\(8'
    expect 'quoted when it must be' completes 'soa/wide\(4\)' score two.xml --candidate left = soa/w
    expect 'as the user quotes' completes 'right=soa/wide(4)' score two.xml --candidate "'right=soa/w"
    expect 'devices' completes h200 score two.xml --device h2
    expect 'files' completes two.xml score tw
    expect 'nothing of a missing description' completes '' score none.xml -D ''
    if "$tool" explain --help >/dev/null 2>&1; then
        expect 'kernels' completes 'first second' explain two.xml --kernel ''
    fi
}

zsh_completions() {
    cat >"$scratch/complete.zsh" <<'END'
zmodload zsh/zpty || exit 3
cd "$1"
zpty z zsh -f -i
zpty -w z "PROMPT=; unsetopt zle_bracketed_paste; fpath=($2 \$fpath); PATH=$3:\$PATH; autoload -Uz compinit; compinit -u -D; cd $1; echo rea''dy"
zpty -m -r z out '*ready*'
zpty -w -n z $'sectorwise score two.xml --candidate right=soa/w\t'
repeat 100; do
  zpty -r -t z line && text+=$line
  [[ $text == *wide* ]] && break
  sleep 0.1
done
zpty -d z
[[ $text == *'soa/wide'*'4'* ]] || { print -r -- "$text"; exit 1 }
END
    zsh -f "$scratch/complete.zsh" "$scratch" "'$root$prefix/share/zsh/site-functions'" "'$root$prefix/bin'"
}

expect 'make install' built_make install-built
expect 'what is installed' everything_there
installed "$root" >"$scratch/before"
expect 'symbols of the shared library' symbols_of nm -D --defined-only "$root$prefix/lib/libsectorwise.so"
expect 'symbols of the static library' symbols_of nm -g --defined-only "$root$prefix/lib/libsectorwise.a"
expect 'a program with the shared library' third_party
expect 'a program with the static library' static_program
expect 'the installed tool' "$root$prefix/bin/sectorwise" rank layouts/particles.xml

expect 'a page a command' pages_match_commands
for command in $commands; do expect "options of sectorwise-$command.1" options_match_help "$command"; done
if command -v mandoc >/dev/null; then expect 'mandoc' mandoc_lint; else skip 'there is no mandoc'; fi
if command -v groff >/dev/null; then expect 'groff' groff_lint; else skip 'there is no groff'; fi
if command -v man >/dev/null; then expect 'man' man_shows; else skip 'there is no man'; fi

if command -v bash >/dev/null; then bash_completions; else skip 'there is no bash'; fi
if command -v zsh >/dev/null; then expect 'zsh' zsh_completions; else skip 'there is no zsh'; fi

expect 'make install again' built_make install-built
installed "$root" >"$scratch/again"
expect 'installing twice' diff "$scratch/before" "$scratch/again"
expect 'make uninstall' built_make uninstall
expect 'nothing stays' sh -c '! find "$1" ! -type d | grep .' sh "$root"
finish
