#!/bin/sh
# Tests the command line of the built tool, $SECTORWISE: options, exit statuses, messages, outputs. Closes with
# "N passed, N failed". JSON is read back by the tool's own `render`.
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
unset NO_COLOR
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
passed=0 failed=0

# run ARGUMENT...: leaves $status, and the files out and err.
run() {
    "$tool" "$@" >out 2>err </dev/null
    status=$?
}

good() { passed=$((passed + 1)); }

bad() {
    failed=$((failed + 1))
    echo "$1"
    sed 's/^/    out: /' out | head -n 10
    sed 's/^/    err: /' err | head -n 10
}

# exits STATUS ARGUMENT...: the exit status, nothing on standard output unless it is 0 or 1, something on standard
# error if it is 2 or 3.
exits() {
    wanted=$1
    shift
    run "$@"
    if [ $status -ne "$wanted" ]; then
        bad "$*: exit status $status, not $wanted"
    elif [ "$wanted" -ge 2 ] && { [ -s out ] || [ ! -s err ]; }; then
        bad "$*: something on standard output, or nothing on standard error"
    else
        good
    fi
}

# says WHAT FILE: the line WHAT is in FILE, whole.
says() {
    if grep -qxF -e "$1" "$2"; then good; else bad "not said in $2: $1"; fi
}

# has WHAT FILE: WHAT is somewhere in FILE.
has() {
    if grep -qF -e "$1" "$2"; then good; else bad "not in $2: $1"; fi
}

lacks() {
    if grep -qF -e "$1" "$2"; then bad "in $2: $1"; else good; fi
}

same() {
    if cmp -s "$1" "$2"; then
        good
    else
        bad "$1 and $2 differ"
        diff "$1" "$2" | head -n 10
    fi
}

# renders TEMPLATE WANTED: the template filled in with the JSON in `out`.
renders() {
    printf '%s' "$1" >t.mustache
    got=$("$tool" render t.mustache --data out --strict 2>&1)
    if [ "$got" = "$2" ]; then good; else bad "$1 gives '$got', not '$2'"; fi
}

cat >p.xml <<'END'
<layout xmlns="urn:sectorwise:layout:1" name="demo">
  <param name="N" value="4096"/>
  <struct name="P"><field name="x" type="float" count="3"/><field name="m" type="float"/></struct>
  <array name="p" of="P" extent="N"/>
  <kernel name="k" block="256" grid="N / 256">
    <update array="p" field="x" index="thread"/>
    <read array="p" field="m" index="thread"/>
  </kernel>
</layout>
END
sed 's/"thread"/"thraed"/' p.xml >bad.xml

# completes WANTED WORD...: the completions of the last word, on one line.
completes() {
    wanted=$1
    shift
    run --complete "$@"
    got=$(tr '\n' ' ' <out | sed 's/ $//')
    if [ $status -eq 0 ] && [ "$got" = "$wanted" ]; then good; else bad "--complete $*: '$got', not '$wanted'"; fi
}

verifies() {
    exits 2 verify p.xml
    says "sectorwise: error: 'verify' needs --ncu FILE.csv [usage]" err
    exits 2 verify - --ncu -
    says "sectorwise: error: description and counters cannot both be standard input [usage]" err
    exits 2 verify p.xml --ncu missing.csv
    has '[unreadable-file]' err
    exits 2 verify p.xml --ncu p.csv --tolerance much
    says "sectorwise: error: '--tolerance' takes a percentage from 0 on, not 'much' [usage]" err
    exits 2 rank p.xml --ncu p.csv
    printf 'ID,Kernel Name,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum\n0,k,512\n' >p.csv
    exits 0 verify p.xml --ncu p.csv --tolerance 0
    says '1 count agrees within 0 %' out
    exits 1 verify p.xml --ncu p.csv -D N=2048
    has 'differs' out
    exits 0 verify p.xml --ncu p.csv --format json
    renders '{{format}} {{differs}} {{#kernels}}{{name}}{{#counts}} {{count}} {{predicted}} {{measured}}{{/counts}}{{/kernels}}' \
        'sectorwise-verify-1 false k read_requests 512 512'
}

