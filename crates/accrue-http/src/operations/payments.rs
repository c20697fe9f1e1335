//! Payments by the gateway of the host (`docs/decisions/payments-are-begun-and-reported.md`).

use accrue::{InvoiceId, invoice, related::Related};

use crate::{
    problem::Problem,
    reply::Reply,
    request::{NoQuery, Request, Step},
    shape::Maybe,
    wire::invoices::{Invoice, PayInvoice},
};

/// Begins a payment, asks the gateway for it, and answers with the invoice as it is then.
pub(super) async fn pay(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) = request.read::<InvoiceId, NoQuery, Maybe<PayInvoice>>()?;
    let Some(gateway) = &request.settings.gateway else {
        return Err(Problem::feature_not_available("there is no payment gateway"));
    };
    let links = request.links();
    let links_shown = links.clone();
    let show = move |(invoice, related): &(invoice::Invoice, Related)| {
        Invoice::of(invoice, related, &links_shown)
    };
    let begin = request.account.pay_invoice(id, PayInvoice::token(body)).with_related();
    let open = match request.begin(begin, show.clone()).await? {
        Step::Done(reply) => return Ok(reply),
        Step::Open(open) => open,
    };
    // As it is now: whoever sends again goes on with what is still under way.
    let invoice = request.account.fetch_invoice(id).await?;
    let payment = invoice.started_payment();
    let outcome = match &payment {
        Some(payment) => gateway.charge(payment).await,
        None => None,
    };
    match payment.zip(outcome) {
        Some((payment, outcome)) => {
            let report = request.account.report_payment(payment.attempt_id, outcome);
            let reply = |paid: &_| Reply::json(request.status, &show(paid));
            request.go_on(&open, report.with_related(), reply).await
        }
        None => {
            let related = request.account.related(&invoice).await?;
            let reply = Reply::json(request.status, &Invoice::of(&invoice, &related, &links));
            request.conclude(&open, reply).await
        }
    }
}
