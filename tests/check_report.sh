#!/bin/sh
# Tests `explain` on a terminal and as SVG, and `report`: that pages are whole, need nothing else and escape what they
# are filled with; and, where there is a Chromium ($BROWSER, or one that is found), that nothing overflows at 1280 and
# 400 pixels, light and dark, and that nothing is asked of a network. SHOTS=DIR keeps the pages as PNG there.
# Closes with "N passed, N failed", and "N skipped" where there is no browser.
set -u
cd "$(dirname "$0")/.." || exit 2
tool=${SECTORWISE:-build/sectorwise}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
unset NO_COLOR
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0 skipped=0

good() { passed=$((passed + 1)); }

bad() {
    failed=$((failed + 1))
    echo "$1"
}

skip() {
    skipped=$((skipped + 1))
    echo "skipped: $1"
}

# Every access of every kernel of the descriptions: 80 columns of ASCII without blanks at line ends.
terminal() {
    for spec in layouts/*.xml; do
        sed -n 's/.*<kernel name="\([^"]*\)".*/\1/p' "$spec" >"$scratch/kernels"
        while read -r kernel; do
            if ! "$tool" explain "$spec" --kernel "$kernel" >"$scratch/out" 2>"$scratch/err" </dev/null; then
                bad "explain $spec --kernel $kernel fails: $(head -n 1 "$scratch/err")"
            elif [ "$(LC_ALL=C awk 'length > 80 || / $/ || /[^ -~]/' "$scratch/out")" != '' ]; then
                bad "explain $spec --kernel $kernel: $(LC_ALL=C awk 'length > 80 || / $/ || /[^ -~]/' "$scratch/out" | head -n 1)"
            else
                good
            fi
        done <"$scratch/kernels"
    done
}

# on_terminal COLUMNS LOCALE ARGUMENT...: what a terminal of that width gets, in out.
on_terminal() {
    columns=$1 locale=$2
    shift 2
    # shellcheck disable=SC2016
    LC_ALL=$locale COMMAND="stty cols $columns; '$tool' $*" TERM=xterm \
        script -qec 'sh -c "$COMMAND"' /dev/null </dev/null 2>/dev/null | tr -d '\r' >"$scratch/out"
}

widths() {
    if ! command -v script >/dev/null || ! command -v stty >/dev/null; then
        skip 'without script(1) there is no terminal to try'
        return
    fi
    on_terminal 150 C explain layouts/particles.xml --kernel drift --color never
    if grep -q '|V0 v' "$scratch/out" || grep -q '|P0 p' "$scratch/out"; then good; else bad 'no lanes at 150 columns'; fi
    if [ "$(awk 'length > 150' "$scratch/out")" = '' ]; then good; else bad 'more than 150 columns'; fi
    on_terminal 60 C explain layouts/particles.xml --kernel drift --color never
    "$tool" explain layouts/particles.xml --kernel drift >"$scratch/plain"
    if cmp -s "$scratch/plain" "$scratch/out"; then good; else bad 'a narrow terminal has another picture'; fi
    on_terminal 80 C explain layouts/particles.xml --kernel drift
    if grep -q "$(printf '\033')\[" "$scratch/out"; then good; else bad 'no colours on a terminal'; fi
    if locale -a 2>/dev/null | grep -qi '^c\.utf-*8$'; then
        on_terminal 80 C.UTF-8 explain layouts/particles.xml --kernel drift --color never
        if grep -q '│' "$scratch/out"; then good; else bad 'no box characters in a UTF-8 locale'; fi
    else
        skip 'there is no locale C.UTF-8'
    fi
}

# However many threads count, the picture is the same.
threads() {
    for case in bvh:trace csr_product:product sph_fluid:forces; do
        for count in 1 3; do
            OMP_NUM_THREADS=$count "$tool" explain "layouts/${case%%:*}.xml" --kernel "${case#*:}" --format json \
                >"$scratch/threads$count" || bad "explain of $case fails"
        done
        if cmp -s "$scratch/threads1" "$scratch/threads3"; then good; else bad "$case: threads change the picture"; fi
    done
}

