#!/bin/sh
# Tests `check` of the built tool, $SECTORWISE: validation, and the gate. Each tests/gate/fails/*.xml makes a kernel of
# tests/gate/old.xml cost more by one change, which is to be found and told; each of tests/gate/passes/ costs nothing.
# Closes with "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
gate=$PWD/tests/gate
cd "$scratch" || exit 2
passed=0 failed=0

good() { passed=$((passed + 1)); }

bad() {
    failed=$((failed + 1))
    echo "$1"
    sed 's/^/    out: /' out | head -n 20
    sed 's/^/    err: /' err | head -n 10
}

exits() {
    wanted=$1
    shift
    "$tool" "$@" >out 2>err </dev/null
    status=$?
    if [ $status -eq "$wanted" ]; then good; else bad "$*: exit status $status, not $wanted"; fi
}

has() {
    if grep -qF -e "$1" "$2"; then good; else bad "not in $2: $1"; fi
}

lacks() {
    if grep -qF -e "$1" "$2"; then bad "in $2: $1"; else good; fi
}

empty() {
    if [ -s "$1" ]; then bad "$1 is not empty"; else good; fi
}

# The change that was seeded, which kernel it hits, at which access, and why.
while IFS='|' read -r name kernel access reason; do
    exits 1 check "$gate/fails/$name.xml" --against "$gate/old.xml"
    has ": kernel $kernel costs more than in " out
    if [ "$(grep -c 'costs more than' out)" -eq 1 ]; then good; else bad "$name: another kernel is told too"; fi
    if [ "$access" != - ]; then has ": $access: " out; fi
    has "$reason" out
    has '1 description: 1 with kernels that cost more' out
    exits 0 check "$gate/old.xml" --against "$gate/old.xml"
done <<'END'
field-widened|drift|read particles|field pos: type float[3] -> double[3]
alignment-lost|drift|write particles|struct Particle: size 32 -> 28 bytes, align 16 -> 4
tile-changed|sum|read tiles (energy module)|array tiles: layout aosoa(32)/direct -> aosoa(4)/direct
index-stride|scale|read stream|read stream: index 'thread' -> '2 * thread' (line 49)
predicate|scale|write stream|if: 'thread % 64 lt 32' -> 'thread % 2 == 0'
pitch-removed|turn|read image|array image: pitch 4,096 -> none
pad-removed|turn|read tile|array tile: extent 32 33 -> 32 32
cold-group|pick|read hits (energy time)|array hits: layout split(energy time|module flags) -> split(energy|time module flags)
larger-block|scale|-|kernel scale: block 256 -> 1,024
changed-type|scale|write stream|array stream: of int16 -> int32
END
if [ "$(ls "$gate"/fails/*.xml | wc -l)" -eq 10 ]; then good; else bad 'a case is not in the table'; fi

