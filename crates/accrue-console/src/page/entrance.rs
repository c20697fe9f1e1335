//! How people come in and go: signing in, accepting an invitation, signing out.

use accrue::{Email, Name};
use http::{HeaderValue, StatusCode, header};
use maud::{Markup, html};

use crate::{
    answer::{Answer, Failure},
    request::Fields,
    sign_in::{Attempted, People, SignedIn, fault},
    site::query,
    view::{
        form::{Control, Faults, Field, Form},
        layout,
    },
    visit::Visit,
};

pub(super) fn people(visit: &Visit) -> Result<&People, Failure> {
    visit.site.sign_in.people().ok_or(Failure::NotFound)
}

/// Shows the page on which people sign in; whoever has goes on.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    people(visit)?;
    if visit.who.is_some() {
        return Ok(Answer::see_other(&visit.site.to(&["accounts"])));
    }
    Ok(Answer::page(sign_in_page(visit, &Faults::default())))
}

/// Signs somebody in.
pub(crate) async fn sign_in(visit: &Visit) -> Result<Answer, Failure> {
    let (email, password) = (visit.form.get("email"), visit.form.raw("password"));
    let (email, password) = (email.unwrap_or_default(), password.unwrap_or_default());
    let (device, request) = (visit.device.as_deref(), visit.request_id.as_ref());
    let (status, text) = match people(visit)?.sign_in((email, password), device, request).await? {
        Attempted::In(session) => return signed_in(visit, &session),
        Attempted::Wrong => {
            (StatusCode::UNPROCESSABLE_ENTITY, "the e-mail address or the password is wrong")
        }
        Attempted::TooMany => (
            StatusCode::TOO_MANY_REQUESTS,
            "too many attempts have failed: try again in a quarter of an hour",
        ),
    };
    Ok(Answer::page_with(status, sign_in_page(visit, &Faults::all(text))))
}

fn signed_in(visit: &Visit, session: &SignedIn) -> Result<Answer, Failure> {
    let to = visit.query.get("next").filter(|next| is_own(visit, next));
    let to = to.map_or_else(|| visit.site.to(&["accounts"]), str::to_owned);
    with_cookies(visit, Answer::see_other(&to), session)
}

/// Gives the browser its session, and what it is known by later.
pub(super) fn with_cookies(
    visit: &Visit,
    answer: Answer,
    session: &SignedIn,
) -> Result<Answer, Failure> {
    let value = |text: String| HeaderValue::from_str(&text).map_err(|_| Failure::SignedOut);
    let cookie = value(visit.site.cookie(&session.session))?;
    let device = value(visit.site.device_cookie(&session.device))?;
    Ok(answer.with(header::SET_COOKIE, cookie).with(header::SET_COOKIE, device))
}

