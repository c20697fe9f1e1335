use accrue::{
    Billing, Email, Entropy, Error,
    audit::Actor,
    person::{Acceptance, Invitation, Person},
};
use async_trait::async_trait;
use http::HeaderMap;

use super::{Identity, SignIn, password::Passwords};
use crate::guard::attempts::Attempts;

/// People of the store, who sign in with a password: the first one by a link for one use, others by an
/// invitation.
///
/// Passwords are hashed by argon2id on the thread that a request runs on, two at once, and ten failures of one
/// e-mail address in a quarter of an hour are the most that are looked at.
///
/// ```
/// use accrue::{Billing, SystemEntropy, store::MemoryStore};
/// use accrue_console::{Console, People};
///
/// # pollster::block_on(async {
/// let billing = Billing::with_system(MemoryStore::new());
/// let people = People::new(&billing, SystemEntropy);
/// let console = Console::builder(billing, people).build();
/// if let Some(link) = console.first_link().await? {
///     println!("Open {link} to be the first person.");
/// }
/// # Ok::<(), accrue::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct People {
    billing: Billing,
    passwords: Passwords,
    attempts: Attempts,
}

/// What came of an attempt to sign in.
pub(crate) enum Attempted {
    /// The session is open: its token.
    In(String),
    /// The address or the password is wrong; nobody is told which.
    Wrong,
    /// Too many have failed.
    TooMany,
}

impl People {
    /// Lets in the people of a store. The entropy is for the salts of passwords.
    #[must_use]
    pub fn new(billing: &Billing, entropy: impl Entropy) -> Self {
        let (passwords, attempts) = (Passwords::new(entropy), Attempts::default());
        Self { billing: billing.clone(), passwords, attempts }
    }

    /// Signs a person in.
    pub(crate) async fn sign_in(&self, email: &str, password: &str) -> Result<Attempted, Error> {
        if !self.attempts.begin(email, self.billing.now()) {
            return Ok(Attempted::TooMany);
        }
        let found = match Email::parse(email) {
            Ok(email) => self.billing.password_of(&email).await?,
            Err(_) => None,
        };
        let hash = found.as_ref().map(|(_, hash)| hash);
        if !self.passwords.verify(password, hash).await {
            return Ok(Attempted::Wrong);
        }
        let Some((person, _)) = found else { return Ok(Attempted::Wrong) };
        self.attempts.succeed(email);
        self.open(&person).await.map(Attempted::In)
    }

    async fn open(&self, person: &Person) -> Result<String, Error> {
        let acting = self.billing.acting(Actor::person(person));
        Ok(acting.open_session(person.id).await?.token.reveal())
    }

    /// Tells whether a password is that of somebody who has signed in; none where too many were not.
    pub(crate) async fn confirm(
        &self,
        person: &Person,
        password: &str,
    ) -> Result<Option<bool>, Error> {
        if !self.attempts.begin(&person.email, self.billing.now()) {
            return Ok(None);
        }
        let found = self.billing.password_of(&person.email).await?;
        let hash = found.as_ref().map(|(_, hash)| hash);
        let is_right = self.passwords.verify(password, hash).await;
        if is_right {
            self.attempts.succeed(&person.email);
        }
        Ok(Some(is_right))
    }

    /// Returns the invitation of a token that is good.
    pub(crate) async fn invitation(&self, token: &str) -> Result<Option<Invitation>, Error> {
        self.billing.invitation(token).await
    }

    /// Accepts an invitation, and signs the person in: the token of its session.
    pub(crate) async fn accept(
        &self,
        token: &str,
        who: Option<(accrue::Name, Email)>,
        password: &str,
    ) -> Result<Option<String>, Error> {
        // Whoever has no good token has nothing hashed.
        if self.billing.invitation(token).await?.is_none() {
            return Ok(None);
        }
        let hash = self.passwords.hash(password).await?;
        let acceptance = match who {
            Some((name, email)) => Acceptance::of(name, email, hash),
            None => Acceptance::new(hash),
        };
        match self.billing.accept_invitation(token, acceptance).await? {
            Some(person) => self.open(&person).await.map(Some),
            None => Ok(None),
        }
    }

    /// Closes the session of a token.
    pub(crate) async fn sign_out(&self, token: &str) -> Result<(), Error> {
        self.billing.close_session(token).await
    }

    /// Returns the token of the first person's invitation; none where there are people.
    pub(crate) async fn first_token(&self) -> Result<Option<String>, Error> {
        if self.billing.has_people().await? {
            return Ok(None);
        }
        Ok(Some(self.billing.invite_first_person().await?.token.reveal()))
    }
}

#[async_trait]
impl SignIn for People {
    async fn identify(
        &self,
        _: &HeaderMap,
        cookie: Option<&str>,
    ) -> Result<Option<Identity>, Error> {
        let Some(token) = cookie else { return Ok(None) };
        let found = self.billing.session(token).await?;
        Ok(found.map(|(person, _)| Identity::of(person, token)))
    }

    fn people(&self) -> Option<&People> {
        Some(self)
    }
}
