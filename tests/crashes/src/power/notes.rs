use std::ffi::OsString;

/// What is noted, in order. Files and folders are told by their inodes, since names change; none
/// comes twice, because what is removed is kept beside the notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A change that is about to be made.
    Change(Change),
    /// A flush that succeeded, and how many notes there were when it began.
    Flushed {
        /// Of which file or folder.
        inode: u64,
        /// The notes before it.
        notes: u64,
    },
}

/// A change of a folder or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Bytes are written.
    Write {
        /// To which file.
        inode: u64,
        /// Where.
        at: u64,
        /// How long it was.
        length: u64,
        /// What was there.
        before: Vec<u8>,
        /// What comes there.
        after: Vec<u8>,
    },
    /// A file gets another length.
    Resize {
        /// Which file.
        inode: u64,
        /// How long it was.
        from: u64,
        /// How long it becomes.
        to: u64,
        /// What is cut off, without the zeros at its end.
        before: Vec<u8>,
    },
    /// A file or a folder is made.
    Make {
        /// In which folder.
        folder: u64,
        /// Its name.
        name: OsString,
    },
    /// A file or a folder is removed.
    Remove {
        /// From which folder.
        folder: u64,
        /// Its name.
        name: OsString,
        /// Under which number it is kept.
        kept: u64,
    },
    /// A file or a folder gets another name.
    Move {
        /// From which folder.
        folder: u64,
        /// Its name.
        name: OsString,
        /// To which folder.
        to_folder: u64,
        /// Its new name.
        to_name: OsString,
        /// Under which number that is kept which had the new name; 0 where nothing had.
        kept: u64,
    },
}

/// The name of what is kept under a number.
#[must_use]
pub fn name_of_kept(number: u64) -> String {
    number.to_string()
}

impl Change {
    /// The file or folder whose flush makes it durable.
    #[must_use]
    pub const fn made_durable_by(&self) -> u64 {
        match self {
            Self::Write { inode, .. } | Self::Resize { inode, .. } => *inode,
            Self::Make { folder, .. } | Self::Remove { folder, .. } => *folder,
            Self::Move { to_folder, .. } => *to_folder,
        }
    }

    /// Whether it changes names, and not what is in a file.
    pub(crate) const fn is_of_names(&self) -> bool {
        !matches!(self, Self::Write { .. } | Self::Resize { .. })
    }
}

/// Tells how many changes a flush covered, and returns the others in order.
pub(crate) fn divide(notes: Vec<Note>) -> (usize, Vec<Change>) {
    let flushes: Vec<(u64, u64)> = notes
        .iter()
        .filter_map(|note| match note {
            Note::Flushed { inode, notes } => Some((*inode, *notes)),
            Note::Change(_) => None,
        })
        .collect();
    let (mut covered, mut open) = (0, Vec::new());
    for (number, note) in (0_u64..).zip(notes) {
        let Note::Change(change) = note else { continue };
        let by = change.made_durable_by();
        if flushes.iter().any(|(inode, notes)| *inode == by && number < *notes) {
            covered += 1;
        } else {
            open.push(change);
        }
    }
    (covered, open)
}

// As bytes: the length of the rest, a letter, then numbers of eight bytes and texts with their length
// before them. A note whose end is missing is that of a change that was never made.

impl Note {
    /// Writes it down.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Out(vec![0; 8]);
        match self {
            Self::Flushed { inode, notes } => out.letter(b'F').number(*inode).number(*notes),
            Self::Change(Change::Write { inode, at, length, before, after }) => {
                out.letter(b'W').number(*inode).number(*at).number(*length).text(before).text(after)
            }
            Self::Change(Change::Resize { inode, from, to, before }) => {
                out.letter(b'L').number(*inode).number(*from).number(*to).text(before)
            }
            Self::Change(Change::Make { folder, name }) => {
                out.letter(b'C').number(*folder).text(name.as_encoded_bytes())
            }
            Self::Change(Change::Remove { folder, name, kept }) => {
                out.letter(b'R').number(*folder).text(name.as_encoded_bytes()).number(*kept)
            }
            Self::Change(Change::Move { folder, name, to_folder, to_name, kept }) => out
                .letter(b'M')
                .number(*folder)
                .text(name.as_encoded_bytes())
                .number(*to_folder)
                .text(to_name.as_encoded_bytes())
                .number(*kept),
        };
        let Out(mut bytes) = out;
        let length = u64::try_from(bytes.len() - 8).unwrap().to_be_bytes();
        bytes[..8].copy_from_slice(&length);
        bytes
    }

    /// Reads notes until one is not whole.
    #[must_use]
    pub fn read_all(bytes: &[u8]) -> Vec<Self> {
        let (mut input, mut notes) = (In(bytes), Vec::new());
        while let Some(note) = input.text().and_then(|note| Self::read(&mut In(note))) {
            notes.push(note);
        }
        notes
    }

    fn read(input: &mut In<'_>) -> Option<Self> {
        let change = match input.take(1)?[0] {
            b'F' => return Some(Self::Flushed { inode: input.number()?, notes: input.number()? }),
            b'W' => Change::Write {
                inode: input.number()?,
                at: input.number()?,
                length: input.number()?,
                before: input.text()?.to_vec(),
                after: input.text()?.to_vec(),
            },
            b'L' => Change::Resize {
                inode: input.number()?,
                from: input.number()?,
                to: input.number()?,
                before: input.text()?.to_vec(),
            },
            b'C' => Change::Make { folder: input.number()?, name: input.name()? },
            b'R' => Change::Remove {
                folder: input.number()?,
                name: input.name()?,
                kept: input.number()?,
            },
            b'M' => Change::Move {
                folder: input.number()?,
                name: input.name()?,
                to_folder: input.number()?,
                to_name: input.name()?,
                kept: input.number()?,
            },
            letter => panic!("a note of the unknown kind {letter}"),
        };
        Some(Self::Change(change))
    }
}

struct Out(Vec<u8>);

impl Out {
    fn letter(&mut self, letter: u8) -> &mut Self {
        self.0.push(letter);
        self
    }

    fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn text(&mut self, text: &[u8]) -> &mut Self {
        self.number(u64::try_from(text.len()).unwrap()).0.extend(text);
        self
    }
}

struct In<'a>(&'a [u8]);

impl<'a> In<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.take(8)?.try_into().unwrap()))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(usize::try_from(length).unwrap())
    }

    fn name(&mut self) -> Option<OsString> {
        Some(OsString::from(std::str::from_utf8(self.text()?).unwrap()))
    }
}