/// Tells whether a path is one of the console: nobody is sent anywhere else.
fn is_own(visit: &Visit, path: &str) -> bool {
    let rest = path.strip_prefix(visit.site.base.as_str());
    let is_path = rest.is_some_and(|rest| rest.starts_with('/') && !rest.starts_with("//"));
    is_path && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

fn sign_in_page(visit: &Visit, faults: &Faults) -> Markup {
    let form = Form { name: "sign-in", typed: &visit.form, faults };
    let next = visit.query.get("next").map(|next| query(&[("next", next)])).unwrap_or_default();
    let action = format!("{}{next}", visit.site.to(&["sign-in"]));
    let content = html! {
        @if let Some(text) = layout::done_text(visit.query.get("done")) {
            div.alert.good role="status" { p { (text) } }
        }
        form method="post" action=(action) {
            (form.summary())
            (form.field(&Field { name: "email", label: "E-mail address", hint: "", control: Control::Text("email", "username") }))
            (form.field(&Field { name: "password", label: "Password", hint: "", control: Control::Text("password", "current-password") }))
            button.primary type="submit" { "Sign in" }
        }
        p.note { "An admin invites you by a link, and gives you another link where your password is lost." }
    };
    layout::alone(visit, "Sign in", &content)
}

/// Shows the page on which somebody accepts an invitation.
pub(crate) async fn invitation(visit: &Visit) -> Result<Answer, Failure> {
    invitation_page(visit, &visit.query, &Faults::default()).await
}

/// Accepts an invitation, and signs the person in.
pub(crate) async fn accept(visit: &Visit) -> Result<Answer, Failure> {
    let people = people(visit)?;
    let token = visit.query.get("token").unwrap_or_default();
    let Some(found) = people.invitation(token).await? else {
        return Ok(no_invitation(visit));
    };
    let mut faults = Faults::default();
    let who = if found.person.is_none() {
        let name = faults.take("name", Name::parse(visit.form.get("name").unwrap_or_default()));
        let email = faults.take("email", Email::parse(visit.form.get("email").unwrap_or_default()));
        name.zip(email)
    } else {
        None
    };
    let password = visit.form.raw("password").unwrap_or_default();
    if let Some(text) = fault(password) {
        faults.add("password", &text);
    } else if visit.form.raw("again") != Some(password) {
        faults.add("again", "The two are not the same.");
    }
    if faults.is_empty() {
        match people.accept(token, who, password, visit.request_id.as_ref()).await {
            Ok(Some(session)) => return signed_in(visit, &session),
            Ok(None) => return Ok(no_invitation(visit)),
            Err(error) => faults = Faults::of(error)?,
        }
    }
    invitation_page(visit, &visit.form, &faults).await
}

async fn invitation_page(
    visit: &Visit,
    typed: &Fields,
    faults: &Faults,
) -> Result<Answer, Failure> {
    let token = visit.query.get("token").unwrap_or_default();
    let Some(found) = people(visit)?.invitation(token).await? else {
        return Ok(no_invitation(visit));
    };
    let form = Form { name: "accept", typed, faults };
    let action = format!("{}{}", visit.site.to(&["invitation"]), query(&[("token", token)]));
    let text = |name, label, hint, kind, completes| {
        form.field(&Field { name, label, hint, control: Control::Text(kind, completes) })
    };
    let content = html! {
        @match &found.person {
            Some(person) if found.resets.is_some() => p { "You are " strong { (person.name) } ", " (person.email) ". Choose another password; wherever you are signed in now, you are signed out." },
            Some(person) => p { "You are invited as " strong { (person.name) } ", " (person.email) ", with the role " strong { (person.role) } "." },
            None => p { "You are the first person, and an admin. You invite the others." },
        }
        form method="post" action=(action) {
            (form.summary())
            @if found.person.is_none() {
                (text("name", "Name", "", "text", "name"))
                (text("email", "E-mail address", "You sign in with it.", "email", "username"))
            }
            (text("password", "Password", "12 characters or more.", "password", "new-password"))
            (text("again", "Password, once more", "", "password", "new-password"))
            button.primary type="submit" { @if found.resets.is_some() { "Change it and sign in" } @else { "Accept and sign in" } }
        }
    };
    let status = if faults.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    Ok(Answer::page_with(status, layout::alone(visit, "Invitation", &content)))
}

fn no_invitation(visit: &Visit) -> Answer {
    let content = html! {
        p { "This invitation was accepted already, has ended, or was withdrawn. Ask for another one." }
        p { a href=(visit.site.to(&["sign-in"])) { "Sign in" } }
    };
    let page = layout::alone(visit, "Invitation not good any more", &content);
    Answer::page_with(StatusCode::NOT_FOUND, page)
}

/// Signs somebody out.
pub(crate) async fn sign_out(visit: &Visit) -> Result<Answer, Failure> {
    people(visit)?;
    visit.billing().close_session(visit.identity()?.secret()).await?;
    let no_cookie =
        HeaderValue::from_str(&visit.site.no_cookie()).map_err(|_| Failure::SignedOut)?;
    let to = format!("{}{}", visit.site.to(&["sign-in"]), query(&[("done", "signed-out")]));
    Ok(Answer::see_other(&to).with(header::SET_COOKIE, no_cookie))
}
