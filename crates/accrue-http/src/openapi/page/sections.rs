//! What holds for all operations.

use accrue::limits;

use crate::{
    Bounds, Quota, Quotas,
    openapi::{
        document::HEADERS,
        html::{Markup, cells, code, element, paragraph, prose, table, text},
    },
    problem::{KINDS, Row, row},
    settings::Settings,
};

/// A part of the page that the list at its head links to.
pub(super) struct Section {
    pub(super) title: String,
    pub(super) content: Markup,
}

impl Section {
    pub(super) fn anchor(&self) -> String {
        self.title.to_lowercase().replace(' ', "-")
    }

    pub(super) fn render(&self) -> Markup {
        let title = element("h2", &[("id", &self.anchor())], [text(&self.title)]);
        [title, self.content.clone()].into_iter().collect()
    }
}

pub(super) fn all(base: &str, settings: &Settings) -> Vec<Section> {
    let section = |title: &str, content: Vec<Markup>| Section {
        title: title.to_owned(),
        content: content.into_iter().collect(),
    };
    vec![
        section("Authentication", authentication(base)),
        section("Idempotency", idempotency()),
        section("Dry runs", dry_runs()),
        section("Changes that wait", changes_that_wait()),
        section("Errors", errors(&settings.error_docs)),
        section("Pagination", pagination(&settings.bounds)),
        section("Rate limits", rate_limits()),
        section("Limits", bounds(&settings.bounds)),
    ]
}

fn authentication(base: &str) -> Vec<Markup> {
    let example = format!("curl https://HOST{base}/ping -H 'Authorization: Bearer KEY'");
    vec![
        paragraph(
            "Every request carries an API key in one header `Authorization: Bearer KEY`. One that \
             is missing, malformed, unknown or revoked answers 401, and nothing tells which.",
        ),
        element("pre", &[], [code(&example)]),
    ]
}

fn idempotency() -> Vec<Markup> {
    let rows = HEADERS.into_iter().map(|(name, words)| cells([code(name), prose(words)]));
    let key = format!(
        "A POST may carry a header `Idempotency-Key` of at most {} characters. Sent again under the \
         same key within {} hours, the request has no second effect and gets the same answer, byte \
         for byte, with `Idempotent-Replayed: true`. While the first one runs, and for another \
         payload under the same key, the answer is 409. On other methods the header is ignored.",
        limits::IDEMPOTENCY_KEY_CHARACTERS,
        limits::IDEMPOTENCY_HOURS,
    );
    vec![paragraph(&key), table(&["Header of answers", ""], rows)]
}

fn dry_runs() -> Vec<Markup> {
    vec![paragraph(
        "With a header `Dry-Run: True` any request but those on events is answered as if it were \
         real, also with its errors, and nothing is written, sent or told. The answer has \
         `Orb-Dry-Run: true`; without it the request was executed. Ids of what would be made are made \
         up. A POST has no `Idempotency-Key` then. What an invoice would come to outside, at a \
         gateway or a tax provider, is not asked for.",
    )]
}

fn changes_that_wait() -> Vec<Markup> {
    vec![paragraph(
        "With a header `Create-Pending-Subscription-Change: True` a subscription that is created, or \
         whose prices or quantities change, waits: the answer is as it would be, with \
         `pending_subscription_change` and `changed_resources`, and nothing takes effect before the \
         change is applied. Until that, or until it is cancelled or has expired, every other change of \
         the subscription is refused.",
    )]
}

fn errors(error_docs: &str) -> Vec<Markup> {
    let rows = KINDS.into_iter().map(|kind| {
        let Row { status, anchor, body_status, title } = row(kind);
        let status = status.as_u16().to_string();
        cells([code(anchor), text(&status), text(&body_status.to_string()), text(title)])
    });
    let body = format!(
        "The body of an error has a `type`, which is `{error_docs}#` and one of these words, a \
         `status`, a `title` and a `detail`. Where a request is not valid, `validation_errors` \
         lists everything that is wrong, each with a JSON pointer to where it was found."
    );
    vec![paragraph(&body), table(&["Type", "HTTP status", "Body status", "Title"], rows)]
}

