//! Reaching, or seeing, processes of the host.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use nix::libc;

use super::{achieved, status};
use crate::kernel::{call, kill, word};

/// Tries to send signals to the processes of these numbers, and to change them.
pub(crate) fn reach(pids: &[&str]) -> i32 {
    let none = libc::rlimit64 {
        rlim_cur: 0,
        rlim_max: 0,
    };
    let byte = [0_u8; 1];
    let local = libc::iovec {
        iov_base: byte.as_ptr() as *mut _,
        iov_len: 1,
    };
    for pid in pids.iter().map(|pid| pid.parse::<i32>().expect("a number")) {
        let (p, limits, vector) = (
            word(pid),
            (&raw const none) as usize,
            (&raw const local) as usize,
        );
        let stop = libc::SIGSTOP as usize;
        let tries: [(&str, i64, &[usize]); 9] = [
            ("kill", libc::SYS_kill, &[p, stop]),
            ("kill of a group", libc::SYS_kill, &[word(-pid), stop]),
            ("tgkill", libc::SYS_tgkill, &[p, p, stop]),
            ("tkill", libc::SYS_tkill, &[p, stop]),
            ("pidfd_open", libc::SYS_pidfd_open, &[p, 0]),
            (
                "prlimit64",
                libc::SYS_prlimit64,
                &[p, libc::RLIMIT_CPU as usize, limits, 0],
            ),
            ("setpriority", libc::SYS_setpriority, &[0, p, 19]),
            (
                "ptrace",
                libc::SYS_ptrace,
                &[libc::PTRACE_SEIZE as usize, p, 0, 0],
            ),
            (
                "process_vm_readv",
                libc::SYS_process_vm_readv,
                &[p, vector, 1, vector, 1, 0],
            ),
        ];
        for (name, number, words) in tries {
            if call(number, words).is_ok() {
                achieved(format_args!("{name} of {pid}"));
            }
        }
        owns_a_pipe(pid);
    }
    let _refused = kill(-1, libc::SIGSTOP);
    status()
}

/// Who owns a descriptor gets a signal when it becomes readable.
fn owns_a_pipe(pid: i32) {
    let (reader, writer) = nix::unistd::pipe().expect("pipe");
    let descriptor = word(reader.as_raw_fd());
    let own = [descriptor, libc::F_SETOWN as usize, word(pid)];
    if call(libc::SYS_fcntl, &own).is_ok() {
        achieved(format_args!("F_SETOWN to {pid}"));
    }
    call(libc::SYS_fcntl, &[descriptor, 10, libc::SIGSTOP as usize]).expect("F_SETSIG");
    call(
        libc::SYS_fcntl,
        &[descriptor, libc::F_SETFL as usize, libc::O_ASYNC as usize],
    )
    .expect("F_SETFL");
    nix::unistd::write(&writer, b"x").expect("write");
}

/// What is read of a file at most: the rest of a larger one is memory or the like.
const ROOM: u64 = 1 << 20;

/// Looks for the words everywhere in procfs and sysfs, but in its own memory. They are given
/// backwards, so that it does not find itself.
pub(crate) fn look_for(words: &[&str]) -> i32 {
    let words: Vec<Vec<u8>> = words
        .iter()
        .map(|word| word.bytes().rev().collect())
        .collect();
    let own = PathBuf::from(format!("/proc/{}", std::process::id()));
    let mut folders = vec![
        PathBuf::from("/proc"),
        PathBuf::from("/sys/kernel"),
        PathBuf::from("/sys/fs"),
    ];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else {
                continue;
            };
            let name = entry.file_name();
            if kind.is_symlink() {
                let target = fs::read_link(&path).unwrap_or_default();
                look(&path, target.as_os_str().as_encoded_bytes(), &words);
            } else if kind.is_dir() {
                folders.push(path);
            } else if !(name == "mem" && path.starts_with(&own)) {
                look(&path, &contents(&path), &words);
            }
        }
    }
    memory_of_init(&words);
    status()
}

/// Without waiting: some of these files have something only when something happens.
fn contents(path: &Path) -> Vec<u8> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut bytes = Vec::new();
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path);
    if let Ok(file) = file {
        // What was read before an error counts, too.
        let _part = file.take(ROOM).read_to_end(&mut bytes);
    }
    bytes
}

fn look(path: &Path, bytes: &[u8], words: &[Vec<u8>]) {
    for (number, word) in words.iter().enumerate() {
        if bytes.windows(word.len()).any(|part| part == word) {
            achieved(format_args!("word {number} in `{}`", path.display()));
        }
    }
}

/// Its memory is not in the first bytes of its file.
fn memory_of_init(words: &[Vec<u8>]) {
    use std::os::unix::fs::FileExt;
    let Ok(memory) = File::open("/proc/1/mem") else {
        return;
    };
    achieved("opened the memory of process 1");
    let maps = fs::read_to_string("/proc/1/maps").unwrap_or_default();
    for line in maps
        .lines()
        .filter(|line| line.contains("[stack]") || line.contains("[heap]"))
    {
        let range = line
            .split(' ')
            .next()
            .and_then(|range| range.split_once('-'));
        let Some((start, end)) = range else { continue };
        let number = |text| u64::from_str_radix(text, 16).expect("an address");
        let mut bytes = vec![0; (number(end) - number(start)) as usize];
        if memory.read_exact_at(&mut bytes, number(start)).is_ok() {
            look(Path::new("/proc/1/mem"), &bytes, words);
        }
    }
}
