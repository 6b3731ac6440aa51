# Turns a help text (sectorwise COMMAND --help) into the sections of a manual page that tell it. Lines set off by two
# blanks are examples before the first option, options from there on; elsewhere blank lines part paragraphs.

function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    return text ~ /^\./ ? "\\&" text : text
}

function enter(wanted) {
    if (mode == "example" && wanted != "example")
        print ".fi\n.RE"
    if (wanted == "options" && mode != "options")
        print ".SH OPTIONS"
    if (wanted == "example" && mode != "example")
        print ".PP\n.RS 4\n.nf"
    if (wanted == "text" && blank && mode == "text")
        print ".PP"
    if (wanted == "text" && mode == "example")
        print ".PP"
    mode = wanted
    blank = 0
}

function usage(text) {
    sub(/^(usage:|  ) */, "", text)
    if (!synopsis++)
        print ".SH SYNOPSIS"
    else
        print ".br"
    match(text, /^sectorwise( [a-z]+)?/)
    print ".B " roff(substr(text, 1, RLENGTH)) "\n" roff(substr(text, RLENGTH + 2))
}

function option(text) {
    print ".TP"
    if (match(text, /   *[^ ]/)) {
        print ".B " roff(substr(text, 1, RSTART - 1))
        print roff(substr(text, RSTART + RLENGTH - 1))
    } else
        print ".B " roff(text)
}

/^usage:/ || (synopsis && !described && /^  */) {
    usage($0)
    next
}
/^$/ {
    if (!described++)
        print ".SH DESCRIPTION"
    else if (mode == "example")
        print ""
    blank = 1
    next
}
/^  -/ {
    enter("options")
    option(substr($0, 3))
    next
}
/^   / && mode == "options" {
    sub(/^ */, "")
    print roff($0)
    next
}
/^  / {
    enter("example")
    print roff(substr($0, 3))
    next
}
{
    enter("text")
    print roff($0)
}
END {
    enter("end")
}
