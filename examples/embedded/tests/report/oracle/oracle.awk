# Computes from a trace, apart from the engine, what the report must say: for each customer its
# figures, its cost and its credits, then its crossings in order. Usage: awk -v customers=N -f oracle.awk TRACE.csv;
# with -v lost_from=INSTANT -v lost_until=INSTANT without the rows in between, and the others keep their numbers;
# with -v invoices=1 the invoices alone, which follow once two billing periods are over.
#
# All numbers are whole, amounts in millionths of a USD or a credit, and far below 2^53: so they are
# exact. Every row lies in the first billing period, and on one day in UTC.

BEGIN {
    FS = ","
    outputs = split("100000 250000 400000", output_threshold, " ")
    costs = split("21000000 22500000 25000000", cost_threshold, " ")
    lows = split("2500000 1000000", low_threshold, " ")
}

NR == 1 { next }

{
    row = NR - 2
    c = row % customers
    input = $2 + 0
    output = $3 + 0
    at = substr($1, 1, 10) "T" substr($1, 12, 15) "Z"
    if (at >= lost_from && at < lost_until) next

    before = written[c]
    after = written[c] + output
    last = crossed(output_threshold, outputs, before, after)
    if (last) fired("output tokens", whole(last), whole(before), whole(after))
    if (requests[c] + 1 == 1000) fired("requests", 1000, 999, 1000)
    before = cost(written[c], read[c])
    after = cost(written[c] + output, read[c] + input)
    last = crossed(cost_threshold, costs, before, after)
    if (last) fired("cost", amount(last), amount(before), amount(after))
    before = balance(requests[c])
    after = balance(requests[c] + 1)
    last = dropped(low_threshold, lows, before, after)
    if (last) fired("credits dropped", amount(last), amount(before), amount(after))
    if (before > 0 && after <= 0) fired("credits depleted", "-", amount(before), amount(after))

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
        if (invoices) {
            printf "customer-%d\n", c
            invoice(0, 0)
            invoice(written[c], read[c])
            invoice(0, 0)
            continue
        }
        printf "customer-%d %.0f %.0f %.0f %.0f %.0f\n", c, requests[c], read[c], written[c], largest[c], sizes[c]
        printf "  monthly fee: 1 for %s USD\n", amount(monthly_fee())
        printf "  output tokens: %.0f for %s USD\n", written[c], amount(output_tokens(written[c]))
        printf "  input tokens: %.0f for %s USD\n", read[c], amount(input_tokens(read[c]))
        printf "  requests: %.0f for %s credits\n", requests[c], amount(credits(requests[c]))
        printf "  total: %s\n", amount(cost(written[c], read[c]))
        ledger(credits(requests[c]))
        printf "%s", alerts[c]
    }
}

function cost(written, read) {
    return monthly_fee() + output_tokens(written) + input_tokens(read)
}

function monthly_fee() {
    return 20000000
}

function input_tokens(tokens) {
    return tokens
}

function given() {
    return 5000000
}

function credits(requests) {
    return requests * 2500
}

function balance(requests) {
    return given() - credits(requests)
}

# What is drawn comes from the one block that was given, and what is more from beyond it.
function ledger(drawn,    of_block) {
    of_block = drawn < given() ? drawn : given()
    entry("increment", given(), given())
    if (of_block > 0) entry("decrement", -of_block, given() - of_block)
    if (drawn > of_block) entry("decrement", of_block - drawn, given() - drawn)
    printf "  balance: %s\n", amount(given() - drawn)
}

function entry(type, moved, after) {
    printf "  %s %s to %s\n", type, amount(moved), amount(after)
}

# A fee for the period that begins, and what was used in the one that ended: the sum is rounded to
# cents, and the cents that it has beyond lines that are cut down go to those that lost most.
function invoice(written, read,    exact, cents, total, lacking, i, most) {
    exact[1] = monthly_fee()
    exact[2] = output_tokens(written)
    exact[3] = input_tokens(read)
    total = int((exact[1] + exact[2] + exact[3] + 5000) / 10000)
    lacking = total
    for (i = 1; i <= 3; i++) {
        cents[i] = int(exact[i] / 10000)
        lacking -= cents[i]
    }
    for (; lacking > 0; lacking--) {
        most = 1
        for (i = 2; i <= 3; i++)
            if (exact[i] - cents[i] * 10000 > exact[most] - cents[most] * 10000) most = i
        cents[most]++
    }
    billed("monthly fee", 1, cents[1])
    billed("output tokens", written, cents[2])
    billed("input tokens", read, cents[3])
    printf "  subtotal %.2f, total %.2f, due %.2f\n", total / 100, total / 100, total / 100
}

function billed(price, quantity, cents) {
    if (cents) printf "  %s: %.0f for %.2f\n", price, quantity, cents / 100
}

# Each tier prices the tokens that lie in it.
function output_tokens(tokens) {
    if (tokens <= 100000) return tokens * 10
    if (tokens <= 300000) return 1000000 + (tokens - 100000) * 8
    return 2600000 + (tokens - 300000) * 5
}

# One crossing for one event: the most advanced threshold of those that it crosses, or 0.
function crossed(thresholds, count, before, after,    i, last) {
    last = 0
    for (i = 1; i <= count; i++)
        if (before < thresholds[i] + 0 && after >= thresholds[i] + 0) last = thresholds[i]
    return last
}

# The same the other way: the value falls.
function dropped(thresholds, count, before, after,    i, last) {
    last = 0
    for (i = 1; i <= count; i++)
        if (before > thresholds[i] + 0 && after <= thresholds[i] + 0) last = thresholds[i]
    return last
}

function fired(what, threshold, before, after) {
    alerts[c] = alerts[c] sprintf("  %s %s: %s to %s by row-%d at %s\n", what, threshold, before, after, row, at)
}

function whole(number) {
    return sprintf("%.0f", number)
}

# Writes millionths as a decimal without trailing zeros.
function amount(millionths,    rest, text) {
    if (millionths < 0) return "-" amount(-millionths)
    rest = millionths % 1000000
    text = sprintf("%.0f.%06d", (millionths - rest) / 1000000, rest)
    sub(/\.?0+$/, "", text)
    return text
}
