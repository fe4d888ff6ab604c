//! States on a file system whose files share blocks.

use super::{crash, json, python};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system that has clones, in a file of its own.
struct Btrfs {
    place: tempfile::TempDir,
}

impl Btrfs {
    /// Makes it, or says why this machine cannot.
    fn mounted() -> Result<Self, String> {
        let mkfs = program("mkfs.btrfs")?;
        let place = tempfile::tempdir().expect("a folder");
        let image = place.path().join("image");
        let file = std::fs::File::create(&image).expect("an image");
        file.set_len(256 << 20).expect("an image of that size");
        std::fs::create_dir(place.path().join("there")).expect("a place");
        let it = Self { place };
        let done = |command: &mut Command| {
            let output = command.output().map_err(|error| error.to_string())?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            output.status.success().then_some(()).ok_or(said)
        };
        done(Command::new(mkfs).args(["--quiet"]).arg(&image))?;
        let mut mount = Command::new(program("mount")?);
        done(mount.args(["-o", "loop"]).arg(&image).arg(it.path()))?;
        Ok(it)
    }

    fn path(&self) -> PathBuf {
        self.place.path().join("there")
    }
}

impl Drop for Btrfs {
    fn drop(&mut self) {
        let _gone = nix::mount::umount2(&self.path(), nix::mount::MntFlags::MNT_DETACH);
    }
}

/// Tries all states with the files for them below a folder, and tells of each.
fn states(project: &Project, below: &Path) -> Vec<String> {
    let below = below.to_str().expect("a path that is text");
    let words = ["crash", "--format", "json", "scenarios/it.yaml"];
    let run = project.harness_with(&[("TMPDIR", below)], &words);
    let states = run.json().into_iter().filter(|it| it["type"] == "state");
    let mut states: Vec<_> = states
        .map(|it| format!("{} {} {}", it["state"], it["verdict"], it["folder"]))
        .collect();
    states.sort();
    states
}

/// Replaces two places of a large file, and lets it end in the first.
const SCRIPT: &str = "import os\nfile = os.open('large', os.O_RDWR | os.O_CREAT)\n\
                      os.write(file, bytes(range(256)) * (2 << 12))\nos.fsync(file)\n\
                      os.fsync(os.open('.', os.O_RDONLY))\nos.write(1, b'begun')\n\
                      os.pwrite(file, b'NEW', 5000)\nos.fsync(file)\n\
                      os.pwrite(file, b'NEW', 1 << 20)\nos.ftruncate(file, 9 << 18)";

#[test]
fn a_large_file_of_a_state_shares_the_blocks_of_what_the_run_left_and_is_its_own() {
    require!(right_to_trace());
    require!(program("python3"));
    let btrfs = require!(Btrfs::mounted());
    // `FS_IOC_FIEMAP` tells whether the first extent is shared with another file.
    let recovery = "import fcntl, os, struct\nfile = os.open('large', os.O_RDWR)\n\
                    told = bytearray(struct.pack('=QQIIII56x', 0, 1 << 30, 1, 0, 1, 0))\n\
                    fcntl.ioctl(file, 0xc020660b, told)\n\
                    flags, = struct.unpack_from('=I', told, 32 + 40)\n\
                    WANTED\n\
                    both = os.pread(file, 3, 5000), os.pread(file, 3, 1 << 20)\n\
                    old = bytes(range(256)) * 32\n\
                    assert os.pread(file, 4096, 0) == old[0:4096]\n\
                    assert os.fstat(file).st_size in (2 << 20, 9 << 18)\n\
                    os.pwrite(file, b'X' * (3 << 20), 0)\nos.fsync(file)\n\
                    assert both[1] != b'NEW' or both[0] == b'NEW'";
    let project = |wanted: &str| {
        let recovery = json(&recovery.replace("WANTED", wanted));
        let recovers = format!("since: begun, recovers: {{ run: [python3, -c, {recovery}] }}");
        python(SCRIPT, &recovers)
    };
    let shared = states(&project("assert flags & 0x2000"), &btrfs.path());
    assert!(shared.len() > 3, "{shared:?}");
    let passes = |it: &String| it.contains("pass");
    assert!(shared.iter().all(passes), "{shared:?}");
    let none = states(&project("assert not flags & 0x2000"), &btrfs.path());
    assert!(!none.iter().all(passes), "{none:?}");
    // The same states as where there are no clones.
    crash(&project("pass"), 0, &[]);
    let there = states(&project("pass"), &btrfs.path());
    let here = states(&project("pass"), &std::env::temp_dir());
    assert_eq!(there, here);
}
