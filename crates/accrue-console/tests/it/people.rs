//! People are invited, given roles and disabled by forms.

use accrue::{PageRequest, person::Role};
use http::StatusCode;

use crate::support::{Desk, block_on};

#[test]
fn a_person_is_given_another_role_and_disabled() {
    let desk = Desk::new();
    let admin = desk.session_of(Role::Admin);
    let reader = desk.session_of(Role::Read);
    let (person, _) = block_on(desk.billing.session(&reader)).unwrap().unwrap();
    let to = |action: &str| format!("/people/{}/{action}", person.id);
    let changed = desk.post(&to("role"), Some(&admin), &[("role", "admin")]);
    assert_eq!(changed.location(), "/console/people?done=role");
    assert_eq!(desk.get("/people", Some(&reader)).status, StatusCode::OK, "from now on");
    desk.post(&to("disable"), Some(&admin), &[]);
    assert_eq!(desk.get("/accounts", Some(&reader)).status, StatusCode::SEE_OTHER, "signed out");
    let list = desk.get("/people", Some(&admin)).body;
    assert!(list.contains("Disabled"));
    desk.post(&to("enable"), Some(&admin), &[]);
    assert!(block_on(desk.billing.fetch_person(person.id)).unwrap().is_enabled());
    let wrong = desk.post(&to("role"), Some(&admin), &[("role", "king")]);
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[test]
fn the_last_admin_is_told_why_it_stays() {
    let desk = Desk::new();
    let ada = desk.first();
    let session = block_on(desk.billing.open_session(ada.id)).unwrap().token.reveal();
    let refused = desk.post(&format!("/people/{}/disable", ada.id), Some(&session), &[]);
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("Nobody else is an admin that is not disabled."));
}

#[test]
fn an_invitation_is_listed_and_withdrawn() {
    let desk = Desk::new();
    let admin = desk.session_of(Role::Admin);
    let fields = [("name", "Bob"), ("email", "bob@example.com"), ("role", "operate")];
    let invited = desk.post("/people", Some(&admin), &fields);
    assert!(invited.body.contains("accrue_invitation_"));
    let again = desk.get("/people", Some(&admin)).body;
    assert!(
        again.contains("bob@example.com") && !again.contains("accrue_invitation_"),
        "shown once"
    );
    let page = PageRequest::default();
    let id = block_on(desk.billing.list_invitations(&page)).unwrap().data[0].id;
    let withdrawn = desk.post(&format!("/invitations/{id}/withdraw"), Some(&admin), &[]);
    assert_eq!(withdrawn.location(), "/console/people?done=withdrawn");
    assert!(!desk.get("/people", Some(&admin)).body.contains("bob@example.com"));
    let wrong = [("name", ""), ("email", "bob"), ("role", "read")];
    let refused = desk.post("/people", Some(&admin), &wrong);
    assert!(
        refused.body.contains("2 fields are to be changed.")
            && refused.body.contains("value=\"bob\"")
    );
}

#[test]
fn a_lost_password_is_reset_by_a_link_of_an_admin() {
    let desk = Desk::new();
    let admin = desk.session_of(Role::Admin);
    let reader = desk.session_of(Role::Read);
    let (person, _) = block_on(desk.billing.session(&reader)).unwrap().unwrap();
    let path = format!("/people/{}/password", person.id);
    assert_eq!(desk.post(&path, Some(&reader), &[]).status, StatusCode::FORBIDDEN);
    let page = desk.post(&path, Some(&admin), &[]).body;
    let link = page.split_once("/console/invitation").unwrap().1.split_once('"').unwrap().0;
    let link = format!("/invitation{link}");
    let asked = desk.get(&link, None).body;
    assert!(asked.contains("Choose another password") && asked.contains("Change it and sign in"));
    let password = "another horse";
    let fields = [("password", password), ("again", password)];
    assert_eq!(desk.post(&link, None, &fields).status, StatusCode::SEE_OTHER);
    assert_eq!(desk.get("/accounts", Some(&reader)).status, StatusCode::SEE_OTHER, "signed out");
    let signs_in = [("email", person.email.as_str()), ("password", password)];
    assert_eq!(desk.post("/sign-in", None, &signs_in).location(), "/console/accounts");
}