completions() {
    completes 'score' sc
    completes 'score' --color never sc
    completes '' frobnicate p.xml -D N
    completes '--format' score p.xml --f
    completes '--format=json' score p.xml --format=j
    completes 'N=' score p.xml -D ''
    completes 'N=' score bad.xml -D ''
    completes 'p=' score bad.xml --candidate ''
    completes 'p=soa/direct p=soa/wide(4)' score p.xml --candidate p=soa
    completes 'p=soa/direct' score p.xml -D N=4095 --candidate p=soa/d
    completes 'h200 :files' score p.xml --device h200
    completes ':folders' generate p.xml -o ''
    completes ':files' score p.xml -o ''
    completes ':files' score ''
    completes '' score - --candidate ''
    completes '' score missing.xml -D ''
    completes '' score p.xml --top ''
}

usage() {
    exits 2
    says 'sectorwise: error: a command is missing [usage]' err
    exits 2 rnak p.xml
    says "sectorwise: error: unknown command 'rnak' [usage]" err
    says "sectorwise: note: did you mean 'rank'?" err
    exits 2 frobnicate
    says "sectorwise: note: 'sectorwise --help' lists the commands" err
    exits 2 score
    says "sectorwise: error: 'score' needs a SPEC [usage]" err
    exits 2 score p.xml q.xml
    says "sectorwise: error: 'score' takes one SPEC; unexpected 'q.xml' [usage]" err
    exits 2 score p.xml --fromat json
    says "sectorwise: error: unknown option '--fromat' [usage]" err
    says "sectorwise: note: did you mean '--format'?" err
    exits 2 score p.xml -format json
    says "sectorwise: error: unknown option '-format' [usage]" err
    exits 2 score p.xml -x
    says "sectorwise: error: unknown option '-x' [usage]" err
    exits 2 score p.xml --format xml
    says "sectorwise: error: '--format' takes 'text' or 'json', not 'xml' [usage]" err
    if [ "$(grep -c ': error: ' err)" -eq 1 ]; then good; else bad 'more than one error of one format'; fi
    exits 2 score p.xml --format=jsno
    says "sectorwise: note: did you mean 'json'?" err
    exits 2 score p.xml --color=sometimes
    says "sectorwise: error: '--color' takes 'auto', 'always' or 'never', not 'sometimes' [usage]" err
    exits 2 score p.xml --format
    says "sectorwise: error: '--format' needs text|json after it [usage]" err
    exits 2 score p.xml -D
    says "sectorwise: error: '-D' needs NAME=VALUE after it [usage]" err
    exits 2 score p.xml -D N
    says "sectorwise: error: '-D' takes NAME=VALUE, not 'N' [usage]" err
    exits 2 score p.xml -D 3=4
    says "sectorwise: error: '-D': '3' is not a name [usage]" err
    exits 2 score p.xml --candidate aos
    says "sectorwise: error: '--candidate' takes ARRAY=LAYOUT/PLAN, not 'aos' [usage]" err
    exits 2 score p.xml --top 3
    says "sectorwise: error: 'score' has no option '--top' [usage]" err
    exits 2 score p.xml --check=yes
    says "sectorwise: error: '--check' takes no value [usage]" err
    for top in 0 -1 x 3x '' 99999999999999999999; do
        exits 2 rank p.xml --top="$top"
        says "sectorwise: error: '--top' takes a number from 1 on, not '$top' [usage]" err
    done
    exits 2 generate p.xml
    says "sectorwise: error: 'generate' needs -o DIR [usage]" err
    exits 2 render t.mustache
    says "sectorwise: error: 'render' needs --data VIEW.json [usage]" err
    exits 2 render - --data -
    says 'sectorwise: error: template and data cannot both be standard input [usage]' err
    # All that is wrong, in one run.
    exits 2 rank p.xml q.xml --top 0 --strict -D N
    if [ "$(grep -c ' error: ' err)" -eq 4 ]; then good; else bad 'four errors'; fi
}

