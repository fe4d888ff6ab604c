//! Files that are written and left: too many, too deep, with names that cannot be typed.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use nix::libc;
use nix::sys::stat::{Mode, SFlag, makedev, mknod};

/// Blocks in a write that is never read.
pub(crate) fn fills_a_pipe() -> i32 {
    let (_reader, writer) = nix::unistd::pipe().expect("pipe");
    loop {
        nix::unistd::write(&writer, &[0; 4096]).expect("write");
    }
}

/// Says more than anybody wants to hear.
pub(crate) fn floods_output() -> i32 {
    let text = [b'x'; 64 << 10];
    let mut stdout = std::io::stdout().lock();
    while stdout.write_all(&text).is_ok() {}
    1
}

/// A tebibyte that takes no room.
pub(crate) fn sparse_file() -> i32 {
    let file = File::create("sparse").expect("a file");
    file.set_len(1 << 40).expect("ftruncate");
    0
}

/// 20,000 files in one folder.
pub(crate) fn many_files() -> i32 {
    for number in 0..20_000 {
        File::create(number.to_string()).expect("a file");
    }
    0
}

/// A path too long for any call, and for any recursion that holds a descriptor for each level.
pub(crate) fn deep_folders() -> i32 {
    for _ in 0..5_000 {
        fs::create_dir("d").expect("mkdir");
        std::env::set_current_dir("d").expect("chdir");
    }
    File::create("bottom").expect("a file");
    0
}

/// Folders that not even their owner may enter.
pub(crate) fn forbidden_folders() -> i32 {
    fs::create_dir_all("a/b/c").expect("mkdir");
    File::create("a/b/c/file").expect("a file");
    for path in ["a/b/c/file", "a/b/c", "a/b", "a", "."] {
        fs::set_permissions(path, Permissions::from_mode(0o000)).expect("chmod");
    }
    0
}

/// As long as a name may be, and of all bytes that it may have.
pub(crate) fn odd_names() -> i32 {
    let bytes: Vec<u8> = (1..=255)
        .map(|byte| if byte == b'/' { b'\n' } else { byte })
        .collect();
    fs::create_dir(OsStr::from_bytes(&bytes)).expect("mkdir");
    std::env::set_current_dir(OsStr::from_bytes(&bytes)).expect("chdir");
    File::create(OsStr::from_bytes(&[0xff; 255])).expect("a file");
    for name in ["-rf", "*", " ", "$(reboot)", "...", "\u{202e}"] {
        File::create(name).expect("a file");
    }
    0
}

/// Pipes, sockets, links that lead nowhere and in circles, and devices where they may be made.
pub(crate) fn special_files() -> i32 {
    nix::unistd::mkfifo("fifo", Mode::S_IRWXU).expect("mkfifo");
    let _socket = UnixListener::bind("socket").expect("bind");
    symlink("/etc", "etc").expect("symlink");
    symlink("circle", "circle").expect("symlink");
    symlink("..", "up").expect("symlink");
    fs::hard_link("fifo", "second").expect("link");
    let _refused = mknod("null", SFlag::S_IFCHR, Mode::S_IRWXU, makedev(1, 3));
    0
}

/// Removal of the directory finds another one there, or none.
pub(crate) fn removes_its_directory() -> i32 {
    let path = std::env::current_dir().expect("getcwd");
    let _refused = fs::rename(&path, path.with_extension("away"));
    let _refused = symlink("/etc", &path);
    let _refused = fs::remove_dir_all(&path);
    0
}

/// Executes a copy of itself that removes itself.
pub(crate) fn removes_its_program() -> i32 {
    fs::copy("/proc/self/exe", "copy").expect("a copy");
    let Err(error) = nix::unistd::execv(c"./copy", &[c"copy", c"removed-program"]);
    panic!("execv: {error}");
}

/// What that copy does.
pub(crate) fn removed_program() -> i32 {
    fs::remove_file("copy").expect("unlink");
    // Its program is gone, but not its process.
    let path = fs::read_link("/proc/self/exe").expect("procfs");
    i32::from(!path.as_os_str().as_bytes().ends_with(b" (deleted)"))
}

/// `/dev/full` is full, the others are what they are everywhere, and the machine's own are not
/// there.
pub(crate) fn uses_devices() -> i32 {
    let open = |path: &str| File::options().write(true).open(path);
    let write = |path: &str| open(path)?.write_all(&[0; 4096]);
    let full = write("/dev/full").expect_err("room");
    assert_eq!(full.raw_os_error(), Some(libc::ENOSPC));
    for path in ["/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"] {
        write(path).expect(path);
    }
    // Opening is enough to know: nothing is written.
    let machine = [
        "/dev/kmsg",
        "/dev/mem",
        "/dev/port",
        "/dev/console",
        "/dev/tty0",
    ];
    i32::from(machine.into_iter().any(|path| open(path).is_ok()))
}