is_xml() {
    if command -v xmllint >/dev/null; then
        xmllint --noout "$1" 2>"$scratch/err"
    else
        python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1" 2>"$scratch/err"
    fi
}

# The SVG is XML that needs nothing else; a failure leaves what was there.
drawings() {
    for case in 'aos/direct' 'soa/wide(4)' 'aos/vector' 'aos/staged'; do
        "$tool" explain layouts/particles.xml --kernel drift --candidate "particles=$case" -o "$scratch/a.svg" || bad "$case"
        if ! command -v xmllint >/dev/null && ! command -v python3 >/dev/null; then
            skip 'without xmllint and python3 nobody reads XML'
        elif is_xml "$scratch/a.svg"; then
            good
        else
            bad "explain -o FILE.svg of $case: $(head -n 1 "$scratch/err")"
        fi
        if sed 's|http://www.w3.org/2000/svg||' "$scratch/a.svg" | grep -q 'http\|url(\|<script\|<image'; then
            bad "the SVG of $case names something outside"
        else
            good
        fi
    done
    cp "$scratch/a.svg" "$scratch/before"
    "$tool" explain layouts/particles.xml --kernel nobody -o "$scratch/a.svg" 2>"$scratch/err"
    if [ $? -eq 2 ] && cmp -s "$scratch/before" "$scratch/a.svg"; then good; else bad 'a failure changes the file'; fi
}

# has WHAT: WHAT is somewhere in the page.
has() {
    if grep -qF -e "$1" "$scratch/page.html"; then good; else bad "not in the page: $1"; fi
}

pages() {
    "$tool" report layouts/particles.xml -o "$scratch/page.html" || bad 'report fails'
    "$tool" report layouts/particles.xml -o - >"$scratch/same.html" || bad 'report -o - fails'
    if cmp -s "$scratch/page.html" "$scratch/same.html"; then good; else bad '-o - differs'; fi
    "$tool" rank layouts/particles.xml --format json >"$scratch/rank.json"
    verdict=$(sed -n 's/^  "verdict": ".\(.*\)",$/\1/p' "$scratch/rank.json")
    has "$verdict</p>"
    if grep -q '<p class="verdict">[A-Z]' "$scratch/page.html"; then good; else bad 'the verdict begins small'; fi
    for heading in Ranking Kernels 'Where the bytes are' 'What this rests on'; do has ">$heading</h2>"; done
    for kernel in drift energy respawn; do has "<h3>$kernel "; done
    for part in '<html lang="en">' '<meta charset="utf-8">' 'prefers-color-scheme: dark' '@media print' 'scope="row"' \
        'role="img" aria-label=' '<footer>'; do has "$part"; done
    if grep -q '<script\|<link\|<img\|http:\|https:\|url(\|@import' "$scratch/page.html"; then
        bad 'the page names something outside'
    else
        good
    fi
    # One row a candidate, at most as many as asked for and today's.
    "$tool" report layouts/particles.xml --top 2 -o "$scratch/page.html"
    if [ "$(grep -c '<tr class=' "$scratch/page.html")" -eq 3 ]; then good; else bad '--top 2 lists other than 3'; fi
    # A device's title may hold anything.
    sed 's|title="[^"]*"|title="a \&lt;b\&gt; \&amp; \&quot;c\&quot;"|' advisor/devices/h200.xml >"$scratch/odd.xml"
    "$tool" report layouts/particles.xml --device "$scratch/odd.xml" -o "$scratch/page.html"
    has 'a &lt;b&gt; &amp; &quot;c&quot;'
    if grep -qF '<b>' "$scratch/page.html"; then bad 'a title is not escaped'; else good; fi
    "$tool" report layouts/particles.xml 2>"$scratch/err"
    if [ $? -eq 2 ] && grep -q "'report' needs -o FILE.html" "$scratch/err"; then good; else bad 'report without -o'; fi
    "$tool" report layouts/particles.xml --candidate particles=soa/direct -o "$scratch/page.html"
    if grep -q '>today</span>\|>today and best<' "$scratch/page.html"; then bad 'today is shown where it was not ranked'; else good; fi
}

