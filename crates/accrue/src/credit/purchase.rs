use super::CreditBlock;
use crate::invoice::Invoice;

/// A credit block, and the invoices that bought it (invoicing 13.3).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockInvoices {
    /// The block.
    pub block: CreditBlock,
    /// The invoices, oldest first: void ones too, none for credits that were given away.
    pub invoices: Vec<Invoice>,
}
