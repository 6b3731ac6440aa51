#!/bin/sh
# Tests `fmt` of the built tool, $SECTORWISE, on real files: rewritten in place or not at all, shown, checked. Closes
# with "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
layouts=$PWD/layouts
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
passed=0 failed=0

good() { passed=$((passed + 1)); }

bad() {
    failed=$((failed + 1))
    echo "$1"
    sed 's/^/    out: /' out | head -n 10
    sed 's/^/    err: /' err | head -n 10
}

exits() {
    wanted=$1
    shift
    "$tool" "$@" >out 2>err </dev/null
    status=$?
    if [ $status -eq "$wanted" ]; then good; else bad "$*: exit status $status, not $wanted"; fi
}

holds() { # FILE TEXT
    if [ "$(cat "$1")" = "$2" ]; then good; else bad "$1 holds something else: $(cat "$1")"; fi
}

canonical='<layout xmlns="urn:sectorwise:layout:1" name="a">
  <param name="N" value="1"/>
</layout>'
other="<layout name='a' xmlns='urn:sectorwise:layout:1'><param value='1' name='N'/></layout>"

echo "$other" >a.xml
echo "$canonical" >c.xml
touch -d '2001-02-03 04:05:06' c.xml

exits 1 fmt --check a.xml c.xml
holds out a.xml
holds a.xml "$other"
exits 0 fmt --check c.xml
holds out ''
exits 1 fmt --diff c.xml a.xml
holds out "--- a.xml
+++ a.xml
@@ -1 +1,3 @@
-$other
+$(echo "$canonical" | sed 's/^/+/' | sed '1s/^+//')"
if command -v patch >/dev/null; then
    cp a.xml patched.xml
    patch -s patched.xml <out >/dev/null 2>err
    holds patched.xml "$canonical"
fi
exits 1 fmt --check --diff a.xml
exits 0 fmt --diff c.xml

# In place: a link stays one, the mode stays, and what is canonical is not touched.
chmod 640 a.xml
ln -s a.xml link.xml
exits 0 fmt link.xml c.xml
holds out ''
holds a.xml "$canonical"
if [ -h link.xml ] && [ "$(find a.xml -perm 640)" = a.xml ]; then good; else bad 'link or mode are lost'; fi
if [ -z "$(find c.xml -newermt '2001-02-04')" ]; then good; else bad 'a canonical file has a new time'; fi

echo "$other" | "$tool" fmt - >out 2>err
holds out "$canonical"
echo "$other" | "$tool" fmt --check - >out 2>err
if [ $? -eq 1 ]; then good; else bad 'standard input is not checked'; fi
holds out '<stdin>'

# One that does not read, and none is rewritten.
echo "$other" >a.xml
echo '<layout' >broken.xml
echo '<layout xmlns="urn:sectorwise:layout:1" name="a"><parm/></layout>' >unknown.xml
for wrong in broken unknown missing; do
    exits 2 fmt a.xml $wrong.xml
    holds out ''
    holds a.xml "$other"
    if grep -q "^$wrong.xml:1:[0-9]*: error: " err; then good; else bad 'no place is told'; fi
done
exits 2 fmt
exits 2 fmt - -
exits 0 fmt a.xml -o -
holds out "$canonical"
holds a.xml "$other"
exits 0 fmt a.xml -o b.xml
holds b.xml "$canonical"
holds a.xml "$other"
exits 2 fmt a.xml c.xml -o b.xml
if [ -w / ] && [ "$(id -u)" = 0 ]; then :; else
    mkdir closed
    echo "$other" >closed/a.xml
    chmod 500 closed
    exits 2 fmt closed/a.xml
    holds closed/a.xml "$other"
    chmod 700 closed
fi
if [ "$(find . -name '*.xml.*' | wc -l)" -eq 0 ]; then good; else bad 'a file is left beside'; fi

exits 0 fmt --check "$layouts"/*.xml

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