# Whole records are gathered, a field is read: vectors help the first, and do nothing new for the second.
gathered() {
    cat <<'END'
<layout xmlns="urn:sectorwise:layout:1" name="gathered">
  <struct name="Hit">
    <field name="position" type="float" count="3"/>
    <field name="used" type="bool"/>
    <field name="energy" type="double"/>
    <field name="cell" type="int" count="3"/>
  </struct>
  <array name="hits" of="Hit" extent="65536"/>
  <array name="index" of="int" extent="65536" layout="aos/direct"/>
  <table name="pick" extent="65536" values="uniform" range="65536" seed="1"/>
  <kernel name="gather" block="256" grid="256" calls="9">
    <read array="index" index="thread"/>
    <read array="hits" index="pick[thread]"/>
  </kernel>
  <kernel name="sum" block="256" grid="256"><read array="hits" field="energy" index="thread"/></kernel>
</layout>
END
}

# What is the same is shown once, and named by what is the same of it.
shown_once() {
    gathered >"$scratch/gathered.xml"
    "$tool" report "$scratch/gathered.xml" --candidate hits=aos -o "$scratch/page.html" || bad 'report of gathered fails'
    has 'In all of them: <span class="common"><span class="quiet">index:</span> aos/direct</span>.'
    has '<span class="quiet">hits:</span> aos/vector</span><span class="tag best">best</span>'
    has '<h4>today and best<span class="choice">aos/direct today, aos/vector best</span></h4>'
    if [ "$(grep -c 'Both do the same here' "$scratch/page.html")" -eq 1 ]; then good; else bad 'alike other than once'; fi
    if [ "$(grep -c '<h4>today<' "$scratch/page.html")" -eq 1 ]; then good; else bad 'today beside the best other than once'; fi
    has '<h4>today and best<span class="choice">aos</span></h4>'
    "$tool" report layouts/particles.xml -o "$scratch/page.html" || bad 'report fails'
    if grep -q 'In all of them' "$scratch/page.html"; then bad 'what differs is called common'; else good; fi
}

long_names() {
    cat <<'END'
<layout xmlns="urn:sectorwise:layout:1" name="a_description_with_a_rather_long_name_of_its_own_and_then_some">
  <struct name="Inner_structure_with_quite_a_long_name">
    <field name="x" type="double" count="3"/>
    <field name="flag" type="uint8"/>
  </struct>
  <struct name="Particle_record_of_considerable_size">
    <field name="position_in_the_reference_frame_of_the_laboratory" type="float" count="3"/>
    <field name="inner" type="Inner_structure_with_quite_a_long_name" count="2"/>
    <field name="momentum_before_the_last_collision_of_the_particle" type="float" count="4"/>
    <field name="tag" type="uint8"/>
  </struct>
  <array name="particles_of_the_first_species_in_the_plasma" of="Particle_record_of_considerable_size" extent="4096"/>
  <array name="values_on_the_staggered_grid_of_cells" of="float" extent="64 64"/>
  <kernel name="push_particles_with_a_long_kernel_name_to_see_whether_it_wraps" block="256" grid="16" calls="1000">
    <update array="particles_of_the_first_species_in_the_plasma" field="position_in_the_reference_frame_of_the_laboratory momentum_before_the_last_collision_of_the_particle" index="thread"/>
  </kernel>
  <kernel name="smooth" block="32 8" grid="2 8">
    <read array="values_on_the_staggered_grid_of_cells" index="threadIdx.x + 32 * blockIdx.x, threadIdx.y + 8 * blockIdx.y"/>
  </kernel>
  <kernel name="nothing" block="32" grid="1"/>
</layout>
END
}

