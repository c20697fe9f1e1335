//! The rows of the catalogue: macros make the constants and functions of a table from its row.
//!
//! ```text
//! /// What a row says.
//! name(account, part: Type, …) = (key, …) -> Document, read_often {
//!     /// What the function finds or reads.
//!     clause function(…);
//! }
//! ```
//!
//! A row makes a table called `name`, and a function `name` that takes the parts and returns the slot.
//! The key consists of the parts, or of what `= (…)` makes of them. A part without a type is the
//! account. `read_often` marks documents that are kept decoded; `[guarded by Head]` those that are written with
//! the row of a head alone, and read under it ([`Guards`](super::Guards)); `resident` those of them that the
//! copy of the head keeps. A row has the clauses that the engine
//! needs:
//!
//! | clause | the function takes | and returns |
//! |---|---|---|
//! | `scan f(parts)` | the first parts of a key, a limit | the scan of all rows that begin so |
//! | `range f(parts)` | the same, a timeframe | of these, the rows whose next part lies in it |
//! | `range f(parts) by Hour` | the same | the rows whose next part is an hour that it overlaps |
//! | `list f(parts)` | the first parts | an [`Index`](super::Index): an instant and an id follow |
//! | `key f(parts)` | a key of the table | some of its parts |
//! | `read f(parts)` | a key and a document of the table | some of its parts, and what the row says |
//! | `pick f()` | a key and a document of any table | what the row says, if it is of this table |
//!
//! Only a row without `= (…)` has keys that `key` and `read` find parts in.

