//! Dimensional price groups as resources, and several of their prices at once (subscriptions 6.1, 6.2, 6.4).

use accrue::{
    DimensionalPriceGroupId, Error, ErrorKind, ItemId, MetadataUpdate, PageRequest, Patch,
    PropertyName,
    cost::CostQuery,
    metric::Metric,
    price::{
        Cadence, DimensionalPriceFilter, DimensionalPriceGroup, DimensionalPriceGroupFilter,
        DimensionalPriceGroupUpdate, DimensionalPriceRow, Model, NewDimensionalPriceConfiguration,
        NewDimensionalPriceGroup, NewDimensionalPrices, NewPrice, Price, PriceStatus, TierBounds,
    },
};

use crate::support::fixture::{
    COUNT, Fixture, SUM, UNKNOWN, block_on, external, name, number, refused, run, usd,
};

/// A group that is to be created.
pub(crate) fn new_group(metric: &Metric, dimensions: &[&str]) -> NewDimensionalPriceGroup {
    let dimensions = dimensions.iter().map(|name| PropertyName::parse(*name).unwrap());
    NewDimensionalPriceGroup::new(name("group"), metric.id, dimensions)
}

/// A row of several prices.
fn row(values: &[&str], amounts: &[&str]) -> DimensionalPriceRow {
    DimensionalPriceRow {
        name: None,
        dimension_values: values.iter().map(|&value| value.to_owned()).collect(),
        amounts: amounts.iter().map(|amount| number(amount)).collect(),
    }
}

fn tiers(bounds: &[(&str, Option<&str>)]) -> Option<Vec<TierBounds>> {
    let tier = |(first, last): &(&str, Option<&str>)| TierBounds {
        first_unit: number(first),
        last_unit: last.map(number),
    };
    Some(bounds.iter().map(tier).collect())
}

fn several(
    item: ItemId,
    rows: impl IntoIterator<Item = DimensionalPriceRow>,
) -> NewDimensionalPrices {
    NewDimensionalPrices::new(item, Cadence::Monthly, usd(), rows)
}

impl Fixture {
    pub(crate) fn group(&self, metric: &Metric, dimensions: &[&str]) -> DimensionalPriceGroup {
        run(self.account.create_dimensional_price_group(new_group(metric, dimensions))).unwrap()
    }

    fn fetch_group(&self, id: DimensionalPriceGroupId) -> DimensionalPriceGroup {
        block_on(self.account.fetch_dimensional_price_group(id)).unwrap()
    }

    fn prices_of_group(&self, id: DimensionalPriceGroupId) -> Vec<Price> {
        let (filter, page) = (DimensionalPriceFilter::default(), PageRequest::default());
        block_on(self.account.list_dimensional_prices(id, &filter, &page)).unwrap().data
    }

    fn groups_of(&self, filter: &DimensionalPriceGroupFilter) -> Vec<DimensionalPriceGroupId> {
        let first = PageRequest::first(2).unwrap();
        let (mut page, mut found) = (first.clone(), Vec::new());
        loop {
            let list = self.account.list_dimensional_price_groups(filter, &page);
            let one = block_on(list).unwrap();
            found.extend(one.data.iter().map(|group| group.id));
            let Some(cursor) = one.next_cursor else { return found };
            page = first.clone().after(cursor);
        }
    }
}

fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn subscriptions_6_1_a_group_is_found_by_its_id_and_by_its_external_id() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let mut new = new_group(&metric, &["region", "tier"]);
    new.external_dimensional_price_group_id = Some(external("by region"));
    new.metadata.insert("a".to_owned(), "1".to_owned());
    let group = run(fixture.account.create_dimensional_price_group(new)).unwrap();
    let dimensions: Vec<_> = group.dimensions.iter().map(PropertyName::as_str).collect();
    assert_eq!((group.metric_id, dimensions), (metric.id, vec!["region", "tier"]));
    assert_eq!((group.price_count, group.created_at), (0, metric.created_at));
    assert_eq!(fixture.fetch_group(group.id), group);
    let by_alias = fixture.account.fetch_dimensional_price_group(external("by region"));
    assert_eq!(block_on(by_alias).unwrap(), group);
    let unknown: DimensionalPriceGroupId = UNKNOWN.parse().unwrap();
    let missing = block_on(fixture.account.fetch_dimensional_price_group(unknown));
    assert_eq!(kind(missing), ErrorKind::ResourceNotFound);
    let missing = block_on(fixture.account.fetch_dimensional_price_group(external("other")));
    assert_eq!(kind(missing), ErrorKind::ResourceNotFound);
}

