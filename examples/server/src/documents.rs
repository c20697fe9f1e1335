//! Documents of invoices: links that nobody can guess, and what is found there.

mod link;
mod options;

use std::time::Duration;

use accrue::{
    Account, AccountId, Billing, Error, InvoiceId,
    customer::Customer,
    invoice::{CreditNote, Invoice, PaymentAttempt},
};
use accrue_http::Documents;
use bytes::Bytes;
use example_documents::{Paper, PdfError, Seller};
use http::{HeaderValue, Method, Response, StatusCode, header};
use tokio::task::spawn_blocking;

use self::link::{Link, Subject};
pub use self::options::LinkOptions;
use crate::{Chain, host_key::HostKey};

/// How long the page of an invoice is there at least: from its issue, and from its due date (invoicing 3.1).
const PAGE_TIME: Duration = Duration::from_secs(60 * 24 * 60 * 60);
const PAGE_TIME_AFTER_DUE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Makes the documents of invoices when somebody follows a link to one: nothing is stored.
#[derive(Debug)]
pub(crate) struct DocumentRoute {
    billing: Billing,
    links: link::Links,
    seller: Option<Seller>,
}

/// What is found under a link.
enum Found {
    /// A paper as a file of a name.
    File(Box<Paper>, String),
    Page(String),
}

