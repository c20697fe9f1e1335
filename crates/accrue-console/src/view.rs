//! How pages are drawn: the frame around them, forms, tables, instants, numbers and plots.

pub(crate) mod form;
pub(crate) mod layout;
pub(crate) mod number;
pub(crate) mod part;
pub(crate) mod plot;
pub(crate) mod time;
