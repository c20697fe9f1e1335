//! API keys are issued, listed, rotated with overlap and revoked; only a SHA-256 of a secret is
//! stored.

use std::{sync::Arc, time::Duration};

use accrue::{
    AccountId, Billing, ErrorKind, ListFilter, ManualClock, PageRequest, SeededEntropy,
    api_key::IssuedApiKey, store::MemoryStore,
};

use crate::support::{
    counting::Counting,
    fixture::{Fixture, NOON, at, block_on, name},
};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn issue(fixture: &Fixture) -> IssuedApiKey {
    block_on(fixture.account.issue_api_key(name("ci"))).unwrap()
}

fn rotate(fixture: &Fixture, issued: &IssuedApiKey, overlap: Duration) -> IssuedApiKey {
    block_on(fixture.account.rotate_api_key(issued.key.id, overlap)).unwrap()
}

fn is_good(fixture: &Fixture, issued: &IssuedApiKey) -> bool {
    let found = block_on(fixture.billing.authenticate(&issued.token.reveal())).unwrap();
    assert!(found.iter().all(|account| account == fixture.account.id()));
    found.is_some()
}

#[test]
fn a_token_is_that_of_its_account() {
    let fixture = Fixture::new();
    let other = fixture.billing.account(AccountId::parse("other").unwrap());
    let (own, others) = (issue(&fixture), block_on(other.issue_api_key(name("ci"))).unwrap());
    for (issued, account) in [(own, "acme"), (others, "other")] {
        let found = block_on(fixture.billing.authenticate(&issued.token.reveal())).unwrap();
        assert_eq!(found.unwrap().as_str(), account);
    }
}

#[test]
fn a_wrong_token_is_of_nobody() {
    let fixture = Fixture::new();
    let issued = issue(&fixture);
    let (token, id) = (issued.token.reveal(), issued.key.id.to_string());
    // Another billing system's keys: of well-formed tokens, one of an id that is not here, and one
    // of an id that is here with another secret.
    let elsewhere = |seed| {
        let clock = ManualClock::at(at(NOON));
        let billing = Billing::new(MemoryStore::new(), clock, SeededEntropy::new(seed));
        let account = billing.account(AccountId::parse("acme").unwrap());
        block_on(account.issue_api_key(name("ci"))).unwrap()
    };
    let unknown = elsewhere(2);
    let same_id = {
        let same = elsewhere(1);
        assert_eq!(same.key.id, issued.key.id);
        let billing = Fixture::new();
        let first = issue(&billing);
        rotate(&billing, &first, HOUR)
    };
    assert_eq!(same_id.key.id, issued.key.id);
    let wrong = [
        String::new(),
        id,
        token[..token.len() - 1].to_owned(),
        format!("{token}\n"),
        format!("Bearer {token}"),
        token.to_uppercase(),
        token.replacen("accrue_", "", 1),
        unknown.token.reveal(),
        same_id.token.reveal(),
    ];
    for wrong in wrong {
        assert_eq!(block_on(fixture.billing.authenticate(&wrong)).unwrap(), None, "{wrong}");
    }
    assert!(is_good(&fixture, &issued));
}

#[test]
fn a_rotated_secret_is_good_until_its_overlap_ends() {
    let fixture = Fixture::new();
    let old = issue(&fixture);
    let new = rotate(&fixture, &old, HOUR);
    assert_eq!(new.key.id, old.key.id);
    assert_eq!(new.key.rotated_at, Some(at(NOON)));
    assert_eq!(new.key.overlap_until, Some(at("2026-03-10T13:00:00Z")));
    for (now, old_is_good) in [
        (NOON, true),
        ("2026-03-10T12:59:59.999999Z", true),
        ("2026-03-10T13:00:00Z", false),
        ("2026-03-10T13:00:00.000001Z", false),
    ] {
        fixture.set(now);
        assert_eq!(is_good(&fixture, &old), old_is_good, "{now}");
        assert!(is_good(&fixture, &new), "{now}");
    }
}

#[test]
fn no_more_than_two_secrets_are_good() {
    let fixture = Fixture::new();
    let first = issue(&fixture);
    let second = rotate(&fixture, &first, HOUR);
    let third = rotate(&fixture, &first, HOUR);
    let good = [&first, &second, &third].map(|issued| is_good(&fixture, issued));
    assert_eq!(good, [false, true, true], "the oldest is dropped within its overlap");
    let fourth = rotate(&fixture, &first, Duration::ZERO);
    assert_eq!(fourth.key.overlap_until, None);
    let good = [&second, &third, &fourth].map(|issued| is_good(&fixture, issued));
    assert_eq!(good, [false, false, true], "no overlap");
}