#[test]
fn subscriptions_6_2_a_group_has_a_metric_that_exists_and_is_not_archived() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let mut new = new_group(&metric, &["region"]);
    new.metric_id = UNKNOWN.parse().unwrap();
    let create = |new| fixture.account.create_dimensional_price_group(new);
    assert_eq!(refused(&fixture, create(new)).0, ErrorKind::ResourceNotFound);
    run(fixture.account.archive_metric(metric.id)).unwrap();
    let archived = refused(&fixture, create(new_group(&metric, &["region"])));
    let detail = format!("the metric {} is archived", metric.id);
    assert_eq!(archived, (ErrorKind::ConstraintViolation, detail));
}

#[test]
fn subscriptions_6_4_dimensions_are_some_and_different() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let many: Vec<_> = (0..11).map(|index| format!("d{index}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let check = |dimensions: &[&str], expect: &str| {
        let create = fixture.account.create_dimensional_price_group(new_group(&metric, dimensions));
        let expect = (ErrorKind::RequestValidation, expect.to_owned());
        assert_eq!(refused(&fixture, create), expect);
    };
    check(&[], "dimensions: found 0, expected 1 to 10");
    check(&many, "dimensions: found 11, expected 1 to 10");
    check(&["a", "b", "a"], "dimensions[2]: found a property again, expected each once");
    fixture.group(&metric, &many[..10]);
}

#[test]
fn subscriptions_6_2_an_external_id_is_of_one_group_and_null_takes_it_away() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let [first, second] = [(); 2].map(|()| fixture.group(&metric, &["region"]));
    let update = |id, patch| {
        let update = DimensionalPriceGroupUpdate {
            external_dimensional_price_group_id: patch,
            ..DimensionalPriceGroupUpdate::default()
        };
        fixture.account.update_dimensional_price_group(id, update)
    };
    let a = external("a");
    run(update(first.id, Patch::Set(a.clone()))).unwrap();
    assert_eq!(
        refused(&fixture, update(second.id, Patch::Set(a.clone()))).0,
        ErrorKind::DuplicateResource
    );
    let mut new = new_group(&metric, &["region"]);
    new.external_dimensional_price_group_id = Some(a.clone());
    let create = fixture.account.create_dimensional_price_group(new);
    assert_eq!(refused(&fixture, create).0, ErrorKind::DuplicateResource);
    // Setting what it has is no conflict with itself; what it had is free again.
    run(update(first.id, Patch::Set(a.clone()))).unwrap();
    let cleared = run(update(first.id, Patch::Clear)).unwrap();
    assert_eq!(cleared, first);
    let moved = run(update(second.id, Patch::Set(a.clone()))).unwrap();
    assert_eq!(block_on(fixture.account.fetch_dimensional_price_group(a.clone())).unwrap(), moved);
    let renamed = update(second.id, Patch::Set(external("b")));
    run(renamed).unwrap();
    let gone = block_on(fixture.account.fetch_dimensional_price_group(a));
    assert_eq!(kind(gone), ErrorKind::ResourceNotFound);
}

