macro_rules! flaws {
    ($($(#[$doc:meta])* $flaw:ident,)*) => {
        /// What a [`BrokenStore`](super::BrokenStore) does wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Flaw {
            /// Nothing: it is the store that every other differs from in one thing.
            None,
            $($(#[$doc])* $flaw,)*
        }

        impl Flaw {
            /// Every flaw, without [`Flaw::None`].
            pub const ALL: &[Self] = &[$(Self::$flaw,)*];
        }
    };
}

flaws! {
    /// A get of no keys is an error, as an empty list is in SQL.
    RefusesEmptyGet,
    /// A get answers in the order of keys, not in the order asked.
    SortsGet,
    /// A get answers a repeated key once.
    DeduplicatesGet,
    /// A get leaves absent rows out.
    OmitsAbsentRows,
    /// A get answers the first thousand keys.
    BoundsGet,
    /// A get does not see the last commit.
    StaleGet,
    /// A get reads each key at another instant.
    GetsOneByOne,

    /// A key is the name of its table and its bytes, run together.
    JoinsTableAndKey,
    /// A key ends at its first zero byte.
    CutsKeysAtZero,
    /// Keys are compared without regard to case.
    FoldsCase,
    /// A key has 255 bytes at most; the rest is cut.
    CutsLongKeys,

    /// A precondition on a version always holds: updates are lost.
    IgnoresVersions,
    /// A precondition on absence always holds.
    IgnoresAbsence,
    /// A precondition on a version holds where there is no row.
    MatchesDeletedRows,
    /// A conflict names the last failed precondition.
    NamesLastConflict,
    /// A conflict names the failed precondition with the smallest key.
    NamesSmallestConflict,
    /// A conflict names the first failed precondition on a version before any on absence.
    JudgesVersionsFirst,
    /// A batch is applied though it is in conflict.
    AppliesOnConflict,
    /// Preconditions are judged on the state that the changes make.
    JudgesAfterChanges,
    /// Of the preconditions of one key only the last is judged.
    JudgesOnePerKey,
    /// A batch without changes is answered unjudged.
    SkipsChecks,
    /// A batch without changes gives the rows that it names a new version.
    MakesVersionsOnChecks,
    /// Other callers get in between judging and applying.
    JudgesThenApplies,

    /// An insert writes over the row that there is.
    InsertsOverRows,
    /// An insert that finds a row is left out, and the rest of its batch is applied.
    SkipsTakenInserts,
    /// The changes before an insert that finds a row are applied.
    AppliesUpToTakenInsert,
    /// An insert conflicts with the row that was there once.
    InsertsOnceOnly,
    /// Inserts are judged before the preconditions.
    JudgesInsertsFirst,
    /// A conflict names the last insert that finds a row.
    NamesLastInsert,
    /// An insert whose key a precondition names is not judged.
    TrustsPreconditions,
    /// Of the inserts of a batch the first 1,000 are judged.
    BoundsInserts,
    /// After reopening it is not known what was inserted.
    ForgetsInserts,

    /// Each row of a commit has a version of its own.
    VersionsPerChange,
    /// A rewritten row keeps its version.
    KeepsVersions,
    /// The same document has the same version.
    VersionsByContent,
    /// Versions begin again after 64 of them.
    WrapsVersions,
    /// The versions of a row are counted from its creation, and again after its deletion.
    VersionsPerRow,
    /// Every commit gives every row a new version.
    MovesAllVersions,

    /// The first half of the changes is applied.
    TearsBatches,
    /// Other callers get in between the changes of a commit.
    AppliesOneByOne,
    /// Deletes are not applied.
    ForgetsDeletes,
    /// Deleting an absent row is a conflict.
    RefusesAbsentDeletes,
    /// Of the changes only those to the first table are applied.
    ChangesOneTable,
    /// A put without a precondition leaves the row that there is.
    KeepsOldRows,
    /// Of the changes the first 32,766 are applied, as many as a statement has parameters.
    BoundsChanges,
    /// A batch of more than 16 MiB is refused.
    BoundsBytes,

    /// Keys are ordered as signed bytes.
    OrdersSigned,
    /// Shorter keys come first.
    OrdersByLength,
    /// A descending scan ascends.
    IgnoresOrder,
    /// A descending scan takes the smallest keys, and reverses those.
    ReversesAfterLimit,
    /// A range begins behind its first key.
    ExcludesFirst,
    /// A range includes its end.
    IncludesEnd,
    /// An inverted range is read the other way round.
    SwapsBounds,
    /// An empty range is an error.
    RefusesEmptyRange,
    /// A range without an end ends before the key `0xFF`.
    EndsAtFf,
    /// A bound of a range has 512 bytes at most; the rest is cut.
    CutsBounds,
    /// A scan gives every row of its range.
    IgnoresLimit,
    /// A scan with limit zero gives every row.
    TakesZeroForNoLimit,
    /// A scan gives a hundred rows at most.
    CapsPages,
    /// A scan sees the tables whose names begin with that of its table.
    LeaksTables,
    /// A scan does not see the last commit.
    StaleScan,
    /// The rows of a scan have no version.
    ForgetsVersionsOnScan,

    /// Members that are null are dropped.
    DropsNulls,
    /// Integers are kept in 32 bits of floating point.
    RoundsIntegers,
    /// Characters other than ASCII become question marks.
    LosesLetters,
    /// A string that looks like a number becomes one.
    GuessesNumbers,
    /// Documents of more than 32 KiB are emptied.
    EmptiesLargeDocuments,

    /// After reopening the rows are gone.
    LosesRows,
    /// After reopening deleted rows are there again.
    ResurrectsRows,
    /// After reopening the last commit is gone.
    LosesLastCommit,
    /// After reopening rows have other versions.
    RenumbersVersions,
    /// After reopening versions are counted from one again.
    RestartsVersions,

    /// Now and then a commit is applied and answered with `Unavailable`.
    RefusesWhatItApplied,
    /// Now and then half of a commit is applied and answered with `Indeterminate`.
    TearsUnknownCommits,
    /// Now and then a commit is answered and not applied.
    AcknowledgesNothing,
}
