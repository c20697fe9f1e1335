//! One request, as a page sees it.

use std::{str::FromStr, sync::Arc};

use accrue::{Account, AccountId, Billing, Cursor, Name, PageRequest, audit::Actor, person::Role};

use crate::{answer::Failure, guard::forms, request::Fields, sign_in::Identity, site::Site};

/// Request to a page.
pub(crate) struct Visit {
    pub(crate) site: Arc<Site>,
    /// Whoever has sent it; none where nobody has signed in.
    pub(crate) who: Option<Identity>,
    pub(crate) query: Fields,
    /// Fields of the form; none where it was not sent.
    pub(crate) form: Fields,
    /// Parts of the path, decoded, by their names.
    pub(crate) params: Vec<(String, String)>,
    /// Token by which the browser is known, as it was sent.
    pub(crate) device: Option<String>,
    /// Name that the host gave the request.
    pub(crate) request_id: Option<Name>,
}

/// Names the request that somebody acts in, where the host gave it a name.
pub(crate) fn in_request(actor: Actor, request: Option<&Name>) -> Actor {
    match request {
        Some(request) => actor.for_request(request.clone()),
        None => actor,
    }
}

impl Visit {
    /// Returns the engine, acting for whoever has signed in.
    pub(crate) fn billing(&self) -> Billing {
        let Some(who) = &self.who else { return self.site.billing.clone() };
        self.site.billing.acting(in_request(who.actor(), self.request_id.as_ref()))
    }

    /// Returns the account of the path, acting for whoever has signed in.
    pub(crate) fn account(&self) -> Result<Account, Failure> {
        let id = self.account_id().ok_or(Failure::NotFound)?;
        Ok(self.billing().account(id))
    }

    /// Returns the id of the account of the path.
    pub(crate) fn account_id(&self) -> Option<AccountId> {
        AccountId::parse(self.param("account")?).ok()
    }

    fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Returns an id of the path.
    pub(crate) fn id<T: FromStr>(&self, name: &str) -> Result<T, Failure> {
        self.param(name).and_then(|text| text.parse().ok()).ok_or(Failure::NotFound)
    }

    /// Returns who has signed in.
    pub(crate) fn identity(&self) -> Result<&Identity, Failure> {
        self.who.as_ref().ok_or(Failure::SignedOut)
    }

    /// Tells whether it may do what a role may.
    pub(crate) fn may(&self, role: Role) -> bool {
        self.who.as_ref().is_some_and(|who| who.role() >= role)
    }

    /// Returns the token of its forms.
    pub(crate) fn form_token(&self) -> Option<String> {
        self.who.as_ref().map(|who| forms::token(who.secret()))
    }

    /// Returns the page of a list that the query asks for.
    pub(crate) fn page_of(&self, limit: usize) -> Result<PageRequest, Failure> {
        let page = PageRequest::first(limit)?;
        Ok(match self.query.get("cursor") {
            Some(cursor) => page.after(Cursor::from_text(cursor)),
            None => page,
        })
    }

    /// Returns the path of a page of the account of the path.
    pub(crate) fn in_account(&self, parts: &[&str]) -> String {
        let account = self.param("account").unwrap_or_default();
        self.site.to(&[&["a", account], parts].concat())
    }
}
