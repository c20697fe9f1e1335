macro_rules! flaws {
    ($($(#[$doc:meta])* $flaw:ident,)*) => {
        /// What [`BrokenProcesses`](super::BrokenProcesses) do wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ProcessesFlaw {
            /// Nothing: it is the place that every other differs from in one thing.
            None,
            $($(#[$doc])* $flaw,)*
        }

        impl ProcessesFlaw {
            /// Every flaw, without [`ProcessesFlaw::None`].
            pub const ALL: &[Self] = &[$(Self::$flaw,)*];
        }
    };
}

flaws! {
    /// A handle keeps the rows that it has read, and reads them anew once it has written them itself.
    KeepsRows,
    /// A handle keeps that there was no row.
    KeepsAbsence,
    /// A handle keeps what it has scanned until it commits.
    KeepsScans,
    /// A handle sees what was there when it was opened, and its own commits.
    SeesItsOpening,
    /// A commit is seen through other handles once its own is called again.
    ShowsCommitsLate,
    /// With a handle that is closed its last commit is gone.
    LosesCommitsOfClosed,
    /// A get reads each key at another instant.
    GetsOneByOne,

    /// A precondition on a version is judged by the row that the handle has read or written.
    JudgesByItsOwn,
    /// That there is no row is judged by the rows that the handle has read or written.
    InsertsByItsOwn,
    /// Other handles get in between judging and applying.
    JudgesThenApplies,
    /// Other handles get in between the changes of a commit.
    AppliesOneByOne,

    /// Each handle counts its versions by itself.
    SharesVersions,
    /// A handle counts its versions where one that was closed did.
    ReusesVersions,
    /// The same document has the same version.
    VersionsByContent,

    /// A commit of unknown outcome is applied when its handle is called again, whatever has become of its
    /// preconditions.
    AppliesLate,
    /// A commit that was applied is answered with `Unavailable`.
    RefusesWhatItApplied,

    /// A turn is given to all who want it.
    GivesTurnsToAll,
    /// A turn that was dropped is given to nobody.
    KeepsTurns,
    /// Whoever has come last has the next turn.
    ServesTheLastFirst,
    /// A wait that was given up keeps its place.
    KeepsWaits,
    /// A turn that is dropped after its process is gone is given to nobody.
    KeepsTurnsOfTheGone,
    /// There is one place for all turns.
    HasOnePlace,
}
