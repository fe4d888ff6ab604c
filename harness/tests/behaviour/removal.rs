//! What a workload can leave in its directory, and that it goes all the same.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::fcntl::{OFlag, openat};
use nix::mount::{MsFlags, mount};
use nix::sys::signal::Signal;
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{Uid, mkfifo, setfsuid};
use perf_live::host::Host;
use perf_live::sys::removal::{Members, remove_group, remove_tree};
use tempfile::TempDir;

use crate::support::PATIENCE;
use crate::support::process::Started;
use crate::support::require::{program, require, right_to_trace};

/// A folder with the tree `tree`, and beside it a file that must stay.
struct Grove {
    folder: TempDir,
}

impl Grove {
    fn new() -> Self {
        let folder = TempDir::with_prefix("removal-").expect("a temporary folder");
        fs::create_dir(folder.path().join("tree")).expect("the tree");
        fs::write(folder.path().join("neighbour"), "stays").expect("the neighbour");
        Self { folder }
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn write(&self, path: &str) {
        let path = self.tree().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, "x").expect("a file");
    }

    fn remove(&self) -> std::io::Result<()> {
        remove_tree(&c_string(self.folder.path()), c"tree", Duration::ZERO)
    }

    #[track_caller]
    fn assert_goes(&self) {
        self.remove().expect("it is removed");
        assert!(fs::symlink_metadata(self.tree()).is_err(), "it is there");
        let left = fs::read_to_string(self.folder.path().join("neighbour"));
        assert_eq!(left.expect("the neighbour"), "stays");
    }
}

fn c_string(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("a path")
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
}

#[test]
fn what_is_not_there_is_no_error() {
    let grove = Grove::new();
    grove.assert_goes();
    grove.assert_goes();
}

#[test]
fn a_tree_deeper_than_any_path_goes() {
    let grove = Grove::new();
    let mut here: OwnedFd = File::open(grove.tree()).expect("the tree").into();
    for _ in 0..10_000 {
        const NAME: &CStr = c"a-folder-with-a-name-of-some-length";
        mkdirat(&here, NAME, Mode::S_IRWXU).expect("a folder");
        here = openat(&here, NAME, OFlag::O_DIRECTORY, Mode::empty()).expect("the folder");
        openat(&here, c"f", OFlag::O_CREAT, Mode::S_IRUSR).expect("a file");
    }
    grove.assert_goes();
}

#[test]
fn many_files_go() {
    let grove = Grove::new();
    fs::create_dir(grove.tree().join("b")).expect("a folder");
    for number in 0..100_000 {
        let folder = if number % 2 == 0 { "" } else { "b" };
        File::create(grove.tree().join(folder).join(number.to_string())).expect("a file");
    }
    grove.assert_goes();
}

/// Folders are moved up into the root under a number, where something of that name may be.
#[test]
fn names_of_every_kind_go() {
    let grove = Grove::new();
    for number in 0..20 {
        grove.write(&format!("{number}/a/{number}/b"));
        grove.write(&format!("file/{number}/1"));
        grove.write(&format!("{}", 20 + number));
        fs::create_dir(grove.tree().join(format!("{}", 40 + number))).expect("a folder");
    }
    let long = [b'\xff'; 255];
    for name in [b"\n".as_slice(), b"...", b"\x80\xfe", b"-rf", &long] {
        let folder = grove
            .tree()
            .join("x")
            .join(OsStr::from_bytes(name))
            .join("y");
        fs::create_dir_all(&folder).expect("folders");
        File::create(folder.join(OsStr::from_bytes(name))).expect("a file");
    }
    grove.assert_goes();
}

