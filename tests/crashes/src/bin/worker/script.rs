//! A few changes of files, to try out what is noted of them.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Takes steps in a folder: `a=text` writes from the beginning of a file, `a+text` at its end, `a#3`
/// cuts it, `a!` flushes it, `!` flushes the folder, `a>b` renames, `a-` removes, `a/` makes a folder.
pub(crate) fn run(folder: &Path, steps: &[&str]) -> io::Result<()> {
    let open = |name: &str| {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).open(folder.join(name))
    };
    for step in steps {
        let mark = step.find(['=', '+', '#', '!', '>', '-', '/']).expect("a mark");
        let (name, rest) = step.split_at(mark);
        let (mark, rest) = rest.split_at(1);
        match mark {
            "=" => open(name)?.write_all(rest.as_bytes())?,
            "+" => {
                let mut options = OpenOptions::new();
                options.append(true).open(folder.join(name))?.write_all(rest.as_bytes())?;
            }
            "#" => open(name)?.set_len(rest.parse().expect("a length"))?,
            "!" => File::open(folder.join(name))?.sync_all()?,
            ">" => fs::rename(folder.join(name), folder.join(rest))?,
            "-" => fs::remove_file(folder.join(name))?,
            _ => fs::create_dir(folder.join(name))?,
        }
    }
    Ok(())
}
