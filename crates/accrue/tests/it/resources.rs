use accrue::{
    CarriedUpdate, Description, ErrorKind, ExternalId, InstantRange, MetadataUpdate, PageRequest,
    Patch,
    item::{ExternalConnection, ExternalSystem, ItemUpdate},
    metric::{MetricFilter, MetricStatus, MetricUpdate},
    plan::{NewPlan, Plan, PlanFilter, PlanStatus, PlanUpdate},
};

use crate::support::fixture::{COUNT, Fixture, block_on, external, name, run, usage_alert, usd};

#[test]
fn s4_3_an_update_of_an_item_replaces_its_connections_and_merges_its_metadata() {
    let fixture = Fixture::new();
    let item = fixture.item();
    let connection = ExternalConnection {
        external_connection_name: ExternalSystem::BillCom,
        external_entity_id: name("x-1"),
    };
    let merge = |key: &str, value: Option<&str>| {
        MetadataUpdate::Merge([(key.to_owned(), value.map(str::to_owned))].into())
    };
    let update = ItemUpdate {
        external_connections: Some(vec![connection.clone()]),
        metadata: merge("a", Some("1")),
        ..Default::default()
    };
    let item = run(fixture.account.update_item(item.id, update)).unwrap();
    let update = ItemUpdate { metadata: merge("b", Some("2")), ..Default::default() };
    let item = run(fixture.account.update_item(item.id, update)).unwrap();
    assert_eq!(item.external_connections, [connection]);
    assert_eq!(item.metadata.keys().collect::<Vec<_>>(), ["a", "b"]);
    let update = ItemUpdate {
        external_connections: Some(Vec::new()),
        metadata: merge("a", None),
        ..Default::default()
    };
    let item = run(fixture.account.update_item(item.id, update)).unwrap();
    assert_eq!(item.external_connections, []);
    assert_eq!(item.metadata.keys().collect::<Vec<_>>(), ["b"]);
    let update = ItemUpdate { metadata: MetadataUpdate::Clear, ..Default::default() };
    assert!(run(fixture.account.update_item(item.id, update)).unwrap().metadata.is_empty());
    assert_eq!(
        serde_json::to_string(&ExternalSystem::BillCom).unwrap(),
        "\"bill.com\"",
        "as on the wire"
    );
}

#[test]
fn an_archived_item_cannot_be_archived_again_and_takes_no_metric() {
    let fixture = Fixture::new();
    let item = fixture.item();
    let archived = run(fixture.account.archive_item(item.id)).unwrap();
    assert!(archived.archived_at.is_some());
    let again = run(fixture.account.archive_item(item.id)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::ConstraintViolation);
    let sql = accrue::metric::MetricQuery::parse(COUNT).unwrap();
    let new = accrue::metric::NewMetric::new(name("m"), item.id, sql);
    let refused = run(fixture.account.create_metric(new)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
}

#[test]
fn a_metric_is_updated_and_archived_once() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let update = MetricUpdate {
        name: Some(name("calls")),
        description: Patch::Set(Description::parse("all calls").unwrap()),
        ..Default::default()
    };
    let updated = run(fixture.account.update_metric(metric.id, update)).unwrap();
    assert_eq!((updated.name.as_str(), updated.sql.as_str()), ("calls", COUNT));
    let archived = run(fixture.account.archive_metric(metric.id)).unwrap();
    assert_eq!(archived.status, MetricStatus::Archived);
    assert_eq!(block_on(fixture.account.fetch_metric(metric.id)).unwrap(), archived);
    let again = run(fixture.account.archive_metric(metric.id)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::ConstraintViolation);
}

#[test]
fn an_account_has_at_most_100_metrics() {
    let fixture = Fixture::new();
    let item = fixture.item();
    let create = || {
        let sql = accrue::metric::MetricQuery::parse(COUNT).unwrap();
        run(fixture.account.create_metric(accrue::metric::NewMetric::new(name("m"), item.id, sql)))
    };
    for _ in 0..100 {
        create().unwrap();
    }
    assert_eq!(create().unwrap_err().kind(), ErrorKind::ConstraintViolation);
}

