//! What stands before every page: headers, the origin of forms, their tokens, and how often somebody may try
//! to sign in, from browsers that are known and from others.

pub(crate) mod attempts;
pub(crate) mod devices;
pub(crate) mod forms;
pub(crate) mod headers;