#[test]
fn an_overlap_is_bounded_at_30_days() {
    let fixture = Fixture::new();
    let id = issue(&fixture).key.id;
    let days = |days: u32| HOUR * 24 * days;
    let rotated = |overlap| {
        let rotated = block_on(fixture.account.rotate_api_key(id, overlap));
        rotated.map(|_| ()).map_err(|error| error.kind())
    };
    let micro = Duration::from_micros(1);
    assert_eq!(rotated(days(30) - micro), Ok(()));
    assert_eq!(rotated(days(30)), Ok(()));
    assert_eq!(rotated(days(30) + micro), Err(ErrorKind::RequestValidation));
    assert_eq!(rotated(Duration::MAX), Err(ErrorKind::RequestValidation));
}

#[test]
fn a_revoked_key_is_good_no_longer_with_any_secret() {
    let fixture = Fixture::new();
    let old = issue(&fixture);
    let new = rotate(&fixture, &old, HOUR);
    let revoked = block_on(fixture.account.revoke_api_key(old.key.id)).unwrap();
    assert_eq!(revoked.revoked_at, Some(at(NOON)));
    assert!(!is_good(&fixture, &old) && !is_good(&fixture, &new));
    fixture.set("2026-03-10T12:30:00Z");
    let again = block_on(fixture.account.revoke_api_key(old.key.id)).unwrap();
    assert_eq!(again, revoked, "a second time changes nothing");
    let refused = block_on(fixture.account.rotate_api_key(old.key.id, HOUR)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
    assert!(is_good(&fixture, &issue(&fixture)), "others are");
}

#[test]
fn they_are_listed_newest_first_and_found_in_their_account_only() {
    let fixture = Fixture::new();
    let issued: Vec<_> = (0..5)
        .map(|minute| {
            fixture.set(&format!("2026-03-10T12:0{minute}:00Z"));
            issue(&fixture).key
        })
        .collect();
    let revoked = block_on(fixture.account.revoke_api_key(issued[1].id)).unwrap();
    let mut expected = issued.clone();
    expected[1] = revoked;
    expected.reverse();

    let mut page = PageRequest::first(2).unwrap();
    let mut found = Vec::new();
    loop {
        let next = block_on(fixture.account.list_api_keys(&ListFilter::default(), &page)).unwrap();
        found.extend(next.data);
        let Some(cursor) = next.next_cursor else { break };
        page = page.after(cursor);
    }
    assert_eq!(found, expected);
    assert_eq!(block_on(fixture.account.fetch_api_key(issued[0].id)).unwrap(), issued[0]);

    let other = fixture.billing.account(AccountId::parse("other").unwrap());
    let none = block_on(other.list_api_keys(&ListFilter::default(), &PageRequest::default()));
    assert_eq!(none.unwrap().data, []);
    let id = issued[0].id;
    assert!(block_on(other.fetch_api_key(id)).unwrap_err().is_not_found());
    assert!(block_on(other.rotate_api_key(id, HOUR)).unwrap_err().is_not_found());
    assert!(block_on(other.revoke_api_key(id)).unwrap_err().is_not_found());
}

#[test]
fn no_secret_is_stored() {
    let fixture = Fixture::new();
    let old = issue(&fixture);
    let new = rotate(&fixture, &old, HOUR);
    let rows = fixture.dump().join("\n");
    for issued in [old, new] {
        let token = issued.token.reveal();
        // Behind the prefix and the id; before the checksum.
        let secret = &token["accrue_".len() + 32..][..48];
        let bytes: Vec<_> = (0..24)
            .map(|at| u8::from_str_radix(&secret[2 * at..2 * at + 2], 16).unwrap().to_string())
            .collect();
        for form in [secret, &token, &bytes.join(","), &bytes.join(", ")] {
            assert!(!rows.contains(form), "{form}");
        }
        assert!(!format!("{issued:?}").contains(secret));
    }
}

#[test]
fn a_token_costs_one_read_of_one_row_and_a_typo_none() {
    let store = Arc::new(Counting::on(Arc::new(MemoryStore::new())));
    let billing =
        Billing::new(Arc::clone(&store), ManualClock::at(at(NOON)), SeededEntropy::new(1));
    let account = billing.account(AccountId::parse("acme").unwrap());
    let token = block_on(account.issue_api_key(name("ci"))).unwrap().token.reveal();
    let cost = |token: &str| {
        store.reset();
        let found = block_on(billing.authenticate(token)).unwrap();
        (found.is_some(), store.calls(), store.keys())
    };
    assert_eq!(cost(&token), (true, 1, 1));
    let last = if token.ends_with('0') { "1" } else { "0" };
    assert_eq!(cost(&format!("{}{last}", &token[..token.len() - 1])), (false, 0, 0));
}
