use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::PathBuf,
    sync::atomic::{AtomicU16, Ordering},
};

use tempfile::TempDir;

use crate::{SmallDisk, processes, programs};

/// Server of one test, in a folder that goes with it. It listens on a socket in that folder.
#[derive(Debug)]
pub struct Server {
    folder: TempDir,
    data: PathBuf,
    port: AtomicU16,
}

impl Server {
    /// Makes a cluster and starts it with settings beside those that PostgreSQL comes with.
    #[must_use]
    pub fn start(settings: &[&str]) -> Self {
        let server = Self::folder();
        server.make(&[], settings);
        server
    }

    /// The same with its log of writes on a disk of 32 MiB, which has room for a new database; none where nothing can be mounted.
    #[must_use]
    pub fn with_a_small_log(settings: &[&str]) -> Option<(Self, SmallDisk)> {
        let server = Self::folder();
        let disk = SmallDisk::mount(server.folder.path(), 32)?;
        let log = disk.path().to_str().unwrap();
        let small = ["min_wal_size = 2MB", "max_wal_size = 4MB"];
        server.make(&["-X", log, "--wal-segsize=1"], &[settings, &small].concat());
        Some((server, disk))
    }

    fn make(&self, how: &[&str], settings: &[&str]) {
        let plain = ["--username=test", "--auth=trust", "--no-sync", "-D", self.data()];
        self.run("initdb", &[&plain[..], how].concat());
        self.configure(settings);
        self.begin();
    }

    /// Makes a standby of a server, which it follows under a name, with settings beside those of that server.
    #[must_use]
    pub fn standby(of: &Self, name: &str, settings: &[&str]) -> Self {
        let server = Self::folder();
        server.follow(of, name, settings);
        server
    }

    /// Makes a server that has ended anew, in its place, as a [standby](Self::standby) of another.
    pub fn rebuild(&self, of: &Self, name: &str, settings: &[&str]) {
        fs::remove_dir_all(&self.data).unwrap();
        self.follow(of, name, settings);
    }

    fn follow(&self, of: &Self, name: &str, settings: &[&str]) {
        let connection = format!("{} application_name={name}", of.connection());
        let how = ["-R", "--no-sync", "-X", "stream", "-c", "fast"];
        let where_to = ["-D", self.data(), "-d", &connection];
        self.run("pg_basebackup", &[&how[..], &where_to].concat());
        self.configure(settings);
        self.begin();
    }

    fn folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        if let Some((user, group)) = programs::user() {
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let data = folder.path().join("data");
        Self { data, folder, port: AtomicU16::new(5432) }
    }

    /// Appends settings, of which the last counts.
    pub fn configure(&self, settings: &[&str]) {
        let own = format!(
            "\nlisten_addresses = ''\nunix_socket_directories = '{}'\n{}\n",
            self.socket(),
            settings.join("\n"),
        );
        let path = self.data.join("postgresql.conf");
        fs::write(&path, fs::read_to_string(&path).unwrap() + &own).unwrap();
    }

    /// Starts it.
    pub fn begin(&self) {
        let log = self.folder.path().join("log");
        self.run("pg_ctl", &["-D", self.data(), "-l", log.to_str().unwrap(), "-w", "-s", "start"]);
    }

    /// Ends it: `fast` or `immediate`.
    pub fn end(&self, mode: &str) {
        self.run("pg_ctl", &["-D", self.data(), "-m", mode, "-w", "-s", "stop"]);
    }

    /// Ends it at once, where it has not ended by itself, and starts it.
    pub fn restart(&self) {
        let log = self.folder.path().join("log");
        let how = ["-m", "immediate", "-w", "-s", "restart"];
        let place = ["-D", self.data(), "-l", log.to_str().unwrap()];
        self.run("pg_ctl", &[&place[..], &how].concat());
    }

    /// Kills all of its processes, as a machine does that loses its power: none tells its client.
    pub fn kill(&self) {
        processes::kill_all(&self.data);
        // The lock of its socket names a process too, which a machine may go on listing though it has ended.
        let entries = fs::read_dir(self.folder.path()).unwrap().filter_map(Result::ok);
        let sockets =
            entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b".s.PGSQL."));
        sockets.for_each(|entry| fs::remove_file(entry.path()).unwrap());
    }

    /// Lets a standby take writes, and returns once it does.
    pub fn promote(&self) {
        self.run("pg_ctl", &["-D", self.data(), "-w", "-s", "promote"]);
    }

    /// Restarts it with a certificate and its key, as PEM, on a port of this machine beside its socket.
    pub fn encrypt(&self, certificate: &str, key: &str, port: u16) {
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let path = self.data.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((user, group)) = programs::user() {
                chown(&path, Some(user), Some(group)).unwrap();
            }
        }
        self.end("fast");
        let tcp = format!("port = {port}\nlisten_addresses = '127.0.0.1'");
        self.configure(&["ssl = on", &tcp]);
        self.port.store(port, Ordering::SeqCst);
        self.begin();
    }

    /// Dumps its database, while it serves others, and restores it on another server.
    pub fn dump_to(&self, other: &Self) {
        let dump = self.folder.path().join("dump");
        let dump = dump.to_str().unwrap();
        self.run("pg_dump", &["-Fc", "-f", dump, "-d", &self.connection()]);
        other.run("pg_restore", &["-e", "--no-owner", "-d", &other.connection(), dump]);
    }

    /// Lets it read its settings again.
    pub fn reload(&self) {
        self.run("pg_ctl", &["-D", self.data(), "-s", "reload"]);
    }

    /// Returns a disk of 8 MiB in its folder; none where nothing can be mounted.
    #[must_use]
    pub fn small_disk(&self) -> Option<SmallDisk> {
        SmallDisk::mount(self.folder.path(), 8)
    }

    /// Returns the connection string of its superuser.
    #[must_use]
    pub fn connection(&self) -> String {
        let port = self.port.load(Ordering::SeqCst);
        format!("host={} port={port} user=test dbname=postgres", self.socket())
    }

    /// Returns the folder of its socket, which is what a connection string calls its host.
    #[must_use]
    pub fn socket(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// Returns what it has logged, also as the server that it was before it was made anew.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn data(&self) -> &str {
        self.data.to_str().unwrap()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let (status, said) = programs::run(program, arguments, self.folder.path());
        assert!(status.success(), "{program}: {said}{}", self.log());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let stop = ["-D", self.data(), "-m", "immediate", "-s", "stop"];
        drop(programs::run("pg_ctl", &stop, self.folder.path()));
    }
}
