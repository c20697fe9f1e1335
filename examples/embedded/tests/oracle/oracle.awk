# Computes from a trace, apart from the engine, what the report must say: for each customer its
# figures, then its crossings in order. Usage: awk -v customers=N -f oracle.awk TRACE.csv

BEGIN {
    FS = ","
    thresholds = split("100000 250000 400000", output_threshold, " ")
}

NR == 1 { next }

{
    row = NR - 2
    c = row % customers
    input = $2 + 0
    output = $3 + 0
    at = substr($1, 1, 10) "T" substr($1, 12, 15) "Z"

    crossed("output tokens", c, written[c], written[c] + output)
    if (requests[c] + 1 == 1000) fired("requests", c, 1000, 999, 1000)

    requests[c]++
    read[c] += input
    written[c] += output
    if (requests[c] == 1 || input > largest[c]) largest[c] = input
    if (!((c, output) in seen)) {
        seen[c, output] = 1
        sizes[c]++
    }
}

END {
    for (c = 0; c < customers; c++) {
        printf "customer-%d %.0f %.0f %.0f %.0f %.0f\n", c, requests[c], read[c], written[c], largest[c], sizes[c]
        printf "%s", alerts[c]
    }
}

# One crossing for one event: the most advanced threshold of those that it crosses.
function crossed(metric, c, before, after,    i, last) {
    last = 0
    for (i = 1; i <= thresholds; i++)
        if (before < output_threshold[i] + 0 && after >= output_threshold[i] + 0) last = i
    if (last) fired(metric, c, output_threshold[last], before, after)
}

function fired(metric, c, threshold, before, after) {
    alerts[c] = alerts[c] sprintf("  %s %.0f: %.0f to %.0f by row-%d at %s\n", metric, threshold, before, after, row, at)
}