#[test]
fn subscriptions_6_2_metadata_is_merged() {
    let fixture = Fixture::new();
    let mut new = new_group(&fixture.metric(SUM), &["region"]);
    new.external_dimensional_price_group_id = Some(external("a"));
    new.metadata = [("a", "1"), ("b", "2")].map(|(key, value)| (key.into(), value.into())).into();
    run(fixture.account.create_dimensional_price_group(new)).unwrap();
    let entries = [("b".to_owned(), None), ("c".to_owned(), Some("3".to_owned()))];
    let update = DimensionalPriceGroupUpdate {
        metadata: MetadataUpdate::Merge(entries.into()),
        ..DimensionalPriceGroupUpdate::default()
    };
    let changed = fixture.account.update_dimensional_price_group(external("a"), update);
    let changed = run(changed).unwrap();
    let expect: accrue::Metadata =
        [("a", "1"), ("c", "3")].map(|(key, value)| (key.into(), value.into())).into();
    assert_eq!(changed.metadata, expect);
    assert_eq!(changed.external_dimensional_price_group_id, Some(external("a")));
}

#[test]
fn subscriptions_6_2_groups_are_listed_newest_first_and_by_metric() {
    let fixture = Fixture::new();
    let (sum, count) = (fixture.metric(SUM), fixture.metric(COUNT));
    let create = |(index, metric): (usize, &Metric)| {
        fixture.set(&format!("2026-03-10T13:{index:02}:00Z"));
        fixture.group(metric, &["region"]).id
    };
    let mut all: Vec<_> =
        [&sum, &count, &sum, &sum, &count].into_iter().enumerate().map(create).collect();
    all.reverse();
    assert_eq!(fixture.groups_of(&DimensionalPriceGroupFilter::default()), all);
    let of = |metric: &Metric| DimensionalPriceGroupFilter { metric_id: Some(metric.id) };
    assert_eq!(fixture.groups_of(&of(&sum)), [all[1], all[2], all[4]]);
    assert_eq!(fixture.groups_of(&of(&count)), [all[0], all[3]]);
    let none = DimensionalPriceGroupFilter { metric_id: Some(UNKNOWN.parse().unwrap()) };
    assert!(fixture.groups_of(&none).is_empty());
}

#[test]
fn subscriptions_6_2_prices_of_a_group_are_counted_and_listed_wherever_they_were_created() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let group = fixture.group(&metric, &["region"]);
    let other = fixture.group(&metric, &["region"]);
    let of = |values: &str| {
        let own = NewDimensionalPriceConfiguration::new(group.id, [values]);
        NewPrice { dimensional_price_configuration: Some(own), ..fixture.usage_at("2", &metric) }
    };
    let alone = run(fixture.account.create_price(of("eu"))).unwrap();
    fixture.set("2026-03-10T13:00:00Z");
    let plan = fixture.priced_plan([of("us").into(), fixture.usage_at("1", &metric).into()]);
    let of_plan = fixture.prices_of(&plan)[0];
    fixture.set("2026-03-10T14:00:00Z");
    let rows = several(metric.item_id, [row(&["asia"], &["1"])]);
    let in_bulk = run(fixture.account.create_dimensional_prices(group.id, rows)).unwrap();
    assert_eq!(
        (fixture.fetch_group(group.id).price_count, fixture.fetch_group(other.id).price_count),
        (3, 0)
    );
    let ids = |prices: Vec<Price>| prices.iter().map(|price| price.id).collect::<Vec<_>>();
    assert_eq!(ids(fixture.prices_of_group(group.id)), [in_bulk[0].id, of_plan, alone.id]);
    assert!(fixture.prices_of_group(other.id).is_empty());

    // No price is archived.
    let of_status = |status| {
        let filter = DimensionalPriceFilter { status: Some(status) };
        let page = PageRequest::default();
        let list = fixture.account.list_dimensional_prices(group.id, &filter, &page);
        block_on(list).unwrap().data.len()
    };
    assert_eq!((of_status(PriceStatus::Active), of_status(PriceStatus::Archived)), (3, 0));
    let unknown: DimensionalPriceGroupId = UNKNOWN.parse().unwrap();
    let (filter, page) = (DimensionalPriceFilter::default(), PageRequest::default());
    let missing = block_on(fixture.account.list_dimensional_prices(unknown, &filter, &page));
    assert_eq!(kind(missing), ErrorKind::ResourceNotFound);
}

