//! People: invited, given roles, disabled.

use accrue::{
    Email, InvitationId, Name, PageRequest, PersonId,
    person::{NewPerson, Person, Role, SentInvitation},
};
use http::StatusCode;
use maud::{Markup, html};

use crate::{
    answer::{Answer, Failure},
    request::Fields,
    site::query,
    view::{
        form::{self, Control, Faults, Field, Form},
        layout::{self, Head, Section},
        part::{Column::Text, Standing, chip, next, table},
        time,
    },
    visit::Visit,
};

/// Roles, with what they may do.
const ROLES: [(&str, &str); 3] = [
    ("read", "Read: sees everything but secrets"),
    ("operate", "Operate: changes what customers use and pay"),
    ("admin", "Admin: API keys, people and accounts too"),
];

/// Lists the people, and those that are invited.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let page = list(visit, &Fields::default(), &Faults::default(), &html! {}).await?;
    Ok(Answer::page(page))
}

/// Invites a person: the link is shown once.
pub(crate) async fn invite(visit: &Visit) -> Result<Answer, Failure> {
    let mut faults = Faults::default();
    let form = &visit.form;
    let name = faults.take("name", Name::parse(form.get("name").unwrap_or_default()));
    let email = faults.take("email", Email::parse(form.get("email").unwrap_or_default()));
    let role = form.get("role").and_then(Role::parse);
    if role.is_none() {
        faults.add("role", "Choose a role.");
    }
    if let (Some(name), Some(email), Some(role)) = (name, email, role) {
        match visit.billing().invite_person(NewPerson { name, email, role }).await {
            Ok(sent) => return invited(visit, &sent).await,
            Err(error) => faults = Faults::of(error)?,
        }
    }
    refused(visit, &faults).await
}

/// Makes the link by which a person chooses another password, shown once.
pub(crate) async fn reset_password(visit: &Visit) -> Result<Answer, Failure> {
    match visit.billing().reset_password(visit.id("person")?).await {
        Ok(sent) => invited(visit, &sent).await,
        Err(error) => refused(visit, &Faults::of(error)?).await,
    }
}

/// Changes what a person may do.
pub(crate) async fn change_role(visit: &Visit) -> Result<Answer, Failure> {
    let role = visit.form.get("role").and_then(Role::parse);
    let Some(role) = role else {
        return refused(visit, &Faults::all("choose a role")).await;
    };
    let done = visit.billing().change_role(visit.id("person")?, role).await;
    changed(visit, done, "role").await
}

/// Disables a person.
pub(crate) async fn disable(visit: &Visit) -> Result<Answer, Failure> {
    let done = visit.billing().disable_person(visit.id("person")?).await;
    changed(visit, done, "disabled").await
}

/// Lets a person in again.
pub(crate) async fn enable(visit: &Visit) -> Result<Answer, Failure> {
    let done = visit.billing().enable_person(visit.id("person")?).await;
    changed(visit, done, "enabled").await
}

/// Withdraws an invitation.
pub(crate) async fn withdraw(visit: &Visit) -> Result<Answer, Failure> {
    let id: InvitationId = visit.id("invitation")?;
    let done = visit.billing().withdraw_invitation(id).await;
    changed(visit, done, "withdrawn").await
}

async fn changed<T>(
    visit: &Visit,
    done: Result<T, accrue::Error>,
    code: &str,
) -> Result<Answer, Failure> {
    match done {
        Ok(_) => {
            let to = format!("{}{}", visit.site.to(&["people"]), query(&[("done", code)]));
            Ok(Answer::see_other(&to))
        }
        Err(error) => refused(visit, &Faults::of(error)?).await,
    }
}

