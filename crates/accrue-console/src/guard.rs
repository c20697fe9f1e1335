//! What stands before every page: headers, the origin of forms, their tokens, and how often somebody may try
//! to sign in.

pub(crate) mod attempts;
pub(crate) mod forms;
pub(crate) mod headers;