help() {
    exits 0 --help
    has 'usage: sectorwise COMMAND' out
    cp out help
    exits 0 help
    same out help
    for command in score rank explain report generate render fmt check diff; do
        exits 0 $command --help
        has "usage: sectorwise $command [OPTION...]" out
        cp out help
        exits 0 help $command
        same out help
        exits 0 $command -h --nonsense x y z
        same out help
        if [ "$(awk 'length > 100' out)" = '' ]; then good; else bad "help of $command: a line is too long"; fi
    done
    exits 0 --version
    if grep -qx 'sectorwise [0-9]*\.[0-9]*\.[0-9]*' out; then good; else bad 'the version'; fi
    exits 0 rank --version
}

mixing() {
    run score p.xml --format json
    cp out plain
    exits 0 --format json score p.xml
    same out plain
    exits 0 --format=json score -- p.xml
    same out plain
    exits 0 score --format text --device=h200 p.xml --format json
    same out plain
    cp p.xml ./-p.xml
    exits 0 score --format json -- -p.xml
    same out plain
    exits 2 score --format json -p.xml
    "$tool" score - --format json <p.xml >out 2>err
    same out plain
    exits 0 score p.xml --format json -D N=8192
    cp out larger
    exits 0 -DN=8192 score p.xml --format json
    same out larger
    exits 0 score -D N=512 p.xml --format json -D 'N=1 << 13'
    same out larger
    if cmp -s plain larger; then bad '-D changes nothing'; else good; fi
}

scores() {
    exits 0 score p.xml --format json
    renders '{{format}} {{layout}} {{device}}' 'sectorwise-score-1 demo h200'
    renders '{{#kernels}}{{name}}:{{#accesses}} {{op}} {{array}} {{field}} {{space}} {{source_line}}{{/accesses}}{{/kernels}}' \
        'k: read p x global 6 write p x global 6 read p m global 7'
    # 3 scalars of 4 bytes, 16 apart: 128 warps, each request 16 sectors.
    renders '{{#kernels}}{{#accesses}}{{instructions}} {{requests}} {{sectors}} {{ideal_sectors}} {{lines}} {{asked_bytes}} {{unique_bytes}} {{wavefronts}} {{conflicts}};{{/accesses}}{{/kernels}}' \
        '384 384 6144 1536 1536 49152 49152 0 0;384 384 6144 1536 1536 49152 49152 0 0;128 128 2048 512 512 16384 16384 0 0;'
    renders '{{#kernels}}{{#arrays}}{{array}} {{distinct_sectors}} {{fill_sectors}}{{/arrays}}{{/kernels}}' 'p 2048 2048'
    exits 0 score p.xml --format json --candidate p=soa
    renders '{{#kernels}}{{#accesses}}{{candidate}} {{sectors}};{{/accesses}}{{/kernels}}' \
        'soa/direct 1536;soa/direct 1536;soa/direct 512;'
    exits 0 score p.xml --format json '--candidate=p= aos ( align = 16 ) / vector '
    renders '{{#kernels}}{{#accesses}}{{candidate}};{{/accesses}}{{/kernels}}' \
        'aos(align=16)/vector;aos(align=16)/vector;aos(align=16)/vector;'
    exits 0 score p.xml
    has 'demo on NVIDIA H200' out
    has 'kernel k' out
    has '6,144' out
}

