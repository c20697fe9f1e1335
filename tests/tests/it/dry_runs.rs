//! What a dry run answers is what the request then answers, and nothing is written (subscriptions 0.4).

use accrue_tests::served::{Bench, Case, reads, writes};

/// What a request comes to depends on whom it asks outside, which a dry run does not.
const ASK_OTHERS: [&str; 3] = [
    "POST /invoices/{invoice_id}/issue",
    "POST /invoices/{invoice_id}/pay",
    "POST /invoices/summary/{invoice_id}/issue",
];
/// Requests on events are executed.
const ON_EVENTS: [&str; 2] = [" /events", " /ingest"];

#[test]
fn subscriptions_0_4_a_dry_run_answers_as_the_request_then_does() {
    let bench = Bench::set();
    // What waits to be applied has no dry run.
    let is_dry = |case: &Case| {
        !case.is_staged && !ON_EVENTS.iter().any(|path| case.operation.contains(path))
    };
    let cases = [writes(&bench.scene), reads(&bench.scene)].concat();
    let (mut wrong, mut effects) = (Vec::new(), 0);
    for case in cases.iter().filter(|case| is_dry(case)) {
        effects += usize::from(case.has_effect());
        let found = bench.rehearse(case);
        let expected = bench.answer(case).unwrap();
        let is_same = match &found {
            Ok(found) if ASK_OTHERS.contains(&case.operation) => found.starts_with("200 "),
            Ok(found) => *found == expected,
            Err(_) => false,
        };
        if !is_same {
            let Case { operation, path, .. } = case;
            wrong.push(format!("{operation} {path}: expected {expected}, found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(effects > 60, "{effects}");
}
