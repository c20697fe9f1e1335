use crate::operation::Method::{self, Post};

/// Operations of the API that are not served, and what they wait for.
pub(crate) struct Waiting {
    pub(crate) what: &'static str,
    pub(crate) operations: &'static [Unserved],
}

/// An operation that is not served: its method, path, and name in the client libraries.
pub(crate) type Unserved = (Method, &'static str, &'static str);

/// Every operation that is not served.
pub(crate) const WAITING: &[Waiting] = &[Waiting {
    what: "subscriptions that change their phase or trial",
    operations: &[
        (Post, "/subscriptions/{subscription_id}/trigger_phase", "subscriptions.trigger_phase"),
        (Post, "/subscriptions/{subscription_id}/update_trial", "subscriptions.update_trial"),
    ],
}];
