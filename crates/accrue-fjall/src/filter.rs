/// Bits for each key that a filter has room for. Of keys that it was not given, it takes fewer than one
/// in a hundred for one that it was, and one in ten at twice as many keys.
const BITS_PER_KEY: u64 = 12;
const BLOCK_BITS: u64 = 512;
/// An odd number without a pattern: that of the golden section.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Bloom filter over hashes of keys: it never takes one that it was given for one that it was not.
///
/// All bits of a key lie in one block, so that a look costs one line of the processor's cache.
#[derive(Debug)]
pub(crate) struct Filter {
    blocks: Vec<Block>,
    /// For how many keys there is room left.
    room: u64,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Block([u64; 8]);

impl Filter {
    /// An empty filter with room for so many keys.
    pub(crate) fn with_room(keys: u64) -> Self {
        let blocks = (keys.saturating_mul(BITS_PER_KEY) / BLOCK_BITS).max(1);
        // A block is found with 32 bits of a hash.
        let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
        let blocks = usize::try_from(blocks).unwrap_or(usize::MAX);
        Self { blocks: vec![Block::default(); blocks], room: keys }
    }

    pub(crate) fn insert(&mut self, hash: u64) {
        let at = self.block_of(hash);
        let Some(Block(words)) = self.blocks.get_mut(at) else { return };
        let mut is_new = false;
        for (word, bit) in words.iter_mut().zip(bits_of(hash)) {
            is_new |= *word & bit == 0;
            *word |= bit;
        }
        // A row that is written again takes no room.
        self.room = self.room.saturating_sub(is_new.into());
    }

    /// Tells whether this may be the hash of a key that was inserted.
    pub(crate) fn may_have(&self, hash: u64) -> bool {
        let block = self.blocks.get(self.block_of(hash));
        block.is_none_or(|Block(words)| {
            words.iter().zip(bits_of(hash)).all(|(word, bit)| word & bit != 0)
        })
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.room == 0
    }

    fn block_of(&self, hash: u64) -> usize {
        let blocks = u64::try_from(self.blocks.len()).unwrap_or(u64::MAX);
        let at = (hash >> 32).saturating_mul(blocks) >> 32;
        usize::try_from(at).expect("it is less than the number of blocks")
    }
}

/// One bit for each word of a block.
fn bits_of(hash: u64) -> impl Iterator<Item = u64> {
    let mut mixed = hash;
    std::iter::repeat_with(move || {
        mixed = mixed.wrapping_mul(STEP);
        1 << (mixed >> 58)
    })
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    const KEYS: u64 = 100_000;

    fn hashes(keys: std::ops::Range<u64>) -> impl Iterator<Item = u64> {
        keys.map(|key| xxh3_64(&key.to_be_bytes()))
    }

    fn filled(keys: u64) -> Filter {
        let mut filter = Filter::with_room(KEYS);
        hashes(0..keys).for_each(|hash| filter.insert(hash));
        filter
    }

    #[test]
    fn what_was_inserted_is_never_missing() {
        for keys in [1, KEYS, 4 * KEYS] {
            let filter = filled(keys);
            assert!(hashes(0..keys).all(|hash| filter.may_have(hash)));
        }
        let mut smallest = Filter::with_room(0);
        hashes(0..KEYS).for_each(|hash| smallest.insert(hash));
        assert!(hashes(0..KEYS).all(|hash| smallest.may_have(hash)));
    }

    /// Of a thousand that were not inserted, so many are taken for ones that were.
    fn check_wrong(filled_with: u64, at_most: usize) {
        let filter = filled(filled_with);
        let wrong = hashes(KEYS * 10..KEYS * 20).filter(|hash| filter.may_have(*hash)).count();
        assert!(wrong <= at_most * 1_000, "{wrong} of a million, with {filled_with} keys");
    }

    #[test]
    fn most_others_are_known_to_be_others() {
        check_wrong(0, 0);
        check_wrong(KEYS, 10);
        check_wrong(2 * KEYS, 110);
    }

    #[test]
    fn it_is_full_once_its_room_is_taken() {
        assert!(!filled(KEYS / 2).is_full());
        assert!(filled(KEYS * 11 / 10).is_full());
        let mut rewritten = filled(KEYS / 2);
        (0..3).for_each(|_| hashes(0..KEYS / 2).for_each(|hash| rewritten.insert(hash)));
        assert!(!rewritten.is_full());
    }
}
