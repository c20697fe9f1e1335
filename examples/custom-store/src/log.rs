use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    path::Path,
};

/// A file of lines, to which lines are added durably.
#[derive(Debug)]
pub(crate) struct Log(File);

impl Log {
    /// Opens a file, cuts off a last line without its end, and returns the other lines.
    pub(crate) fn open(path: &Path) -> io::Result<(Self, Vec<u8>)> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        // Two stores on one file would judge preconditions on states that are not the file's.
        file.try_lock().map_err(io::Error::from)?;
        sync_parent(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        bytes.truncate(whole);
        file.set_len(u64::try_from(whole).map_err(io::Error::other)?)?;
        // What an earlier process wrote and did not sync is about to be shown: it must be durable.
        file.sync_all()?;
        Ok((Self(file), bytes))
    }

    /// Adds one line, and returns once the disk has it.
    pub(crate) fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.0.write_all(line)?;
        self.0.sync_data()
    }
}

/// Makes the name of a new file durable, not only what is in it.
fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
impl Log {
    /// A log to which nothing can be added.
    pub(crate) fn unwritable(path: &Path) -> Self {
        Self(File::open(path).expect("the file is there"))
    }
}
