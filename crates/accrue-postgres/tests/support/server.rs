use std::{
    env, fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::atomic::{AtomicU16, Ordering},
};

use rcgen::{CertifiedKey, KeyPair};
use tempfile::TempDir;

/// Server of one test, in a folder that goes with it. It listens on a socket in that folder.
pub(crate) struct Server {
    folder: TempDir,
    data: PathBuf,
    port: AtomicU16,
}

/// Where Debian has the programs.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Tells whether there are the programs of a server, and whoever may run them.
pub(crate) fn is_installed() -> bool {
    let found = programs().is_some();
    if !found {
        super::left_out("all that needs a server of its own", "there is no initdb");
    }
    found
}

fn programs() -> Option<PathBuf> {
    if let Some(named) = env::var_os("POSTGRES_BIN") {
        return Some(PathBuf::from(named));
    }
    let versions = fs::read_dir(DEBIAN).ok()?.filter_map(Result::ok);
    let mut found: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    found.retain(|bin| bin.join("initdb").exists());
    found.sort();
    found.pop()
}

/// The user and group that root runs a server as.
fn user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let line = passwd.lines().find(|line| line.starts_with("postgres:")).unwrap();
    let ids: Vec<u32> = line.split(':').skip(2).take(2).map(|id| id.parse().unwrap()).collect();
    Some((ids[0], ids[1]))
}

impl Server {
    /// Makes a cluster and starts it with settings beside those that PostgreSQL comes with.
    pub(crate) fn start(settings: &[&str]) -> Self {
        let server = Self::folder();
        server
            .run("initdb", &["--username=test", "--auth=trust", "--no-sync", "-D", server.data()]);
        server.configure(settings);
        server.begin();
        server
    }

    /// Makes a standby of a server, which it follows under a name.
    pub(crate) fn standby(of: &Self, name: &str) -> Self {
        let server = Self::folder();
        let connection = format!("{} application_name={name}", of.connection());
        let arguments = ["-D", server.data(), "-R", "--no-sync", "-X", "stream", "-d", &connection];
        server.run("pg_basebackup", &arguments);
        server.configure(&[]);
        server.begin();
        server
    }

    fn folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        if let Some((user, group)) = user() {
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let data = folder.path().join("data");
        Self { data, folder, port: AtomicU16::new(5432) }
    }

    /// Appends settings, of which the last counts.
    pub(crate) fn configure(&self, settings: &[&str]) {
        let own = format!(
            "\nlisten_addresses = ''\nunix_socket_directories = '{}'\n{}\n",
            self.folder.path().display(),
            settings.join("\n"),
        );
        let path = self.data.join("postgresql.conf");
        fs::write(&path, fs::read_to_string(&path).unwrap() + &own).unwrap();
    }

    pub(crate) fn begin(&self) {
        let log = self.folder.path().join("log");
        let log = log.to_str().unwrap();
        self.run("pg_ctl", &["-D", self.data(), "-l", log, "-w", "-s", "start"]);
    }

    /// Ends the server: `fast` or `immediate`.
    pub(crate) fn end(&self, mode: &str) {
        self.run("pg_ctl", &["-D", self.data(), "-m", mode, "-w", "-s", "stop"]);
    }

    pub(crate) fn promote(&self) {
        self.run("pg_ctl", &["-D", self.data(), "-w", "-s", "promote"]);
    }

    /// Restarts the server with a certificate, on a port of this machine beside its socket.
    pub(crate) fn encrypt(&self, own: &CertifiedKey<KeyPair>, port: u16) {
        let texts =
            [("server.crt", own.cert.pem()), ("server.key", own.signing_key.serialize_pem())];
        for (name, text) in texts {
            let path = self.data.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((user, group)) = user() {
                chown(&path, Some(user), Some(group)).unwrap();
            }
        }
        self.end("fast");
        let tcp = format!("port = {port}\nlisten_addresses = '127.0.0.1'");
        self.configure(&["ssl = on", &tcp]);
        self.port.store(port, Ordering::SeqCst);
        self.begin();
    }

    /// Lets the server read its settings again.
    pub(crate) fn reload(&self) {
        self.run("pg_ctl", &["-D", self.data(), "-s", "reload"]);
    }

    /// Returns a disk of 8 MiB in the folder of the server; none where nothing can be mounted.
    pub(crate) fn small_disk(&self) -> Option<SmallDisk> {
        let path = self.folder.path().join("disk");
        fs::create_dir(&path).unwrap();
        let disk = SmallDisk { path };
        let (user, group) = user().unwrap_or_default();
        let options = format!("size=8m,mode=0700,uid={user},gid={group}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&disk.path);
        let mounted = mount.output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(disk);
        }
        super::left_out("a full disk", "nothing can be mounted");
        None
    }

    pub(crate) fn connection(&self) -> String {
        let port = self.port.load(Ordering::SeqCst);
        format!("host={} port={port} user=test dbname=postgres", self.socket())
    }

    pub(crate) fn socket(&self) -> String {
        self.folder.path().display().to_string()
    }

    pub(crate) fn data(&self) -> &str {
        self.data.to_str().unwrap()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let output = self.output(program, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        assert!(output.status.success(), "{program}: {said}{log}");
    }

    fn output(&self, program: &str, arguments: &[&str]) -> Output {
        let program = programs().unwrap().join(program);
        let mut command = match user() {
            Some(_) => Command::new("runuser"),
            None => Command::new(&program),
        };
        if user().is_some() {
            command.args(["-u", "postgres", "--"]).arg(&program);
        }
        // What it starts must not hold our pipes, and must be able to read the folder that it is in.
        let said = self.folder.path().join("said");
        let file = fs::File::create(&said).unwrap();
        let status = command
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(std::process::Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .status()
            .unwrap();
        Output { status, stdout: Vec::new(), stderr: fs::read(said).unwrap() }
    }
}

/// Disk that takes little, until it is dropped.
pub(crate) struct SmallDisk {
    path: PathBuf,
}

impl SmallDisk {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The server may have it open still.
        drop(Command::new("umount").arg("--lazy").arg(&self.path).output());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.output("pg_ctl", &["-D", self.data(), "-m", "immediate", "-s", "stop"]));
    }
}