/// A group by region and tier of a metric, and the item that its prices sell.
fn regions(fixture: &Fixture) -> (DimensionalPriceGroup, Metric) {
    let metric = fixture.metric(SUM);
    (fixture.group(&metric, &["region", "tier"]), metric)
}

#[test]
fn subscriptions_6_2_tiered_prices_in_bulk_cost_what_the_example_says() {
    let fixture = Fixture::new();
    let (group, metric) = regions(&fixture);
    let rows = [row(&["eu", "gold"], &["0.05", "0.03"]), row(&["us", "gold"], &["0.06", "0.04"])];
    let mut new = several(metric.item_id, rows);
    new.tiers = tiers(&[("0", Some("100")), ("100", None)]);
    let prices = run(fixture.account.create_dimensional_prices(group.id, new)).unwrap();
    let names: Vec<_> = prices.iter().map(|price| price.name.as_str()).collect();
    assert_eq!(names, ["eu, gold", "us, gold"]);
    for (price, values) in prices.iter().zip([["eu", "gold"], ["us", "gold"]]) {
        let own = price.dimensional_price_configuration.clone().unwrap();
        assert_eq!(
            (own.dimensional_price_group_id, own.dimension_values),
            (group.id, values.map(str::to_owned).into())
        );
        assert_eq!(block_on(fixture.account.fetch_price(price.id)).unwrap(), *price);
        assert!(matches!(price.charge.model(), Model::Tiered(_)));
    }
    let plan = fixture.priced_plan(prices.iter().map(|price| price.id.into()));
    let subscription = fixture.subscribe(fixture.customer("ada").id, &plan);
    let used = crate::dimensional_prices::with(
        "a",
        "150",
        &[("region", "eu".into()), ("tier", "gold".into())],
    );
    run(fixture.account.ingest([used])).unwrap();
    let cost = fixture.cost(&subscription, &CostQuery::default());
    let parts: Vec<_> = cost.lines[0].parts.iter().map(|part| part.amount.to_string()).collect();
    assert_eq!((parts, cost.total), (vec!["5".to_owned(), "1.5".to_owned()], number("6.5")));
}

#[test]
fn subscriptions_6_2_rows_have_names_of_their_own_or_their_values() {
    let fixture = Fixture::new();
    let (group, metric) = regions(&fixture);
    let mut named = row(&["eu", "1"], &["0.5"]);
    named.name = Some(name("Europe"));
    let new = several(metric.item_id, [named, row(&["eu", "1"], &["-1"])]);
    let prices = run(fixture.account.create_dimensional_prices(group.id, new)).unwrap();
    let names: Vec<_> = prices.iter().map(|price| price.name.as_str()).collect();
    assert_eq!(names, ["Europe", "eu, 1"], "two prices may be of one combination");
}

#[test]
fn subscriptions_6_2_either_all_rows_become_prices_or_none_does() {
    let fixture = Fixture::new();
    let (group, metric) = regions(&fixture);
    let rows =
        |of: &[&[&str]]| several(metric.item_id, of.iter().map(|values| row(values, &["1"])));
    let create = |new| fixture.account.create_dimensional_prices(group.id, new);
    let wrong_last = create(rows(&[&["eu", "gold"], &["us", "gold"], &["us"]]));
    let (kind, text) = refused(&fixture, wrong_last);
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
    assert_eq!(fixture.fetch_group(group.id).price_count, 0);
    let most: Vec<_> = (0..100).map(|index| row(&["eu", &index.to_string()], &["1"])).collect();
    let more = most.iter().cloned().chain([row(&["us", "1"], &["1"])]);
    let check = |rows: NewDimensionalPrices, expect: &str| {
        assert_eq!(
            refused(&fixture, create(rows)),
            (ErrorKind::RequestValidation, expect.to_owned())
        );
    };
    check(several(metric.item_id, more), "prices: found 101, expected 1 to 100");
    check(rows(&[]), "prices: found 0, expected 1 to 100");
    let prices = run(create(several(metric.item_id, most))).unwrap();
    assert_eq!(prices[99].name.as_str(), "eu, 99");
    assert_eq!(fixture.fetch_group(group.id).price_count, 100);
}