ranks() {
    exits 0 rank p.xml --format json
    renders '{{format}} {{layout}} {{device}}' 'sectorwise-rank-1 demo h200'
    cp out all
    exits 0 rank p.xml --format json --top 1
    renders '{{#candidates}}{{rank}}{{/candidates}}' 1
    exits 0 rank p.xml --format json --candidate p=soa/direct --candidate p=soa/direct
    renders '{{#candidates}}{{rank}} {{arrays.p}} {{#kernels}}{{name}}{{/kernels}}{{/candidates}}' '1 soa/direct k'
    exits 0 rank p.xml
    tr '\n' ' ' <out >line
    has 'counts are exact, times are an estimate for h200' line
    for _ in 1 2 3; do
        exits 0 rank p.xml --format json
        same out all
    done
}

refuses() {
    exits 2 score bad.xml
    has 'bad.xml:6:' err
    has "note: did you mean 'thread'?" err
    exits 2 rank bad.xml -o made --format json
    if [ -e made ]; then bad 'a file in spite of errors'; else good; fi
    exits 2 score missing.xml
    says "missing.xml:1:1: error: cannot read 'missing.xml': No such file or directory [unreadable-file]" err
    lacks '|' err
    exits 2 score .
    exits 2 score /dev/zero
    : >empty.xml
    exits 2 score empty.xml
    has 'empty.xml:1:1: error: ' err
    exits 2 score -
    has '<stdin>:1:1: error: ' err
    exits 2 score p.xml --device h2000
    has 'h200' err
    exits 2 score p.xml --device ./missing.xml
    exits 2 score p.xml -D M=3
    exits 2 score p.xml -D N=
    exits 2 score p.xml -D 'N=1/0'
    exits 2 score p.xml --candidate q=aos
    exits 2 score p.xml --candidate p=aso
    has "did you mean 'aos'?" err
    exits 2 score p.xml --candidate 'p=aosoa(24)/direct'
    has 'is not a power of two' err
    exits 2 score p.xml --candidate p=row-major
    exits 2 rank p.xml --candidate =aos
    exits 2 rank p.xml --candidate p=
    # Each applies, and no thread can follow both.
    sed -e 's/<kernel/<array name="q" of="P" extent="N"\/>&/' -e 's/<read array="p"/<read array="q"/' p.xml >both.xml
    for command in score rank generate report 'verify --ncu p.csv'; do
        # shellcheck disable=SC2086
        exits 2 $command both.xml --candidate p=aos/staged --candidate 'q=soa/wide(4)' -o none
        has "would do four records each, which 'aos/staged' cannot follow [inapplicable-candidate]" err
    done
}

# What the command line names may be a pipe; what a description names, or what is to be rewritten, may not.
pipes() {
    run score p.xml --format json
    cp out wanted
    mkfifo pipe pipe.xml
    cat p.xml >pipe &
    exits 0 score pipe --format json
    wait
    same out wanted
    "$tool" score /dev/stdin --format json <p.xml >out 2>err
    same out wanted
    # shellcheck disable=SC2002
    cat p.xml | "$tool" score /dev/stdin --format json >out 2>err
    same out wanted
    exits 2 score /dev/null
    has 'neither a file nor a pipe' err
    # Nobody writes to these: whoever reads them waits for good.
    exits 2 fmt pipe.xml
    has "cannot read 'pipe.xml': not a regular file" err
    sed 's|<array|<table name="t" extent="1" file="pipe"/>&|' p.xml >piped.xml
    exits 2 score piped.xml
    has "cannot read table file 'pipe': not a regular file" err
    run --complete score pipe.xml -D ''
    if [ ! -s out ]; then good; else bad 'a description that is a pipe is read while typing'; fi
}

