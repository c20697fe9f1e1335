use accrue::{
    Description, ErrorKind, ExternalId, MetadataUpdate, Patch,
    item::{ExternalConnection, ExternalSystem, ItemUpdate},
    metric::{MetricStatus, MetricUpdate},
    plan::NewPlan,
};

use crate::fixture::{COUNT, Fixture, block_on, name, run};

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
