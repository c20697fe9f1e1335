//! Models of what other prices come to.

use super::entry::{Entry, Line, Plot};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        model: "percent",
        short: "A percentage of all other prices.",
        says: "A fraction of what the other prices come to, and once the period is over at least one amount; at most another one. With \
               `\"prorated\": true` the least amount is that of the days that are served.",
        config: r#"{
  "percent": 0.08,
  "minimum_amount": "5000.00",
  "maximum_amount": "50000.00"
}"#,
        unit: "USD of other prices",
        usage: &[("", "100000")],
        story: "The other prices come to 100,000, and 8 % of that lie between both amounts:",
        sum: "100000 * 0.08",
        is_prorated: false,
        plot: Plot { to: 1_000_000, lines: &[Line { name: "", usage: &[("", "x")] }] },
        when: "Support or a licence costs a share of the bill.",
        rather: "[`unit_with_percent`](#unit_with_percent), where the events say the amount that a percentage is taken of. A discount, \
                 where it is taken off.",
    },
    Entry {
        model: "minimum_composite",
        short: "What all other prices lack of an amount.",
        says: "Once the period is over, whatever the other prices lack of an amount: they and this one come to it at least. With \
               `\"prorated\": true` it is that of the days that are served.",
        config: r#"{
  "minimum_amount": "80.00"
}"#,
        unit: "USD of other prices",
        usage: &[("", "65")],
        story: "The other prices come to 65.00, which lack 15.00 of 80.00:",
        sum: "80.00 - 65",
        is_prorated: false,
        plot: Plot { to: 100, lines: &[Line { name: "", usage: &[("", "x")] }] },
        when: "A subscription costs an amount at least, and the invoice says in a line of its own what was not used of it.",
        rather: "A minimum of the plan, which discounts and single prices may have too. [`tiered_with_minimum`](#tiered_with_minimum), where \
                 the least amount is that of one price.",
    },
];
