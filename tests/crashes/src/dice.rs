//! Chance that comes out the same for the same seed.

/// SplitMix64.
#[derive(Clone, Copy, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Begins with a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws a number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws a number below another one, which is above 0.
    pub fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(most).unwrap()).unwrap()
    }
}
