//! Links: what they lead to, and a code that only this server can make.

use accrue::{AccountId, CreditNoteId, InvoiceId, PaymentAttemptId, Timestamp};
use hmac::{Hmac, Mac as _};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sha2::Sha256;

use crate::host_key::{HostKey, bytes};

/// What the paths of links begin with.
pub(super) const PATH: &str = "/documents/";

/// Writes links, and reads those that it has written.
#[derive(Clone, Debug)]
pub(super) struct Links {
    /// The address of the server, as its customers reach it.
    base: String,
    key: HostKey,
}

/// What a link leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) account: AccountId,
    pub(super) subject: Subject,
    /// The instant that the document shows.
    pub(super) at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Invoice(InvoiceId),
    Page(InvoiceId),
    Receipt(InvoiceId, PaymentAttemptId),
    CreditNote(CreditNoteId),
}

impl Links {
    pub(super) fn new(base: &str, key: HostKey) -> Self {
        Self { base: base.trim_end_matches('/').to_owned(), key }
    }

    pub(super) fn write(&self, account: &AccountId, subject: Subject, at: Timestamp) -> String {
        let account = utf8_percent_encode(account.as_str(), NON_ALPHANUMERIC);
        let named = match subject {
            Subject::Invoice(id) => format!("invoice/{id}"),
            Subject::Page(id) => format!("page/{id}"),
            Subject::Receipt(id, payment) => format!("receipt/{id}.{payment}"),
            Subject::CreditNote(id) => format!("credit-note/{id}"),
        };
        let subject = format!("{account}/{named}/{}", at.micros());
        let code: String = self.code(&subject).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}{PATH}{subject}/{code}", self.base)
    }

    /// Reads the path of a link. A path whose code is another is none.
    pub(super) fn read(&self, path: &str) -> Option<Link> {
        let (subject, code) = path.strip_prefix(PATH)?.rsplit_once('/')?;
        self.mac(subject).verify_slice(&bytes(code)?).ok()?;
        let [account, kind, id, at] = subject.split('/').collect::<Vec<_>>().try_into().ok()?;
        let account = percent_decode_str(account).decode_utf8().ok()?;
        let subject = match kind {
            "invoice" => Subject::Invoice(id.parse().ok()?),
            "page" => Subject::Page(id.parse().ok()?),
            "credit-note" => Subject::CreditNote(id.parse().ok()?),
            "receipt" => {
                let (id, payment) = id.split_once('.')?;
                Subject::Receipt(id.parse().ok()?, payment.parse().ok()?)
            }
            _ => return None,
        };
        let at = Timestamp::from_micros(at.parse().ok()?).ok()?;
        Some(Link { account: AccountId::parse(account.into_owned()).ok()?, subject, at })
    }

    fn code(&self, subject: &str) -> [u8; 32] {
        self.mac(subject).finalize().into_bytes().into()
    }

    fn mac(&self, subject: &str) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.key.0);
        let mut mac = mac.expect("a key of any length will do");
        mac.update(subject.as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(key: u8) -> Links {
        Links::new("https://example.com/", HostKey([key; 32]))
    }

    fn all() -> Vec<Link> {
        let link = |subject| Link {
            account: AccountId::parse("a/b \u{fc}").unwrap(),
            subject,
            at: Timestamp::parse("2026-03-01T00:00:00.000001Z").unwrap(),
        };
        let invoice = "07070707-0707-7707-8707-070707070707".parse().unwrap();
        let payment = "17070707-0707-7707-8707-070707070707".parse().unwrap();
        let note = "27070707-0707-7707-8707-070707070707".parse().unwrap();
        let subjects = [
            Subject::Invoice(invoice),
            Subject::Page(invoice),
            Subject::Receipt(invoice, payment),
            Subject::CreditNote(note),
        ];
        subjects.map(link).into()
    }

    fn path(links: &Links, link: &Link) -> String {
        let address = links.write(&link.account, link.subject, link.at);
        address.strip_prefix("https://example.com").unwrap().to_owned()
    }

    #[test]
    fn a_link_leads_where_it_was_made_for() {
        for link in all() {
            assert_eq!(links(1).read(&path(&links(1), &link)), Some(link));
        }
    }

    #[test]
    fn nobody_else_makes_a_link() {
        for link in all() {
            let path = path(&links(1), &link);
            assert_eq!(links(2).read(&path), None, "the key is another");
            for (place, letter) in path.char_indices().filter(|(_, letter)| *letter != '/') {
                let other = if letter == '0' { '1' } else { '0' };
                let mut forged = path.clone();
                forged.replace_range(place..=place, &other.to_string());
                assert_eq!(links(1).read(&forged), None, "{forged}");
            }
            assert_eq!(links(1).read(path.get(..path.len() - 2).unwrap()), None, "cut short");
        }
    }
}