macro_rules! tables {
    ($(
        $(#[$doc:meta])*
        $table:ident $parts:tt $(= $key:tt)? -> $document:ty $([guarded by $guard:ident])?
        $(, $kept:ident)*
        $({$(
            $(#[$about:meta])*
            $clause:ident $name:ident $of:tt $(by $stretch:ident)?;
        )*})?
        $(;)?
    )*) => {
        #[allow(non_upper_case_globals, reason = "a table has one name")]
        mod table {
            use crate::store::Table;

            $(pub(super) const $table: Table = Table::new(stringify!($table));)*
        }

        /// Every table of this page of the catalogue.
        pub(super) const TABLES: &[Table] = &[$(table::$table,)*];

        /// Tells whether the copy of a guard keeps the rows of a table.
        #[allow(unused_variables, reason = "a page may have no such table")]
        pub(super) fn is_resident(table: Table) -> bool {
            $($(if is_resident!($kept) && table == table::$table {
                return true;
            })*)*
            false
        }

        $(
            slot! {
                ($(#[$doc])*) $table $parts $(= $key)? -> ($document $(where $guard)? $(, $kept)*)
            }

            // A clause is the name of a macro.
            $($($clause! {
                ($(#[$about])*) $table $parts -> $document: $name $of $(by $stretch)?
            })*)?
        )*
    };
}

/// Joins the pages of the catalogue.
macro_rules! pages {
    ($($page:ident),*) => {
        /// Every table that the engine writes.
        pub const TABLES: &[Table] = &ALL;

        const COUNT: usize = 0 $(+ $page::TABLES.len())*;

        const ALL: [Table; COUNT] = {
            let mut all = [Table::new("none"); COUNT];
            let rest = all.as_mut_slice();
            $(
                let (page, rest) = rest.split_at_mut($page::TABLES.len());
                page.copy_from_slice($page::TABLES);
            )*
            assert!(rest.is_empty());
            all
        };

        /// Tells whether the copy of a guard keeps the rows of a table.
        pub(crate) fn is_resident(table: Table) -> bool {
            $($page::is_resident(table))||*
        }
    };
}

/// The type of a part: without one it is the account.
macro_rules! part {
    () => {
        &AccountId
    };
    ($type:ty) => {
        $type
    };
}

/// The bytes of a key, or the first of it.
macro_rules! key_of {
    ($($part:expr),*) => {{
        #[allow(unused_mut, reason = "a key may have no part")]
        let mut key = KeyBytes::default();
        $($part.add_to(&mut key);)*
        key
    }};
}

/// A slot of documents that are kept in some ways.
macro_rules! kept {
    ($slot:expr) => { $slot };
    ($slot:expr, read_often $($rest:tt)*) => { kept!($slot.read_often() $($rest)*) };
    ($slot:expr, resident $($rest:tt)*) => { kept!($slot.resident() $($rest)*) };
}

macro_rules! is_resident {
    (resident) => {
        true
    };
    ($kept:ident) => {
        false
    };
}

macro_rules! slot {
    ($docs:tt $table:ident ($($part:ident $(: $type:ty)?),*) -> $says:tt) => {
        slot! { $docs $table ($($part $(: $type)?),*) = ($($part),*) -> $says }
    };
    (
        ($($doc:tt)*) $table:ident ($($part:ident $(: $type:ty)?),*) = ($($key:expr),*)
        -> ($document:ty $(where $guard:ident)? $(, $kept:ident)*)
    ) => {
        $($doc)*
        #[doc = concat!("\n\nKey: `(", stringify!($($key),*), ")`.")]
        pub(crate) fn $table($($part: part!($($type)?)),*) -> Slot<$document $(, $guard)?> {
            kept!(key_of!($($key),*).slot(table::$table) $(, $kept)*)
        }
    };
}

macro_rules! scan {
    (
        ($($doc:tt)*) $table:ident $parts:tt -> $document:ty:
        $name:ident ($($part:ident $(: $type:ty)?),*)
    ) => {
        $($doc)*
        pub(crate) fn $name($($part: part!($($type)?),)* limit: usize) -> Scan {
            key_of!($($part),*).scan(table::$table, limit)
        }
    };
}

macro_rules! range {
    (
        ($($doc:tt)*) $table:ident $parts:tt -> $document:ty:
        $name:ident ($($part:ident $(: $type:ty)?),*) $(by $stretch:ident)?
    ) => {
        $($doc)*
        pub(crate) fn $name(
            $($part: part!($($type)?),)* within: Timeframe, limit: usize
        ) -> Scan {
            $(let within = $stretch::overlapping(within);)?
            key_of!($($part),*).range(table::$table, within, limit)
        }
    };
}

macro_rules! list {
    (
        ($($doc:tt)*) $table:ident $parts:tt -> $document:ty:
        $name:ident ($($part:ident $(: $type:ty)?),*)
    ) => {
        impl Index {
            $($doc)*
            pub(crate) fn $name($($part: part!($($type)?)),*) -> Self {
                Self::new(table::$table, key_of!($($part),*))
            }
        }
    };
}

macro_rules! key {
    (
        ($($doc:tt)*) $table:ident ($($part:ident $(: $type:ty)?),*) -> $document:ty:
        $name:ident ($($wanted:ident: $as:ty),*)
    ) => {
        $($doc)*
        #[allow(unused_parens, unused_variables, reason = "one part is wanted, or some")]
        pub(crate) fn $name(key: &Key) -> Result<($($as),*), Error> {
            read_key(key, table::$table, |rest| {
                $(let $part = <part!($($type)?) as ReadPart>::read(rest)?;)*
                Some(($($wanted),*))
            })
        }
    };
}

macro_rules! read {
    (
        ($($doc:tt)*) $table:ident $parts:tt -> $document:ty: $name:ident ()
    ) => {
        $($doc)*
        pub(crate) fn $name(key: &Key, document: &Document) -> Result<$document, Error> {
            Slot::<$document>::new(key.clone()).decode(document)
        }
    };
    (
        ($($doc:tt)*) $table:ident $parts:tt -> $document:ty:
        $name:ident ($($wanted:ident: $as:ty),*)
    ) => {
        $($doc)*
        pub(crate) fn $name(key: &Key, document: &Document) -> Result<($($as,)* $document), Error> {
            key! { () $table $parts -> $document: parts ($($wanted: $as),*) }
            #[allow(unused_parens, reason = "one part is wanted, or some")]
            let ($($wanted),*) = parts(key)?;
            Ok(($($wanted,)* Slot::<$document>::new(key.clone()).decode(document)?))
        }
    };
}

macro_rules! pick {
    (
        ($($doc:tt)*) $table:ident $parts:tt -> $document:ty: $name:ident ()
    ) => {
        $($doc)*
        pub(crate) fn $name(key: &Key, document: &Document) -> Option<Result<$document, Error>> {
            (key.table() == table::$table).then(|| Slot::<$document>::new(key.clone()).decode(document))
        }
    };
}