outputs() {
    run score p.xml --format json
    cp out wanted
    exits 0 score p.xml --format json -o file
    same file wanted
    if [ -s out ]; then bad 'something on standard output'; else good; fi
    exits 0 score p.xml --format json -o -
    same out wanted
    exits 0 score p.xml --format json -ofile2
    same file2 wanted
    exits 0 score p.xml --format json --output=file3
    same file3 wanted
    if [ "$(find . -name 'file.*' | wc -l)" -eq 0 ]; then good; else bad 'a file is left beside'; fi
    # What is there stays when something fails, keeps its permissions, and a link stays a link.
    echo old >keep
    exits 2 score bad.xml -o keep
    if [ "$(cat keep)" = old ]; then good; else bad 'the old file is gone'; fi
    chmod 640 keep
    ln -s keep link
    exits 0 score p.xml --format json -o link
    same keep wanted
    if [ -h link ] && [ "$(find keep -perm 640)" = keep ]; then good; else bad 'link or permissions are lost'; fi
    ln -s nowhere dangling
    exits 2 score p.xml -o dangling
    if [ -h dangling ] && [ ! -e nowhere ]; then good; else bad 'a link that leads nowhere is replaced'; fi
    long=$(printf '%0250d' 1)
    exits 0 score p.xml -o "$long"
    mkdir folder
    exits 2 score p.xml -o folder
    has "cannot write 'folder'" err
    exits 2 score p.xml -o missing/file
    exits 0 score p.xml -o /dev/null
    if [ -c /dev/null ]; then good; else bad '/dev/null is no device any more'; fi
    if [ -w /dev/full ]; then
        "$tool" score p.xml >/dev/full 2>err
        status=$?
        if [ $status -eq 3 ] && [ -s err ]; then good; else bad "a full device: exit status $status, not 3"; fi
        exits 3 score p.xml -o /dev/full
    fi
    "$tool" score p.xml >&- 2>err
    status=$?
    if [ $status -eq 3 ] && [ -s err ]; then good; else bad "standard output closed: exit status $status, not 3"; fi
    # valgrind itself cannot do without a standard error.
    if [ -z "${UNDER-}" ]; then
        "$tool" score p.xml >out 2>&-
        status=$?
        if [ $status -eq 0 ] && [ -s out ]; then good; else bad "standard error closed: exit status $status, not 0"; fi
    fi
    # More than a pipe holds.
    { echo '['; seq -s , 100000; echo ']'; } >many.json
    printf '{{#.}}{{.}} {{/.}}' >many.mustache
    { "$tool" render many.mustache --data many.json; echo $? >status; } 2>err | true
    if [ "$(cat status)" -eq 141 ] && [ ! -s err ]; then good; else bad "a reader that went away: $(cat status)"; fi
    (ulimit -f 1 && "$tool" generate p.xml -o limited) >/dev/null 2>err
    status=$?
    if [ $status -eq 3 ] && [ -s err ]; then good; else bad "a file that may not grow: exit status $status, not 3"; fi
    if [ -z "$(ls -A limited)" ]; then good; else bad 'a file that may not grow is left half-written'; fi
    { "$tool" score p.xml; echo $? >status; } 2>err | true
    case $(cat status) in 0 | 141) good ;; *) bad "a reader that went away: exit status $(cat status)" ;; esac
}

colors() {
    escape=$(printf '\033')
    exits 0 rank p.xml
    lacks "$escape" out
    exits 0 rank p.xml --color always
    has "$escape" out
    sed "s/$escape\[[0-9;]*m//g" out >bleached
    exits 0 rank p.xml --color never
    same out bleached
    exits 0 rank p.xml --color always --format json
    lacks "$escape" out
    exits 2 score bad.xml --color always
    has "$escape" err
    # Nothing from a description reaches the terminal as an escape sequence.
    printf '<layout xmlns="urn:sectorwise:layout:1" name="a\033[31m"/>' >evil.xml
    exits 2 score evil.xml
    lacks "$escape" err
}

