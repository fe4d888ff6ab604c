//! What procfs says of a thread that waits in a call.

use super::Host;
use super::files::PROCFS;
use super::process::value;
use crate::sys::gate::{Within, open_place};
use crate::sys::inode::{self, Inode};
use nix::sys::statfs::{PROC_SUPER_MAGIC, fstatfs};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// The signals that are ignored, stop or make a core if nothing else is said (`signal(7)`;
/// `sig_kernel_coredump()`, include/linux/signal.h).
const LETS_LIVE: [i32; 18] = [
    libc::SIGCHLD,
    libc::SIGCONT,
    libc::SIGURG,
    libc::SIGWINCH,
    libc::SIGSTOP,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGQUIT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGSYS,
    libc::SIGXCPU,
    libc::SIGXFSZ,
];

/// By which user, group and mask a thread makes files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MakerIds {
    /// Its user for files.
    pub user: u32,
    /// Its group for files.
    pub group: u32,
    /// Permission bits that new files do not get.
    pub umask: u32,
}

/// A part of a file in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedFile {
    /// Its first address.
    pub start: u64,
    /// The address behind its last.
    pub end: u64,
    /// Whether stores into it reach the file, if any are allowed (`VM_MAYSHARE`).
    pub is_shared: bool,
    /// Whether stores are allowed now.
    pub is_writable: bool,
    /// Which byte of the file is the first.
    pub offset: u64,
    /// The file's inode.
    pub inode: u64,
    /// The file's name, as the kernel has it.
    pub name: Vec<u8>,
}

/// What stands for a newline in a name there, and for itself as well: `seq_path()`, fs/seq_file.c.
const NEWLINE: &[u8] = b"\\012";

/// A line of `/proc/PID/maps`; `None` for memory without a file.
fn mapped_file(line: &[u8]) -> Option<MappedFile> {
    let mut rest = line;
    let mut word = || {
        let end = rest.iter().position(|byte| *byte == b' ')?;
        let (word, behind) = rest.split_at(end);
        rest = behind.get(1..)?;
        std::str::from_utf8(word).ok()
    };
    let hexadecimal = |word: &str| u64::from_str_radix(word, 16).ok();
    let (start, end) = word()?.split_once('-')?;
    let (start, end) = (hexadecimal(start)?, hexadecimal(end)?);
    let allowed = word()?;
    let offset = hexadecimal(word()?)?;
    let (_device, inode) = (word()?, word()?.parse().ok()?);
    let name = rest.trim_ascii_start();
    (inode != 0).then_some(MappedFile {
        start,
        end,
        is_shared: allowed.ends_with('s'),
        is_writable: allowed.contains('w'),
        offset,
        inode,
        name: name.to_owned(),
    })
}

/// Reads `/proc/PID/syscall` (`proc_pid_syscall()`, fs/proc/base.c): `running`, or the number of
/// the call, six arguments, the stack pointer and the program counter; the number is -1 outside of
/// calls.
fn sleeps_at(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split_whitespace();
    let number: i32 = words.next()?.parse().ok()?;
    let mut words = words.skip(6);
    let mut word = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    (number >= 0).then_some((word()?, word()?))
}

/// `PROC_ROOT_INO`, include/linux/proc_ns.h.
const ROOT: u64 = 1;

/// The namespace of pids that a task is in, by its folder, and its ids: first that of the namespace
/// of this procfs, last that of its own.
fn ids_of(folder: &Path) -> io::Result<(Vec<u8>, Vec<u32>)> {
    let namespace = std::fs::read_link(folder.join("ns/pid"))?;
    let status = std::fs::read(folder.join("status"))?;
    let status = String::from_utf8_lossy(&status);
    let ids = value(&status, "NSpid:").ok_or(io::ErrorKind::InvalidData)?;
    let ids = ids.split_whitespace().map(str::parse);
    let ids: Result<_, _> = ids.collect();
    let ids = ids.map_err(|_| io::ErrorKind::InvalidData)?;
    Ok((namespace.into_os_string().into_vec(), ids))
}