/// Why nothing is found.
#[derive(Debug, thiserror::Error)]
enum Missing {
    #[error("there is no such document")]
    Unknown,
    #[error(transparent)]
    Engine(#[from] Error),
    #[error(transparent)]
    Pdf(#[from] PdfError),
    #[error("the making of a document broke off")]
    Broken(#[from] tokio::task::JoinError),
}

/// An invoice with all that its documents show.
struct Shown {
    invoice: Invoice,
    customer: Customer,
}

impl DocumentRoute {
    /// Sets up documents as the options say, where they ask for some.
    pub(crate) fn new(billing: &Billing, options: &LinkOptions, key: &HostKey) -> Option<Self> {
        let links = link::Links::new(options.documents.as_deref()?, key.clone());
        let seller = options.seller.as_deref().map(Seller::parse);
        Some(Self { billing: billing.clone(), links, seller })
    }

    pub(crate) fn is_asked_for(&self, method: &Method, path: &str) -> bool {
        path.starts_with(link::PATH) && matches!(*method, Method::GET | Method::HEAD)
    }

    /// Answers with the document that a link leads to; 404 where it was not made here.
    pub(crate) async fn answer(&self, path: &str) -> Response<Bytes> {
        let found = match self.links.read(path) {
            Some(link) => self.find(link).await,
            None => Err(Missing::Unknown),
        };
        let made = match found {
            Ok(found) => made(found).await,
            Err(missing) => Err(missing),
        };
        made.unwrap_or_else(|missing| refused(&missing))
    }

    async fn find(&self, link: Link) -> Result<Found, Missing> {
        let account = self.billing.account(link.account.clone());
        let seller = self.seller_of(&link.account);
        let file = |paper: Paper| {
            let name = format!("{} {}.pdf", paper.title, paper.number);
            Found::File(Box::new(paper), name)
        };
        match link.subject {
            Subject::Invoice(id) => {
                let Shown { invoice, customer } = shown(&account, id).await?;
                let paper = Paper::of_invoice(&invoice, &customer, &seller, link.at);
                Ok(file(paper))
            }
            Subject::Receipt(id, payment) => {
                let Shown { invoice, customer } = shown(&account, id).await?;
                let payment = invoice.payment_attempts.iter().find(|of| of.id == payment);
                let payment = payment.filter(|of| of.succeeded).ok_or(Missing::Unknown)?;
                let of = (&invoice, payment);
                Ok(file(Paper::of_receipt(of, &customer, &seller, link.at)))
            }
            Subject::CreditNote(id) => {
                let note = account.fetch_credit_note(id).await?;
                let Shown { invoice, customer, .. } = shown(&account, note.invoice_id).await?;
                Ok(file(Paper::of_credit_note(&note, &invoice, &customer, &seller)))
            }
            Subject::Page(id) => {
                let shown = shown(&account, id).await?;
                self.page(&link.account, &shown, &seller).map(Found::Page)
            }
        }
    }

    /// Makes the page of an invoice as it stands now, while it is there.
    fn page(&self, account: &AccountId, of: &Shown, seller: &Seller) -> Result<String, Missing> {
        let Shown { invoice, customer } = of;
        let now = self.billing.now();
        let issued = invoice.issued_at.map(|at| at.saturating_add(PAGE_TIME));
        let due = invoice.due_date.map(|at| at.saturating_add(PAGE_TIME_AFTER_DUE));
        if issued.max(due).is_none_or(|end| end <= now) {
            return Err(Missing::Unknown);
        }
        let mut links: Vec<_> = self
            .invoice_pdf(account, invoice)
            .map(|address| ("Download the invoice".to_owned(), address))
            .into_iter()
            .collect();
        let receipts = invoice.payment_attempts.iter().filter(|of| of.succeeded);
        links.extend(
            receipts
                .filter_map(|of| self.receipt_pdf(account, invoice, of))
                .map(|address| ("Download the receipt".to_owned(), address)),
        );
        Ok(Paper::of_invoice(invoice, customer, seller, now).page(&links))
    }

    /// Returns whoever bills: the account by its name where nothing is said.
    fn seller_of(&self, account: &AccountId) -> Seller {
        self.seller.clone().unwrap_or_else(|| Seller { lines: vec![account.to_string()] })
    }
}

impl Documents for DocumentRoute {
    fn invoice_pdf(&self, account: &AccountId, invoice: &Invoice) -> Option<String> {
        let subject = Subject::Invoice(invoice.id);
        Some(self.links.write(account, subject, invoice.document_at()?))
    }

    fn hosted_invoice(&self, account: &AccountId, invoice: &Invoice) -> Option<String> {
        Some(self.links.write(account, Subject::Page(invoice.id), invoice.issued_at?))
    }

    fn receipt_pdf(
        &self,
        account: &AccountId,
        invoice: &Invoice,
        payment: &PaymentAttempt,
    ) -> Option<String> {
        let subject = Subject::Receipt(invoice.id, payment.id);
        Some(self.links.write(account, subject, payment.document_at()?))
    }

    fn credit_note_pdf(&self, account: &AccountId, note: &CreditNote) -> Option<String> {
        Some(self.links.write(account, Subject::CreditNote(note.id), note.created_at))
    }
}

async fn shown(account: &Account, id: InvoiceId) -> Result<Shown, Missing> {
    let invoice = account.fetch_invoice(id).await?;
    let related = account.related(&invoice).await?;
    let customer = related.customer(invoice.customer_id).cloned().ok_or(Missing::Unknown)?;
    Ok(Shown { invoice, customer })
}

async fn made(found: Found) -> Result<Response<Bytes>, Missing> {
    let (kind, name, bytes) = match found {
        Found::File(paper, name) => {
            // Setting sheets takes milliseconds, which other requests do not wait for.
            let bytes = spawn_blocking(move || paper.pdf()).await??;
            ("application/pdf", Some(name), Bytes::from(bytes))
        }
        Found::Page(page) => ("text/html; charset=utf-8", None, Bytes::from(page)),
    };
    let mut response = answer(StatusCode::OK, kind, bytes);
    let name = name.map(|name| format!("inline; filename=\"{name}\""));
    if let Some(Ok(name)) = name.map(|name| HeaderValue::from_str(&name)) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

fn refused(missing: &Missing) -> Response<Bytes> {
    let is_unknown = match missing {
        Missing::Unknown => true,
        Missing::Engine(error) => error.is_not_found(),
        Missing::Pdf(_) | Missing::Broken(_) => false,
    };
    if is_unknown {
        let text = Bytes::from_static(b"There is no such document.\n");
        return answer(StatusCode::NOT_FOUND, "text/plain", text);
    }
    tracing::error!(cause = %Chain(missing), "a document was not made");
    let text = Bytes::from_static(b"The document could not be made. Please try again.\n");
    answer(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", text)
}

/// Answers so that the address, which is a secret, goes nowhere else.
fn answer(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
