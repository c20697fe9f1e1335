use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use accrue::{
    Account, Attempt, Billing, Call, Clock as _, Error, ErrorKind, IdempotencyKey, ListFilter,
    ManualClock, PageRequest, SeededEntropy, Timestamp,
    idempotency::{Answer, Fingerprint, Freshness},
    item::{Item, NewItem},
    limits,
    store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError},
};
use async_trait::async_trait;

use crate::support::fixture::{Fixture, at, block_on, event, name, run};

/// So long after they completed, records are good for nobody, whatever clock they have.
const TWO_EPOCHS: Duration = Duration::from_secs((2 * 48 + 1) * 60 * 60);

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

fn keyed<T>(call: Call<T>, text: &str) -> Result<Answer<T>, Error>
where
    T: serde::Serialize + serde::de::DeserializeOwned + Send + 'static,
{
    block_on(call.keyed(key(text)).into_future())
}

fn create(fixture: &Fixture, item: &str, text: &str) -> Result<Answer<Item>, Error> {
    keyed(fixture.account.create_item(NewItem::new(name(item))), text)
}

/// Takes the key `key` for a request.
fn admitted(account: &Account) -> Attempt {
    account.admit(key("key"), Fingerprint::of(["payload"])).unwrap()
}

#[test]
fn s4_5_6_a_retry_gives_the_first_answer_and_no_new_effect() {
    let fixture = Fixture::new();
    let first = create(&fixture, "a", "key").unwrap();
    assert_eq!(first.freshness, Freshness::Fresh);
    let before = fixture.dump();
    let again = create(&fixture, "a", "key").unwrap();
    assert!(again.is_replayed());
    assert_eq!(again.outcome, first.outcome);
    assert_eq!(fixture.dump(), before);
}

#[test]
fn s4_5_8_another_payload_is_a_conflict_that_no_retry_mends() {
    let fixture = Fixture::new();
    create(&fixture, "a", "key").unwrap();
    let refused = create(&fixture, "b", "key").unwrap_err();
    assert!(refused.is_conflict() && !refused.can_be_retried());
    let other = keyed(fixture.account.archive_item(fixture.item().id), "key").unwrap_err();
    assert!(other.is_conflict(), "another operation is another payload");
}

#[test]
fn s4_5_4_after_48_hours_the_key_is_free() {
    let fixture = Fixture::new();
    let first = create(&fixture, "a", "key").unwrap();
    fixture.clock.advance(Duration::from_secs(48 * 60 * 60));
    assert!(create(&fixture, "a", "key").unwrap().is_replayed(), "exactly 48 hours");
    fixture.clock.advance(Duration::from_micros(1));
    let second = create(&fixture, "b", "key").unwrap();
    assert_eq!(second.freshness, Freshness::Fresh);
    assert_ne!(second.outcome.id, first.outcome.id);
}

#[test]
fn a_business_error_after_work_began_is_replayed() {
    let fixture = Fixture::new();
    let item = fixture.item();
    run(fixture.account.archive_item(item.id)).unwrap();
    let archive = || keyed(fixture.account.archive_item(item.id), "key").unwrap_err();
    let first = archive();
    assert_eq!(first.kind(), ErrorKind::ConstraintViolation);
    let before = fixture.dump();
    let again = archive();
    assert_eq!((again.kind(), again.to_string()), (first.kind(), first.to_string()));
    assert_eq!((first.is_replayed(), again.is_replayed()), (false, true));
    assert_eq!(fixture.dump(), before);
}

#[test]
fn an_ingest_that_refuses_an_event_burns_no_key() {
    let fixture = Fixture::new();
    let old = event("ada", "a", at("2026-01-01T00:00:00Z"), "");
    let before = fixture.dump();
    let refused = keyed(fixture.account.ingest([old]), "key").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::RequestValidation);
    assert_eq!(fixture.dump(), before);
    let good = event("ada", "a", at("2026-03-10T12:00:00Z"), "");
    assert_eq!(keyed(fixture.account.ingest([good]), "key").unwrap().outcome.ingested, 1);
}

#[test]
fn s4_5_6_an_answer_takes_the_place_of_an_open_one_once() {
    let fixture = Fixture::new();
    let account = &fixture.account;
    let create = |item: &str| account.create_item(NewItem::new(name(item)));
    let go_on = |attempt: &Attempt, before: &str, item: &str| {
        block_on(attempt.go_on(before, create(item), |item| item.name.to_string()))
    };
    let attempt = admitted(account);
    block_on(attempt.run(create("a"), |_| "open".to_owned())).unwrap();
    let end = go_on(&attempt, "open", "b").unwrap();
    assert_eq!((end.outcome.as_str(), end.is_replayed()), ("b", false));
    let before = fixture.dump();
    // Whoever was late gets that answer, and has no effect.
    let late = go_on(&attempt, "open", "c").unwrap();
    assert_eq!((late.outcome.as_str(), late.is_replayed()), ("b", true));
    assert!(block_on(attempt.conclude("open", "closed")).unwrap().is_replayed());
    drop(attempt);
    let again = block_on(admitted(account).run(create("d"), |_| "never kept".to_owned())).unwrap();
    assert_eq!((again.outcome.as_str(), again.is_replayed()), ("b", true));
    assert_eq!(fixture.dump(), before);
}