# Several candidates of one array: ranked together, in whatever order and however often they are asked for; no choice
# where one is wanted.
unions() {
    exits 0 rank p.xml --candidate p=aos/direct --candidate p=soa --candidate p=soa/direct -D N=16777216 --format json
    renders '{{#candidates}}{{arrays.p}} {{/candidates}}' 'soa/wide(4) soa/direct aos/direct '
    exits 0 rank p.xml --candidate p=soa --candidate p=aos -D N=16777216
    has 'faster than aos/direct' out
    exits 0 rank p.xml --candidate p=soa/direct --candidate p=soa/direct
    has 'there is one candidate' out
    exits 0 report p.xml --candidate p=aos/direct --candidate 'p=soa/wide(4)' -o union.html
    for one in aos/direct 'soa/wide(4)'; do has "$one" union.html; done
    lacks 'aosoa(' union.html
    exits 0 generate p.xml --candidate p=aos/direct --candidate 'p=soa/wide(4)' -o united -D N=16777216
    has 'soa/wide(4)' out
    exits 2 rank p.xml --candidate p=soa --candidate p=tiled
    exits 0 score p.xml --candidate p=soa --candidate p=soa/direct
    printf 'ID,Kernel Name,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum\n0,k,512\n' >p.csv
    for command in score 'explain --kernel k' 'verify --ncu p.csv'; do
        # shellcheck disable=SC2086
        exits 2 $command p.xml --candidate p=soa --candidate p=aos
        has "error: array 'p' takes one candidate here: 'soa/direct' or 'aos/direct' [two-candidates]" err
        has "note: 'rank' compares several" err
    done
}

