use std::{
    fs,
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
    /// Makes one of 8 MiB in a folder; none where nothing can be mounted.
    pub(crate) fn mount(folder: &Path) -> Option<Self> {
        let path = folder.join("disk");
        fs::create_dir(&path).unwrap();
        let disk = Self { path };
        let (user, group) = user().unwrap_or_default();
        let options = format!("size=8m,mode=0700,uid={user},gid={group}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&disk.path);
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(disk);
        }
        left_out("a full disk", "nothing can be mounted");
        None
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
