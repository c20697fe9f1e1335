use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{left_out, programs::user};

/// Disk that takes little, until it is dropped.
#[derive(Debug)]
pub struct SmallDisk {
    path: PathBuf,
}

impl SmallDisk {
    /// Makes one of so many MiB in a folder; none where nothing can be mounted.
    pub(crate) fn mount(folder: &Path, size: usize) -> Option<Self> {
        let path = folder.join("disk");
        fs::create_dir(&path).unwrap();
        let disk = Self { path };
        let (user, group) = user().unwrap_or_default();
        let options = format!("size={size}m,mode=0700,uid={user},gid={group}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&disk.path);
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(disk);
        }
        left_out("a full disk", "nothing can be mounted");
        None
    }

    /// Fills what is free of it.
    pub fn fill(&self) {
        let mut file = File::create(self.filler()).unwrap();
        for size in [64 * 1024, 512] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
    }

    /// Frees what was [filled](Self::fill).
    pub fn free(&self) {
        fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.path.join("filler")
    }

    /// Returns where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The server may have it open still.
        drop(Command::new("umount").arg("--lazy").arg(&self.path).output());
    }
}
