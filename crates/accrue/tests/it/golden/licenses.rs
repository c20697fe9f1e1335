use accrue::{
    license::NewLicense,
    metric::Metric,
    price::{LicenseAllocation, NewPrice},
};

use crate::{
    license_alerts::on_pools,
    licenses::date,
    support::{
        fixture::{Fixture, external, number, run},
        priced::unit,
    },
};

/// A license type with a fee that has an allocation, and a license of a subscription, which has an end.
pub(super) fn give(fixture: &Fixture, sum: &Metric) {
    let license_type = fixture.license_type();
    let mut fee = fixture.seats(&license_type, 2);
    let usage = NewPrice { license_type_id: Some(license_type.id), ..fixture.usage_at("1", sum) };
    let plan = fixture.priced_plan([fee.clone().into(), usage.into()]);
    let subscription = fixture.subscribe(fixture.customer("guy").id, &plan);
    let mut new = NewLicense::new(subscription.id, license_type.id, external("alice"));
    new.end_date = Some(date("2026-06-01"));
    run(fixture.account.create_license(new)).unwrap();
    fee.license_allocations = vec![LicenseAllocation::new(unit("credits"), number("100"))];
    run(fixture.account.create_price(fee)).unwrap();
}

/// An alert on the pools of all subscriptions, whose creation is not applied.
pub(super) fn watch_all(fixture: &Fixture) {
    run(fixture.account.create_account_alert(on_pools(&["90"]))).unwrap();
}