fn pagination(bounds: &Bounds) -> Vec<Markup> {
    let words = format!(
        "Lists are newest first. `limit` is the most rows of a page: 1 to {}, {} where nothing is \
         said, and up to {} for ledgers. While `has_more` is true, `next_cursor` asks for the next \
         page: send it as `cursor` with the same filters. Ranges are `name[gte]`, `name[gt]`, \
         `name[lt]` and `name[lte]`, lists are `name[]` once for each value.",
        bounds.page_rows,
        limits::PAGE_DEFAULT_ROWS.min(bounds.page_rows),
        bounds.ledger_page_rows,
    );
    vec![paragraph(&words)]
}

type QuotaOf = fn(&Quotas) -> Option<Quota>;

fn rate_limits() -> Vec<Markup> {
    let kinds = [Quotas::live(), Quotas::test(), Quotas::trial()];
    let categories: [(&str, QuotaOf); 6] = [
        ("Usage and costs of subscriptions, costs of customers", |quotas| quotas.analytics),
        ("Credit balances of customers", |quotas| quotas.ledger),
        ("Everything else that reads", |quotas| quotas.reads),
        ("Everything else that writes", |quotas| quotas.writes),
        ("Ingest, in requests", |quotas| quotas.ingest_requests),
        ("Ingest, in events", |quotas| quotas.ingest_events),
    ];
    let rows = categories.into_iter().map(|(category, quota)| {
        let quotas = kinds.iter().map(|kind| text(&quota(kind).map(in_words).unwrap_or_default()));
        cells([text(category)].into_iter().chain(quotas))
    });
    vec![
        paragraph(
            "Who runs this API decides how much an account may do in a time. Beyond that the answer \
             is 429, with `Retry-After` in seconds. A batch of more events than may come at once is \
             answered 413-resource-too-large: send smaller ones. The published API has these:",
        ),
        table(&["Category", "Live", "Test", "Trial"], rows),
    ]
}

fn in_words(quota: Quota) -> String {
    match quota.period().as_secs() {
        1 => format!("{} a second", quota.amount()),
        60 => format!("{} a minute", quota.amount()),
        seconds => format!("{} in {seconds} seconds", quota.amount()),
    }
}

fn bounds(bounds: &Bounds) -> Vec<Markup> {
    let Bounds {
        url_bytes,
        header_bytes,
        body_bytes,
        bodies_bytes,
        depth,
        string_bytes,
        array_items,
        values,
        page_rows,
        ledger_page_rows,
        batch_events,
    } = *bounds;
    let rows = [
        ("Path and query, in bytes", url_bytes),
        ("Headers together, in bytes", header_bytes),
        ("A body, in bytes, after decompression too", body_bytes),
        ("The bodies of an account in flight, in bytes", bodies_bytes / 2),
        ("Depth of arrays and objects within each other", depth),
        ("A string, name or number of a body, in bytes", string_bytes),
        ("Items of an array, members of an object", array_items),
        ("Values in a body together", values),
        ("Rows of a page", page_rows),
        ("Entries of a page of a ledger", ledger_page_rows),
        ("Events of a batch", batch_events),
        ("An event, in bytes", limits::EVENT_BYTES),
        ("Significant digits of a number", limits::DECIMAL_DIGITS),
        ("Entries of metadata", limits::METADATA_ENTRIES),
        ("A key of metadata, in bytes", limits::METADATA_KEY_BYTES),
        ("A value of metadata, in bytes", limits::METADATA_VALUE_BYTES),
        ("Rows of an answer without pages", limits::RESULT_ROWS),
    ];
    let rows = rows.into_iter().map(|(what, most)| cells([text(what), text(&grouped(most))]));
    vec![
        paragraph(
            "Bodies are JSON in UTF-8, as they are or compressed with gzip, as one member. At most:",
        ),
        element("div", &[("class", "limits")], [table(&["", "At most"], rows)]),
    ]
}

/// Writes a number with its thousands apart.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