generates() {
    exits 1 generate p.xml -o code --check
    if [ -e code ]; then bad 'a folder in spite of --check'; else good; fi
    exits 2 generate bad.xml -o code
    if [ -e code ]; then bad 'a folder in spite of errors'; else good; fi
    exits 0 generate p.xml -o code/deep --format json
    renders '{{format}} {{layout}} {{directory}}{{#files}} {{name}} {{state}}{{/files}}' \
        'sectorwise-generate-1 demo code/deep demo.cuh written demo_kernels.cuh written demo.h written demo_check.cu written'
    if [ "$(ls code/deep | tr '\n' ' ')" = 'demo.cuh demo.h demo_check.cu demo_kernels.cuh ' ]; then
        good
    else
        bad 'other files than those'
    fi
    echo mine >code/deep/foreign
    touch -d '2001-02-03 04:05:06' code/deep/demo.h
    exits 0 generate p.xml --check -o code/deep
    exits 0 generate -ocode/deep p.xml
    has 'unchanged' out
    if [ -n "$(find code/deep/demo.h -newermt '2001-02-04')" ]; then bad 'an unchanged file has a new time'; else good; fi
    if [ "$(cat code/deep/foreign)" = mine ]; then good; else bad 'a foreign file is lost'; fi
    echo >>code/deep/demo.h
    cp code/deep/demo.h edited
    exits 1 generate p.xml -o code/deep --check
    has 'stale' out
    same code/deep/demo.h edited
    exits 1 generate p.xml -o code/deep --check --candidate p=aos/direct
    exits 0 generate p.xml -o code/deep --candidate p=aos/direct
    has 'p=aos/direct' out
    exits 0 generate p.xml -o code/deep --candidate p=aos/direct --check
    printf '{{name}}\n' >x.txt.mustache
    exits 0 generate p.xml -o own --template x.txt.mustache
    if [ "$(ls own)" = demo.txt ]; then good; else bad 'a template of the user'; fi
    exits 2 generate p.xml -o own --template missing.mustache
    exits 2 generate p.xml -o p.xml
    exits 2 generate p.xml -o -
    exits 2 generate p.xml -o ''
    # The same bytes from another folder, under another name, from standard input.
    mkdir -p elsewhere
    cp p.xml elsewhere/q.xml
    exits 0 generate elsewhere/q.xml -o again
    exits 0 generate p.xml -o fresh
    "$tool" generate - -o piped <p.xml >out 2>err
    for file in fresh/*; do
        same "$file" "again/${file#fresh/}"
        same "$file" "piped/${file#fresh/}"
    done
}

rendering() {
    echo '{"name": "<x>", "n": 3, "list": [1, 2.5, true, null], "nested": {"deep": "y"}}' >view.json
    printf 'hello {{name}} {{{name}}} {{n}}{{#list}} {{.}}{{/list}} {{nested.deep}} {{missing}}{{> part}}\n' >a.mustache
    cp a.mustache a.html.mustache
    mkdir parts
    printf '[{{n}}]' >parts/part.mustache
    exits 0 render a.mustache --data view.json
    says 'hello <x> <x> 3 1 2.5 true  y ' out
    exits 0 render a.html.mustache --data view.json
    says 'hello &lt;x&gt; <x> 3 1 2.5 true  y ' out
    exits 0 render a.html.mustache --data view.json --escape none --partials parts
    says 'hello <x> <x> 3 1 2.5 true  y [3]' out
    exits 0 render --escape=html --data=view.json a.mustache
    says 'hello &lt;x&gt; <x> 3 1 2.5 true  y ' out
    exits 2 render a.mustache --data view.json --strict --partials parts
    has 'a.mustache:1:' err
    "$tool" render - --data view.json <parts/part.mustache >out 2>err
    if [ "$(cat out)" = '[3]' ]; then good; else bad 'a template from standard input'; fi
    "$tool" render parts/part.mustache --data - <view.json >out 2>err
    if [ "$(cat out)" = '[3]' ]; then good; else bad 'data from standard input'; fi
    for value in '"text"' 3 1.5 true null '[1]' '[]' '{}'; do
        echo "$value" >value.json
        printf 'x' >x.mustache
        exits 0 render x.mustache --data value.json
    done
    echo '"a\u0000b"' >value.json
    printf '{{.}}' >x.mustache
    exits 0 render x.mustache --data value.json
    for value in '' '{' '{"a": 1,}' '[1 2]' '{} {}' 'nul' '{"a": 1e999}' '99999999999999999999'; do
        printf '%s' "$value" >value.json
        exits 2 render x.mustache --data value.json
        has 'value.json:1:' err
    done
    printf 'one\n{{#open}}\n' >x.mustache
    exits 2 render x.mustache --data view.json -o made
    has 'x.mustache:2:' err
    if [ -e made ]; then bad 'a file in spite of errors'; else good; fi
    exits 2 render missing.mustache --data missing.json
    if [ "$(grep -c 'cannot read' err)" -eq 2 ]; then good; else bad 'two files that cannot be read'; fi
    # A partial's name does not lead out of the folder.
    printf 'secret' >outside.mustache
    printf '<{{> ../outside}}{{> /etc/passwd}}>' >x.mustache
    exits 0 render x.mustache --data view.json --partials parts
    says '<>' out
}

for group in ${*:-usage verifies completions help mixing scores ranks unions refuses pipes outputs colors generates rendering}; do $group; done
# What is printed does not depend on how many threads count, nor on which has which block.
cat >irregular.xml <<'XML'
<layout xmlns="urn:sectorwise:layout:1" name="irregular">
  <table name="to" extent="4096" values="uniform" range="4096"/>
  <struct name="Row"><field name="start" type="int"/><field name="weight" type="double"/></struct>
  <array name="rows" of="Row" extent="4096"/>
  <kernel name="walk" block="64" grid="64">
    <for var="k" to="to[thread] % 7">
      <if test="k % 2 == 0"><read array="rows" index="to[(thread + k) % 4096]"/></if>
      <else><read array="rows" field="weight" index="(thread + k) % 4096"/></else>
    </for>
  </kernel>
</layout>
XML
OMP_NUM_THREADS=1 "$tool" rank irregular.xml --format json >one
for threads in 2 3 4 4; do
    OMP_NUM_THREADS=$threads "$tool" rank irregular.xml --format json >several
    same one several
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