#[test]
fn a_plan_is_found_by_its_external_id_which_is_used_once() {
    let fixture = Fixture::new();
    let mut new = NewPlan::new(name("pro"), accrue::Currency::parse("EUR").unwrap());
    let external = ExternalId::parse("pro").unwrap();
    new.external_plan_id = Some(external.clone());
    let plan = run(fixture.account.create_plan(new.clone())).unwrap();
    assert_eq!(block_on(fixture.account.fetch_plan(external)).unwrap(), plan);
    let again = run(fixture.account.create_plan(new)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::DuplicateResource);
}

#[test]
fn an_unarchived_metric_is_active_and_has_missed_nothing() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let subscription = fixture.subscribe(fixture.customer("ada").id, &fixture.plan());
    let refused = run(fixture.account.unarchive_metric(metric.id)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation, "it is not archived");
    run(fixture.account.archive_metric(metric.id)).unwrap();
    fixture.use_now("ada", "a", "");
    let alert = || {
        let new = usage_alert(metric.id, &["2"]);
        run(fixture.account.create_subscription_alert(subscription.id, new))
    };
    assert_eq!(alert().unwrap_err().kind(), ErrorKind::ConstraintViolation);
    assert_eq!(run(fixture.account.unarchive_metric(metric.id)).unwrap(), metric);
    alert().unwrap();
    assert_eq!(fixture.usage(&subscription, &metric).as_deref(), Some("1"));
    fixture.use_now("ada", "b", "");
    assert_eq!(fixture.fired(), ["2: 1 -> 2"]);
    assert!(run(fixture.account.unarchive_metric(metric.id)).is_err());
    run(fixture.account.archive_metric(metric.id)).unwrap();
}

#[test]
fn metrics_are_listed_by_status() {
    let fixture = Fixture::new();
    let metrics: Vec<_> = (0..5)
        .map(|n| {
            fixture.clock.advance(std::time::Duration::from_secs(1));
            let metric = fixture.metric(COUNT);
            if n % 2 == 0 {
                run(fixture.account.archive_metric(metric.id)).unwrap()
            } else {
                metric
            }
        })
        .collect();
    let check = |status: Option<MetricStatus>, created: InstantRange, expect: &[usize]| {
        let (mut found, mut page) = (Vec::new(), PageRequest::first(1).unwrap());
        loop {
            let filter = MetricFilter { created, status };
            let next = block_on(fixture.account.list_metrics(&filter, &page)).unwrap();
            found.extend(next.data);
            let Some(cursor) = next.next_cursor else { break };
            page = page.after(cursor);
        }
        let expect: Vec<_> = expect.iter().map(|index| metrics[*index].clone()).collect();
        assert_eq!(found, expect, "{status:?}");
    };
    let any = InstantRange::default();
    check(None, any, &[4, 3, 2, 1, 0]);
    check(Some(MetricStatus::Active), any, &[3, 1]);
    check(Some(MetricStatus::Archived), any, &[4, 2, 0]);
    check(Some(MetricStatus::Draft), any, &[]);
    check(Some(MetricStatus::Archived), any.before(metrics[4].created_at), &[2, 0]);
}

fn named_plan(fixture: &Fixture, alias: Option<&str>) -> Plan {
    let mut new = NewPlan::new(name("plan"), usd());
    new.external_plan_id = alias.map(external);
    run(fixture.account.create_plan(new)).unwrap()
}

