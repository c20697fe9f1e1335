use accrue::{
    Name, TaxProvider,
    invoice::{TaxAmount, TaxOutcome, TaxReason, TaxRequest, TaxedLine},
};
use async_trait::async_trait;

use crate::TaxRate;

/// A tax provider for tests: every line of everybody has one tax, of one rate.
#[derive(Clone, Debug)]
pub(crate) struct SandboxTax {
    name: Name,
    rate: TaxRate,
}

impl SandboxTax {
    pub(crate) fn new(rate: &TaxRate) -> Option<Self> {
        Name::parse("VAT").ok().map(|name| Self { name, rate: rate.clone() })
    }

    fn of(&self, line: &TaxedLine) -> TaxAmount {
        TaxAmount {
            description: self.name.clone(),
            percentage: Some(self.rate.percentage().clone()),
            amount: &line.amount * self.rate.fraction(),
            reason: Some(match self.rate.percentage().is_zero() {
                true => TaxReason::ZeroRated,
                false => TaxReason::Taxed,
            }),
        }
    }
}

#[async_trait]
impl TaxProvider for SandboxTax {
    async fn calculate(&self, request: &TaxRequest) -> Option<TaxOutcome> {
        let taxes = request.lines.iter().map(|line| (line.id, vec![self.of(line)]));
        Some(TaxOutcome::Calculated(taxes.collect()))
    }
}
