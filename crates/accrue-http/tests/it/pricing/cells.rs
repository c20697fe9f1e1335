//! Models of declared cells (price models 4).

use super::entry::{Entry, Line, Plot};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        model: "matrix",
        short: "An amount for every unit, by what its event says.",
        says: "Each combination of values of up to two properties has an amount. Events with other values, or with none, have the \
               default amount. Rows may have a `scaling_factor`.",
        config: r#"{
  "dimensions": ["region"],
  "default_unit_amount": "3.00",
  "matrix_values": [
    {"dimension_values": ["us"], "unit_amount": "2.00"},
    {"dimension_values": ["eu"], "unit_amount": "2.50"}
  ]
}"#,
        unit: "hours",
        usage: &[("region=us", "50"), ("region=eu", "20"), ("region=asia", "10")],
        story: "Asia has no row:",
        sum: "50 * 2.00 + 20 * 2.50 + 10 * 3.00",
        is_prorated: false,
        plot: Plot {
            to: 100,
            lines: &[
                Line { name: "us", usage: &[("region=us", "x")] },
                Line { name: "eu", usage: &[("region=eu", "x")] },
                Line { name: "others", usage: &[("region=asia", "x")] },
            ],
        },
        when: "One product is offered in kinds that cost differently: regions, machines, qualities.",
        rather: "[`grouped_tiered_matrix`](#grouped_tiered_matrix), where each kind has tiers. Prices of a dimensional price group, \
                 where kinds should be prices of their own, with models of their own.",
    },
    Entry {
        model: "matrix_with_display_name",
        short: "An amount by one property, with names for the invoice.",
        says: "Each value of a property has an amount, and the name that invoices show. Values without a row cost nothing.",
        config: r#"{
  "dimension": "os",
  "unit_amounts": [
    {"dimension_value": "linux", "display_name": "Linux, 2 cores", "unit_amount": "0.008"},
    {"dimension_value": "windows", "display_name": "Windows, 2 cores", "unit_amount": "0.016"}
  ]
}"#,
        unit: "minutes",
        usage: &[("os=linux", "3000"), ("os=windows", "2000"), ("os=other", "500")],
        story: "What has no row is free:",
        sum: "3000 * 0.008 + 2000 * 0.016",
        is_prorated: false,
        plot: Plot {
            to: 5_000,
            lines: &[
                Line { name: "linux", usage: &[("os=linux", "x")] },
                Line { name: "windows", usage: &[("os=windows", "x")] },
                Line { name: "others", usage: &[("os=other", "x")] },
            ],
        },
        when: "Values of events are technical, and invoices should read well.",
        rather: "[`matrix`](#matrix), where unknown values must not be free, or two properties decide.",
    },
    Entry {
        model: "matrix_with_allocation",
        short: "A matrix whose cells share free units.",
        says: "As `matrix`, and so many units are free, whatever they are. Rows draw on them in their order, the default last: what \
               stands first is free first.",
        config: r#"{
  "dimensions": ["os"],
  "default_unit_amount": "0.10",
  "allocation": "3000",
  "matrix_values": [
    {"dimension_values": ["linux"], "unit_amount": "0.008"},
    {"dimension_values": ["windows"], "unit_amount": "0.016"}
  ]
}"#,
        unit: "minutes",
        usage: &[("os=linux", "2000"), ("os=windows", "2000")],
        story: "All of Linux is free, and 1,000 minutes of Windows with it:",
        sum: "1000 * 0.016",
        is_prorated: false,
        plot: Plot {
            to: 10_000,
            lines: &[
                Line { name: "linux", usage: &[("os=linux", "x")] },
                Line {
                    name: "windows + 2,000 linux",
                    usage: &[("os=linux", "2000"), ("os=windows", "x")],
                },
            ],
        },
        when: "A plan includes usage of any kind, and what goes beyond costs by its kind.",
        rather: "[`metered_allowance`](#metered_allowance), where what is free is counted itself.",
    },
    Entry {
        model: "matrix_with_threshold_discounts",
        short: "A matrix with discounts on what some cells come to.",
        says: "As `matrix`, by up to two properties. Groups of cells have a discount on what they come to together: one fraction up to \
               a threshold in money, another above it.",
        config: r#"{
  "first_dimension": "region",
  "default_unit_amount": "1",
  "matrix_values": [
    {"first_dimension_value": "us", "unit_amount": "2"},
    {"first_dimension_value": "eu", "unit_amount": "4"}
  ],
  "threshold_discount_groups": [
    {
      "cell_coordinates": "us;eu",
      "threshold_amount": "100",
      "below_threshold_discount_percentage": "0.05",
      "above_threshold_discount_percentage": "0.20",
      "description": "Volume"
    }
  ]
}"#,
        unit: "hours",
        usage: &[("region=us", "50"), ("region=eu", "20"), ("region=asia", "5")],
        story: "The two regions come to 180: 5 % off the first 100, 20 % off the other 80:",
        sum: "50 * 2 + 20 * 4 + 5 * 1 - 100 * 0.05 - 80 * 0.20",
        is_prorated: false,
        plot: Plot {
            to: 100,
            lines: &[
                Line { name: "us", usage: &[("region=us", "x")] },
                Line { name: "eu", usage: &[("region=eu", "x")] },
                Line { name: "others", usage: &[("region=asia", "x")] },
            ],
        },
        when: "A discount is agreed on what certain kinds of usage come to.",
        rather: "A discount of the plan or the subscription, where it is on all of a price.",
    },
    Entry {
        model: "bulk_with_filters",
        short: "Volume of all events, for those that match.",
        says: "Only events that match all filters are charged. All events of the metric decide on the tier, also those that do not match. \
               A number that is exactly a bound lies in the upper tier.",
        config: r#"{
  "filters": [{"property_key": "environment", "property_value": "production"}],
  "tiers": [
    {"tier_lower_bound": "0", "unit_amount": "1.00"},
    {"tier_lower_bound": "100", "unit_amount": "0.50"}
  ]
}"#,
        unit: "builds",
        usage: &[("environment=production", "75"), ("environment=test", "75")],
        story: "150 builds reach the second tier; 75 of them are charged:",
        sum: "75 * 0.50",
        is_prorated: false,
        plot: Plot {
            to: 200,
            lines: &[
                Line { name: "alone", usage: &[("environment=production", "x")] },
                Line {
                    name: "beside 60 of test",
                    usage: &[("environment=production", "x"), ("environment=test", "60")],
                },
            ],
        },
        when: "A part of the usage is charged, and all of it should count towards a better amount.",
        rather: "[`bulk`](#bulk) with a metric of its own, where what is not charged should not count at all.",
    },
    Entry {
        model: "tiered_matrix_with_allocation",
        short: "Tiers for each cell, with shared free units.",
        says: "Each combination of values has tiers of its own, and what has none the default amount. So many units are free, whatever \
               they are: cells draw on them in the order in which the tiers name them. Tiers begin after the free units.",
        config: r#"{
  "dimensions": ["region"],
  "default_unit_amount": "0.30",
  "allocation": "500",
  "tiers": [
    {"dimension_values": ["us"], "tier_lower_bound": "0", "unit_amount": "0.10"},
    {"dimension_values": ["us"], "tier_lower_bound": "1000", "unit_amount": "0.05"},
    {"dimension_values": ["eu"], "tier_lower_bound": "0", "unit_amount": "0.20"}
  ]
}"#,
        unit: "requests",
        usage: &[("region=us", "1500"), ("region=eu", "100")],
        story: "The first region draws all that is free:",
        sum: "1000 * 0.10 + 100 * 0.20",
        is_prorated: false,
        plot: Plot {
            to: 5_000,
            lines: &[
                Line { name: "us", usage: &[("region=us", "x")] },
                Line { name: "eu", usage: &[("region=eu", "x")] },
                Line { name: "others", usage: &[("region=asia", "x")] },
            ],
        },
        when: "Kinds of usage have tiers of their own, and a plan includes some usage of any kind.",
        rather: "[`grouped_tiered_matrix`](#grouped_tiered_matrix), where nothing is free.",
    },
    Entry {
        model: "grouped_tiered_matrix",
        short: "Tiers for each value of a property.",
        says: "Each value of a property has tiers of its own; all others share the default amount.",
        config: r#"{
  "dimension": "region",
  "default_unit_amount": "0.30",
  "tiers": [
    {"dimension_value": "us", "tier_lower_bound": "0", "unit_amount": "0.10"},
    {"dimension_value": "us", "tier_lower_bound": "1000", "unit_amount": "0.05"},
    {"dimension_value": "eu", "tier_lower_bound": "0", "unit_amount": "0.20"},
    {"dimension_value": "eu", "tier_lower_bound": "2000", "unit_amount": "0.10"}
  ]
}"#,
        unit: "requests",
        usage: &[("region=us", "1500"), ("region=eu", "500"), ("region=asia", "100")],
        story: "Each region fills its own tiers:",
        sum: "1000 * 0.10 + 500 * 0.05 + 500 * 0.20 + 100 * 0.30",
        is_prorated: false,
        plot: Plot {
            to: 5_000,
            lines: &[
                Line { name: "us", usage: &[("region=us", "x")] },
                Line { name: "eu", usage: &[("region=eu", "x")] },
                Line { name: "others", usage: &[("region=asia", "x")] },
            ],
        },
        when: "Kinds of usage cost differently, and more of a kind should cost less each.",
        rather: "[`matrix`](#matrix), where a kind has one amount.",
    },
    Entry {
        model: "scalable_matrix_with_unit_pricing",
        short: "One amount, and kinds that count more than once.",
        says: "Each combination of values of up to two properties has a factor: its units count that many times. All of them together have \
               one amount. A combination without a row counts once. A `grouping_key` breaks invoices down, with `prorate` the amount \
               follows the days served.",
        config: r#"{
  "unit_price": "0.008",
  "first_dimension": "os",
  "matrix_scaling_factors": [
    {"first_dimension_value": "linux", "scaling_factor": "1"},
    {"first_dimension_value": "windows", "scaling_factor": "2"},
    {"first_dimension_value": "macos", "scaling_factor": "10"}
  ]
}"#,
        unit: "minutes",
        usage: &[("os=linux", "3000"), ("os=windows", "2000")],
        story: "A minute of Windows counts twice:",
        sum: "3000 * 1 * 0.008 + 2000 * 2 * 0.008",
        is_prorated: false,
        plot: Plot {
            to: 5_000,
            lines: &[
                Line { name: "linux", usage: &[("os=linux", "x")] },
                Line { name: "windows", usage: &[("os=windows", "x")] },
                Line { name: "macos", usage: &[("os=macos", "x")] },
            ],
        },
        when: "Kinds of usage are worth multiples of one another, and the amount should be set in one place.",
        rather: "[`matrix`](#matrix), where the amounts of kinds move on their own.",
    },
    Entry {
        model: "scalable_matrix_with_tiered_pricing",
        short: "Tiers over kinds that count more than once.",
        says: "Units count as many times as the factor of their combination says, and all of them together go through tiers. A combination \
               without a row counts once.",
        config: r#"{
  "first_dimension": "os",
  "tiers": [
    {"tier_lower_bound": "0", "unit_amount": "0.008"},
    {"tier_lower_bound": "5000", "unit_amount": "0.004"}
  ],
  "matrix_scaling_factors": [
    {"first_dimension_value": "linux", "scaling_factor": "1"},
    {"first_dimension_value": "windows", "scaling_factor": "2"}
  ]
}"#,
        unit: "minutes",
        usage: &[("os=linux", "3000"), ("os=windows", "2000")],
        story: "They count as 7,000 minutes:",
        sum: "5000 * 0.008 + 2000 * 0.004",
        is_prorated: false,
        plot: Plot {
            to: 10_000,
            lines: &[
                Line { name: "linux", usage: &[("os=linux", "x")] },
                Line { name: "windows", usage: &[("os=windows", "x")] },
            ],
        },
        when: "Kinds of usage are worth multiples of one another, and much usage of any kind should cost less.",
        rather: "[`grouped_tiered_matrix`](#grouped_tiered_matrix), where each kind has tiers of its own.",
    },
    Entry {
        model: "cumulative_grouped_bulk",
        short: "Volume amounts for each value, by all of them together.",
        says: "All units together decide on the tier, also those of values without an amount; each value has its own amount in it. Values \
               without an amount cost nothing. A number that is exactly a bound lies in the upper tier.",
        config: r#"{
  "group": "product",
  "dimension_values": [
    {"tier_lower_bound": "0", "grouping_key": "a", "unit_amount": "1.00"},
    {"tier_lower_bound": "0", "grouping_key": "b", "unit_amount": "2.00"},
    {"tier_lower_bound": "100", "grouping_key": "a", "unit_amount": "0.80"},
    {"tier_lower_bound": "100", "grouping_key": "b", "unit_amount": "1.50"}
  ]
}"#,
        unit: "seats of a",
        usage: &[("product=a", "60"), ("product=b", "60")],
        story: "120 seats together reach the second tier:",
        sum: "60 * 0.80 + 60 * 1.50",
        is_prorated: false,
        plot: Plot {
            to: 200,
            lines: &[
                Line { name: "alone", usage: &[("product=a", "x")] },
                Line { name: "beside 60 of b", usage: &[("product=a", "x"), ("product=b", "60")] },
            ],
        },
        when: "Several products have volume amounts, and whoever takes much of all has the better amount for each.",
        rather: "[`grouped_tiered_matrix`](#grouped_tiered_matrix), where products do not help each other and a bill must not fall.",
    },
    Entry {
        model: "metered_allowance",
        short: "What is used above what is earned.",
        says: "One value of a property is consumption, another one is allowance, both counted by events. Units of consumption above \
               those of the allowance are charged. Other values count for nothing.",
        config: r#"{
  "grouping_key": "kind",
  "consumption_grouping_value": "download",
  "allowance_grouping_value": "storage",
  "unit_amount": "0.01"
}"#,
        unit: "gigabytes",
        usage: &[("kind=download", "500"), ("kind=storage", "300")],
        story: "300 of 500 gigabytes are free:",
        sum: "500 * 0.01 - 300 * 0.01",
        is_prorated: false,
        plot: Plot {
            to: 1_000,
            lines: &[
                Line { name: "no allowance", usage: &[("kind=download", "x")] },
                Line {
                    name: "300 of allowance",
                    usage: &[("kind=download", "x"), ("kind=storage", "300")],
                },
            ],
        },
        when: "Customers earn what is free: so many downloads for each gigabyte stored.",
        rather: "[`matrix_with_allocation`](#matrix_with_allocation), where what is free is a number.",
    },
];
