#!/bin/sh
# Tests `diff` of the built tool, $SECTORWISE: with real git, as its external diff and through textconv; its operands
# and exit statuses. What it prints is in tests/golden/diff-*. Closes with "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
golden=$PWD/tests/golden
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
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
    "$@" >out 2>err </dev/null
    status=$?
    if [ $status -eq "$wanted" ]; then good; else bad "$*: exit status $status, not $wanted"; fi
}

has() {
    if grep -qF -e "$1" "$2"; then good; else bad "not in $2: $1"; fi
}

empty() {
    if [ -s "$1" ]; then bad "$1 is not empty"; else good; fi
}

cp "$golden/diff-field-widened/old.xml" old.xml
cp "$golden/diff-field-widened/new.xml" new.xml

exits 0 "$tool" diff old.xml new.xml
exits 1 "$tool" diff --exit-code old.xml new.xml
exits 0 "$tool" diff --exit-code old.xml old.xml
empty out
exits 1 "$tool" diff --exit-code --format json old.xml new.xml -o file.json
empty out
has '"sectorwise-diff-1"' file.json
exits 0 "$tool" diff old.xml new.xml -D N=512
has 'particles takes' out
exits 2 "$tool" diff old.xml
exits 2 "$tool" diff old.xml new.xml old.xml
exits 2 "$tool" diff /dev/null /dev/null
exits 2 "$tool" diff old.xml missing.xml
exits 2 "$tool" diff - -
"$tool" diff - new.xml <old.xml >out 2>err
has '<stdin> -> new.xml' out
echo '<layout' >broken.xml
exits 2 "$tool" diff broken.xml new.xml
empty out
has 'broken.xml:1:' err

if ! command -v git >/dev/null; then
    echo 'no git here: its part is skipped'
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ]
    exit
fi

# A repository with the two lines of configuration that README.md shows.
export GIT_CONFIG_NOSYSTEM=1 HOME="$scratch" GIT_PAGER=cat
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_EXTERNAL_DIFF
commit() { git -c user.name=a -c user.email=a@b.example commit -q -m "$1" >/dev/null 2>&1; }
mkdir -p repository/layouts
cd repository || exit 2
git init -q . >/dev/null 2>&1
printf 'out\nerr\n' >.git/info/exclude
cp ../old.xml layouts/flow.xml
printf '1 2 3\n' >layouts/three.txt
echo 'layouts/*.xml diff=sectorwise' >.gitattributes
git add . && commit one
git config diff.sectorwise.command "'$tool' diff"

# git's external diff: a changed file, in the working tree, in the index and between commits.
cp ../new.xml layouts/flow.xml
exits 0 git diff
has '~ field id: type uint32 -> uint64, moved from byte 28 to 32' out
has 'layouts/flow.xml' out
git add . && commit two
exits 0 git diff HEAD~1 HEAD
has '~ struct Particle: size 32 -> 40 bytes' out
exits 0 git show --ext-diff --format=
has '~ struct Particle: size 32 -> 40 bytes' out
exits 0 git log -p --ext-diff -1
has '~ struct Particle: size 32 -> 40 bytes' out

# Added, removed, renamed; and the same meaning in another text.
cp layouts/flow.xml layouts/second.xml
git add .
exits 0 git diff --cached
has 'layouts/second.xml, added' out
has '+ kernel drift' out
commit three
git rm -q layouts/second.xml
exits 0 git diff --cached
has 'layouts/second.xml, removed' out
commit four
git mv layouts/flow.xml layouts/moved.xml
sed -i.bak 's/"uint64"/"uint32"/' layouts/moved.xml
rm layouts/moved.xml.bak
git add .
exits 0 git diff --cached -M
has 'layouts/flow.xml -> layouts/moved.xml' out
has '~ field id: type uint64 -> uint32' out
commit five
sed -i.bak 's/<field name="id" type="uint32"/<field type="uint32" name="id" /' layouts/moved.xml
rm layouts/moved.xml.bak
exits 0 git diff
if [ "$(cat out)" = 'layouts/moved.xml: no difference in meaning' ]; then good; else bad 'the same meaning'; fi
git show HEAD:layouts/moved.xml >before.xml
exits 0 "$tool" diff before.xml layouts/moved.xml
empty out
rm before.xml
git checkout -q .
git config --unset diff.sectorwise.command
cp ../new.xml layouts/moved.xml
exits 0 env GIT_EXTERNAL_DIFF="'$tool' diff" git diff
has 'layouts/moved.xml' out
git checkout -q .
git config diff.sectorwise.command "'$tool' diff"

# A version with an error does not stop git: its text is compared.
sed -i.bak 's/"uint32"/"flot"/' layouts/moved.xml
rm layouts/moved.xml.bak
exits 0 git diff
has '-    <field name="id" type="uint32"/>' out
has "unknown type 'flot'" err
git checkout -q .

# A table's file is found beside the description, whichever version of that is compared.
cat >layouts/table.xml <<'END'
<layout xmlns="urn:sectorwise:layout:1" name="look">
  <table name="t" extent="3" file="three.txt"/>
  <array name="a" of="float" extent="4"/>
  <kernel name="k" block="3" grid="1">
    <read array="a" index="t[thread]"/>
  </kernel>
</layout>
END
git add . && commit six
sed -i.bak 's/"float"/"double"/' layouts/table.xml
rm layouts/table.xml.bak
exits 0 git diff
has '~ array a: of float -> double' out
empty err
git checkout -q .

# textconv: what git compares itself is the canonical form.
git config --unset diff.sectorwise.command
git config diff.sectorwise.textconv "'$tool' fmt -o -"
sed -i.bak "s/<field name=\"id\" type=\"uint32\"/<field type='uint32' name='id' /" layouts/moved.xml
rm layouts/moved.xml.bak
exits 0 git diff
if grep -q '^[-+] ' out; then bad 'textconv: a difference in form is shown'; else good; fi
sed -i.bak "s/'uint32'/'uint64'/" layouts/moved.xml
rm layouts/moved.xml.bak
exits 0 git diff
has '+    <field name="id" type="uint64"/>' out
if git diff --exit-code --quiet -- layouts/moved.xml; then bad 'textconv hides a difference'; else good; fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
