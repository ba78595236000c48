# Print each theorem of Assumptions.v with its axioms, which coqc has printed to `log`.
awk '
    FNR == NR { if ($1 == "Print") names[++known] = substr($3, 1, length($3) - 1); next }
    /^(Axioms:|Closed under)/ { printf "%s%s", count++ ? "\n" : "", names[count + 0] }
    /^[A-Z][A-Za-z_]*\.[a-z_A-Z]+/ && !/^COQ/ { printf " %s", $1 }
    END { print ""; if (count != known) print count " of " known " theorems" }
' Assumptions.v log