#[test]
fn links_sockets_and_pipes_go_and_what_links_lead_to_stays() {
    let grove = Grove::new();
    let tree = grove.tree();
    fs::create_dir(tree.join("a")).expect("a folder");
    for folder in [tree.clone(), tree.join("a")] {
        std::os::unix::fs::symlink(grove.folder.path(), folder.join("out")).expect("a link");
        std::os::unix::fs::symlink("nowhere", folder.join("broken")).expect("a link");
        fs::hard_link(grove.folder.path().join("neighbour"), folder.join("hard")).expect("a link");
        std::os::unix::net::UnixListener::bind(folder.join("socket")).expect("a socket");
        mkfifo(&folder.join("fifo"), Mode::S_IRWXU).expect("a pipe");
    }
    grove.assert_goes();
    let grove = Grove::new();
    fs::remove_dir(grove.tree()).expect("the tree");
    std::os::unix::fs::symlink("neighbour", grove.tree()).expect("a link");
    grove.assert_goes();
}

/// As an ordinary user, whom permissions stop: those of this thread, for files, are his.
fn as_nobody(act: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            setfsuid(Uid::from_raw(65534));
            act();
        });
        thread.join().expect("the thread");
    });
}

#[test]
fn folders_without_permissions_go() {
    require!(right_to_trace());
    let grove = Grove::new();
    set_mode(grove.folder.path(), 0o777);
    fs::remove_dir(grove.tree()).expect("the tree");
    as_nobody(|| {
        for path in ["a/b/c/d", "a/e", "f", "g/h/i"] {
            grove.write(path);
        }
        for path in ["a/b/c/d", "a/b/c", "a/b", "a", "f", "g/h", "g", ""] {
            set_mode(&grove.tree().join(path), 0);
        }
        assert!(fs::read_dir(grove.tree()).is_err(), "the permissions count");
        grove.assert_goes();
        assert_mode_of_folder(&grove, 0o777);
    });
}

fn assert_mode_of_folder(grove: &Grove, mode: u32) {
    let metadata = grove.folder.path().metadata().expect("the folder");
    assert_eq!(metadata.permissions().mode() & 0o777, mode, "not our own");
}

#[test]
fn what_may_not_be_removed_is_an_error_with_the_reason() {
    require!(right_to_trace());
    let grove = Grove::new();
    for path in ["a/b", "c/d/e", "f"] {
        grove.write(path);
    }
    set_mode(grove.folder.path(), 0o755);
    let folder = c_string(grove.folder.path());
    as_nobody(|| {
        let error = remove_tree(&folder, c"tree", Duration::ZERO).expect_err("another's files");
        assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
    });
    grove.assert_goes();
}

fn set_attribute(attribute: &str, path: &Path) -> Result<(), String> {
    let mut command = Command::new("chattr");
    let output = command.arg(attribute).arg(path).output().expect("chattr");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success().then_some(()).ok_or(said)
}

#[test]
fn immutable_and_append_only_files_go() {
    require!(right_to_trace());
    require!(program("chattr"));
    let grove = Grove::new();
    for path in ["a/b/c/d", "a/b/e", "f", "g"] {
        grove.write(path);
    }
    let set = [
        ("+i", "a/b/c/d"),
        ("+a", "a/b/c"),
        ("+ai", "a/b"),
        ("+i", "a"),
        ("+a", "f"),
        ("+i", "g"),
        ("+i", ""),
    ];
    for (attribute, path) in set {
        require!(set_attribute(attribute, &grove.tree().join(path)));
    }
    assert!(fs::remove_file(grove.tree().join("g")).is_err());
    grove.assert_goes();
}

fn bind(from: &Path, to: &Path) {
    let none = None::<&str>;
    mount(Some(from), to, none, MsFlags::MS_BIND, none).expect("a bind mount");
}

fn mounts_below(folder: &Path) -> usize {
    let mounts = fs::read_to_string("/proc/self/mounts").expect("mounts");
    let folder = folder.to_str().expect("a path of letters");
    mounts.lines().filter(|line| line.contains(folder)).count()
}

