use std::fmt;

use http::StatusCode;

use crate::{
    Category,
    problem::Problem,
    request::{Request, Running},
    shape::{Describe, Read, Schema},
};

/// An operation of the API: what the router, the OpenAPI document and the list of operations know of
/// it, and what it does.
pub(crate) struct Operation {
    /// Its name in the client libraries.
    pub(crate) name: &'static str,
    /// Its id in the OpenAPI document.
    pub(crate) id: &'static str,
    pub(crate) method: Method,
    /// Its path below the base path, with parameters in braces.
    pub(crate) path: &'static str,
    /// The status of a success.
    pub(crate) status: u16,
    /// What it does, in a sentence.
    pub(crate) summary: &'static str,
    pub(crate) category: Category,
    /// Whether a request under an idempotency key has an effect to be kept (§4.5).
    pub(crate) effect: Effect,
    /// Whether its body is a batch of events.
    pub(crate) takes_batches: bool,
    pub(crate) query: Option<fn() -> Schema>,
    pub(crate) body: Option<fn() -> Schema>,
    pub(crate) answer: Option<fn() -> Schema>,
    pub(crate) run: fn(Request) -> Running,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Delete,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    Writes,
}

impl Method {
    pub(crate) fn of(method: &http::Method) -> Option<Self> {
        match *method {
            http::Method::GET => Some(Self::Get),
            http::Method::POST => Some(Self::Post),
            http::Method::PUT => Some(Self::Put),
            http::Method::DELETE => Some(Self::Delete),
            _ => None,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

impl Operation {
    pub(crate) const fn get(path: &'static str, name: &'static str, id: &'static str) -> Self {
        Self::new(Method::Get, path, name, id, 200)
    }

    pub(crate) const fn post(path: &'static str, name: &'static str, id: &'static str) -> Self {
        Self::new(Method::Post, path, name, id, 200)
    }

    pub(crate) const fn put(path: &'static str, name: &'static str, id: &'static str) -> Self {
        Self::new(Method::Put, path, name, id, 200)
    }

    pub(crate) const fn delete(path: &'static str, name: &'static str, id: &'static str) -> Self {
        Self::new(Method::Delete, path, name, id, 204)
    }

    const fn new(
        method: Method,
        path: &'static str,
        name: &'static str,
        id: &'static str,
        status: u16,
    ) -> Self {
        let (category, effect) = match method {
            Method::Get => (Category::Reads, Effect::Reads),
            Method::Post | Method::Put | Method::Delete => (Category::Writes, Effect::Writes),
        };
        Self {
            name,
            id,
            method,
            path,
            status,
            summary: "",
            category,
            effect,
            takes_batches: false,
            query: None,
            body: None,
            answer: None,
            run: |_| {
                Box::pin(std::future::ready(Err(Problem::internal("an operation does nothing"))))
            },
        }
    }

    /// Answers 201: something was created.
    pub(crate) const fn creates(self) -> Self {
        Self { status: 201, ..self }
    }

    /// Answers 204: there is nothing to say.
    pub(crate) const fn without_answer(self) -> Self {
        Self { status: 204, ..self }
    }

    /// Has no effect, although it is a POST.
    pub(crate) const fn only_reads(self) -> Self {
        Self { effect: Effect::Reads, ..self }
    }

    /// Has a batch of events for its body.
    pub(crate) const fn takes_batches(self) -> Self {
        Self { takes_batches: true, ..self }
    }

    pub(crate) const fn counted_as(self, category: Category) -> Self {
        Self { category, ..self }
    }

    pub(crate) const fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    pub(crate) const fn query<T: Read>(self) -> Self {
        Self { query: Some(T::schema), ..self }
    }

    pub(crate) const fn body<T: Read>(self) -> Self {
        Self { body: Some(T::schema), ..self }
    }

    pub(crate) const fn answers<T: Describe>(self) -> Self {
        Self { answer: Some(T::schema), ..self }
    }

    pub(crate) const fn run(self, run: fn(Request) -> Running) -> Self {
        Self { run, ..self }
    }

    /// Returns the resource that it is listed under, as the published document names it.
    pub(crate) fn resource(&self) -> &'static str {
        let mut names = self.name.split('.');
        match (names.next().unwrap_or_default(), names.next().unwrap_or_default()) {
            ("top_level", _) => "Availability",
            ("alerts", _) => "Alert",
            ("coupons", _) => "Coupon",
            ("credit_notes", _) => "Credit note",
            ("items", _) => "Item",
            ("customers", "credits") | ("credit_blocks", _) => "Credit",
            ("customers", _) => "Customer",
            ("invoices", _) => "Invoice",
            ("invoice_line_items", _) => "Invoice line item",
            ("metrics", _) => "Metric",
            ("prices", _) => "Price",
            ("dimensional_price_groups", _) => "Dimensional price group",
            ("plans" | "beta", _) => "Plan",
            ("subscriptions", _) => "Subscription",
            ("license_types", _) => "License type",
            ("licenses", _) => "License",
            ("subscription_changes", _) => "Subscription change",
            ("events", _) => "Event",
            ("webhook_endpoints" | "webhook_events", _) => "Webhook",
            _ => "Other",
        }
    }

    /// Tells whether a body is read: what only reads, or deletes, has none.
    pub(crate) const fn has_body(&self) -> bool {
        matches!(self.method, Method::Post | Method::Put)
    }

    pub(crate) fn success(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or_default()
    }

    /// Tells whether an idempotency key counts (§4.5.1, §4.5.3).
    pub(crate) const fn takes_keys(&self) -> bool {
        matches!(self.method, Method::Post)
    }
}