#[test]
fn s4_5_6_an_error_leaves_an_open_answer() {
    let fixture = Fixture::new();
    let item = fixture.item();
    run(fixture.account.archive_item(item.id)).unwrap();
    let attempt = admitted(&fixture.account);
    let new = NewItem::new(name("a"));
    block_on(attempt.run(fixture.account.create_item(new), |_| "open".to_owned())).unwrap();
    let before = fixture.dump();
    let archive = fixture.account.archive_item(item.id);
    let refused = block_on(attempt.go_on("open", archive, |_| "closed".to_owned())).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
    assert_eq!(fixture.dump(), before);
    let closed = block_on(attempt.conclude("open", "closed")).unwrap();
    assert_eq!((closed.outcome.as_str(), closed.is_replayed()), ("closed", false));
    assert_eq!(block_on(attempt.look()).unwrap().as_deref(), Some("closed"));
}

#[test]
fn s4_5_7_where_two_processes_run_one_key_one_has_an_effect() {
    let fixture = Fixture::new();
    let (store, clock) = (Arc::clone(&fixture.store), fixture.clock.clone());
    let theirs = Billing::new(store, clock, SeededEntropy::new(2));
    let theirs = theirs.account(fixture.account.id().clone());
    let create = |account: &Account, attempt: &Attempt, item: &str| {
        let call = account.create_item(NewItem::new(name(item)));
        let answer = item.to_owned();
        block_on(attempt.run(call, move |_| answer.clone()))
    };
    let (ours, second) = (admitted(&fixture.account), admitted(&theirs));
    assert_eq!(create(&fixture.account, &ours, "a").unwrap().outcome, "a");
    let lost = create(&theirs, &second, "b").unwrap();
    assert_eq!((lost.outcome.as_str(), lost.is_replayed()), ("a", true));
    let page = PageRequest::default();
    let items = block_on(fixture.account.list_items(&ListFilter::default(), &page)).unwrap();
    assert_eq!(items.data.iter().map(|item| item.name.as_str()).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn an_answer_has_at_most_12_mib() {
    let fixture = Fixture::new();
    let answer = |bytes: usize| {
        let call = fixture.account.create_item(NewItem::new(name("a")));
        block_on(admitted(&fixture.account).run(call, move |_| "a".repeat(bytes)))
    };
    let before = fixture.dump();
    let refused = answer(limits::ANSWER_BYTES + 1).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ResourceTooLarge);
    assert_eq!(fixture.dump(), before);
    let largest = answer(limits::ANSWER_BYTES).unwrap();
    assert_eq!(largest.outcome.len(), limits::ANSWER_BYTES);
}

#[test]
fn keys_of_two_accounts_are_two_keys() {
    let fixture = Fixture::new();
    let other = fixture.billing.account(accrue::AccountId::parse("other").unwrap());
    create(&fixture, "a", "key").unwrap();
    let answer = keyed(other.create_item(NewItem::new(name("b"))), "key").unwrap();
    assert_eq!(answer.freshness, Freshness::Fresh);
}

#[test]
fn an_answer_beyond_48_kib_lies_in_parts_and_replays_whole() {
    let fixture = Fixture::new();
    let item = fixture.item();
    let update = accrue::item::ItemUpdate {
        metadata: accrue::MetadataUpdate::Merge(
            (0..50).map(|n| (n.to_string(), Some("\"".repeat(400)))).collect(),
        ),
        ..Default::default()
    };
    let call = || fixture.account.update_item(item.id, update.clone());
    let first = keyed(call(), "key").unwrap();
    let parts = fixture.dump().iter().filter(|row| row.contains("record_part:")).count();
    assert!(parts >= 2, "{parts} parts");
    assert_eq!(keyed(call(), "key").unwrap().outcome, first.outcome);

    fixture.clock.advance(TWO_EPOCHS);
    let collected = block_on(fixture.billing.collect_garbage(100)).unwrap();
    assert_eq!((collected.removed, collected.more), (1 + parts, false));
    assert!(!fixture.dump().iter().any(|row| row.contains("record")));
}

#[test]
fn garbage_leaves_a_record_that_still_counts() {
    let fixture = Fixture::new();
    create(&fixture, "a", "key").unwrap();
    fixture.clock.advance(Duration::from_secs(48 * 60 * 60));
    assert_eq!(block_on(fixture.billing.collect_garbage(100)).unwrap().removed, 0);
    assert!(create(&fixture, "a", "key").unwrap().is_replayed());
}

#[test]
fn garbage_is_removed_so_many_rows_at_once() {
    let fixture = Fixture::new();
    for n in 0..4 {
        create(&fixture, "b", &n.to_string()).unwrap();
    }
    fixture.clock.advance(TWO_EPOCHS);
    create(&fixture, "a", "key").unwrap();
    let records = || fixture.dump().iter().filter(|row| row.contains("record:")).count();
    let collect = || block_on(fixture.billing.collect_garbage(3)).unwrap();
    let first = collect();
    assert_eq!((first.removed, first.more, records()), (3, true, 2));
    let second = collect();
    assert_eq!((second.removed, second.more, records()), (1, false, 1));
    assert!(create(&fixture, "a", "key").unwrap().is_replayed());
}

#[test]
fn a_key_is_new_again_once_its_record_is_no_longer_good_and_no_earlier() {
    let fixture = Fixture::new();
    for hours in [0, 1, 11, 23, 47] {
        fixture.clock.advance(Duration::from_secs(hours * 60 * 60));
        let key = format!("after {hours}");
        for _ in 0..3 {
            assert!(!create(&fixture, "a", &key).unwrap().is_replayed());
            fixture.clock.advance(Duration::from_secs(48 * 60 * 60));
            assert!(create(&fixture, "a", &key).unwrap().is_replayed());
            fixture.clock.advance(Duration::from_micros(1));
        }
    }
}

#[test]
fn a_record_of_a_process_whose_clock_is_ahead_is_known() {
    let fixture = Fixture::new();
    let clock = |at: Timestamp| {
        let clock = ManualClock::at(at);
        let billing = Billing::new(fixture.store.clone(), clock, SeededEntropy::new(9));
        billing.account(fixture.account.id().clone())
    };
    let epoch = 48 * 60 * 60 * 1_000_000;
    let end = fixture.clock.now().micros().div_euclid(epoch) * epoch + epoch;
    let at = |micros| Timestamp::from_micros(end + micros).unwrap();
    let (behind, ahead) = (clock(at(-60 * 60 * 1_000_000)), clock(at(46 * 60 * 60 * 1_000_000)));
    let item = |of: &Account| {
        block_on(of.create_item(NewItem::new(name("a"))).keyed(key("one")).into_future()).unwrap()
    };
    assert!(!item(&ahead).is_replayed());
    assert!(item(&behind).is_replayed());
}

/// A store that keeps the next commit back, and says that nobody knows what became of it.
#[derive(Debug)]
struct Late {
    store: Arc<MemoryStore>,
    kept: Mutex<Option<Batch>>,
}

#[async_trait]
impl Store for Late {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.store.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.store.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        *self.kept.lock().unwrap() = Some(batch);
        Err(StoreError::indeterminate("it is on its way"))
    }
}

