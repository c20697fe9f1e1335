use accrue::{
    Billing, Email, Entropy, Error, Name,
    audit::Actor,
    person::{Acceptance, Invitation, PasswordHash, Person},
};
use async_trait::async_trait;
use http::HeaderMap;

use super::{Identity, SignIn, password::Passwords};
use crate::{
    guard::{attempts::Attempts, devices},
    visit::in_request,
};

/// People of the store, who sign in with a password: the first one by a link for one use, others by an
/// invitation.
///
/// Passwords are hashed by argon2id on threads of their own, two at once, and ten failures of one e-mail address
/// in a quarter of an hour are the most that are looked at. A browser that a person has signed in
/// with has ten of its own: nobody is locked out of it by who knows the address.
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
    /// Those from browsers that are known: nobody else can use them up.
    known: Attempts,
}

/// Session that is open, and the token by which the browser is known from now on.
pub(crate) struct SignedIn {
    pub(crate) session: String,
    pub(crate) device: String,
}

/// What came of an attempt to sign in.
pub(crate) enum Attempted {
    /// The session is open.
    In(SignedIn),
    /// The address or the password is wrong; nobody is told which.
    Wrong,
    /// Too many have failed.
    TooMany,
}

/// What came of an attempt to change one's own password.
pub(crate) enum Changed {
    /// It is changed, and the others of the person's sessions are closed.
    Done(SignedIn),
    /// The present password is wrong.
    Wrong,
    /// Too many have been.
    TooMany,
}

impl People {
    /// Lets in the people of a store. The entropy is for the salts of passwords.
    #[must_use]
    pub fn new(billing: &Billing, entropy: impl Entropy) -> Self {
        let (attempts, known) = (Attempts::default(), Attempts::default());
        Self { billing: billing.clone(), passwords: Passwords::new(entropy), attempts, known }
    }

    /// Signs a person in, from a browser with the token by which it is known, if it has one.
    pub(crate) async fn sign_in(
        &self,
        (email, password): (&str, &str),
        device: Option<&str>,
        request: Option<&Name>,
    ) -> Result<Attempted, Error> {
        let found = match Email::parse(email) {
            Ok(email) => self.billing.password_of(&email).await?,
            Err(_) => None,
        };
        let hash = found.as_ref().map(|(_, hash)| hash);
        let is_known = hash.is_some_and(|hash| devices::is_known(hash, device));
        let attempts = if is_known { &self.known } else { &self.attempts };
        if !attempts.begin(email, self.billing.now()) {
            return Ok(Attempted::TooMany);
        }
        if !self.passwords.verify(password, hash).await? {
            return Ok(Attempted::Wrong);
        }
        let Some((person, hash)) = &found else { return Ok(Attempted::Wrong) };
        attempts.succeed(email);
        self.open(person, hash, request).await.map(Attempted::In)
    }

    async fn open(
        &self,
        person: &Person,
        hash: &PasswordHash,
        request: Option<&Name>,
    ) -> Result<SignedIn, Error> {
        let acting = self.billing.acting(in_request(Actor::person(person), request));
        let session = acting.open_session(person.id).await?.token.reveal();
        Ok(SignedIn { session, device: devices::token(hash) })
    }

    /// Tells whether a password is that of somebody who has signed in; none where too many were not.
    ///
    /// They are counted apart from those of whoever has not: a session is of a browser that is known.
    pub(crate) async fn confirm(
        &self,
        person: &Person,
        password: &str,
    ) -> Result<Option<bool>, Error> {
        if !self.known.begin(&person.email, self.billing.now()) {
            return Ok(None);
        }
        let found = self.billing.password_of(&person.email).await?;
        let hash = found.as_ref().map(|(_, hash)| hash);
        let is_right = self.passwords.verify(password, hash).await?;
        if is_right {
            self.known.succeed(&person.email);
        }
        Ok(Some(is_right))
    }

    /// Changes the password of somebody who has signed in and knows the present one, closes all of its sessions
    /// and opens one.
    pub(crate) async fn change_password(
        &self,
        acting: &Billing,
        person: &Person,
        (present, new): (&str, &str),
        request: Option<&Name>,
    ) -> Result<Changed, Error> {
        match self.confirm(person, present).await? {
            None => return Ok(Changed::TooMany),
            Some(false) => return Ok(Changed::Wrong),
            Some(true) => {}
        }
        let hash = self.passwords.hash(new).await?;
        acting.set_password(person.id, hash.clone()).await?;
        acting.close_sessions_of(person.id).await?;
        self.open(person, &hash, request).await.map(Changed::Done)
    }

    /// Returns the invitation of a token that is good.
    pub(crate) async fn invitation(&self, token: &str) -> Result<Option<Invitation>, Error> {
        self.billing.invitation(token).await
    }

    /// Accepts an invitation, and signs the person in. There is nobody yet whose doing it is: the audit log has it
    /// as the invitation's.
    pub(crate) async fn accept(
        &self,
        token: &str,
        who: Option<(Name, Email)>,
        password: &str,
        request: Option<&Name>,
    ) -> Result<Option<SignedIn>, Error> {
        // Whoever has no good token has nothing hashed.
        if self.billing.invitation(token).await?.is_none() {
            return Ok(None);
        }
        let hash = self.passwords.hash(password).await?;
        let acceptance = match who {
            Some((name, email)) => Acceptance::of(name, email, hash.clone()),
            None => Acceptance::new(hash.clone()),
        };
        let host = Name::parse("invitation").expect("it is a name");
        let actor = in_request(Actor::host(host), request);
        match self.billing.acting(actor).accept_invitation(token, acceptance).await? {
            Some(person) => self.open(&person, &hash, request).await.map(Some),
            None => Ok(None),
        }
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
