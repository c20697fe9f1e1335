//! People are invited, let in, given roles and disabled; only hashes of their secrets are stored.

use std::{sync::Arc, time::Duration};

use accrue::{
    Billing, Email, ErrorKind, ManualClock, PageRequest, PersonId, SeededEntropy,
    limits::SESSIONS,
    person::{Acceptance, NewPerson, PasswordHash, Person, Role, SentInvitation},
    store::MemoryStore,
};

use crate::support::{
    counting::Counting,
    fixture::{Fixture, NOON, at, block_on, name},
};

const HOUR: Duration = Duration::from_secs(60 * 60);

pub(crate) fn email(text: &str) -> Email {
    Email::parse(text).unwrap()
}

pub(crate) fn password(text: &str) -> PasswordHash {
    PasswordHash::parse(format!("$test${text}")).unwrap()
}

/// The first person, who is an admin.
pub(crate) fn first(billing: &Billing) -> Person {
    let token = block_on(billing.invite_first_person()).unwrap().token.reveal();
    let ada = Acceptance::of(name("Ada"), email("Ada@example.com"), password("one"));
    block_on(billing.accept_invitation(&token, ada)).unwrap().unwrap()
}

fn invite(billing: &Billing, address: &str, role: Role) -> SentInvitation {
    let new = NewPerson { name: name("Bob"), email: email(address), role };
    block_on(billing.invite_person(new)).unwrap()
}

fn join(billing: &Billing, address: &str, role: Role) -> Person {
    let token = invite(billing, address, role).token.reveal();
    accept(billing, &token).unwrap()
}

fn accept(billing: &Billing, token: &str) -> Option<Person> {
    let acceptance = Acceptance::new(password("two"));
    block_on(billing.accept_invitation(token, acceptance)).unwrap()
}