#[test]
fn wire_5_1_an_update_of_a_plan_changes_its_name_alias_description_and_metadata() {
    let fixture = Fixture::new();
    let plan = named_plan(&fixture, None);
    let update = PlanUpdate {
        name: Some(name("professional")),
        external_plan_id: Patch::Set(external("pro")),
        description: Patch::Set(Description::parse("for all").unwrap()),
        metadata: MetadataUpdate::Merge([("a".to_owned(), Some("1".to_owned()))].into()),
        carried: CarriedUpdate::new([("net_terms", "30")]).unwrap(),
        ..PlanUpdate::default()
    };
    let updated = run(fixture.account.update_plan(plan.id, update)).unwrap();
    assert_eq!(updated.name, name("professional"));
    assert_eq!(updated.external_plan_id, Some(external("pro")));
    assert_eq!(updated.description.as_deref(), Some("for all"));
    assert_eq!(
        (updated.metadata["a"].as_str(), updated.carried.get("net_terms")),
        ("1", Some("30"))
    );
    assert_eq!((updated.id, updated.version), (plan.id, plan.version));
    let none = run(fixture.account.update_plan(external("pro"), PlanUpdate::default())).unwrap();
    assert_eq!(none, updated, "nothing is changed that is not named");
    assert_eq!(block_on(fixture.account.fetch_plan(external("pro"))).unwrap(), updated);
    let versions = fixture.account.fetch_plan_version(external("pro"), plan.version);
    assert_eq!(block_on(versions).unwrap().plan_id, plan.id);
    let unknown = run(fixture.account.update_plan(external("max"), PlanUpdate::default()));
    assert!(unknown.unwrap_err().is_not_found());
}

#[test]
fn the_alias_that_a_plan_had_is_free_again() {
    let fixture = Fixture::new();
    let rename = |plan: &Plan, external_plan_id: Patch<ExternalId>| {
        let update = PlanUpdate { external_plan_id, ..Default::default() };
        run(fixture.account.update_plan(plan.id, update))
    };
    let (one, other) = (named_plan(&fixture, Some("one")), named_plan(&fixture, Some("other")));
    let before = fixture.dump();
    let refused = rename(&one, Patch::Set(external("other"))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::DuplicateResource);
    assert_eq!(fixture.dump(), before);
    rename(&one, Patch::Set(external("one"))).unwrap();
    rename(&one, Patch::Set(external("first"))).unwrap();
    assert!(block_on(fixture.account.fetch_plan(external("one"))).unwrap_err().is_not_found());
    rename(&other, Patch::Set(external("one"))).unwrap();
    assert_eq!(block_on(fixture.account.fetch_plan(external("one"))).unwrap().id, other.id);
    assert_eq!(rename(&other, Patch::Clear).unwrap().external_plan_id, None);
    assert!(block_on(fixture.account.fetch_plan(external("one"))).unwrap_err().is_not_found());
    rename(&one, Patch::Set(external("one"))).unwrap();
}

#[test]
fn plans_are_listed_by_status_and_creation_and_every_one_is_active() {
    let fixture = Fixture::new();
    let first = named_plan(&fixture, None);
    fixture.clock.advance(std::time::Duration::from_secs(1));
    let second = named_plan(&fixture, None);
    assert_eq!(first.status, PlanStatus::Active);
    let list = |status: Option<PlanStatus>, created: InstantRange, page: &PageRequest| {
        let page = block_on(fixture.account.list_plans(&PlanFilter { created, status }, page));
        page.map(|page| page.data)
    };
    let (any, page) = (InstantRange::default(), PageRequest::default());
    let all = [second.clone(), first.clone()];
    assert_eq!(list(None, any, &page).unwrap(), all);
    assert_eq!(list(Some(PlanStatus::Active), any, &page).unwrap(), all);
    assert_eq!(list(None, any.after(first.created_at), &page).unwrap(), [second]);
    for status in [PlanStatus::Archived, PlanStatus::Draft] {
        assert_eq!(list(Some(status), any, &page).unwrap(), []);
        let bad = page.clone().after(accrue::Cursor::from_text("nonsense"));
        assert!(list(Some(status), any, &bad).is_err());
    }
}
