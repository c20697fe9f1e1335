use std::{fs, path::Path, thread};

use rustix::process::{Pid, Signal, kill_process};

/// Kills all processes of the server that has its data in a folder, and returns once there are none.
///
/// Each is killed by itself: a process of PostgreSQL leads a group of its own. The first process goes first, so that there
/// are no new ones.
pub(crate) fn kill_all(data: &Path) {
    let (data, file) = (&fs::canonicalize(data).unwrap(), data.join("postmaster.pid"));
    let first = fs::read_to_string(&file).unwrap();
    let mut lines = first.lines();
    kill(lines.next().and_then(|id| id.parse().ok()).unwrap());
    loop {
        let others = of_folder(data);
        if others.is_empty() {
            break;
        }
        others.into_iter().for_each(kill);
        thread::yield_now();
    }
    // Another process may have its number soon.
    fs::remove_file(file).unwrap();
    // Nobody else takes this away once the folder is gone.
    let memory = lines.nth(5).and_then(|line| line.split_whitespace().nth(1));
    if let Some(memory) = memory {
        drop(std::process::Command::new("ipcrm").args(["-m", memory]).output());
    }
}

fn kill(id: i32) {
    // One that is gone already is what was wanted.
    let _ = kill_process(Pid::from_raw(id).unwrap(), Signal::KILL);
}

/// Processes of PostgreSQL work in the folder of their data. One that has ended works nowhere.
fn of_folder(data: &Path) -> Vec<i32> {
    let all = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let all = all.filter_map(|process| process.file_name().to_str()?.parse().ok());
    all.filter(|id: &i32| fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|at| at == data))
        .collect()
}
