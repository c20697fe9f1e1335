//! The audit log has an entry of each operation of somebody, written in the commit of its effect.

use std::{sync::Arc, time::Duration};

use accrue::{
    Account, AccountId, Billing, IdempotencyKey, ManualClock, PageRequest, SeededEntropy,
    audit::{Actor, AuditEntry, AuditFilter, AuditOf, Who},
    customer::NewCustomer,
    item::NewItem,
    person::Role,
    store::MemoryStore,
};

use crate::{
    people::{email, first},
    support::{
        counting::Counting,
        fixture::{Fixture, NOON, at, block_on, event, name, run},
    },
};

fn log(billing: &Billing, of: AuditOf) -> Vec<AuditEntry> {
    let filter = AuditFilter { of, ..Default::default() };
    block_on(billing.list_audit(&filter, &PageRequest::default())).unwrap().data
}

fn operations(billing: &Billing, of: AuditOf) -> Vec<(String, Option<String>)> {
    let entries = log(billing, of).into_iter();
    entries.map(|entry| (entry.operation, entry.subject)).collect()
}

fn import(account: &Account) -> Account {
    let actor = Actor::host(name("import")).for_request(name("req-1"));
    account.acting(actor)
}

#[test]
fn an_entry_says_who_did_what_where_and_when() {
    let fixture = Fixture::new();
    let account = import(&fixture.account);
    let item = run(account.create_item(NewItem::new(name("Tokens")))).unwrap();
    run(account.archive_item(item.id)).unwrap();
    let entries = log(&fixture.billing, AuditOf::Everybody);
    let [archived, created] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!(created.who, Who::Host { name: name("import") });
    assert_eq!((created.operation.as_str(), created.at), ("create_item", at(NOON)));
    assert_eq!(created.subject.as_deref(), Some("Tokens"));
    assert_eq!(created.account.as_ref(), Some(fixture.account.id()));
    assert_eq!(created.request_id, Some(name("req-1")));
    assert_eq!(archived.subject, Some(item.id.to_string()));
}

#[test]
fn nobody_and_nothing_leave_no_entry() {
    let fixture = Fixture::new();
    let item = fixture.item();
    let account = import(&fixture.account);
    // An error, a read, and what changes nothing.
    let wrong = run(account.archive_item(crate::support::fixture::UNKNOWN.parse().unwrap()));
    assert!(wrong.is_err());
    block_on(account.fetch_item(item.id)).unwrap();
    block_on(account.billing().close_session("")).unwrap();
    let ada = first(&fixture.billing);
    block_on(account.billing().change_role(ada.id, Role::Admin)).unwrap();
    assert_eq!(log(&fixture.billing, AuditOf::Everybody), []);
    assert!(!fixture.dump().join("\n").contains("audit"));
}

#[test]
fn a_replay_leaves_no_second_entry() {
    let fixture = Fixture::new();
    let account = import(&fixture.account);
    for _ in 0..3 {
        let key = IdempotencyKey::parse("key").unwrap();
        let call = account.create_item(NewItem::new(name("Tokens"))).keyed(key);
        block_on(call.into_future()).unwrap();
    }
    assert_eq!(log(&fixture.billing, AuditOf::Everybody).len(), 1);
}

#[test]
fn an_attempt_through_a_door_of_the_host_is_audited() {
    let fixture = Fixture::new();
    let account = import(&fixture.account);
    let key = IdempotencyKey::parse("key").unwrap();
    let payload = accrue::idempotency::Fingerprint::of(["a"]);
    let attempt = account.admit(key, payload).unwrap();
    let call = fixture.account.create_item(NewItem::new(name("Tokens")));
    block_on(attempt.run(call, |_| String::new())).unwrap();
    let found = operations(&fixture.billing, AuditOf::Everybody);
    assert_eq!(found, [("create_item".to_owned(), Some("Tokens".to_owned()))]);
}

