//! Forms: fields with what was typed and what is wrong with it.

use std::collections::BTreeMap;

use accrue::{Error, ErrorKind};
use maud::{Markup, html};

use crate::{answer::Failure, guard::forms, request::Fields, visit::Visit};

/// What is wrong with a form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    by_field: BTreeMap<String, String>,
    general: Option<String>,
}

impl Faults {
    /// Takes an error of the engine for what is wrong with a form; another failure where it is none.
    pub(crate) fn of(error: Error) -> Result<Self, Failure> {
        if matches!(error.kind(), ErrorKind::Internal | ErrorKind::ResourceNotFound) {
            return Err(error.into());
        }
        let mut faults = Self::default();
        for violation in error.violations() {
            faults.add(&violation.field, &violation.message);
        }
        if faults.by_field.is_empty() {
            faults.general = Some(error.to_string());
        }
        Ok(faults)
    }

    /// Takes what is wrong with a field of the engine's for one of the form's.
    pub(crate) fn under(mut self, field: &str, own: &str) -> Self {
        if let Some(text) = self.by_field.remove(field) {
            self.add(own, &text);
        }
        self
    }

    /// Says what is wrong with a field.
    pub(crate) fn add(&mut self, field: &str, text: &str) {
        self.by_field.entry(field.to_owned()).or_insert_with(|| text.to_owned());
    }

    /// Says what is wrong with all of it.
    pub(crate) fn all(text: &str) -> Self {
        Self { general: Some(text.to_owned()), ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_field.is_empty() && self.general.is_none()
    }

    /// Keeps a value that could be read, and says what is wrong with the field otherwise.
    pub(crate) fn take<T, E: std::fmt::Display>(
        &mut self,
        field: &str,
        value: Result<T, E>,
    ) -> Option<T> {
        value.map_err(|error| self.add(field, &sentence(&error.to_string()))).ok()
    }
}

/// Writes what a library says as a sentence.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", rest.as_str())
}

/// The most characters that a field lets be typed: what it is for has a bound of its own.
const LONGEST: usize = 4_096;

/// Form that is shown, with what was typed before.
pub(crate) struct Form<'a> {
    /// Name that its fields' ids begin with: pages have several forms.
    pub(crate) name: &'a str,
    pub(crate) typed: &'a Fields,
    pub(crate) faults: &'a Faults,
}

/// Field of a form.
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    pub(crate) hint: &'a str,
    pub(crate) control: Control<'a>,
}

/// What a field is typed or chosen with.
pub(crate) enum Control<'a> {
    /// A line of text: its type, and what it completes from.
    Text(&'a str, &'a str),
    /// One of some, each with its value and its text.
    Choice(&'a [(&'a str, &'a str)]),
}

impl Form<'_> {
    /// Shows what is wrong with the form as a whole, and how many fields are wrong.
    pub(crate) fn summary(&self) -> Markup {
        let count = self.faults.by_field.len();
        html! {
            @if !self.faults.is_empty() {
                div.alert.bad role="alert" {
                    @if let Some(general) = &self.faults.general { p { (sentence(general)) } }
                    @if count == 1 { p { "One field is to be changed." } }
                    @if count > 1 { p { (count) " fields are to be changed." } }
                    // Paths are of no field of a form.
                    @for (field, text) in &self.faults.by_field {
                        @if field.contains('.') { p { code { (field) } ": " (text) } }
                    }
                }
            }
        }
    }

    /// Shows a field: never what was typed as a password.
    pub(crate) fn field(&self, field: &Field<'_>) -> Markup {
        let id = format!("{}-{}", self.name, field.name);
        let fault = self.faults.by_field.get(field.name);
        let (hint_id, fault_id) = (format!("{id}-hint"), format!("{id}-fault"));
        let mut described = Vec::new();
        if !field.hint.is_empty() {
            described.push(hint_id.as_str());
        }
        if fault.is_some() {
            described.push(fault_id.as_str());
        }
        let described = (!described.is_empty()).then(|| described.join(" "));
        let typed = self.typed.raw(field.name).unwrap_or_default();
        let invalid = fault.map(|_| "true");
        html! {
            div.field {
                label for=(id) { (field.label) }
                @if !field.hint.is_empty() { p.hint id=(hint_id) { (field.hint) } }
                @match field.control {
                    Control::Text(kind, completes) => {
                        @let value = (kind != "password").then_some(typed);
                        input id=(id) name=(field.name) type=(kind) value=[value]
                            maxlength=(LONGEST) autocomplete=(completes) aria-describedby=[described]
                            aria-invalid=[invalid];
                    }
                    Control::Choice(choices) => {
                        select id=(id) name=(field.name) aria-describedby=[described]
                            aria-invalid=[invalid] {
                            @for (value, text) in choices {
                                option value=(value) selected[typed == *value] { (text) }
                            }
                        }
                    }
                }
                @if let Some(fault) = fault {
                    p.fault id=(fault_id) { span aria-hidden="true" { "✕ " } (fault) }
                }
            }
        }
    }
}

/// Returns the hidden field that a form of a session has.
pub(crate) fn token(visit: &Visit) -> Markup {
    html! {
        @if let Some(token) = visit.form_token() {
            input type="hidden" name=(forms::FIELD) value=(token);
        }
    }
}

/// Draws what is shown only now, to be copied.
pub(crate) fn shown_once(id: &str, label: &str, value: &str) -> Markup {
    html! {
        div.secret {
            label for=(id) { (label) }
            input id=(id) type="text" value=(value) readonly autocomplete="off" spellcheck="false";
            button type="button" data-copy=(id) hidden { "Copy" }
        }
    }
}

/// A form of one button.
pub(crate) fn button(visit: &Visit, action: &str, text: &str, class: &str) -> Markup {
    html! {
        form.inline method="post" action=(action) {
            (token(visit))
            button class=(class) type="submit" { (text) }
        }
    }
}
