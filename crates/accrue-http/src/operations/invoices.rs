use accrue::{
    Call, CustomerId, IdOr, InvoiceId, InvoiceLineId, Page, SubscriptionId, Zone,
    invoice::{self, InvoiceFilter},
    related::Related,
};

use super::{issuing, payments, zones};
use crate::{
    links::Links,
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request},
    shape::Maybe,
    wire::{
        invoices::{
            CreateInvoice, CreateInvoiceLine, FetchInvoice, Invoice, InvoiceLineItem,
            InvoiceListQuery, InvoiceSummary, InvoiceSummaryQuery, IssueInvoice, MarkPaid,
            PayInvoice, UpcomingInvoice, UpcomingQuery, UpdateInvoice,
        },
        pages::{Limit, Rows},
    },
};

const BY_ID: &str = "/invoices/{invoice_id}";

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get("/invoices", "invoices.list", "list-invoices")
        .summary("Lists the invoices, those with the newest date first.")
        .query::<InvoiceListQuery>()
        .answers::<Rows<Invoice>>()
        .run(|request| Box::pin(list(request))),
    Operation::post("/invoices", "invoices.create", "create-invoice")
        .creates()
        .summary("Makes a one-off invoice: a draft, or one that is issued at once.")
        .body::<CreateInvoice>()
        .answers::<Invoice>()
        .run(|request| Box::pin(create(request))),
    Operation::post("/invoice_line_items", "invoice_line_items.create", "create-invoice-line-item")
        .creates()
        .summary("Adds a line to a draft by hand.")
        .body::<CreateInvoiceLine>()
        .answers::<InvoiceLineItem>()
        .run(|request| Box::pin(create_line(request))),
    Operation::delete(
        "/invoices/{invoice_id}/invoice_line_items/{line_item_id}",
        "invoices.delete_line_item",
        "delete-invoice-line-item",
    )
    .summary("Removes a line that was made by hand from a draft.")
    .run(|request| Box::pin(delete_line(request))),
    Operation::get("/invoices/summary", "invoices.list_summary", "list-invoices-summary")
        .summary("Lists the invoices without their lines, those with the newest date first.")
        .query::<InvoiceSummaryQuery>()
        .answers::<Rows<InvoiceSummary>>()
        .run(|request| Box::pin(list_summary(request))),
    Operation::get("/invoices/upcoming", "invoices.fetch_upcoming", "fetch-upcoming-invoice")
        .summary("Returns the draft of the next boundary of a subscription.")
        .query::<UpcomingQuery>()
        .answers::<UpcomingInvoice>()
        .run(|request| Box::pin(fetch_upcoming(request))),
    Operation::get(BY_ID, "invoices.fetch", "fetch-invoice")
        .summary("Returns an invoice: a draft with the figures of now.")
        .query::<FetchInvoice>()
        .answers::<Invoice>()
        .run(|request| Box::pin(fetch(request))),
    Operation::put(BY_ID, "invoices.update", "update-invoice")
        .summary("Changes the metadata of an invoice, or when a draft is to be paid.")
        .body::<UpdateInvoice>()
        .answers::<Invoice>()
        .run(|request| Box::pin(update(request))),
    Operation::post("/invoices/{invoice_id}/issue", "invoices.issue", "issue-invoice")
        .summary("Issues a draft that is not issued by itself.")
        .body::<Maybe<IssueInvoice>>()
        .answers::<Invoice>()
        .run(|request| Box::pin(issuing::issue(request))),
    Operation::post(
        "/invoices/summary/{invoice_id}/issue",
        "invoices.issue_summary",
        "issue-invoice-summary",
    )
    .summary("Issues a draft that is not issued by itself, and answers without its lines.")
    .body::<Maybe<IssueInvoice>>()
    .answers::<InvoiceSummary>()
    .run(|request| Box::pin(issuing::issue_summary(request))),
    Operation::post("/invoices/{invoice_id}/pay", "invoices.pay", "pay-invoice")
        .summary("Charges the customer for an invoice now, by the payment gateway of the host.")
        .body::<Maybe<PayInvoice>>()
        .answers::<Invoice>()
        .run(|request| Box::pin(payments::pay(request))),
    Operation::post("/invoices/{invoice_id}/mark_paid", "invoices.mark_paid", "mark-invoice-paid")
        .summary("Marks an invoice as paid by other means.")
        .body::<MarkPaid>()
        .answers::<Invoice>()
        .run(|request| Box::pin(mark_paid(request))),
    Operation::post("/invoices/{invoice_id}/void", "invoices.void", "void-invoice")
        .summary("Makes an invoice void: what it took of the customer's balance comes back.")
        .answers::<Invoice>()
        .run(|request| Box::pin(void(request))),
    Operation::post(
        "/invoices/{invoice_id}/regenerate_invoice_pdf",
        "invoices.regenerate_invoice_pdf",
        "regenerate-invoice-pdf",
    )
    .summary("Renews the document of an invoice: it shows what has become of the invoice by now.")
    .answers::<Invoice>()
    .run(|request| Box::pin(regenerate_invoice_pdf(request))),
    Operation::post(
        "/invoices/{invoice_id}/regenerate_receipt_pdf",
        "invoices.regenerate_receipt_pdf",
        "regenerate-receipt-pdf",
    )
    .summary("Renews the receipt of the latest payment of an invoice.")
    .answers::<Invoice>()
    .run(|request| Box::pin(regenerate_receipt_pdf(request))),
];

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: InvoiceListQuery = request.query()?;
    let zone = zone(&request, query.customer_of_dates(), query.subscription()).await?;
    let (filter, shown) = (query.filter(&zone)?, query.shown());
    let found = found(&request, filter, query.limit, query.cursor).await?;
    let related = request.account.related(&found).await?;
    let links = request.links();
    let row = |invoice| Invoice::showing(&invoice, &related, &links, shown);
    request.answer_page(found, row).await
}

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: CreateInvoice = request.body()?;
    let zone = match zones::of_customer(&request, new.customer_of_dates()).await {
        Ok(zone) => zone,
        Err(error) => return request.refuse(&error).await,
    };
    let call = request.account.create_invoice(new.into_new(&zone)?);
    write(request, call).await
}

