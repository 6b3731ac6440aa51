#!/bin/sh
# What others' tools run: the hooks of .pre-commit-hooks.yaml, the README's hook and the steps of its workflow, in a real
# git repository, and under the real pre-commit where it is installed. Closes with "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
top=$PWD
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
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

fails() { ! "$@"; }

skip() {
    echo "skipped: $1"
    skipped=$((skipped + 1))
}

if ! command -v git >/dev/null; then
    skip 'there is no git'
    echo "$passed passed, $failed failed, $skipped skipped"
    exit 0
fi
mkdir "$scratch/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$tool" >"$scratch/bin/sectorwise"
chmod +x "$scratch/bin/sectorwise"
PATH=$scratch/bin:$PATH
HOME=$scratch GIT_CONFIG_GLOBAL=$scratch/gitconfig GIT_CONFIG_NOSYSTEM=1
export PATH HOME GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM
git config --global user.name test
git config --global user.email test@localhost
git config --global init.defaultBranch main

# A repository with one description, and a clone to work in.
git init -q "$scratch/origin"
cd "$scratch/origin" || exit 2
mkdir layouts
cp "$top/tests/gate/old.xml" layouts/flow.xml
sectorwise fmt layouts/flow.xml
git add -A && git commit -q -m first
git clone -q "$scratch/origin" "$scratch/work"
cd "$scratch/work" || exit 2

# ---- the hooks, as pre-commit would run them ----

hook_part() { sed -n "/^- id: $1\$/,/^- id/s/^  $2: //p" "$top/.pre-commit-hooks.yaml"; }
# run_hook ID: on the files of the commit that its pattern picks.
run_hook() {
    # shellcheck disable=SC2046
    $(hook_part "$1" entry) $(git ls-files | grep -E "$(hook_part "$1" files)")
}

expect 'descriptions alone are picked' test "$(printf 'layouts/a.xml\na/layouts/b.xml\nlayouts/b.txt\nc.xml\n' |
    grep -cE "$(hook_part sectorwise-fmt files)")" = 2
expect 'fmt passes the canonical form' run_hook sectorwise-fmt
expect 'check passes a sound description' run_hook sectorwise-check
sed 's/^  <kernel/    <kernel/' layouts/flow.xml >other && cat other >layouts/flow.xml
expect 'fmt refuses another form' fails run_hook sectorwise-fmt
expect 'which check passes' run_hook sectorwise-check
sed 's/type="float"/type="flaot"/' layouts/flow.xml >other && cat other >layouts/flow.xml
expect 'check refuses what does not hold' fails run_hook sectorwise-check
rm other
git checkout -q layouts

if command -v pre-commit >/dev/null; then
    git clone -q "$top" "$scratch/hooks"
    cp "$top/.pre-commit-hooks.yaml" "$scratch/hooks/"
    git -C "$scratch/hooks" add -A
    git -C "$scratch/hooks" commit -q --allow-empty -m hooks
    PRE_COMMIT_HOME=$scratch/cache
    export PRE_COMMIT_HOME
    expect 'pre-commit: both hooks pass' pre-commit try-repo "$scratch/hooks" --all-files
    sed 's/^  <kernel/    <kernel/' layouts/flow.xml >other && mv other layouts/flow.xml
    git add layouts
    expect 'pre-commit: another form' fails pre-commit try-repo "$scratch/hooks" sectorwise-fmt --all-files
    git reset -q --hard
else
    skip 'there is no pre-commit'
fi

# ---- the steps of the workflow ----

# step WORD: the command of the step that begins so.
step() {
    line=$(sed -n '/^# .github\/workflows\/layouts.yml/,/^```/p' "$top/README.md" | sed -n "s/^      - run: \($1\)/\1/p")
    test -n "$line" && GITHUB_BASE_REF=main sh -c "$line"
}
expect 'the base' step 'git worktree'
expect 'the form' step 'sectorwise fmt'
expect 'nothing changed' step 'sectorwise check'
expect 'a file of findings' test -s check.sarif
cp "$top/tests/gate/fails/alignment-lost.xml" layouts/flow.xml
expect 'a regression' fails step 'sectorwise check'
expect 'is among the findings' grep -q '"level": *"error"' check.sarif

# ---- the README's own hook of git: what is committed is judged, not what lies in the tree ----

git worktree remove --force base 2>/dev/null
git reset -q --hard
sed -n '/^# .git\/hooks\/pre-commit/,/^```/p' "$top/README.md" | sed '1s/^/#!\/bin\/sh\n/;$d' >.git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
cp "$top/tests/gate/fails/alignment-lost.xml" layouts/flow.xml
git add layouts
git show HEAD:layouts/flow.xml >layouts/flow.xml
expect 'a regression staged is not committed' fails git commit -q -m slower
git add layouts
cp "$top/tests/gate/fails/alignment-lost.xml" layouts/flow.xml
cp layouts/flow.xml layouts/new.xml
git add layouts/new.xml
expect 'a new description is, whatever lies in the tree' git commit -q -m new

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
