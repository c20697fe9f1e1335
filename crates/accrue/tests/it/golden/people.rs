//! People, and what they did.

use std::time::Duration;

use accrue::{
    AccountId,
    audit::Actor,
    person::{NewPerson, Role},
};

use crate::{
    people::{email, first},
    support::fixture::{Fixture, block_on, name},
};

/// An admin with a session, an invitation that nobody has accepted, and entries of the audit log.
pub(super) fn work(fixture: &Fixture) {
    let ada = first(&fixture.billing);
    let actor = Actor::person(&ada).for_request(name("request 1"));
    let billing = fixture.billing.acting(actor);
    block_on(billing.open_session(ada.id)).unwrap();
    fixture.clock.advance(Duration::from_secs(1));
    let new = NewPerson { name: name("Bob"), email: email("bob@example.com"), role: Role::Read };
    block_on(billing.invite_person(new)).unwrap();
    let account = billing.account(AccountId::parse("aaa").unwrap());
    let issued = block_on(account.issue_api_key(name("console"))).unwrap();
    let host = account.acting(Actor::host(name("nightly job")));
    block_on(host.revoke_api_key(issued.key.id)).unwrap();
}
