//! What a recording says of the machine that it was made on, and of the processes that lived when
//! it began.

use super::process::value;
use super::{Host, HostError};
use crate::sys::folder;
use perf_records::units::{Pid, Tid, TracepointName};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// How much of a file of tracefs is read at a time.
const READ: usize = 1 << 16;

/// A thread that lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivingThread {
    /// Its id.
    pub tid: Tid,
    /// Its name.
    pub name: Vec<u8>,
}

/// A process that lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Living {
    /// Its id.
    pub pid: Pid,
    /// Its parent's.
    pub parent: Pid,
    /// Its threads, the main one included.
    pub threads: Vec<LivingThread>,
    /// Its mappings of code.
    pub code: Vec<CodeMapping>,
}

/// A line of `/proc/PID/maps` whose pages can be executed (`proc_pid_maps(5)`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeMapping {
    /// First address, and the one behind the last.
    pub range: (u64, u64),
    /// `PROT_*`.
    pub protection: u32,
    /// `MAP_PRIVATE` or `MAP_SHARED`.
    pub flags: u32,
    /// Where in its file it begins.
    pub offset: u64,
    /// The file's device: major, minor.
    pub device: (u32, u32),
    /// The file's inode.
    pub inode: u64,
    /// The file, or what the kernel calls it: `[vdso]`; `//anon` for what has no name, as perf has
    /// it.
    pub name: String,
}

/// What a machine is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// How many CPUs it has.
    pub n_cpus: u32,
    /// What they are, for people.
    pub processor: String,
    /// What they are, for programs: `GenuineIntel,6,167,1`; empty where it is not known.
    pub processor_id: String,
    /// Memory in KiB.
    pub memory_kib: u64,
}

impl Host {
    /// What the machine is, as far as it says.
    #[must_use]
    pub fn machine(&self) -> Machine {
        let text = |path| self.read(path).unwrap_or_default();
        let info = text("proc/cpuinfo");
        let of_cpu = |key: &str| {
            let mut lines = info.lines().filter_map(|line| line.split_once(':'));
            lines
                .find_map(|(name, value)| (name.trim() == key).then(|| value.trim().to_owned()))
                .unwrap_or_default()
        };
        let id = ["vendor_id", "cpu family", "model", "stepping"].map(of_cpu);
        let is_known = id.iter().all(|part| !part.is_empty());
        let memory = text("proc/meminfo");
        let memory = value(&memory, "MemTotal:").and_then(|value| value.split(' ').next());
        Machine {
            name: text("proc/sys/kernel/hostname").trim().to_owned(),
            n_cpus: super::cpu_list(&text("sys/devices/system/cpu/present")).len() as u32,
            processor: of_cpu("model name"),
            processor_id: if is_known {
                id.join(",")
            } else {
                String::new()
            },
            memory_kib: memory.and_then(|value| value.parse().ok()).unwrap_or(0),
        }
    }

    /// The notes of the running kernel, its build id among them.
    #[must_use]
    pub fn kernel_notes(&self) -> Option<Vec<u8>> {
        std::fs::read(self.root.join("sys/kernel/notes")).ok()
    }

    /// Where the kernel's code is; `None` where this user may not know.
    #[must_use]
    pub fn kernel_code(&self) -> Option<KernelCode> {
        let find = || kernel_code(&self.read("proc/kallsyms").ok()?);
        *self.kernel_code.get_or_init(find)
    }

    /// The form of a page of ftrace's ring, and that of an event's header there.
    ///
    /// # Errors
    /// [`HostError::Tracefs`], [`HostError::Read`].
    pub fn tracing_headers(&self) -> Result<(String, String), HostError> {
        Ok((
            self.tracing_text("header_page")?,
            self.tracing_text("header_event")?,
        ))
    }

    /// The text of a tracepoint's format.
    ///
    /// # Errors
    /// As above.
    pub fn format_text(&self, name: &TracepointName) -> Result<String, HostError> {
        self.tracing_text(&format!("{}/{}/format", name.system(), name.event()))
    }

    fn tracing_text(&self, file: &str) -> Result<String, HostError> {
        let path = self.tracefs()?.events().join(file);
        whole(&path).map_err(|source| HostError::Read {
            path,
            source: Arc::new(source),
        })
    }