impl Host {
    /// Where the links that lead each task to itself (`self`, `thread-self`) lead a thread, from
    /// the folder of the procfs that they lie in; `None` for another link.
    ///
    /// # Errors
    /// Those of reading procfs; that the process is none of that procfs.
    pub fn own_link(
        folder: BorrowedFd<'_>,
        name: &[u8],
        thread: u32,
    ) -> io::Result<Option<Vec<u8>>> {
        let is_one = matches!(name, b"self" | b"thread-self")
            && fstatfs(folder)?.filesystem_type() == PROC_SUPER_MAGIC
            && inode::of(folder)?.number == ROOT;
        if !is_one {
            return Ok(None);
        }
        let host = Self::running();
        let process = host.process_of(thread).ok_or(io::ErrorKind::NotFound)?;
        let task = |id: u32| host.root.join(format!("proc/{id}"));
        let own = ids_of(&task(process))?;
        let there = Self::path_of_descriptor(folder.as_raw_fd());
        // Of a namespace and the id in it there is one process.
        let is_it = |id: &u32| {
            let other = ids_of(&there.join(id.to_string()));
            other.is_ok_and(|(space, ids)| space == own.0 && ids.last() == own.1.last())
        };
        let none = || io::Error::other("the process is none of that procfs");
        let place = own.1.iter().position(is_it).ok_or_else(none)?;
        let of_process = own.1.get(place).ok_or_else(none)?;
        if name == b"self" {
            return Ok(Some(of_process.to_string().into()));
        }
        let ids = ids_of(&task(thread))?.1;
        let of_thread = ids.get(place).ok_or_else(none)?;
        Ok(Some(format!("{of_process}/task/{of_thread}").into()))
    }

    /// By whom a thread makes files; `None` where it is gone, or the kernel does not say.
    #[must_use]
    pub fn maker(&self, thread: u32) -> Option<MakerIds> {
        let status = self.read_lossy(&format!("proc/{thread}/status"))?;
        // Real, effective, saved, and for files.
        let id = |key| value(&status, key)?.split_whitespace().nth(3)?.parse().ok();
        Some(MakerIds {
            user: id("Uid:")?,
            group: id("Gid:")?,
            umask: u32::from_str_radix(value(&status, "Umask:")?.trim(), 8).ok()?,
        })
    }

    /// The number of the call that a thread waits in; `None` where it runs, or is gone.
    #[must_use]
    pub fn waits_in(&self, thread: u32) -> Option<i32> {
        let told = self.read_lossy(&format!("proc/{thread}/syscall"))?;
        told.split_whitespace().next()?.parse().ok()
    }

    /// Where a thread sleeps that is in a call, off its CPU: its stack pointer and its instruction
    /// pointer. `None` where it runs, or is gone.
    #[must_use]
    pub fn sleeps_at(&self, thread: u32) -> Option<(u64, u64)> {
        sleeps_at(&self.read_lossy(&format!("proc/{thread}/syscall"))?)
    }

    /// The process of a thread; `None` where it is gone.
    #[must_use]
    pub fn process_of(&self, thread: u32) -> Option<u32> {
        let status = self.read_lossy(&format!("proc/{thread}/status"))?;
        value(&status, "Tgid:")?.parse().ok()
    }

    /// Whether a signal would kill a thread on its way out of the kernel, without a core: what it
    /// does by itself is that, and the thread neither catches nor ignores nor blocks it.
    #[must_use]
    pub fn would_kill(&self, thread: u32, signal: i32) -> bool {
        if signal == libc::SIGKILL {
            return true;
        }
        let Some(status) = self.read_lossy(&format!("proc/{thread}/status")) else {
            return false;
        };
        let has = |set| {
            let signals = value(&status, set).and_then(|set| u64::from_str_radix(set, 16).ok());
            signals.is_none_or(|signals| signals >> (signal - 1) & 1 == 1)
        };
        !LETS_LIVE.contains(&signal) && !["SigBlk:", "SigIgn:", "SigCgt:"].into_iter().any(has)
    }

    /// The name of a thread's process, as `PR_SET_NAME` and `execve(2)` set it.
    #[must_use]
    pub fn name_of(&self, process: u32) -> Option<Vec<u8>> {
        self.comm(&format!("proc/{process}"))
    }

    /// The name of a task, by its folder.
    pub(super) fn comm(&self, folder: &str) -> Option<Vec<u8>> {
        let mut name = super::text::bytes(&self.root.join(folder).join("comm")).ok()?;
        name.pop_if(|last| *last == b'\n');
        Some(name)
    }

    /// What a descriptor of a thread refers to, as the kernel names it.
    ///
    /// # Errors
    /// `ENOENT` where it is not open.
    pub fn descriptor_link(&self, thread: u32, number: i32) -> io::Result<Vec<u8>> {
        self.link(&format!("proc/{thread}/fd/{number}"))
    }

    /// The inode of a thread's descriptor.
    ///
    /// # Errors
    /// `ENOENT` where it is not open.
    pub fn descriptor_inode(&self, thread: u32, number: i32) -> io::Result<Inode> {
        inode::of_path(&self.root.join(format!("proc/{thread}/fd/{number}")))
    }

    /// The flags that a thread's descriptor was opened with; `None` where it is not open.
    #[must_use]
    pub fn descriptor_flags(&self, thread: u32, number: i32) -> Option<i32> {
        let told = self.read_lossy(&format!("proc/{thread}/fdinfo/{number}"))?;
        i32::from_str_radix(value(&told, "flags:")?.trim(), 8).ok()
    }

