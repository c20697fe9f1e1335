//! Randomness as an input: ids and marks are made from bytes that the host hands in.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use sha2::{Digest, Sha256};

/// A source of random bytes. Ids are as unguessable as it is.
pub trait Entropy: fmt::Debug + Send + Sync + 'static {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

/// Entropy with the same bytes again for the same seed: for tests and simulations, never for
/// production.
///
/// ```
/// use accrue::{Entropy, SeededEntropy};
///
/// let (mut first, mut again) = ([0; 8], [0; 8]);
/// SeededEntropy::new(7).fill(&mut first);
/// SeededEntropy::new(7).fill(&mut again);
/// assert_eq!(first, again);
/// ```
#[derive(Debug)]
pub struct SeededEntropy {
    seed: u64,
    blocks: Mutex<u64>,
}

impl SeededEntropy {
    /// Creates entropy from a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed, blocks: Mutex::new(0) }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in bytes.chunks_mut(32) {
            *blocks = blocks.wrapping_add(1);
            let block = Sha256::new()
                .chain_update(self.seed.to_be_bytes())
                .chain_update(blocks.to_be_bytes());
            chunk.iter_mut().zip(block.finalize()).for_each(|(byte, random)| *byte = random);
        }
    }
}
