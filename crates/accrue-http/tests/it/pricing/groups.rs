//! Models of groups that are not known beforehand (price models 5).

use super::entry::{Entry, Line, Plot};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        model: "grouped_tiered",
        short: "Graduated tiers for each value by itself.",
        says: "Each value of a property, such as a project, goes through the tiers by itself, whichever values there are. Usage without \
               the property is a value of its own.",
        config: r#"{
  "grouping_key": "project",
  "tiers": [
    {"tier_lower_bound": "0", "unit_amount": "0.10"},
    {"tier_lower_bound": "1000", "unit_amount": "0.05"}
  ]
}"#,
        unit: "calls",
        usage: &[("project=one", "1500"), ("project=two", "500")],
        story: "Only the first project reaches its second tier:",
        sum: "1000 * 0.10 + 500 * 0.05 + 500 * 0.10",
        is_prorated: false,
        plot: Plot {
            to: 2_500,
            lines: &[
                Line { name: "one", usage: &[("project=one", "x")] },
                Line {
                    name: "one beside 500 of two",
                    usage: &[("project=one", "x"), ("project=two", "500")],
                },
            ],
        },
        when: "Each project, workspace or user of a customer should have the discounts that it has earned itself.",
        rather: "[`tiered`](#tiered), where all usage of a customer fills one set of tiers. \
                 [`grouped_tiered_matrix`](#grouped_tiered_matrix), where values are known and have tiers of their own.",
    },
    Entry {
        model: "grouped_tiered_package",
        short: "Graduated tiers of packages for each value.",
        says: "The usage of each value of a property is rounded up to full packages by itself, and these go through tiers. `per_unit` is \
               the amount of a package. Bounds are in units, and multiples of the size.",
        config: r#"{
  "grouping_key": "project",
  "package_size": "1000",
  "tiers": [
    {"tier_lower_bound": "0", "per_unit": "1.00"},
    {"tier_lower_bound": "5000", "per_unit": "0.60"}
  ]
}"#,
        unit: "messages",
        usage: &[("project=one", "6500"), ("project=two", "300")],
        story: "The first project starts seven packages, the second one:",
        sum: "5 * 1.00 + 2 * 0.60 + 1 * 1.00",
        is_prorated: false,
        plot: Plot {
            to: 10_000,
            lines: &[
                Line { name: "one", usage: &[("project=one", "x")] },
                Line {
                    name: "one beside 300 of two",
                    usage: &[("project=one", "x"), ("project=two", "300")],
                },
            ],
        },
        when: "Units are sold in lots, and a lot belongs to one project or user.",
        rather: "[`tiered_package`](#tiered_package), where all values share their lots. [`grouped_tiered`](#grouped_tiered), where a \
                 started lot should not cost a full one.",
    },
    Entry {
        model: "max_group_tiered_package",
        short: "Tiers of packages, of the largest value alone.",
        says: "Of all values of a property only the one with the most usage is charged: rounded up to full packages, which go through \
               tiers. `unit_amount` is the amount of a package. All others are free.",
        config: r#"{
  "grouping_key": "region",
  "package_size": "1000",
  "tiers": [
    {"tier_lower_bound": "0", "unit_amount": "1.00"},
    {"tier_lower_bound": "5000", "unit_amount": "0.60"}
  ]
}"#,
        unit: "records of eu",
        usage: &[("region=eu", "6500"), ("region=us", "3000")],
        story: "Europe has the most, in seven packages:",
        sum: "5 * 1.00 + 2 * 0.60",
        is_prorated: false,
        plot: Plot {
            to: 10_000,
            lines: &[
                Line { name: "alone", usage: &[("region=eu", "x")] },
                Line {
                    name: "beside 3,000 of us",
                    usage: &[("region=eu", "x"), ("region=us", "3000")],
                },
            ],
        },
        when: "The same is kept several times, such as copies in regions, and is paid for once.",
        rather: "[`grouped_tiered_package`](#grouped_tiered_package), where each value is paid for.",
    },
    Entry {
        model: "grouped_allocation",
        short: "So many free units for each value.",
        says: "Each value of a property has free units of its own, and what is above them has one amount. What a value leaves is no other's.",
        config: r#"{"grouping_key": "user", "allocation": "300", "overage_unit_rate": "0.04"}"#,
        unit: "minutes",
        usage: &[("user=ada", "350"), ("user=bob", "100")],
        story: "Ada is 50 minutes above, whatever Bob leaves:",
        sum: "50 * 0.04",
        is_prorated: false,
        plot: Plot {
            to: 1_000,
            lines: &[
                Line { name: "ada", usage: &[("user=ada", "x")] },
                Line {
                    name: "beside 800 of bob",
                    usage: &[("user=ada", "x"), ("user=bob", "800")],
                },
            ],
        },
        when: "A seat includes some usage, and it is not shared between seats.",
        rather: "[`cumulative_grouped_allocation`](#cumulative_grouped_allocation), where all seats together have a limit too. \
                 [`package_with_allocation`](#package_with_allocation), where everybody draws on one allocation.",
    },
    Entry {
        model: "cumulative_grouped_allocation",
        short: "Free units for each value, and for all of them together.",
        says: "A value pays for what is above its own free units, or for what it takes of usage above the free units of all, whichever is \
               more. Values draw on the latter in their order: usage without a value first, then by name.",
        config: r#"{
  "grouping_key": "user",
  "group_allocation": "300",
  "cumulative_allocation": "500",
  "unit_amount": "0.04"
}"#,
        unit: "minutes of ada",
        usage: &[("user=ada", "350"), ("user=bob", "250")],
        story: "Ada is 50 above her own. Bob is within his, but only 150 of the 500 are left to him:",
        sum: "50 * 0.04 + 100 * 0.04",
        is_prorated: false,
        plot: Plot {
            to: 1_000,
            lines: &[
                Line { name: "alone", usage: &[("user=ada", "x")] },
                Line {
                    name: "beside 250 of bob",
                    usage: &[("user=ada", "x"), ("user=bob", "250")],
                },
            ],
        },
        when: "A plan includes some usage for each seat, and no more than so much in all.",
        rather: "[`grouped_allocation`](#grouped_allocation), where one limit is enough: there a bill does not depend on names.",
    },
    Entry {
        model: "grouped_with_min_max_thresholds",
        short: "One amount for every unit, with a least and a greatest amount of each value.",
        says: "Every unit costs the same, but a value of the property comes to no more than the maximum, and once the period is over to \
               no less than the minimum. A value counts from its first event on, also one of nothing.",
        config: r#"{
  "grouping_key": "order",
  "per_unit_rate": "0.01",
  "minimum_charge": "20.00",
  "maximum_charge": "100.00"
}"#,
        unit: "USD of orders",
        usage: &[("order=1", "40"), ("order=2", "2500"), ("order=3", "20000")],
        story: "One percent of each order, from 20.00 to 100.00:",
        sum: "20.00 + 2500 * 0.01 + 100.00",
        is_prorated: false,
        plot: Plot {
            to: 20_000,
            lines: &[
                Line { name: "one order", usage: &[("order=1", "x")] },
                Line {
                    name: "beside one of 4,000",
                    usage: &[("order=1", "x"), ("order=2", "4000")],
                },
            ],
        },
        when: "You take a share of each order or payment, within bounds.",
        rather: "[`unit_with_percent`](#unit_with_percent), where there are no bounds. A minimum or maximum of the price, where the bounds \
                 are of all together.",
    },
    Entry {
        model: "grouped_with_prorated_minimum",
        short: "One amount for every unit, with a least amount of each value by the days served.",
        says: "Every unit costs the same. Once the period is over, each value of the property that has events comes to no less than the \
               minimum: the part of it that the days served are. Usage itself is not prorated.",
        config: r#"{"grouping_key": "cluster", "unit_rate": "0.50", "minimum": "100"}"#,
        unit: "hours",
        usage: &[("cluster=a", "60"), ("cluster=b", "300")],
        story: "The first cluster costs the minimum of a whole period:",
        sum: "100 + 300 * 0.50",
        is_prorated: false,
        plot: Plot {
            to: 500,
            lines: &[
                Line { name: "one cluster", usage: &[("cluster=a", "x")] },
                Line {
                    name: "beside one of 300",
                    usage: &[("cluster=a", "x"), ("cluster=b", "300")],
                },
            ],
        },
        when: "Each cluster, site or database costs you something even where it is hardly used.",
        rather: "[`grouped_with_min_max_thresholds`](#grouped_with_min_max_thresholds), where a part of a period costs the whole minimum, or \
                 there is a maximum.",
    },
    Entry {
        model: "grouped_with_metered_minimum",
        short: "Rates with factors, and a least amount for each unit of a value.",
        says: "One property decides on the rate, a second one on a factor of it; without a factor it counts once, and without a rate a unit \
               costs the minimum. Once the period is over, each value of a third property comes to no less than the minimum for each of \
               its units.",
        config: r#"{
  "grouping_key": "cluster",
  "pricing_key": "gpu",
  "scaling_key": "region",
  "minimum_unit_amount": "0.50",
  "unit_amounts": [
    {"pricing_value": "large", "unit_amount": "2.00"},
    {"pricing_value": "small", "unit_amount": "0.30"}
  ],
  "scaling_factors": [
    {"scaling_value": "eu", "scaling_factor": "1.2"}
  ]
}"#,
        unit: "hours",
        usage: &[
            ("cluster=a, gpu=large, region=eu", "10"),
            ("cluster=a, gpu=small, region=us", "30"),
            ("cluster=b, gpu=small, region=us", "20"),
        ],
        story: "The first cluster is above 0.50 an hour, and the second one is raised to it:",
        sum: "10 * 2.00 * 1.2 + 30 * 0.30 + 20 * 0.50",
        is_prorated: false,
        plot: Plot {
            to: 100,
            lines: &[
                Line { name: "small", usage: &[("cluster=a, gpu=small, region=us", "x")] },
                Line {
                    name: "beside 8 large",
                    usage: &[
                        ("cluster=a, gpu=small, region=us", "x"),
                        ("cluster=a, gpu=large, region=us", "8"),
                    ],
                },
            ],
        },
        when: "Kinds and places have rates, and a cluster may not become cheaper than so much an hour.",
        rather: "[`matrix`](#matrix), where nothing has a minimum. \
                 [`scalable_matrix_with_unit_pricing`](#scalable_matrix_with_unit_pricing), where kinds are multiples of one amount.",
    },
    Entry {
        model: "event_output",
        short: "Every unit at the rate that its event says.",
        says: "Events carry their rate: a property that is a number, or a text that is one. Events without one have the default rate; \
               where there is none they are not counted. A `grouping_key` breaks invoices down further.",
        config: r#"{"unit_rating_key": "rate", "default_unit_rate": "0.05"}"#,
        unit: "units",
        usage: &[("rate=0.10", "70"), ("rate=0.22", "100"), ("kind=other", "40")],
        story: "40 units say no rate:",
        sum: "70 * 0.10 + 100 * 0.22 + 40 * 0.05",
        is_prorated: false,
        plot: Plot {
            to: 200,
            lines: &[
                Line { name: "at 0.10", usage: &[("rate=0.10", "x")] },
                Line { name: "at 0.22", usage: &[("rate=0.22", "x")] },
                Line { name: "no rate", usage: &[("kind=other", "x")] },
            ],
        },
        when: "What a unit costs is known only where it is used, such as the price of a provider that you pass on.",
        rather: "[`matrix`](#matrix), where rates follow from what events say. A billing period has at most 1,000 rates.",
    },
    Entry {
        model: "daily_credit_allowance",
        short: "A matrix with a free amount for each day.",
        says: "As `matrix`, and what the usage of a day comes to is free up to an allowance; what a day leaves is lost. The day is the text \
               of a property of the events.",
        config: r#"{
  "event_day_property": "day",
  "dimensions": ["model"],
  "default_unit_amount": "0.10",
  "daily_allowance": "4.00",
  "matrix_values": [
    {"dimension_values": ["large"], "unit_amount": "0.40"}
  ]
}"#,
        unit: "requests",
        usage: &[("day=2026-03-01, model=large", "30"), ("day=2026-03-02, model=small", "20")],
        story: "The first day comes to 12.00, of which 4.00 are free. The second one, of 2.00, is free:",
        sum: "30 * 0.40 - 4.00",
        is_prorated: false,
        plot: Plot {
            to: 100,
            lines: &[
                Line { name: "large", usage: &[("day=2026-03-01, model=large", "x")] },
                Line { name: "small", usage: &[("day=2026-03-01, model=small", "x")] },
            ],
        },
        when: "Customers may try something every day, whatever they use of it.",
        rather: "[`grouped_allocation`](#grouped_allocation) by the day, where units are free and not an amount. Credits, where what was \
                 not used should be kept.",
    },
];