    /// All processes, each at its moment; those that are gone meanwhile are left out.
    #[must_use]
    pub fn everybody(&self) -> Vec<Living> {
        let names = folder::names(&self.root.join("proc")).unwrap_or_default();
        let pids = names.iter().filter_map(|name| name.to_str()?.parse().ok());
        let mut pids: Vec<u32> = pids.collect();
        pids.sort_unstable();
        pids.into_iter()
            .filter_map(|pid| self.living(Pid(pid)))
            .collect()
    }

    /// The file that a process runs, also where it was removed or replaced since:
    /// `proc_pid_exe(5)`.
    ///
    /// # Errors
    /// Those of `open(2)` and `read(2)`.
    pub fn program_of(&self, pid: Pid) -> io::Result<Vec<u8>> {
        std::fs::read(self.root.join(format!("proc/{pid}/exe")))
    }

    /// A process with its threads and its code; `None` where there is none of that id.
    #[must_use]
    pub fn living(&self, pid: Pid) -> Option<Living> {
        let status = self.read_lossy(&format!("proc/{pid}/status"))?;
        let number = |key| value(&status, key)?.parse().ok();
        // A thread's id has a folder as well, though it is not listed.
        let is_process = number("Tgid:") == Some(pid.0);
        let mut threads = self.threads(pid);
        threads.sort_unstable();
        let thread = |tid: u32| {
            let name = self.comm(&format!("proc/{pid}/task/{tid}"))?;
            let tid = Tid(tid);
            Some(LivingThread { tid, name })
        };
        is_process.then(|| Living {
            pid,
            parent: Pid(number("PPid:").unwrap_or(0)),
            threads: threads.into_iter().filter_map(thread).collect(),
            code: self.code_of(pid),
        })
    }

    /// The process that is to execute a command, without its mappings, which end then. `None` if it
    /// is gone.
    ///
    /// A recording tells of it, because execve(2) enables the events that wait for it before there
    /// is a record of the new name (`begin_new_exec()`, fs/exec.c): what comes between would be of
    /// a task without a name.
    #[must_use]
    pub fn corked(&self, pid: Pid) -> Option<Living> {
        let code = Vec::new();
        self.living(pid).map(|process| Living { code, ..process })
    }
}

impl Host {
    /// The mappings of code of a process; none of one that is gone.
    #[must_use]
    pub fn code_of(&self, pid: Pid) -> Vec<CodeMapping> {
        let maps = self.read_lossy(&format!("proc/{pid}/maps"));
        maps.iter().flat_map(|maps| code(maps)).collect()
    }
}

