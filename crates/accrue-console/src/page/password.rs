//! One's own password, changed by whoever knows the present one.

use http::StatusCode;
use maud::{Markup, html};

use super::entrance::{people, with_cookies};
use crate::{
    answer::{Answer, Failure},
    sign_in::{Changed, fault},
    site::query,
    view::{
        form::{self, Control, Faults, Field, Form},
        layout::{self, Head, Section},
    },
    visit::Visit,
};

/// Shows the form.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    people(visit)?;
    Ok(Answer::page(drawn(visit, &Faults::default()).await?))
}

/// Changes the password, and closes the others of one's sessions.
pub(crate) async fn change(visit: &Visit) -> Result<Answer, Failure> {
    let people = people(visit)?;
    let person = visit.identity()?.person().ok_or(Failure::NotFound)?;
    let typed = |name| visit.form.raw(name).unwrap_or_default();
    let (present, new) = (typed("present"), typed("password"));
    let mut faults = Faults::default();
    if let Some(text) = fault(new) {
        faults.add("password", &text);
    } else if typed("again") != new {
        faults.add("again", "The two are not the same.");
    }
    let mut status = StatusCode::UNPROCESSABLE_ENTITY;
    if faults.is_empty() {
        let (acting, request) = (visit.billing(), visit.request_id.as_ref());
        match people.change_password(&acting, person, (present, new), request).await? {
            Changed::Done(session) => {
                let to = visit.site.to(&["password"]);
                let to = format!("{to}{}", query(&[("done", "password")]));
                return with_cookies(visit, Answer::see_other(&to), &session);
            }
            Changed::Wrong => faults.add("present", "This is not your password."),
            Changed::TooMany => {
                status = StatusCode::TOO_MANY_REQUESTS;
                let text = "too many attempts have failed: try again in a quarter of an hour";
                faults = Faults::all(text);
            }
        }
    }
    Ok(Answer::page_with(status, drawn(visit, &faults).await?))
}

async fn drawn(visit: &Visit, faults: &Faults) -> Result<Markup, Failure> {
    let form = Form { name: "change", typed: &visit.form, faults };
    let field = |name, label, hint, completes| {
        form.field(&Field { name, label, hint, control: Control::Text("password", completes) })
    };
    let content = html! {
        section.card aria-labelledby="change-title" {
            h2 id="change-title" { "Another password" }
            form method="post" action=(visit.site.to(&["password"])) {
                (form::token(visit))
                (form.summary())
                (field("present", "Present password", "", "current-password"))
                (field("password", "New password", "12 characters or more.", "new-password"))
                (field("again", "New password, once more", "", "new-password"))
                button.primary type="submit" { "Change the password" }
            }
            p.note { "You are signed out everywhere else by it." }
        }
    };
    let head = Head { title: "Your password", section: Section::Own, above: Vec::new() };
    layout::page(visit, head, content).await
}