    /// The working directory of a thread.
    ///
    /// # Errors
    /// Those of `readlink(2)`.
    pub fn directory_of(&self, thread: u32) -> io::Result<Vec<u8>> {
        self.link(&format!("proc/{thread}/cwd"))
    }

    /// What a link of a thread says: `cwd`, `root`, `exe`.
    ///
    /// # Errors
    /// Those of `readlink(2)`.
    pub fn link_of(&self, thread: u32, word: &str) -> io::Result<Vec<u8>> {
        self.link(&format!("proc/{thread}/{word}"))
    }

    /// The same of the task that has this number in the procfs below a root; also `fd/3`.
    ///
    /// # Errors
    /// Those of `openat2(2)` and `readlink(2)`.
    pub fn link_below(root: BorrowedFd<'_>, id: u32, word: &str) -> io::Result<Vec<u8>> {
        let task = format!("{PROCFS}/{id}");
        let task = open_place(root, task.as_bytes(), Within::Root, false)?;
        let link = Self::path_of_descriptor(task.as_raw_fd()).join(word);
        Ok(std::fs::read_link(link)?.into_os_string().into_vec())
    }

    /// The files that are mapped into a thread's memory.
    ///
    /// # Errors
    /// Those of `read(2)` and `readlink(2)`.
    pub fn mapped_files(&self, thread: u32) -> io::Result<Vec<MappedFile>> {
        let maps = std::fs::read(self.root.join(format!("proc/{thread}/maps")))?;
        let lines = maps.split(|byte| *byte == b'\n');
        let mut files: Vec<MappedFile> = lines.filter_map(mapped_file).collect();
        for file in &mut files {
            if file.name.windows(NEWLINE.len()).any(|part| part == NEWLINE) {
                let (start, end) = (file.start, file.end);
                file.name = self.link(&format!("proc/{thread}/map_files/{start:x}-{end:x}"))?;
            }
        }
        Ok(files)
    }

    /// The root of a thread, opened as a place to start from.
    ///
    /// # Errors
    /// Those of `open(2)`.
    pub fn root_of(&self, thread: u32) -> io::Result<File> {
        self.place(&format!("proc/{thread}/root"))
    }

    /// What paths of a thread begin in, by the number of a descriptor or `AT_FDCWD`, opened as a
    /// place to start from.
    ///
    /// # Errors
    /// Those of `open(2)`.
    pub fn folder_of(&self, thread: u32, number: i32) -> io::Result<File> {
        match number {
            libc::AT_FDCWD => self.place(&format!("proc/{thread}/cwd")),
            number => self.place(&format!("proc/{thread}/fd/{number}")),
        }
    }

    /// What a thread's descriptor refers to, opened as a place.
    ///
    /// # Errors
    /// Those of `open(2)`.
    pub fn place_of(&self, thread: u32, number: i32) -> io::Result<File> {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = File::options();
        options.read(true).custom_flags(libc::O_PATH);
        options.open(self.root.join(format!("proc/{thread}/fd/{number}")))
    }

    fn place(&self, path: &str) -> io::Result<File> {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = File::options();
        options
            .read(true)
            .custom_flags(libc::O_PATH | libc::O_DIRECTORY);
        options.open(self.root.join(path))
    }

    pub(super) fn link(&self, path: &str) -> io::Result<Vec<u8>> {
        let link = std::fs::read_link(self.root.join(path))?;
        Ok(link.into_os_string().into_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_is_read_with_any_name_and_memory_without_a_file_is_none() {
        let line = b"7f00-7f10 rw-s 00002000 fd:00 425      /folder/a b (deleted)";
        let expected = MappedFile {
            start: 0x7f00,
            end: 0x7f10,
            is_shared: true,
            is_writable: true,
            offset: 0x2000,
            inode: 425,
            name: b"/folder/a b (deleted)".to_vec(),
        };
        assert_eq!(mapped_file(line), Some(expected));
        assert_eq!(mapped_file(b"7f00-7f10 rw-p 00000000 00:00 0 "), None);
        assert_eq!(mapped_file(b""), None);
    }

    #[test]
    fn a_thread_sleeps_where_its_call_was_made() {
        let line = "74 0x3 0x0 0x0 0x0 0x0 0x0 0x7ffc47edf7e8 0x7f1f3b7b5a3a\n";
        let at = (0x7ffc_47ed_f7e8, 0x7f1f_3b7b_5a3a);
        assert_eq!(sleeps_at(line), Some(at));
        for none in ["running\n", "-1 0x7ffc47edf7e8 0x7f1f3b7b5a3a\n", ""] {
            assert_eq!(sleeps_at(none), None, "{none}");
        }
    }
}
