#!/bin/sh
# Proves that a clone sets itself up where there is nothing: makes a minimal Debian root with only make, git and
# certificates, clones this repository (what is committed) into it, runs `make advise` and `make check` there, and
# looks that both leave the tree as it was. Needs root, debootstrap and the network.
#
#   tests/bare_root.sh [FOLDER]     FOLDER: where the root is made, and kept; without it a temporary one, removed
#
# MIRROR and SUITE default to this machine's; PROC=yes mounts /proc inside, which is absent otherwise; SOURCE is the
# repository to clone; TARGETS are the goals (advise check).
set -eu
cd "$(dirname "$0")/.."

mirror_of_this_machine() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
        sed -n -e 's/^URIs: *\(http[^ ]*\/debian\)\/* *$/\1/p' -e 's/^deb .*\(http[^ ]*\/debian\)\/* .*/\1/p' | head -n 1
}

suite_of_this_machine() {
    sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

mirror=${MIRROR:-$(mirror_of_this_machine)}
suite=${SUITE:-$(suite_of_this_machine)}
source=${SOURCE:-$PWD}
root=${1:-}
if [ -z "$root" ]; then
    root=$(mktemp -d)
    remove=yes
fi

finish() {
    if mountpoint -q "$root/proc" 2>/dev/null; then umount "$root/proc"; fi
    if [ "${remove:-no}" = yes ]; then rm -rf "$root"; fi
}
trap finish EXIT

inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 chroot "$root" sh -c "$1"
}

if [ ! -x "$root/usr/bin/make" ]; then
    debootstrap --variant=minbase --include=make,git,ca-certificates "$suite" "$root" "$mirror"
    # How this machine reaches its packages holds inside, too.
    for part in apt.conf.d auth.conf.d keyrings preferences.d trusted.gpg.d sources.list sources.list.d; do
        if [ -e "/etc/apt/$part" ]; then cp -a "/etc/apt/$part" "$root/etc/apt/"; fi
    done
    if [ ! -e /etc/apt/sources.list ]; then rm -f "$root/etc/apt/sources.list"; fi
    for part in resolv.conf hosts; do cp -L "/etc/$part" "$root/etc/$part"; done
fi
umount "$root/proc" 2>/dev/null || true
if [ "${PROC:-no}" = yes ]; then mount -t proc proc "$root/proc"; fi

rm -rf "$root/sectorwise"
git clone --quiet --no-hardlinks "$source" "$root/sectorwise"
for target in ${TARGETS:-advise check}; do
    echo "== make $target"
    inside "cd /sectorwise && make $target"
done
changes=$(inside 'cd /sectorwise && git status --porcelain')
if [ -n "$changes" ]; then
    echo "the tree has changed:
$changes"
    exit 1
fi
echo 'bare_root: the tree is as it was committed'