find_browser() {
    for name in "${BROWSER:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        if [ "$name" != '' ] && command -v "$name" >/dev/null; then
            echo "$name"
            return
        fi
    done
}

browse() {
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --user-data-dir="$scratch/profile" \
        --host-resolver-rules='MAP * ~NOTFOUND' --blink-settings=preferredColorScheme="$scheme" \
        --window-size="$width,1000" "$@" 2>/dev/null
}

# What the browser itself measures of the page, told to the page around it.
probe='<script>
addEventListener("load", function () {
    var root = document.documentElement, wide = root.clientWidth, out = 0, texts = 0;
    document.querySelectorAll("body *").forEach(function (e) {
        if (!e.closest(".scroll") && e.getBoundingClientRect().right > wide + 0.5) out++;
    });
    document.querySelectorAll("svg").forEach(function (svg) {
        var box = svg.viewBox.baseVal;
        svg.querySelectorAll("text").forEach(function (t) {
            var at = t.getBBox(), parent = t.getCTM(), own = svg.getCTM().inverse().multiply(parent);
            if (at.x + own.e < box.x - 1 || at.x + at.width + own.e > box.x + box.width + 1) texts++;
        });
    });
    parent.postMessage("width " + wide + ", scroll " + root.scrollWidth + ", outside " + out + ", texts " + texts +
        ", requests " + performance.getEntriesByType("resource").length + ", paper " + getComputedStyle(document.body).backgroundColor, "*");
});
</script>'

probe_page() {
    # The page forbids scripts; the copy that is measured does not.
    grep -v 'Content-Security-Policy' "$1" >"$scratch/probed.html"
    echo "$probe" >>"$scratch/probed.html"
    # A window may not be as narrow as a telephone, a frame may.
    cat >"$scratch/frame.html" <<END
<!DOCTYPE html><html lang="en"><meta name="color-scheme" content="light dark"><script>
addEventListener("message", function (e) { document.documentElement.setAttribute("data-probe", e.data); });
</script><iframe src="probed.html" style="border: 0; width: ${width}px; height: 900px"></iframe></html>
END
    browse --virtual-time-budget=5000 --dump-dom "file://$scratch/frame.html" | sed -n 's/.*data-probe="\([^"]*\)".*/\1/p' | head -n 1
}

browsers() {
    browser=$(find_browser)
    if [ "$browser" = '' ]; then
        skip 'there is no Chromium: how pages look is not tested'
        return
    fi
    long_names >"$scratch/long_names.xml"
    gathered >"$scratch/gathered.xml"
    for spec in layouts/particles.xml layouts/transpose.xml layouts/tree_sum.xml "$scratch/long_names.xml" \
        "$scratch/gathered.xml"; do
        name=$(basename "$spec" .xml)
        "$tool" report "$spec" --top 6 -o "$scratch/$name.html" || bad "report $spec fails"
        for width in 1280 400; do
            for scheme in 0 1; do
                paper='rgb(20, 24, 28)'
                if [ $scheme = 1 ]; then paper='rgb(255, 255, 255)'; fi
                found=$(probe_page "$scratch/$name.html")
                wanted="width $width, scroll $width, outside 0, texts 0, requests 0, paper $paper"
                if [ "$found" = "$wanted" ]; then good; else bad "$name at $width: $found, not $wanted"; fi
                if [ "${SHOTS-}" != '' ]; then
                    browse --screenshot="$SHOTS/$name-$width-$scheme.png" "file://$scratch/$name.html" >/dev/null
                fi
            done
        done
    done
}

for group in ${*:-terminal widths threads drawings pages shown_once browsers}; do $group; done
if [ $skipped -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ $failed -eq 0 ]