fn kind<T>(result: Result<T, accrue::Error>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

#[test]
fn the_first_person_says_who_it_is_and_is_an_admin() {
    let Fixture { billing, .. } = Fixture::new();
    assert!(!block_on(billing.has_people()).unwrap());
    let sent = block_on(billing.invite_first_person()).unwrap();
    let unnamed = Acceptance::new(password("one"));
    let refused = block_on(billing.accept_invitation(&sent.token.reveal(), unnamed));
    assert_eq!(refused.unwrap_err().violations()[0].field, "name");
    assert!(!block_on(billing.has_people()).unwrap());

    let ada = first(&billing);
    assert_eq!((ada.role, ada.created_at), (Role::Admin, at(NOON)));
    assert!(block_on(billing.has_people()).unwrap());
    let again = kind(block_on(billing.invite_first_person()));
    assert_eq!(again, Some(ErrorKind::ConstraintViolation));
    let other = Acceptance::of(name("Eve"), email("eve@example.com"), password("three"));
    let late = block_on(billing.accept_invitation(&sent.token.reveal(), other)).unwrap();
    assert_eq!(late, None, "an earlier link makes no second one");
    assert_eq!(block_on(billing.invitation(&sent.token.reveal())).unwrap(), None);
}

#[test]
fn an_invitation_is_for_one_use_and_ends() {
    let Fixture { billing, clock, .. } = Fixture::new();
    first(&billing);
    let sent = invite(&billing, "bob@example.com", Role::Read);
    let token = sent.token.reveal();
    assert_eq!(sent.invitation.expires_at, at(NOON).saturating_add(72 * HOUR));
    let found = block_on(billing.invitation(&token)).unwrap();
    assert_eq!(found, Some(sent.invitation));
    let bob = accept(&billing, &token).unwrap();
    assert_eq!((bob.email.as_str(), bob.role), ("bob@example.com", Role::Read));
    assert_eq!(accept(&billing, &token), None, "used up");
    assert_eq!(block_on(billing.invitation(&token)).unwrap(), None);

    let late = invite(&billing, "late@example.com", Role::Read).token.reveal();
    clock.advance(72 * HOUR - Duration::from_micros(1));
    assert!(block_on(billing.invitation(&late)).unwrap().is_some());
    clock.advance(Duration::from_micros(1));
    assert_eq!(accept(&billing, &late), None, "over");
    for wrong in ["", "accrue_invitation_", &token.replacen("invitation", "session", 1)] {
        assert_eq!(accept(&billing, wrong), None);
    }
}

#[test]
fn a_person_that_has_lost_its_password_chooses_another() {
    let Fixture { billing, clock, .. } = Fixture::new();
    let ada = first(&billing);
    let session = block_on(billing.open_session(ada.id)).unwrap().token.reveal();
    let reset = || block_on(billing.reset_password(ada.id)).unwrap();
    let (sent, other) = (reset(), reset());
    assert_eq!(sent.invitation.expires_at, at(NOON).saturating_add(24 * HOUR));
    assert_eq!(sent.invitation.resets, Some(ada.id));
    assert!(block_on(billing.session(&session)).unwrap().is_some(), "nothing has changed yet");

    let token = sent.token.reveal();
    assert_eq!(accept(&billing, &token).as_ref(), Some(&ada), "it is who it was");
    let found = block_on(billing.password_of(&ada.email)).unwrap();
    assert_eq!(found, Some((ada, password("two"))));
    assert!(block_on(billing.session(&session)).unwrap().is_none());
    assert_eq!(accept(&billing, &token), None, "it is for one use");
    clock.advance(24 * HOUR);
    assert_eq!(accept(&billing, &other.token.reveal()), None);
}

#[test]
fn a_disabled_person_is_let_in_by_no_other_password() {
    let Fixture { billing, .. } = Fixture::new();
    first(&billing);
    let bob = join(&billing, "bob@example.com", Role::Read).id;
    let token = block_on(billing.reset_password(bob)).unwrap().token.reveal();
    block_on(billing.disable_person(bob)).unwrap();
    assert_eq!(block_on(billing.invitation(&token)).unwrap(), None);
    assert_eq!(accept(&billing, &token), None);
    let refused = kind(block_on(billing.reset_password(bob)));
    assert_eq!(refused, Some(ErrorKind::ConstraintViolation));
    let nobody = kind(block_on(
        billing.reset_password("00000000-0000-7000-8000-000000000000".parse().unwrap()),
    ));
    assert_eq!(nobody, Some(ErrorKind::ResourceNotFound));
}

#[test]
fn an_invitation_can_be_withdrawn() {
    let Fixture { billing, .. } = Fixture::new();
    first(&billing);
    let sent = invite(&billing, "bob@example.com", Role::Read);
    let page = PageRequest::default();
    let listed = || block_on(billing.list_invitations(&page)).unwrap().data;
    assert_eq!(listed(), std::slice::from_ref(&sent.invitation));
    block_on(billing.withdraw_invitation(sent.invitation.id)).unwrap();
    assert_eq!(listed(), []);
    assert_eq!(accept(&billing, &sent.token.reveal()), None);
    let again = kind(block_on(billing.withdraw_invitation(sent.invitation.id)));
    assert_eq!(again, Some(ErrorKind::ResourceNotFound));
}

#[test]
fn no_two_people_have_one_address_in_whichever_case() {
    let Fixture { billing, .. } = Fixture::new();
    let ada = first(&billing);
    let new = NewPerson { name: name("A"), email: email("ADA@example.COM"), role: Role::Read };
    let refused = kind(block_on(billing.invite_person(new)));
    assert_eq!(refused, Some(ErrorKind::ConstraintViolation));
    // Two who are invited by one address: one of them comes.
    let [one, other] = ["bob@example.com", "Bob@Example.com"]
        .map(|address| invite(&billing, address, Role::Read).token.reveal());
    accept(&billing, &one).unwrap();
    let late = block_on(billing.accept_invitation(&other, Acceptance::new(password("x"))));
    assert_eq!(kind(late), Some(ErrorKind::ConstraintViolation));
    let found = block_on(billing.password_of(&email("aDa@example.com"))).unwrap();
    assert_eq!(found, Some((ada, password("one"))));
}

#[test]
fn of_those_who_accept_one_invitation_at_once_one_does() {
    let Fixture { billing, .. } = Fixture::new();
    first(&billing);
    let token = invite(&billing, "bob@example.com", Role::Read).token.reveal();
    let found: Vec<_> = std::thread::scope(|scope| {
        let accept = || scope.spawn(|| accept(&billing, &token));
        let threads: Vec<_> = (0..8).map(|_| accept()).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(found.iter().flatten().count(), 1);
    let people = block_on(billing.list_people(&PageRequest::default())).unwrap().data;
    assert_eq!(people.len(), 2);
}

#[test]
fn the_last_admin_stays() {
    let Fixture { billing, .. } = Fixture::new();
    let ada = first(&billing);
    let bob = join(&billing, "bob@example.com", Role::Operate);
    let refused = |result| assert_eq!(kind(result), Some(ErrorKind::ConstraintViolation));
    refused(block_on(billing.change_role(ada.id, Role::Operate)));
    refused(block_on(billing.disable_person(ada.id)));
    block_on(billing.change_role(bob.id, Role::Admin)).unwrap();
    let disabled = block_on(billing.disable_person(ada.id)).unwrap();
    assert_eq!(disabled.disabled_at, Some(at(NOON)));
    refused(block_on(billing.disable_person(bob.id)));
    assert_eq!(block_on(billing.disable_person(ada.id)).unwrap(), disabled, "once more");
    assert!(block_on(billing.enable_person(ada.id)).unwrap().is_enabled());
    block_on(billing.change_role(bob.id, Role::Read)).unwrap();
    assert_eq!(block_on(billing.fetch_person(bob.id)).unwrap().role, Role::Read);
}

#[test]
fn two_admins_that_disable_each_other_at_once_leave_one() {
    for _ in 0..20 {
        let Fixture { billing, .. } = Fixture::new();
        let (ada, bob) = (first(&billing), join(&billing, "bob@example.com", Role::Admin));
        std::thread::scope(|scope| {
            for person in [ada.id, bob.id] {
                let billing = &billing;
                scope.spawn(move || block_on(billing.disable_person(person)).is_ok());
            }
        });
        let left = [ada.id, bob.id].map(|id| block_on(billing.fetch_person(id)).unwrap());
        assert_eq!(left.iter().filter(|person| person.is_enabled()).count(), 1);
    }
}

#[test]
fn a_disabled_person_is_let_in_no_more() {
    let Fixture { billing, .. } = Fixture::new();
    first(&billing);
    let bob = join(&billing, "bob@example.com", Role::Read);
    let session = block_on(billing.open_session(bob.id)).unwrap().token.reveal();
    assert!(block_on(billing.session(&session)).unwrap().is_some());
    block_on(billing.disable_person(bob.id)).unwrap();
    assert_eq!(block_on(billing.session(&session)).unwrap(), None);
    assert_eq!(block_on(billing.password_of(&bob.email)).unwrap(), None);
    let refused = kind(block_on(billing.open_session(bob.id)));
    assert_eq!(refused, Some(ErrorKind::ConstraintViolation));
    block_on(billing.enable_person(bob.id)).unwrap();
    assert_eq!(block_on(billing.session(&session)).unwrap(), None, "it was closed");
}

#[test]
fn a_session_is_over_without_requests_and_in_the_end() {
    let Fixture { billing, clock, .. } = Fixture::new();
    let ada = first(&billing);
    let open = || block_on(billing.open_session(ada.id)).unwrap().token.reveal();
    let is_open = |token: &str| block_on(billing.session(token)).unwrap().is_some();
    let (idle, busy) = (open(), open());
    clock.advance(12 * HOUR - Duration::from_micros(1));
    assert!(is_open(&busy));
    clock.advance(Duration::from_micros(1));
    assert!(is_open(&busy) && !is_open(&idle));
    for _ in 0..14 {
        clock.advance(11 * HOUR);
        assert!(is_open(&busy));
    }
    clock.set(at(NOON).saturating_add(7 * 24 * HOUR - Duration::from_micros(1)));
    assert!(is_open(&busy));
    clock.advance(Duration::from_micros(1));
    assert!(!is_open(&busy), "seven days");
}

#[test]
fn a_session_is_written_at_most_once_in_five_minutes() {
    let store = Arc::new(Counting::on(Arc::new(MemoryStore::new())));
    let clock = ManualClock::at(at(NOON));
    let billing = Billing::new(Arc::clone(&store), clock.clone(), SeededEntropy::new(1));
    let ada = first(&billing);
    let token = block_on(billing.open_session(ada.id)).unwrap().token.reveal();
    let used = |seconds| {
        clock.set(at(NOON).saturating_add(Duration::from_secs(seconds)));
        store.reset();
        let (_, session) = block_on(billing.session(&token)).unwrap().unwrap();
        (session.last_used_at, store.calls())
    };
    assert_eq!(used(299), (at(NOON), 2), "two rows are read");
    let (at_five, calls) = used(300);
    assert_eq!(at_five, at("2026-03-10T12:05:00Z"));
    assert!(calls > 2);
    assert_eq!(used(599), (at_five, 2));
}

#[test]
fn of_so_many_sessions_the_one_that_was_used_longest_ago_is_closed_for_another() {
    let Fixture { billing, clock, .. } = Fixture::new();
    let ada = first(&billing);
    let open = || {
        clock.advance(Duration::from_secs(1));
        block_on(billing.open_session(ada.id)).unwrap().token.reveal()
    };
    let is_open = |token: &str| block_on(billing.session(token)).unwrap().is_some();
    let tokens: Vec<_> = (0..SESSIONS).map(|_| open()).collect();
    clock.advance(Duration::from_secs(600));
    assert!(is_open(&tokens[0]), "it is used");
    let more = [open(), open()];
    let closed: Vec<_> = (0..SESSIONS).filter(|n| !is_open(&tokens[*n])).collect();
    assert_eq!(closed, [1, 2]);
    assert!(more.iter().all(|token| is_open(token)));
}

#[test]
fn sessions_are_closed_one_by_one_or_all_of_a_person() {
    let Fixture { billing, .. } = Fixture::new();
    let ada = first(&billing);
    let bob = join(&billing, "bob@example.com", Role::Read);
    let open = |id: PersonId| block_on(billing.open_session(id)).unwrap().token.reveal();
    let tokens = [open(ada.id), open(ada.id), open(ada.id), open(bob.id)];
    let good =
        || tokens.each_ref().map(|token| block_on(billing.session(token)).unwrap().is_some());
    block_on(billing.close_session(&tokens[0])).unwrap();
    assert_eq!(good(), [false, true, true, true]);
    block_on(billing.close_session(&tokens[0])).unwrap();
    block_on(billing.close_sessions_of(ada.id)).unwrap();
    assert_eq!(good(), [false, false, false, true]);
    block_on(billing.set_password(bob.id, password("new"))).unwrap();
    let found = block_on(billing.password_of(&bob.email)).unwrap().unwrap();
    assert_eq!(found.1, password("new"));
}

#[test]
fn no_secret_of_a_person_is_stored() {
    let fixture = Fixture::new();
    let ada = first(&fixture.billing);
    let sent = invite(&fixture.billing, "bob@example.com", Role::Read);
    let session = block_on(fixture.billing.open_session(ada.id)).unwrap();
    let rows = fixture.dump().join("\n");
    for token in [sent.token.reveal(), session.token.reveal()] {
        let digits = token.rsplit('_').next().unwrap();
        assert!(!rows.contains(&digits[32..80]), "{digits}");
    }
    assert!(!format!("{sent:?} {session:?}").contains("secret"));
}

#[test]
fn what_is_over_is_collected() {
    let fixture = Fixture::new();
    let billing = &fixture.billing;
    let ada = first(billing);
    let before = fixture.dump();
    invite(billing, "bob@example.com", Role::Read);
    block_on(billing.open_session(ada.id)).unwrap();
    fixture.clock.advance(7 * 24 * HOUR - Duration::from_micros(1));
    assert_eq!(block_on(billing.collect_garbage(1)).unwrap().removed, 1, "the invitation");
    assert_eq!(block_on(billing.collect_garbage(9)).unwrap().removed, 0);
    fixture.clock.advance(Duration::from_micros(2));
    assert_eq!(block_on(billing.collect_garbage(9)).unwrap().removed, 1, "the session");
    assert_eq!(fixture.dump(), before);
}
