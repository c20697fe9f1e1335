use crate::operation::Operation;

pub(super) const OPERATIONS: &[Operation] = &[];