#[test]
fn subscriptions_6_4_rows_have_as_many_amounts_as_tiers_which_join() {
    let fixture = Fixture::new();
    let (group, metric) = regions(&fixture);
    let check = |amounts: &[&str], bounds: Option<Vec<TierBounds>>, expect: &str| {
        let mut new =
            several(metric.item_id, [row(&["eu", "gold"], &["1"]), row(&["eu", "gold"], amounts)]);
        if let Some(tiers) = &bounds {
            let all = vec!["1"; tiers.len()];
            new.prices[0] = row(&["eu", "gold"], &all);
        }
        new.tiers = bounds;
        let create = fixture.account.create_dimensional_prices(group.id, new);
        assert_eq!(refused(&fixture, create), (ErrorKind::RequestValidation, expect.to_owned()));
    };
    let joined = tiers(&[("0", Some("100")), ("100", None)]);
    check(&[], None, "prices[1].amounts: found 0, expected one");
    check(&["1", "2"], None, "prices[1].amounts: found 2, expected one");
    check(&["1"], joined, "prices[1].amounts: found 1, expected 2: one for each tier");
    let apart = tiers(&[("0", Some("100")), ("102", None)]);
    let text = "tiers[1].first_unit: found 102, a gap: expected 100, where the tier before ends";
    check(&["1", "2"], apart, text);
    check(&[], Some(Vec::new()), "tiers: found 0 tiers, expected 1 to 200");
    let mut new = several(metric.item_id, [row(&["eu", "gold"], &["1"])]);
    new.prices[0].amounts = vec![number(&"1".repeat(28)) * number("1.1")];
    let create = fixture.account.create_dimensional_prices(group.id, new);
    let (kind, text) = refused(&fixture, create);
    assert_eq!(kind, ErrorKind::RequestValidation);
    assert!(text.starts_with("prices[0].amounts[0]: "), "{text}");
}

#[test]
fn subscriptions_6_2_rows_sell_the_item_of_the_metric_at_a_recurring_cadence() {
    let fixture = Fixture::new();
    let (group, metric) = regions(&fixture);
    let create = |item, cadence| {
        let mut new = several(item, [row(&["eu", "gold"], &["1"])]);
        new.cadence = cadence;
        fixture.account.create_dimensional_prices(group.id, new)
    };
    let unknown = create(UNKNOWN.parse().unwrap(), Cadence::Monthly);
    assert_eq!(refused(&fixture, unknown).0, ErrorKind::ResourceNotFound);
    let other = create(fixture.item().id, Cadence::Monthly);
    assert_eq!(refused(&fixture, other).0, ErrorKind::ConstraintViolation);
    let once = create(metric.item_id, Cadence::OneTime);
    assert_eq!(refused(&fixture, once).0, ErrorKind::ConstraintViolation);
    for cadence in [Cadence::Quarterly, Cadence::SemiAnnual, Cadence::Annual] {
        assert_eq!(run(create(metric.item_id, cadence)).unwrap()[0].cadence, cadence);
    }
    let missing: DimensionalPriceGroupId = UNKNOWN.parse().unwrap();
    let new = several(metric.item_id, [row(&["eu", "gold"], &["1"])]);
    let missing = fixture.account.create_dimensional_prices(missing, new);
    assert_eq!(refused(&fixture, missing).0, ErrorKind::ResourceNotFound);
}

#[test]
fn subscriptions_6_4_neither_a_group_nor_its_prices_send_a_message() {
    let fixture = Fixture::new();
    let (group, metric) = regions(&fixture);
    let new = several(metric.item_id, [row(&["eu", "gold"], &["1"])]);
    run(fixture.account.create_dimensional_prices(group.id, new)).unwrap();
    assert!(fixture.messages().is_empty());
}
