use std::fmt;

use accrue::{AccountId, Billing, CustomerId, Error, PortalSessionId, portal::PortalSession};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

/// Portal of a host, in which a customer sees what is its own (invoicing 16.3): what it shows is the host's.
///
/// A session is opened by an address with a token, whose secret of 192 bits is computed from the key of the
/// portal and the names of the session: nothing of it is stored, and an answer that is replayed has it again.
///
/// ```
/// # use accrue::{AccountId, Billing, Email, Name, customer::NewCustomer, store::MemoryStore};
/// use accrue::portal::NewPortalSession;
/// use accrue_http::Portal;
///
/// # pollster::block_on(async {
/// # let billing = Billing::with_system(MemoryStore::new());
/// # let acme = AccountId::parse("acme")?;
/// # let account = billing.account(acme.clone());
/// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
/// # let ada = account.create_customer(ada).await?;
/// let portal = Portal::new("https://portal.example.com/?token=", b"32 random bytes of the host's own");
/// let session = account.create_portal_session(ada.id, NewPortalSession::default()).await?;
/// // What `ApiBuilder::portal` answers with; the portal takes the token off, and asks whose it is.
/// let url = portal.url(&acme, &session);
/// let token = url.strip_prefix("https://portal.example.com/?token=").unwrap_or_default();
/// let found = portal.session(&billing, token).await?;
/// assert_eq!(found, Some((acme, session)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Portal {
    address: String,
    key: Vec<u8>,
}

/// Bytes of the secret of a token.
const SECRET_BYTES: usize = 24;

impl Portal {
    /// Sets up a portal: the address that tokens are appended to, and a key of at least 32 random bytes. With
    /// another key no token is good any more.
    #[must_use]
    pub fn new(address: impl Into<String>, key: &[u8]) -> Self {
        Self { address: address.into(), key: key.to_owned() }
    }

    /// Returns the address that opens a session.
    #[must_use]
    pub fn url(&self, account: &AccountId, session: &PortalSession) -> String {
        let names = names(account, session.customer_id, session.id);
        let secret = self.mac(&names).finalize().into_bytes();
        let secret = hex(secret.as_slice().iter().take(SECRET_BYTES));
        format!("{}{names}.{secret}", self.address)
    }

    /// Returns the session of a token, with its account; none where it is no token of this portal, or the
    /// session is over. Nobody is told which of these.
    ///
    /// # Errors
    ///
    /// [`Internal`](accrue::ErrorKind::Internal) where the store fails: nobody is let in then.
    pub async fn session(
        &self,
        billing: &Billing,
        token: &str,
    ) -> Result<Option<(AccountId, PortalSession)>, Error> {
        let Some((account, customer, id)) = self.read(token) else { return Ok(None) };
        let found = billing.account(account.clone()).portal_session(customer, id).await?;
        Ok(found.map(|session| (account, session)))
    }

    /// Reads a token whose secret is right.
    fn read(&self, token: &str) -> Option<(AccountId, CustomerId, PortalSessionId)> {
        let (names, secret) = token.rsplit_once('.')?;
        let secret = bytes(secret).filter(|secret| secret.len() == SECRET_BYTES)?;
        self.mac(names).verify_truncated_left(&secret).ok()?;
        let [account, customer, id] = names.split('.').collect::<Vec<_>>().try_into().ok()?;
        let account = String::from_utf8(bytes(account)?).ok()?;
        let account = AccountId::parse(account).ok()?;
        Some((account, customer.parse().ok()?, id.parse().ok()?))
    }

    fn mac(&self, names: &str) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.key);
        let mut mac = mac.expect("a key of any length will do");
        mac.update(b"portal session ");
        mac.update(names.as_bytes());
        mac
    }
}

impl fmt::Debug for Portal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Portal").field("address", &self.address).finish_non_exhaustive()
    }
}

fn names(account: &AccountId, customer: CustomerId, id: PortalSessionId) -> String {
    format!("{}.{customer}.{id}", hex(account.as_str().as_bytes()))
}

fn hex<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> String {
    bytes.into_iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads bytes as two small digits each.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let is_digit = |of: u8| of.is_ascii_digit() || (b'a'..=b'f').contains(&of);
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(is_digit);
    let pairs = (0..text.len()).step_by(2).map(|at| text.get(at..at.saturating_add(2)));
    is_hex.then(|| pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invoicing_16_3_a_token_with_anything_else_in_it_is_none() {
        let portal = Portal::new("", &[1; 32]);
        let account = AccountId::parse("acme").unwrap();
        let customer = "07070707-0707-7707-8707-070707070707".parse().unwrap();
        let id = "17070707-0707-7707-8707-070707070707".parse().unwrap();
        let names = names(&account, customer, id);
        let secret = portal.mac(&names).finalize().into_bytes();
        let secret = hex(secret.as_slice().iter().take(SECRET_BYTES));
        let token = format!("{names}.{secret}");
        assert_eq!(portal.read(&token), Some((account, customer, id)));
        assert_eq!(Portal::new("", &[2; 32]).read(&token), None);
        for (place, letter) in token.char_indices() {
            let mut other = token.clone();
            let another = if letter == '0' { "1" } else { "0" };
            other.replace_range(place..=place, another);
            assert_eq!(portal.read(&other), None, "{other}");
        }
        for short in [format!("{names}."), format!("{names}.{}", &secret[..46]), names] {
            assert_eq!(portal.read(&short), None, "{short}");
        }
        assert_eq!(portal.read(&token.to_uppercase()), None);
    }
}