async fn create_line(request: Request) -> Result<Reply, Problem> {
    let new: CreateInvoiceLine = request.body()?;
    let (id, new) = new.into_new()?;
    let call = request.account.create_invoice_line(id, new).with_related();
    let show =
        |(line, related): &(invoice::InvoiceLine, Related)| InvoiceLineItem::by_hand(line, related);
    request.write(call, show).await
}

async fn delete_line(request: Request) -> Result<Reply, Problem> {
    let ((id, line), ..) = request.read::<(InvoiceId, InvoiceLineId), NoQuery, NoBody>()?;
    let call = request.account.delete_invoice_line(id, line);
    request.write(call, |()| ()).await
}

async fn list_summary(request: Request) -> Result<Reply, Problem> {
    let query: InvoiceSummaryQuery = request.query()?;
    let zone = zone(&request, query.customer_of_dates(), query.subscription()).await?;
    let filter = query.filter(&zone)?;
    let found = found(&request, filter, query.limit, query.cursor).await?;
    let related = request.account.related(&found).await?;
    let links = request.links();
    request.answer_page(found, |invoice| InvoiceSummary::of(&invoice, &related, &links)).await
}

/// Returns the zone of the customer whose invoices are listed; UTC where there is none.
async fn zone(
    request: &Request,
    customer: Option<IdOr<CustomerId>>,
    subscription: Option<SubscriptionId>,
) -> Result<Zone, Problem> {
    let zone = match customer {
        Some(_) => zones::of_customer(request, customer).await,
        None => zones::of_subscription(request, subscription).await,
    };
    match zone {
        // Whoever is not there has no invoice.
        Err(error) if error.is_not_found() => Ok(Zone::UTC),
        zone => Ok(zone?),
    }
}

