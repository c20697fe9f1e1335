use accrue::{
    metric::Metric,
    price::{NewDimensionalPriceConfiguration, NewPrice},
};

use crate::{
    dimensional_price_groups::new_group,
    support::fixture::{Fixture, external, run},
};

/// A dimensional price group with prices of two combinations, one of them broken down by a further property.
pub(super) fn price(fixture: &Fixture, sum: &Metric) {
    let mut new = new_group(sum, &["region", "tier"]);
    new.external_dimensional_price_group_id = Some(external("by region"));
    new.metadata = [("team".to_owned(), "billing".to_owned())].into();
    let group = run(fixture.account.create_dimensional_price_group(new)).unwrap();
    let of = |region: &str| NewPrice {
        dimensional_price_configuration: Some(NewDimensionalPriceConfiguration::new(
            group.id,
            [region, "gold"],
        )),
        ..fixture.usage_at("2", sum)
    };
    run(fixture.account.create_price(of("us"))).unwrap();
    let grouping = Some(accrue::PropertyName::parse("user").unwrap());
    let eu = NewPrice { invoice_grouping_key: grouping, ..of("eu") };
    run(fixture.account.create_price(eu)).unwrap();
}