#[test]
fn a_commit_that_is_late_finds_the_record_of_its_retry() {
    for hours in [0, 1, 13, 25, 47, 48] {
        let fixture = Fixture::new();
        let late = Arc::new(Late { store: Arc::clone(&fixture.store), kept: Mutex::default() });
        let billing = Billing::new(late.clone(), fixture.clock.clone(), SeededEntropy::new(9));
        let account = billing.account(fixture.account.id().clone());
        let call = |of: &Account| keyed(of.create_item(NewItem::new(name("a"))), "key");
        call(&account).unwrap_err();
        fixture.clock.advance(Duration::from_secs(hours * 60 * 60));
        call(&fixture.account).unwrap();
        let kept = late.kept.lock().unwrap().take().unwrap();
        let commit = block_on(fixture.store.commit(kept)).unwrap();
        assert!(matches!(commit, Commit::Conflict(_)), "after {hours} hours: {commit:?}");
    }
}

#[test]
fn futures_are_send_on_any_executor() {
    fn is_send<T: Send>(future: T) -> T {
        future
    }
    let fixture = Fixture::new();
    let account = fixture.account.clone();
    let call = is_send(account.create_item(NewItem::new(name("a"))).keyed(key("k")).into_future());
    drop(is_send(account.list_items(&Default::default(), &Default::default())));
    drop(is_send(account.list_messages(&Default::default())));
    drop(is_send(fixture.billing.tick(10)));
    drop(is_send(fixture.billing.collect_garbage(10)));
    let moved = Arc::new(fixture.billing.clone());
    std::thread::scope(|scope| {
        scope.spawn(move || block_on(call).unwrap());
        scope.spawn(move || format!("{moved:?}"));
    });
}