/// Lists the invoices that a query asks for.
async fn found(
    request: &Request,
    filter: Option<InvoiceFilter>,
    limit: Option<Limit>,
    cursor: Option<String>,
) -> Result<Page<invoice::Invoice>, Problem> {
    let page = request.page(limit, cursor)?;
    match filter {
        Some(filter) => Ok(request.account.list_invoices(&filter, &page).await?),
        None => Ok(Page::default()),
    }
}

async fn fetch_upcoming(request: Request) -> Result<Reply, Problem> {
    let query: UpcomingQuery = request.query()?;
    let invoice = request.account.upcoming_invoice(query.subscription_id).await?;
    let related = request.account.related(&invoice).await?;
    let answer = UpcomingInvoice::of(&invoice, &related, &request.links());
    request.answer(&answer).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<InvoiceId, FetchInvoice, NoBody>()?;
    let invoice = request.account.fetch_invoice(id).await?;
    let related = request.account.related(&invoice).await?;
    let answer = Invoice::showing(&invoice, &related, &request.links(), query.shown());
    request.answer(&answer).await
}

async fn update(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, update) = request.read::<InvoiceId, NoQuery, UpdateInvoice>()?;
    let zone = match update.has_local_date() {
        true => zones::of_invoice(&request, id).await,
        false => Ok(Zone::UTC),
    };
    let zone = match zone {
        Ok(zone) => zone,
        Err(error) => return request.refuse(&error).await,
    };
    let call = request.account.update_invoice(id, update.into_update(&zone)?);
    write(request, call).await
}

async fn mark_paid(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, payment) = request.read::<InvoiceId, NoQuery, MarkPaid>()?;
    let zone = match zones::of_invoice(&request, id).await {
        Ok(zone) => zone,
        Err(error) => return request.refuse(&error).await,
    };
    let call = request.account.mark_invoice_paid(id, payment.into_payment(&zone)?);
    write(request, call).await
}

async fn void(request: Request) -> Result<Reply, Problem> {
    let id: InvoiceId = request.path()?;
    let call = request.account.void_invoice(id);
    write(request, call).await
}

async fn regenerate_invoice_pdf(request: Request) -> Result<Reply, Problem> {
    let id: InvoiceId = request.path()?;
    let is_missing = |links: &Links, of: &invoice::Invoice| {
        of.document_at().is_some() && links.invoice_pdf(of).is_none()
    };
    check_document(&request, id, is_missing).await?;
    let call = request.account.renew_invoice_document(id);
    write(request, call).await
}

async fn regenerate_receipt_pdf(request: Request) -> Result<Reply, Problem> {
    let id: InvoiceId = request.path()?;
    let is_missing = |links: &Links, of: &invoice::Invoice| {
        let mut paid = of.payment_attempts.iter().rev().filter(|attempt| attempt.succeeded);
        paid.next().is_some_and(|attempt| links.receipt_pdf(of, attempt).is_none())
    };
    check_document(&request, id, is_missing).await?;
    let call = request.account.renew_receipt(id);
    write(request, call).await
}

/// Refuses to renew a document that the host does not have (invoicing 4.7).
async fn check_document(
    request: &Request,
    id: InvoiceId,
    is_missing: impl Fn(&Links, &invoice::Invoice) -> bool + Send,
) -> Result<(), Problem> {
    if request.settings.documents.is_none() {
        return Err(Problem::feature_not_available("no documents are made of invoices"));
    }
    // Whether there is such an invoice is for the operation to say.
    match request.account.fetch_invoice(id).await {
        Ok(of) if is_missing(&request.links(), &of) => {
            Err(Problem::constraint_violation("the invoice has no such document".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Writes a change of an invoice, and answers with the invoice as it stands then.
async fn write(request: Request, call: Call<invoice::Invoice>) -> Result<Reply, Problem> {
    let links = request.links();
    let show = move |(invoice, related): &(invoice::Invoice, Related)| {
        Invoice::of(invoice, related, &links)
    };
    request.write(call.with_related(), show).await
}
