//! Drafts that are issued, with the taxes that a provider of the host answers
//! (`docs/decisions/taxes-are-asked-before-issuing.md`).

use accrue::{
    InvoiceId,
    invoice::{self, InvoiceStatus, TaxOutcome},
    related::Related,
};
use serde::Serialize;

use crate::{
    problem::Problem,
    reply::Reply,
    request::{NoQuery, Request, Step},
    shape::Maybe,
    wire::invoices::{Invoice, InvoiceSummary, IssueInvoice},
};

pub(super) async fn issue(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) = request.read::<InvoiceId, NoQuery, Maybe<IssueInvoice>>()?;
    let links = request.links();
    let show = move |(invoice, related): &(invoice::Invoice, Related)| {
        Invoice::of(invoice, related, &links)
    };
    issue_with_taxes(request, id, &body, show).await
}

pub(super) async fn issue_summary(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) = request.read::<InvoiceId, NoQuery, Maybe<IssueInvoice>>()?;
    let links = request.links();
    let show = move |(invoice, related): &(invoice::Invoice, Related)| {
        InvoiceSummary::of(invoice, related, &links)
    };
    issue_with_taxes(request, id, &body, show).await
}

/// Issues a draft, and asks for its taxes where it waits for them. A refusal is told, and kept (invoicing 4.5).
async fn issue_with_taxes<A: Serialize>(
    request: Request,
    id: InvoiceId,
    body: &Maybe<IssueInvoice>,
    show: impl Fn(&(invoice::Invoice, Related)) -> A + Clone + Send + Sync + 'static,
) -> Result<Reply, Problem> {
    let issue = match body {
        Maybe::Value(body) if body.is_synchronous() => request.account.issue_invoice_of_fees(id),
        _ => request.account.issue_invoice(id),
    };
    let issue = issue.with_related();
    let Some(provider) = &request.settings.tax_provider else {
        return request.write(issue, show).await;
    };
    let open = match request.begin(issue, show.clone()).await? {
        Step::Done(reply) => return Ok(reply),
        Step::Open(open) => open,
    };
    // As it is now: whoever sends again goes on with what still waits.
    let asked = request.account.tax_request(id).await?;
    let outcome = match &asked {
        Some(asked) => provider.calculate(asked).await,
        None => None,
    };
    let Some((asked, outcome)) = asked.zip(outcome) else {
        let invoice = request.account.fetch_invoice(id).await?;
        let related = request.account.related(&invoice).await?;
        let reply = Reply::json(request.status, &show(&(invoice, related)));
        return request.conclude(&open, reply).await;
    };
    let refusal = match &outcome {
        TaxOutcome::Refused { reason } => Some(reason.clone()),
        _ => None,
    };
    let report = request.account.report_taxes(asked, outcome).with_related();
    let reply = |shown: &(invoice::Invoice, Related)| match &refusal {
        Some(reason) if shown.0.status == InvoiceStatus::Draft => {
            let detail = format!("the tax of the invoice was refused: {reason}");
            Problem::constraint_violation(detail).reply(&request.settings.error_docs)
        }
        _ => Reply::json(request.status, &show(shown)),
    };
    request.go_on(&open, report, reply).await
}
