//! Who somebody is: the trait that a host implements, and people with passwords, which is the default.

mod password;
mod people;

use accrue::{
    Error, Name,
    audit::Actor,
    person::{Person, Role},
};
use async_trait::async_trait;
use http::HeaderMap;

pub use self::people::People;
pub(crate) use self::{
    password::fault,
    people::{Attempted, Changed, SignedIn},
};

/// Tells who has sent a request.
///
/// A host that signs people in elsewhere implements it: it reads what its proxy or its own session says.
/// [`People`] is the default, with pages of the console's own.
///
/// To ensure correctness:
///
/// - Nobody is let in by what anybody could have sent: a header counts where only the proxy of the host can
///   set it.
/// - An [`Identity`] has a secret of its session that no other site knows: forms are held against it.
///
/// ```
/// use accrue::{Error, Name, person::Role};
/// use accrue_console::{Identity, SignIn};
/// use async_trait::async_trait;
/// use http::HeaderMap;
///
/// /// The proxy has signed them in; it sets both headers, and lets through none of a browser.
/// struct Proxy;
///
/// #[async_trait]
/// impl SignIn for Proxy {
///     async fn identify(
///         &self,
///         headers: &HeaderMap,
///         _: Option<&str>,
///     ) -> Result<Option<Identity>, Error> {
///         let text = |name| headers.get(name)?.to_str().ok();
///         let (name, session) = (text("x-user"), text("x-session"));
///         let name = name.and_then(|name| Name::parse(name).ok());
///         Ok(name.zip(session).map(|(name, session)| Identity::new(name, Role::Operate, session)))
///     }
/// }
/// ```
#[async_trait]
pub trait SignIn: Send + Sync + 'static {
    /// Returns who has sent a request, by its headers and the console's own cookie; none where nobody has
    /// signed in.
    ///
    /// # Errors
    ///
    /// Where it cannot be told now: nobody is let in then.
    async fn identify(
        &self,
        headers: &HeaderMap,
        cookie: Option<&str>,
    ) -> Result<Option<Identity>, Error>;

    /// Returns the people that the console signs in by pages of its own; none where the host does.
    fn people(&self) -> Option<&People> {
        None
    }
}

/// Somebody who has signed in.
#[derive(Clone)]
pub struct Identity {
    name: Name,
    role: Role,
    secret: String,
    person: Option<Person>,
}

impl Identity {
    /// Somebody of the host's own, with the secret of the session.
    pub fn new(name: Name, role: Role, secret: impl Into<String>) -> Self {
        Self { name, role, secret: secret.into(), person: None }
    }

    /// A person of the store, with the token of the session.
    pub(crate) fn of(person: Person, secret: impl Into<String>) -> Self {
        let (name, role, secret) = (person.name.clone(), person.role, secret.into());
        Self { name, role, secret, person: Some(person) }
    }

    /// Returns its name.
    #[must_use]
    pub const fn name(&self) -> &Name {
        &self.name
    }

    /// Returns what it may do.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    pub(crate) const fn person(&self) -> Option<&Person> {
        self.person.as_ref()
    }

    /// Returns it as the audit log has it.
    pub(crate) fn actor(&self) -> Actor {
        match &self.person {
            Some(person) => Actor::person(person),
            None => Actor::host(self.name.clone()),
        }
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("name", &self.name).finish_non_exhaustive()
    }
}