#[test]
fn entries_are_found_by_account_and_by_person() {
    let fixture = Fixture::new();
    let ada = first(&fixture.billing);
    let billing = fixture.billing.acting(Actor::person(&ada));
    let id = |text| AccountId::parse(text).unwrap();
    let later = || fixture.clock.advance(Duration::from_secs(1));
    block_on(billing.account(id("acme")).issue_api_key(name("ci"))).unwrap();
    later();
    block_on(billing.account(id("other")).issue_api_key(name("web"))).unwrap();
    later();
    block_on(import(&billing.account(id("acme"))).issue_api_key(name("job"))).unwrap();
    later();
    let new = accrue::person::NewPerson {
        name: name("Bob"),
        email: email("bob@example.com"),
        role: Role::Read,
    };
    block_on(billing.invite_person(new)).unwrap();
    let subjects = |of| {
        let found = operations(&fixture.billing, of).into_iter();
        found.map(|(_, subject)| subject.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(subjects(AuditOf::Everybody), ["bob@example.com", "job", "web", "ci"]);
    assert_eq!(subjects(AuditOf::Account(id("acme"))), ["job", "ci"]);
    assert_eq!(subjects(AuditOf::Account(id("(host)"))), Vec::<String>::new());
    assert_eq!(subjects(AuditOf::Person(ada.id)), ["bob@example.com", "web", "ci"]);
    let people = log(&fixture.billing, AuditOf::Person(ada.id));
    assert_eq!(people[0].account, None);
    assert_eq!(people[0].who, Who::Person { id: ada.id, name: ada.name });
}

#[test]
fn it_is_listed_in_pages_and_by_time() {
    let fixture = Fixture::new();
    let account = import(&fixture.account);
    for minute in 0..5 {
        fixture.set(&format!("2026-03-10T12:0{minute}:00Z"));
        run(account.create_item(NewItem::new(name(&minute.to_string())))).unwrap();
    }
    let mut filter = AuditFilter::default();
    let mut page = PageRequest::first(2).unwrap();
    let mut found = Vec::new();
    loop {
        let next = block_on(fixture.billing.list_audit(&filter, &page)).unwrap();
        found.extend(next.data.into_iter().map(|entry| entry.subject.unwrap()));
        let Some(cursor) = next.next_cursor else { break };
        page = page.after(cursor);
    }
    assert_eq!(found, ["4", "3", "2", "1", "0"]);
    filter.at = filter.at.before(at("2026-03-10T12:01:00Z"));
    let first = block_on(fixture.billing.list_audit(&filter, &PageRequest::default())).unwrap();
    assert_eq!(first.data.len(), 1);
    assert!(block_on(fixture.billing.list_audit(&filter, &page)).is_err(), "a cursor of another");
}

#[test]
fn no_secret_and_no_body_is_in_it() {
    let fixture = Fixture::new();
    let account = import(&fixture.account);
    let issued = block_on(account.issue_api_key(name("ci"))).unwrap();
    let mut ada = NewCustomer::new(name("Ada"), email("secret-address@example.com"));
    ada.external_customer_id = Some(accrue::ExternalId::parse("ada").unwrap());
    run(account.create_customer(ada)).unwrap();
    run(account.ingest([event("ada", "event-key", at(NOON), "41.5")])).unwrap();
    let text = format!("{:?}", log(&fixture.billing, AuditOf::Everybody));
    for secret in [&issued.token.reveal()[40..], "secret-address", "41.5"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(text.contains("\"ingest\"") && text.contains("\"create_customer\""));
}

#[test]
fn without_an_actor_an_operation_writes_and_reads_what_it_did() {
    let cost = |acting: bool| {
        let store = Arc::new(Counting::on(Arc::new(MemoryStore::new())));
        let clock = ManualClock::at(at(NOON));
        let billing = Billing::new(Arc::clone(&store), clock, SeededEntropy::new(1));
        let account = billing.account(AccountId::parse("acme").unwrap());
        let account = if acting { import(&account) } else { account };
        store.reset();
        block_on(account.issue_api_key(name("ci"))).unwrap();
        store.calls()
    };
    assert_eq!(cost(false), cost(true), "the entry takes no call of its own");
}

#[test]
fn entries_are_kept_for_400_days() {
    let fixture = Fixture::new();
    let ada = first(&fixture.billing);
    let before = fixture.dump();
    let account = fixture.account.acting(Actor::person(&ada));
    block_on(account.issue_api_key(name("ci"))).unwrap();
    let days = Duration::from_secs(400 * 24 * 60 * 60);
    fixture.clock.advance(days - Duration::from_micros(1));
    assert_eq!(block_on(fixture.billing.collect_garbage(9)).unwrap().removed, 0);
    fixture.clock.advance(Duration::from_micros(2));
    assert_eq!(block_on(fixture.billing.collect_garbage(9)).unwrap().removed, 1);
    let mut left = fixture.dump();
    left.retain(|row| !row.contains("key: api_key"));
    assert_eq!(left, before);
}

#[test]
fn accounts_are_listed_by_whatever_they_have() {
    let Fixture { billing, .. } = Fixture::new();
    let account = |id: &str| billing.account(AccountId::parse(id).unwrap());
    run(account("b").create_item(NewItem::new(name("item")))).unwrap();
    block_on(account("ab").issue_api_key(name("ci"))).unwrap();
    let new = NewCustomer::new(name("Ada"), email("ada@example.com"));
    run(account("a").create_customer(new)).unwrap();
    run(account("ü").configure(accrue::account::Configuration::default())).unwrap();
    let all = block_on(billing.list_accounts(100)).unwrap();
    let ids: Vec<_> = all.iter().map(AccountId::as_str).collect();
    assert_eq!(ids, ["a", "ab", "ü"]);
}