for file in "$gate"/passes/*.xml; do
    exits 0 check "$file" --against "$gate/old.xml"
    has '1 description: 1 fine' out
    lacks 'costs more' out
    empty err
done
if [ "$(ls "$gate"/passes/*.xml | wc -l)" -ge 10 ]; then good; else bad 'fewer than ten that pass'; fi
exits 0 check "$gate/passes/kernel-added.xml" --against "$gate/old.xml"
has 'kernel reset is new' out
exits 0 check "$gate/passes/kernel-removed.xml" --against "$gate/old.xml"
has 'kernel turn is gone' out

# What is allowed: a type of twice the bytes moves twice as much.
exits 1 check "$gate/fails/changed-type.xml" --against "$gate/old.xml" --allow 99.9
exits 0 check "$gate/fails/changed-type.xml" --against "$gate/old.xml" --allow 100.1
for wrong in -1 x '' 1e9 nan 5%; do exits 2 check "$gate/old.xml" --against "$gate/old.xml" --allow "$wrong"; done
exits 2 check "$gate/old.xml" --allow 3

# A folder of old ones; one that is not there is new. Several cannot be compared with one.
exits 0 check "$gate"/fails/*.xml --against "$gate/passes"
has '10 descriptions: 10 fine' out
mkdir old
cp "$gate/old.xml" old/words.xml
cp "$gate/passes/words.xml" "$gate/passes/calls.xml" .
exits 0 check words.xml calls.xml --against old
has '2 descriptions: 2 fine' out
cp "$gate/fails/predicate.xml" words.xml
exits 1 check words.xml calls.xml --against old
has 'words.xml: kernel scale costs more than in old/words.xml' out
has '2 descriptions: 1 fine, 1 with kernels that cost more' out
exits 2 check words.xml calls.xml --against "$gate/old.xml"
"$tool" check words.xml --against - <"$gate/old.xml" >out 2>err
if [ $? -eq 1 ]; then good; else bad 'old from standard input'; fi
has 'costs more than in <stdin>' out

# A change that bears on several kernels is told once; what else bears on the later one is told there.
cat >twice.xml <<'END'
<layout xmlns="urn:sectorwise:layout:1" name="twice">
  <struct name="S"><field name="x" type="float"/><field name="y" type="float"/></struct>
  <array name="s" of="S" extent="1 shl 20"/>
  <kernel name="a" block="256" grid="1024"><read array="s" field="x" index="thread"/></kernel>
  <kernel name="b" block="256" grid="1024"><read array="s" field="x" index="thread"/></kernel>
  <kernel name="c" block="256" grid="1024"><read array="s" field="x" index="thread"/></kernel>
</layout>
END
sed -e 's/name="y" type="float"/& count="7"/' -e '/"c"/s/index="thread"/index="4 * thread"/' twice.xml >grown.xml
exits 1 check grown.xml --against twice.xml
if [ "$(grep -c 'struct S: size 8 -> 32 bytes' out)" -eq 1 ]; then good; else bad 'a struct is told more than once'; fi
if [ "$(grep -c '^    as above$' out)" -eq 1 ]; then good; else bad 'not told again once'; fi
has 'struct S: as above' out
has "read s.x: index 'thread' -> '4 * thread'" out
mkdir new before
cp grown.xml new/one.xml
cp grown.xml new/two.xml
cp twice.xml before/one.xml
cp twice.xml before/two.xml
exits 1 check new/one.xml new/two.xml --against before
if [ "$(grep -c 'struct S: size 8 -> 32 bytes' out)" -eq 2 ]; then good; else bad 'not once a description'; fi

# Nothing old: all is new. A file that is there and empty is bad input all the same.
: >empty.xml
for command in "check $gate/old.xml --against -" "check $gate/old.xml --against /dev/null"; do
    # shellcheck disable=SC2086
    exits 0 $command
    has '1 description: 1 fine' out
    empty err
done
exits 2 check "$gate/old.xml" --against empty.xml

# Validation: errors of meaning are findings, also those that only counting finds; what cannot be parsed is bad input.
echo '<layout' >unparsed.xml
cat >unknown.xml <<'END'
<layout xmlns="urn:sectorwise:layout:1" name="a">
  <struct name="S"><field name="x" type="flot"/></struct>
  <array name="é" of="S" extent="4"/>
</layout>
END
sed 's/index="i"/index="i + 200"/' "$gate/old.xml" >outside.xml
exits 0 check words.xml calls.xml
exits 1 check unknown.xml words.xml
has '2 descriptions: 1 fine, 1 invalid' out
has "unknown.xml:2:42: error: unknown type 'flot' [unknown-type]" err
exits 1 check outside.xml
has '[index-range]' err
exits 2 check unparsed.xml words.xml
empty out
has 'unparsed.xml:1:' err
exits 2 check missing.xml
has "missing.xml:1:1: error: cannot read 'missing.xml'" err
exits 2 check
exits 2 check words.xml --against unparsed.xml
exits 2 check words.xml --against unknown.xml
exits 2 check words.xml --against missing.xml
exits 2 score words.xml --format sarif

# A grid that leaves threads out is a warning, not a finding; one that rounds up, or divides evenly, is none.
remainder() {
    cat <<END
<layout xmlns="urn:sectorwise:layout:1" name="r">
  <param name="N" value="1000"/>
  <struct name="S"><field name="x" type="float"/></struct>
  <array name="s" of="S" extent="N"/>
  <kernel name="k" block="256" grid="$1"><if test="thread lt N"><read array="s" index="thread"/></if></kernel>
</layout>
END
}
remainder 'N / 256' >r.xml
for command in check score rank; do
    exits 0 $command r.xml
    has "r.xml:5:38: warning: the division in 'grid' has a remainder: 232 threads are left out [grid-remainder]" err
done
exits 0 check r.xml --format sarif
has '"ruleId": "grid-remainder"' out
has '"level": "warning"' out
has 'The description may not say what is meant: grid remainder.' out
lacks 'has an error' out
exits 0 check r.xml --against r.xml
if [ "$(grep -c 'warning' err)" -eq 1 ]; then good; else bad 'the old one is warned of too'; fi
remainder 'N / 100' >r.xml
exits 0 check r.xml -D N=950
has 'has a remainder: 50 are left out [grid-remainder]' err
remainder '4 N / 3 N / 7' >r.xml
exits 0 check r.xml -D N=950
has ':40: warning: the division in '"'grid'"' has a remainder: 2 are left out [grid-remainder]' err
has ':46: warning: the division in '"'grid'"' has a remainder: 5 are left out [grid-remainder]' err
for grid in '(N + 255) / 256' '(N - 1) / 256 + 1' 'N / 250' 4 '4 (N + 6) / 7' '4 (N - 2) / 7'; do
    remainder "$grid" >r.xml
    exits 0 check r.xml
    lacks 'warning' err
done

# JSON and SARIF tell all of it, whatever the exit status.
exits 2 check unparsed.xml unknown.xml words.xml --format json
for part in sectorwise-check-1 xml-syntax unknown-type '"fine": 1' '"invalid": 1' '"unreadable": 1'; do has "$part" out; done
exits 1 check unknown.xml words.xml --format sarif -o check.sarif
empty out
cat >result.mustache <<'END'
{{version}}{{#runs}} {{tool.driver.name}}{{#results}}
{{ruleId}} {{level}}{{#locations}}{{#physicalLocation}} {{artifactLocation.uri}}:{{region.startLine}}:{{region.startColumn}}-{{region.endColumn}}{{/physicalLocation}}{{/locations}} {{message.text}}{{/results}}{{/runs}}
END
"$tool" render result.mustache --data check.sarif --strict >out 2>err
has '2.1.0 sectorwise' out
has "unknown-type error unknown.xml:2:42-46 unknown type 'flot'; did you mean 'float'?" out
has 'unknown.xml:3:16-17' out
exits 1 check words.xml --against old --format sarif -o check.sarif
"$tool" render result.mustache --data check.sarif --strict >out 2>err
has "cost-regression error words.xml:51:8-13 kernel scale costs more: write stream: " out
mkdir 'a b'
cp unknown.xml 'a b/c%.xml'
exits 1 check './a b/c%.xml' --format sarif
has '"uri": "a%20b/c%25.xml"' out
# The validator of those who wrote SARIF, with a code host's rules too, where it is there.
if command -v sarif >/dev/null; then
    exits 2 check unparsed.xml unknown.xml --format sarif -o errors.sarif
    sarif validate check.sarif errors.sarif --rule-kind 'Sarif;Ghas' >out 2>err
    has 'Analysis completed successfully' out
    lacks ': error ' out
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