/// A mount of the same file system has the same `st_dev`.
#[test]
fn mounts_are_taken_off_and_what_they_show_stays() {
    require!(right_to_trace());
    let (grove, other) = (Grove::new(), Grove::new());
    other.write("precious/file");
    for path in ["a/b/c/d", "e/f", "g/h", "file", "i/file"] {
        grove.write(path);
    }
    let (tree, precious) = (grove.tree(), other.tree().join("precious"));
    for place in ["a/b/c", "e", "g", "g"] {
        bind(&precious, &tree.join(place));
    }
    let none = None::<&str>;
    let tmpfs = Some("tmpfs");
    mount(tmpfs, &tree.join("a/b"), tmpfs, MsFlags::empty(), none).expect("a tmpfs");
    for place in ["file", "i/file"] {
        bind(&precious.join("file"), &tree.join(place));
    }
    bind(&tree, &tree);
    assert_eq!(mounts_below(grove.folder.path()), 8);
    let (folder, patience) = (c_string(grove.folder.path()), Duration::from_secs(1));
    remove_tree(&folder, c"tree", patience).expect("it is removed");
    assert!(!tree.exists());
    assert_eq!(mounts_below(grove.folder.path()), 0);
    assert!(precious.join("file").exists(), "what was mounted is gone");
}

/// Its files come as long as it lives, and in a way that no scan is the last.
#[test]
fn a_tree_that_a_dying_process_writes_into_goes_once_it_is_dead() {
    let grove = Grove::new();
    let script = "while :; do mkdir -p a/b$i && : > a/b$i/c$i; i=$((i+1)); done";
    let mut writer = Command::new("sh")
        .args(["-c", script])
        .current_dir(grove.tree())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    let folder = c_string(grove.folder.path());
    let removal = std::thread::spawn(move || remove_tree(&folder, c"tree", PATIENCE));
    // It may be gone while the writer lives, who stands in a directory without a name then.
    writer.kill().expect("kill");
    writer.wait().expect("wait");
    removal.join().expect("the thread").expect("it is removed");
    assert!(!grove.tree().exists());
}

/// Groups below each other, in the deepest of which a process lives.
#[test]
fn a_group_goes_with_all_below_it_and_its_members_only_where_they_are_to() {
    require!(right_to_trace());
    let hierarchy = require!(Host::running().cgroup2().ok_or("there are no groups"));
    let top = TempDir::with_prefix_in("behaviour-", &hierarchy);
    let top = require!(top.map_err(|error| error.to_string())).keep();
    let deepest = top.join("a/b/c/d");
    for folder in ["x/y", "a/b/e", "a/f/g"].map(|path| top.join(path)) {
        fs::create_dir_all(folder).expect("groups");
    }
    fs::create_dir_all(&deepest).expect("groups");
    let mut command = Command::new("sleep");
    let mut member = Started::new(command.arg("infinity"));
    fs::write(deepest.join("cgroup.procs"), member.id().to_string()).expect("to join");
    let remove = |members, patience| {
        let (folder, name) = (c_string(&hierarchy), top.file_name().expect("a name"));
        remove_group(&folder, &c_string(Path::new(name)), members, patience)
    };
    let error = remove(Members::Spare, Duration::ZERO).expect_err("a member lives");
    assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy);
    assert!(deepest.exists(), "and its group");
    remove(Members::Kill, PATIENCE).expect("it is removed");
    assert!(!top.exists());
    assert_eq!(member.end_by(Signal::SIGCONT), 137, "killed before");
    remove(Members::Kill, Duration::ZERO).expect("what is not there is no error");
}

#[test]
fn a_group_that_is_said_to_be_gone_is_gone_though_another_thread_removes_what_is_in_it() {
    require!(right_to_trace());
    let hierarchy = require!(Host::running().cgroup2().ok_or("there are no groups"));
    for _ in 0..20 {
        let top = TempDir::with_prefix_in("behaviour-", &hierarchy);
        let top = require!(top.map_err(|error| error.to_string())).keep();
        for number in 0..20 {
            fs::create_dir_all(top.join(format!("{number}/a/b"))).expect("groups");
        }
        let remove = || {
            let (folder, name) = (c_string(&hierarchy), top.file_name().expect("a name"));
            let name = c_string(Path::new(name));
            remove_group(&folder, &name, Members::Spare, PATIENCE).expect("it is removed");
            assert!(!top.exists());
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(remove);
            }
        });
    }
}
