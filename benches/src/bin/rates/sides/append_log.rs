use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    thread,
};

use accrue_benches::Outcome;

use super::{Name, Side};
use crate::{
    race::Caller,
    source::{Round, StoreCall},
};

/// A file that bytes are appended to, durable before a caller goes on: what the disk can do.
///
/// One thread takes what waits, writes it at once, and makes it durable once.
pub(crate) struct AppendLog {
    entries: Sender<Entry>,
}

struct Entry {
    bytes: Vec<u8>,
    answer: SyncSender<io::Result<()>>,
}

impl AppendLog {
    pub(crate) fn create(path: &Path) -> Outcome<Self> {
        let file = File::create_new(path)?;
        let (entries, waiting) = channel();
        thread::Builder::new()
            .name("append-log".to_owned())
            .spawn(move || write(file, &waiting))?;
        Ok(Self { entries })
    }
}

impl Side for AppendLog {
    fn name(&self) -> Name {
        Name::AppendLog
    }

    fn callers<'a>(&'a mut self, round: &Round) -> Outcome<Vec<Caller<'a>>> {
        let caller = |calls: &Vec<StoreCall>| -> Caller<'a> {
            let entries = self.entries.clone();
            let calls: Vec<_> = calls.iter().map(StoreCall::bytes).collect();
            Box::new(move || {
                let (answer, answered) = sync_channel(1);
                for bytes in calls {
                    entries
                        .send(Entry { bytes, answer: answer.clone() })
                        .map_err(|_| "the log has ended")?;
                    answered.recv()??;
                }
                Ok(())
            })
        };
        Ok(round.calls.iter().map(caller).collect())
    }
}

/// Writes groups until nobody can append any more.
fn write(mut file: File, waiting: &Receiver<Entry>) {
    let mut bytes = Vec::new();
    while let Ok(first) = waiting.recv() {
        let group: Vec<_> = std::iter::once(first).chain(waiting.try_iter()).collect();
        bytes.clear();
        for entry in &group {
            bytes.extend_from_slice(&entry.bytes);
        }
        let written = file.write_all(&bytes).and_then(|()| file.sync_data());
        for entry in group {
            let written =
                written.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()));
            // Whoever has gone waits for nothing.
            drop(entry.answer.send(written.copied()));
        }
    }
}
