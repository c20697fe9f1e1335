use http::{HeaderMap, HeaderName, HeaderValue};

use super::KeyHeader;
use crate::{operation::Operation, problem::Violations};

/// The request is a dry run, by either name; and so was what is answered (subscriptions 0.4).
const DRY_RUN: HeaderName = HeaderName::from_static("dry-run");
const ORB_DRY_RUN: HeaderName = HeaderName::from_static("orb-dry-run");

/// Tells whether a request for an operation asks what it would come to, and no more (subscriptions 0.4). One on events is
/// never such.
pub(crate) fn is_dry_run(
    operation: &Operation,
    headers: &HeaderMap,
    key: &KeyHeader,
    is_pending_change: bool,
) -> Result<bool, Violations> {
    let mut values = [DRY_RUN, ORB_DRY_RUN].map(|name| headers.get_all(name)).into_iter().flatten();
    if operation.name.starts_with("events.") {
        return Ok(false);
    }
    let wrong = |message| Err(Violations::one("/Dry-Run", message));
    match values.next() {
        None => Ok(false),
        Some(first) if !std::iter::once(first).chain(values).all(is_true) => {
            wrong("has another value than True")
        }
        Some(_) if operation.takes_keys() && key.is_there() => {
            wrong("takes no Idempotency-Key: a dry run has no effect to protect")
        }
        Some(_) if is_pending_change => {
            wrong("takes no Create-Pending-Subscription-Change: there would be nothing to apply")
        }
        Some(_) => Ok(true),
    }
}

/// Says on an answer that nothing was written for it.
pub(crate) fn say_dry_run(headers: &mut HeaderMap) {
    headers.insert(ORB_DRY_RUN, HeaderValue::from_static("true"));
}

fn is_true(value: &HeaderValue) -> bool {
    value.as_bytes().eq_ignore_ascii_case(b"true")
}