/// Reads a file by reads of 64 KiB: of its two headers tracefs gives what the first read has room
/// for, and then nothing more (`show_header_page_file()`, `kernel/trace/trace_events.c`).
fn whole(path: &Path) -> io::Result<String> {
    let mut file = super::tracefs::reader(path)?;
    let (mut bytes, mut length) = (Vec::new(), 0);
    loop {
        bytes.resize(length + READ, 0);
        match file.read(bytes.get_mut(length..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(n) => length += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(length);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where the kernel's own code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelCode {
    /// The symbol at its start: `_text`, or `_stext` where the kernel lists no `_text` (arm64).
    pub symbol: &'static str,
    /// The address of its first byte.
    pub start: u64,
    /// The address behind its last one.
    pub end: u64,
}

/// Finds the places of `_text` and `_etext` among the kernel's symbols: a hundred thousand lines,
/// so that only the ends of lines are compared. Behind the name of a module's stands the module.
fn kernel_code(symbols: &str) -> Option<KernelCode> {
    let address = |name: &str| {
        let (before, _) = symbols.split_once(&format!(" {name}\n"))?;
        let line = before.rsplit('\n').next()?;
        u64::from_str_radix(line.split(' ').next()?, 16).ok()
    };
    let mut firsts = ["_text", "_stext"].into_iter();
    let (symbol, start) = firsts.find_map(|symbol| Some((symbol, address(symbol)?)))?;
    // Zeros stand for what this user may not know.
    (start != 0).then_some(KernelCode {
        symbol,
        start,
        end: address("_etext")?,
    })
}

fn code(maps: &str) -> impl Iterator<Item = CodeMapping> {
    maps.lines().filter_map(|line| {
        let mut columns = line.splitn(6, ' ');
        let (from, to) = columns.next()?.split_once('-')?;
        let mode = columns.next()?;
        let bit = |letter: char, bit: i32| if mode.contains(letter) { bit } else { 0 };
        let protection =
            bit('r', libc::PROT_READ) | bit('w', libc::PROT_WRITE) | bit('x', libc::PROT_EXEC);
        let flags = bit('s', libc::MAP_SHARED) | bit('p', libc::MAP_PRIVATE);
        let offset = u64::from_str_radix(columns.next()?, 16).ok()?;
        let (major, minor) = columns.next()?.split_once(':')?;
        let inode = columns.next()?.parse().ok()?;
        let name = columns.next().unwrap_or_default().trim_start();
        let hex = |text| u64::from_str_radix(text, 16).ok();
        (protection & libc::PROT_EXEC != 0).then_some(CodeMapping {
            range: (hex(from)?, hex(to)?),
            protection: protection as u32,
            flags: flags as u32,
            offset,
            device: (hex(major)? as u32, hex(minor)? as u32),
            inode,
            name: if name.is_empty() { "//anon" } else { name }.to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_code_are_read_with_any_name() {
        let maps = "\
00400000-0048c000 r-xp 00001000 fd:00 425      /usr/bin/a b (deleted)
0048c000-0048d000 rw-p 00000000 00:00 0 
7ffd0000-7ffd1000 r-xp 00000000 00:00 0        [vdso]
7ffe0000-7ffe1000 rwxs 00000000 00:00 0 
";
        let read: Vec<_> = code(maps).collect();
        let names: Vec<_> = read.iter().map(|code| code.name.as_str()).collect();
        assert_eq!(names, ["/usr/bin/a b (deleted)", "[vdso]", "//anon"]);
        assert_eq!(
            read.first(),
            Some(&CodeMapping {
                range: (0x40_0000, 0x48_c000),
                protection: 5,
                flags: 2,
                offset: 0x1000,
                device: (0xfd, 0),
                inode: 425,
                name: "/usr/bin/a b (deleted)".to_owned(),
            })
        );
        assert_eq!(
            read.last().map(|code| (code.protection, code.flags)),
            Some((7, 1))
        );
    }

    #[test]
    fn the_kernels_code_is_found_by_whole_names_of_the_kernel_itself_and_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let write = |symbols: &str| {
            std::fs::create_dir_all(folder.path().join("proc")).unwrap();
            std::fs::write(folder.path().join("proc/kallsyms"), symbols).unwrap();
        };
        let of = |symbols: &str| {
            write(symbols);
            Host::at(folder.path()).kernel_code()
        };
        let symbols = "0000000000000000 A fixed\n\
                       ffffffff80000000 T _texts\n\
                       ffffffff80000010 T x_text\n\
                       ffffffff81000000 T _text\n\
                       ffffffffc0001000 t _etext\t[module]\n\
                       ffffffff82000000 T _etext\n";
        let code = |symbol, start| KernelCode {
            symbol,
            start,
            end: 0xffff_ffff_8200_0000,
        };
        let found = Some(code("_text", 0xffff_ffff_8100_0000));
        assert_eq!(of(symbols), found);
        assert_eq!(
            of("0000000000000000 T _text\n0000000000000000 T _etext\n"),
            None
        );
        assert_eq!(of("ffffffff81000000 T _text\n"), None);
        // As arm64 has it.
        let without = symbols.replace("ffffffff81000000 T _text\n", "ffffffff81000040 T _stext\n");
        assert_eq!(of(&without), Some(code("_stext", 0xffff_ffff_8100_0040)));
        write(symbols);
        let host = Host::at(folder.path());
        assert_eq!(host.kernel_code(), found);
        write("");
        assert_eq!(host.kernel_code(), found);
    }

    #[test]
    fn the_headers_of_ftrace_are_whole() {
        // Root alone can read them.
        if let Ok((page, event)) = Host::running().tracing_headers() {
            assert!(
                page.contains("commit") && page.contains("char data"),
                "{page}"
            );
            assert!(event.contains("padding"), "{event}");
        }
    }

    #[test]
    fn this_process_lives_and_is_among_all() {
        let host = Host::running();
        let pid = Pid(std::process::id());
        let living = host.living(pid).unwrap();
        assert!(living.threads.len() > 1, "the tests run in threads");
        assert!(living.code.iter().any(|code| code.name == "[vdso]"));
        assert!(host.everybody().iter().any(|living| living.pid == pid));
    }
}
