use std::{any::Any, error::Error, fmt, sync::Arc};

use accrue::AccountId;

/// A request that was answered 500, with the cause that the client is not told.
/// [`ApiBuilder::on_error`] hands it to the host.
///
/// [`ApiBuilder::on_error`]: crate::ApiBuilder::on_error
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Failure<'a> {
    /// The path of the operation, with its parameters in braces; none where none was found.
    pub route: Option<&'static str>,
    /// The account of the request; none where it is not known.
    pub account: Option<&'a AccountId>,
    /// The cause: its sources say more, down to the words of the operating system.
    pub cause: &'a (dyn Error + Send + Sync + 'static),
}

/// A function that is called for every request that is answered 500.
pub(crate) type OnError = Box<dyn Fn(&Failure<'_>) + Send + Sync>;

/// The cause of a failed request.
pub(crate) type Cause = Arc<dyn Error + Send + Sync>;

/// A panic, with its message.
#[derive(Debug)]
pub(crate) struct Panicked(String);

impl Panicked {
    pub(crate) fn with(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Self(text.unwrap_or_else(|| "without a message".to_owned()))
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a panic: {}", self.0)
    }
}

impl Error for Panicked {}

/// A condition that has to hold and does not, in the words of the adapter.
#[derive(Debug)]
pub(crate) struct Unexpected(pub(crate) &'static str);

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Unexpected {}
