use accrue::{
    ErrorKind, ItemId, ListFilter, MetadataUpdate, PageRequest, PriceId,
    idempotency::Freshness,
    price::{Cadence, Charge, NewPrice, PriceUpdate},
};

use crate::support::fixture::{COUNT, Fixture, block_on, external, number, refused, run};

fn merge(key: &str, value: Option<&str>) -> PriceUpdate {
    let entries = [(key.to_owned(), value.map(str::to_owned))].into();
    PriceUpdate { metadata: MetadataUpdate::Merge(entries) }
}

/// An id that nothing has.
fn unknown<Id: std::str::FromStr>() -> Id {
    let id = "019cd79e-4600-7000-8000-000000000000".parse();
    id.unwrap_or_else(|_| unreachable!("it is an id"))
}

#[test]
fn one_is_found_by_its_id_and_by_its_external_id() {
    let fixture = Fixture::new();
    let mut new = fixture.per_unit(&fixture.metric(COUNT), Cadence::Quarterly);
    new.external_price_id = Some(external("calls"));
    new.conversion_rate = Some(number("0.01").into());
    let price = run(fixture.account.create_price(new.clone())).unwrap();
    assert_eq!((price.charge.clone().into(), price.cadence), (new.charge, Cadence::Quarterly));
    assert_eq!(price.conversion_rate, Some(number("0.01").into()));
    assert_eq!(block_on(fixture.account.fetch_price(price.id)).unwrap(), price);
    assert_eq!(block_on(fixture.account.fetch_price(external("calls"))).unwrap(), price);
}

#[test]
fn one_that_does_not_exist_is_not_found() {
    let fixture = Fixture::new();
    let by_id = block_on(fixture.account.fetch_price(unknown::<PriceId>())).unwrap_err();
    let by_alias = block_on(fixture.account.fetch_price(external("calls"))).unwrap_err();
    assert!(by_id.is_not_found() && by_alias.is_not_found());
    let update = fixture.account.update_price(external("calls"), PriceUpdate::default());
    assert_eq!(refused(&fixture, update).0, ErrorKind::ResourceNotFound);
}

#[test]
fn its_item_and_its_metric_exist_and_are_not_archived() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let fee = fixture.fee(Cadence::Monthly);
    let usage = fixture.per_unit(&metric, Cadence::Monthly);
    let check = |new: NewPrice, expect: (ErrorKind, String)| {
        assert_eq!(refused(&fixture, fixture.account.create_price(new)), expect);
    };
    let item_id = unknown::<ItemId>();
    let detail = format!("no item with identifier {item_id}");
    check(NewPrice { item_id, ..fee.clone() }, (ErrorKind::ResourceNotFound, detail));

    let model = usage.charge.model().clone();
    let charge = Charge::Usage { metric_id: unknown(), model }.into();
    let detail = "no metric with identifier 019cd79e-4600-7000-8000-000000000000".to_owned();
    check(NewPrice { charge, ..usage.clone() }, (ErrorKind::ResourceNotFound, detail));

    run(fixture.account.archive_item(fee.item_id)).unwrap();
    let detail = format!("the item {} is archived", fee.item_id);
    check(fee, (ErrorKind::ConstraintViolation, detail));

    run(fixture.account.archive_metric(metric.id)).unwrap();
    let detail = format!("the metric {} is archived", metric.id);
    check(usage, (ErrorKind::ConstraintViolation, detail));
}

#[test]
fn an_external_id_is_used_once() {
    let fixture = Fixture::new();
    let mut new = fixture.fee(Cadence::Monthly);
    new.external_price_id = Some(external("seats"));
    let first = run(fixture.account.create_price(new.clone())).unwrap();
    let (kind, _) = refused(&fixture, fixture.account.create_price(new));
    assert_eq!(kind, ErrorKind::DuplicateResource);
    assert_eq!(block_on(fixture.account.fetch_price(external("seats"))).unwrap(), first);
}

#[test]
fn a_matrix_rates_no_latest_value() {
    let fixture = Fixture::new();
    let latest = fixture.metric("SELECT latest(n) FROM events");
    let call = fixture.account.create_price(fixture.by_region(&latest, 2));
    assert_eq!(refused(&fixture, call).0, ErrorKind::ConstraintViolation);
    let sum = fixture.metric("SELECT sum(n) FROM events");
    run(fixture.account.create_price(fixture.by_region(&sum, 2))).unwrap();
    run(fixture.account.create_price(fixture.per_unit(&latest, Cadence::Monthly))).unwrap();
}

#[test]
fn metadata_out_of_bounds_is_refused() {
    let fixture = Fixture::new();
    let mut new = fixture.fee(Cadence::Monthly);
    new.metadata.insert("k".repeat(129), "v".to_owned());
    let call = fixture.account.create_price(new.clone());
    assert_eq!(refused(&fixture, call).0, ErrorKind::RequestValidation);
    new.metadata.clear();
    let price = run(fixture.account.create_price(new)).unwrap();
    let call = fixture.account.update_price(price.id, merge(&"k".repeat(129), Some("v")));
    assert_eq!(refused(&fixture, call).0, ErrorKind::RequestValidation);
}

#[test]
fn an_update_merges_metadata_and_changes_nothing_else() {
    let fixture = Fixture::new();
    let mut new = fixture.fee(Cadence::Monthly);
    new.external_price_id = Some(external("seats"));
    let price = run(fixture.account.create_price(new)).unwrap();
    run(fixture.account.update_price(price.id, merge("a", Some("1")))).unwrap();
    let updated = run(fixture.account.update_price(external("seats"), merge("b", Some("2"))));
    let metadata = [("a", "1"), ("b", "2")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    let mut expect = price.clone();
    expect.metadata = metadata;
    assert_eq!(updated.unwrap(), expect);
    run(fixture.account.update_price(external("seats"), merge("b", None))).unwrap();
    let updated = run(fixture.account.update_price(price.id, merge("a", None))).unwrap();
    assert_eq!(updated, price);
    assert_eq!(block_on(fixture.account.fetch_price(price.id)).unwrap(), price);
}

#[test]
fn a_retry_under_a_key_creates_no_second_one() {
    let fixture = Fixture::new();
    let new = fixture.fee(Cadence::Monthly);
    let create = |new: &NewPrice| {
        let key = accrue::IdempotencyKey::parse("key").unwrap();
        block_on(fixture.account.create_price(new.clone()).keyed(key).into_future())
    };
    let first = create(&new).unwrap();
    let before = fixture.dump();
    let again = create(&new).unwrap();
    assert_eq!((again.freshness, &again.outcome), (Freshness::Replayed, &first.outcome));
    let mut other = new;
    other.adjustments.minimum = Some(number("1"));
    assert!(create(&other).unwrap_err().is_conflict(), "the whole price is its payload");
    assert_eq!(fixture.dump(), before);
}

#[test]
fn s4_1_a_walk_sees_every_price_once_newest_first() {
    let fixture = Fixture::new();
    let mut expect: Vec<_> = (0..5)
        .map(|_| {
            fixture.clock.advance(std::time::Duration::from_secs(1));
            run(fixture.account.create_price(fixture.fee(Cadence::Monthly))).unwrap()
        })
        .collect();
    expect.reverse();
    let mut page = PageRequest::first(2).unwrap();
    let mut found = Vec::new();
    loop {
        let prices = block_on(fixture.account.list_prices(&ListFilter::default(), &page)).unwrap();
        found.extend(prices.data);
        let Some(cursor) = prices.next_cursor else { break };
        page = page.after(cursor);
    }
    assert_eq!(found, expect);
}
