//! Models of one quantity (price models 3).

use super::entry::{Entry, Line, Plot};

/// The one line of a model of one quantity.
const ONE: &[Line] = &[Line { name: "", usage: &[("", "x")] }];

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        model: "unit",
        short: "One amount for every unit.",
        says: "Every unit costs the same, the first and the millionth. A `scaling_factor` multiplies the quantity first.",
        config: r#"{"unit_amount": "0.05"}"#,
        unit: "calls",
        usage: &[("", "1000")],
        story: "1,000 calls:",
        sum: "1000 * 0.05",
        is_prorated: false,
        plot: Plot { to: 2_000, lines: ONE },
        when: "The price should be one sentence. Customers can work out a bill without help.",
        rather: "[`tiered`](#tiered), where large customers should pay less for what they use more. \
                 [`package`](#package), where single units are too small to have a price.",
    },
    Entry {
        model: "unit_with_proration",
        short: "One amount for every unit, less for a part of a period.",
        says: "As `unit`, and a period that is served in part costs a part, by its days.",
        config: r#"{"unit_amount": "2"}"#,
        unit: "gigabytes",
        usage: &[("", "40")],
        story: "40 gigabytes:",
        sum: "40 * 2",
        is_prorated: true,
        plot: Plot { to: 100, lines: ONE },
        when: "A unit is held for the whole period rather than used up, such as storage at its peak or seats.",
        rather: "[`unit`](#unit), where usage already grows with time: what was used in half a month is half as much as it is.",
    },
    Entry {
        model: "unit_with_percent",
        short: "A percentage of what is counted.",
        says: "The quantity is worth an amount for each unit, and a percentage of that is charged: 2.9 is 2.9 %.",
        config: r#"{"unit_amount": "1", "percent": "2.9"}"#,
        unit: "USD of payments",
        usage: &[("", "2000")],
        story: "Payments of 2,000, of which each unit is worth 1:",
        sum: "2000 * 1 * 0.029",
        is_prorated: false,
        plot: Plot { to: 5_000, lines: ONE },
        when: "The metric sums up money, and you take a share of it.",
        rather: "[`tiered`](#tiered) with amounts below 1, where the share falls as the volume grows.",
    },
    Entry {
        model: "package",
        short: "One amount for each started package of units.",
        says: "Units are sold in packages. A started package costs as much as a full one; no usage starts none.",
        config: r#"{"package_amount": "5", "package_size": 1000}"#,
        unit: "messages",
        usage: &[("", "4500")],
        story: "4,500 messages start five packages:",
        sum: "5 * 5",
        is_prorated: false,
        plot: Plot { to: 10_000, lines: ONE },
        when: "Units are cheap and are talked of by the hundred or the thousand.",
        rather: "[`unit`](#unit) with a small amount, where nobody should pay for units that were not used. \
                 [`tiered_package`](#tiered_package), where later packages should be cheaper.",
    },
    Entry {
        model: "package_with_allocation",
        short: "Packages above some free units.",
        says: "So many units are free. What is above them is sold in packages, and the started one is full.",
        config: r#"{"package_amount": "5", "package_size": "1000", "allocation": "2000"}"#,
        unit: "messages",
        usage: &[("", "4500")],
        story: "Of 4,500 messages 2,000 are free; the other 2,500 start three packages:",
        sum: "3 * 5",
        is_prorated: false,
        plot: Plot { to: 10_000, lines: ONE },
        when: "A plan includes some usage, and what goes beyond is sold in lots.",
        rather: "[`tiered`](#tiered) with a first tier at 0, where what goes beyond is sold by the unit. Credits of a plan, where \
                 what was not used should be kept for the next period.",
    },
    Entry {
        model: "tiered",
        short: "Graduated: the units of each tier have its amount.",
        says: "The first units cost the amount of the first tier, those after them that of the second, and so on. Reaching a tier \
               changes nothing about the units below it, so a bill never falls as usage grows.",
        config: r#"{
  "tiers": [
    {"first_unit": 0, "last_unit": 10000, "unit_amount": "0.001"},
    {"first_unit": 10000, "last_unit": 100000, "unit_amount": "0.0008"},
    {"first_unit": 100000, "last_unit": null, "unit_amount": "0.0005"}
  ]
}"#,
        unit: "calls",
        usage: &[("", "150000")],
        story: "150,000 calls fill two tiers, and 50,000 lie in the third:",
        sum: "10000 * 0.001 + 90000 * 0.0008 + 50000 * 0.0005",
        is_prorated: false,
        plot: Plot { to: 200_000, lines: ONE },
        when: "More usage should cost less for each further unit, without leaps. A first tier at 0 is free usage.",
        rather: "[`bulk`](#bulk), where a large customer should have the low amount for all units, from the first on.",
    },
    Entry {
        model: "tiered_with_proration",
        short: "Graduated, less for a part of a period.",
        says: "As `tiered`, and a period that is served in part costs a part, by its days. Tiers stay as they are. Each begins at its \
               lower bound.",
        config: r#"{
  "tiers": [
    {"tier_lower_bound": "0", "unit_amount": "0.10"},
    {"tier_lower_bound": "1000", "unit_amount": "0.06"}
  ]
}"#,
        unit: "gigabytes",
        usage: &[("", "1500")],
        story: "1,500 gigabytes:",
        sum: "1000 * 0.10 + 500 * 0.06",
        is_prorated: true,
        plot: Plot { to: 3_000, lines: ONE },
        when: "Units are held for the whole period, and more of them should cost less each.",
        rather: "[`tiered`](#tiered), where usage is what was used up in the days that were served.",
    },
    Entry {
        model: "tiered_with_minimum",
        short: "Graduated, with a least amount by the tier.",
        says: "As `tiered`, and the period costs at least the minimum of the tier that all of its units reach, also without usage. \
               What the minimum adds falls due when the period ends. With `hide_zero_amount_tiers` invoices leave out tiers that \
               cost nothing, with `prorate` all of it follows the days served.",
        config: r#"{
  "tiers": [
    {"tier_lower_bound": "0", "unit_amount": "0.50", "minimum_amount": "20"},
    {"tier_lower_bound": "100", "unit_amount": "0.25", "minimum_amount": "60"}
  ]
}"#,
        unit: "reports",
        usage: &[("", "110")],
        story: "110 reports come to 52.50. They reach the second tier, whose minimum is 60, so 7.50 are added:",
        sum: "100 * 0.50 + 10 * 0.25 + 7.50",
        is_prorated: false,
        plot: Plot { to: 250, lines: ONE },
        when: "Whoever reaches a level should pay at least for that level.",
        rather: "A minimum of the plan beside [`tiered`](#tiered), where there is one minimum whatever is used.",
    },
    Entry {
        model: "tiered_package",
        short: "Graduated in packages.",
        says: "Usage is rounded up to full packages, and each package costs the amount of the tier that it lies in. `per_unit` is the \
               amount of a package. Bounds are in units, and multiples of the size.",
        config: r#"{
  "package_size": "5000",
  "tiers": [
    {"tier_lower_bound": "0", "per_unit": "5"},
    {"tier_lower_bound": "10000", "per_unit": "4"},
    {"tier_lower_bound": "30000", "per_unit": "2.50"}
  ]
}"#,
        unit: "messages",
        usage: &[("", "33000")],
        story: "33,000 messages start seven packages: two of the first tier, four of the second, one of the third:",
        sum: "2 * 5 + 4 * 4 + 1 * 2.50",
        is_prorated: false,
        plot: Plot { to: 50_000, lines: ONE },
        when: "Units are sold in lots, and more lots should cost less each.",
        rather: "[`package`](#package), where all lots cost the same. [`tiered`](#tiered), where a started lot should not cost a full one.",
    },
    Entry {
        model: "tiered_package_with_minimum",
        short: "Graduated in packages, with a least amount by the tier.",
        says: "As `tiered_package`, and the period costs at least the minimum of the tier that its packages reach, also without usage. \
               What the minimum adds falls due when the period ends.",
        config: r#"{
  "package_size": 10,
  "tiers": [
    {"tier_lower_bound": "0", "per_unit": "3", "minimum_amount": "20"},
    {"tier_lower_bound": "100", "per_unit": "2", "minimum_amount": "40"}
  ]
}"#,
        unit: "scans",
        usage: &[("", "104")],
        story: "104 scans start eleven packages, which come to 32. They reach the second tier, whose minimum is 40, so 8 are added:",
        sum: "10 * 3 + 1 * 2 + 8",
        is_prorated: false,
        plot: Plot { to: 250, lines: ONE },
        when: "Lots and levels together: each level has its least bill.",
        rather: "[`tiered_package`](#tiered_package) and a minimum of the plan, where there is one minimum whatever is used.",
    },
    Entry {
        model: "bulk",
        short: "Volume: the tier that is reached prices all units.",
        says: "All units have the amount of the tier that their number lies in. A number that is exactly the maximum lies in its tier. \
               Where the amount falls from tier to tier, one unit more may cost less in all.",
        config: r#"{
  "tiers": [
    {"maximum_units": 100, "unit_amount": "0.50"},
    {"maximum_units": 300, "unit_amount": "0.40"},
    {"maximum_units": null, "unit_amount": "0.30"}
  ]
}"#,
        unit: "devices",
        usage: &[("", "250")],
        story: "250 devices lie in the second tier:",
        sum: "250 * 0.40",
        is_prorated: false,
        plot: Plot { to: 500, lines: ONE },
        when: "Customers negotiate by volume: who takes more has the better amount for everything.",
        rather: "[`tiered`](#tiered), where a bill must not fall as usage grows: credits that usage has drawn come back when it does.",
    },
    Entry {
        model: "bulk_with_proration",
        short: "Volume, less for a part of a period.",
        says: "As `bulk`, and a period that is served in part costs a part, by its days. Tiers have lower bounds here, and a number \
               that is exactly a bound lies in the upper tier.",
        config: r#"{
  "tiers": [
    {"tier_lower_bound": null, "unit_amount": "0.50"},
    {"tier_lower_bound": "100", "unit_amount": "0.40"},
    {"tier_lower_bound": "300", "unit_amount": "0.30"}
  ]
}"#,
        unit: "devices",
        usage: &[("", "250")],
        story: "250 devices lie in the second tier:",
        sum: "250 * 0.40",
        is_prorated: true,
        plot: Plot { to: 500, lines: ONE },
        when: "Volume prices for what is held through a period.",
        rather: "[`tiered_with_proration`](#tiered_with_proration), where a bill must not fall as usage grows.",
    },
    Entry {
        model: "threshold_total_amount",
        short: "Stair steps: one amount for all units.",
        says: "The whole period costs the amount of the highest threshold that usage has passed. Exactly at a threshold it is not \
               passed yet. With `prorate` the amount follows the days served.",
        config: r#"{
  "consumption_table": [
    {"threshold": "0", "total_amount": "50"},
    {"threshold": "1000", "total_amount": "200"},
    {"threshold": "5000", "total_amount": "350"}
  ]
}"#,
        unit: "contacts",
        usage: &[("", "4500")],
        story: "4,500 contacts have passed 1,000, and not 5,000:",
        sum: "200",
        is_prorated: false,
        plot: Plot { to: 10_000, lines: ONE },
        when: "Customers buy a size, and grow into the next one by themselves.",
        rather: "[`package`](#package), where steps should go on without end: beyond the last threshold the amount stays.",
    },
];