async fn refused(visit: &Visit, faults: &Faults) -> Result<Answer, Failure> {
    let page = list(visit, &visit.form, faults, &html! {}).await?;
    Ok(Answer::page_with(StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// Shows the link of an invitation once.
async fn invited(visit: &Visit, sent: &SentInvitation) -> Result<Answer, Failure> {
    let SentInvitation { invitation, token, .. } = sent;
    let path = visit.site.to(&["invitation"]);
    let link = format!("{path}{}", query(&[("token", &token.reveal())]));
    let whom = invitation.person.as_ref().map(|person| person.email.to_string());
    let above = html! {
        div.alert.good role="status" {
            p {
                span aria-hidden="true" { "✓ " }
                "Send this link to " (whom.unwrap_or_default())
                @if invitation.resets.is_some() { ", who chooses another password by it" }
                ". It is shown only now, and is for one use until " (time::instant(invitation.expires_at)) " (UTC)."
            }
            (form::shown_once("link", "Link", &visit.site.absolute(&link)))
        }
    };
    let page = list(visit, &Fields::default(), &Faults::default(), &above).await?;
    Ok(Answer::page(page))
}

async fn list(
    visit: &Visit,
    typed: &Fields,
    faults: &Faults,
    above: &Markup,
) -> Result<Markup, Failure> {
    let billing = visit.billing();
    let people = billing.list_people(&visit.page_of(50)?).await?;
    let invitations = billing.list_invitations(&PageRequest::first(100)?).await?.data;
    let now = billing.now();
    let open: Vec<_> = invitations.iter().filter(|of| now < of.expires_at).collect();
    let own = visit.identity()?.person().map(|person| person.id);
    let rows = html! { @for person in &people.data { (row(visit, person, own)) } };
    let invited = html! {
        @for invitation in &open {
            @let id = invitation.id.to_string();
            tr {
                th scope="row" { (invitation.person.as_ref().map_or("The first person", |of| &of.name)) }
                td { (invitation.person.as_ref().map_or("", |of| &of.email)) }
                td { (invitation.role()) @if invitation.resets.is_some() { " (another password)" } }
                td { (time::instant(invitation.expires_at)) }
                td { (form::button(visit, &visit.site.to(&["invitations", &id, "withdraw"]), "Withdraw", "quiet")) }
            }
        }
    };
    let form = Form { name: "invite", typed, faults };
    let field = |name, label, hint, control| form.field(&Field { name, label, hint, control });
    let content = html! {
        (above)
        (form.summary())
        (table("People", &[Text("Name"), Text("E-mail address"), Text("Status"), Text("Role"), Text("Since (UTC)"), Text("Actions")], &rows))
        (next(&visit.site.to(&["people"]), &[], people.next_cursor.as_ref()))
        @if !open.is_empty() {
            (table("Invitations", &[Text("Name"), Text("E-mail address"), Text("Role"), Text("Good until (UTC)"), Text("Actions")], &invited))
        }
        section.card aria-labelledby="invite-title" {
            h2 id="invite-title" { "Invite a person" }
            form method="post" action=(visit.site.to(&["people"])) {
                (form::token(visit))
                (field("name", "Name", "", Control::Text("text", "off")))
                (field("email", "E-mail address", "The person signs in with it. Nothing is sent: you hand the link over.", Control::Text("email", "off")))
                (field("role", "Role", "", Control::Choice(&ROLES)))
                button.primary type="submit" { "Make the link" }
            }
        }
    };
    let head = Head { title: "People", section: Section::People, above: Vec::new() };
    layout::page(visit, head, content).await
}

fn row(visit: &Visit, person: &Person, own: Option<PersonId>) -> Markup {
    let id = person.id.to_string();
    let standing = match person.is_enabled() {
        true => chip(Standing::Good, "Enabled"),
        false => chip(Standing::Off, "Disabled"),
    };
    let to = |action| visit.site.to(&["people", &id, action]);
    html! {
        tr {
            th scope="row" { (person.name) @if own == Some(person.id) { " (you)" } }
            td { (person.email) }
            td { (standing) }
            td {
                form.inline method="post" action=(to("role")) {
                    (form::token(visit))
                    select name="role" aria-label=(format!("Role of {}", person.name)) {
                        @for role in Role::ALL {
                            option value=(role) selected[role == person.role] { (role) }
                        }
                    }
                    button.quiet type="submit" { "Change" span.hidden { " the role of " (person.name) } }
                }
            }
            td { (time::instant(person.created_at)) }
            td {
                @if person.is_enabled() {
                    (form::button(visit, &to("password"), "Reset password", "quiet"))
                    (form::button(visit, &to("disable"), "Disable", "quiet"))
                } @else { (form::button(visit, &to("enable"), "Enable", "quiet")) }
            }
        }
    }
}
