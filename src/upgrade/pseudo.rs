//! Knows the files in which a kernel describes itself and its machine.

use super::{Class, lines::Line};

/// Files about the machine or its settings, and not about the kernel's behaviour: its processors,
/// mounts, and what is built in or loaded.
const OF_MACHINE: &[&str] = &[
    "/sys/",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/modules",
    "/proc/devices",
    "/proc/cmdline",
    "/proc/version",
    "/proc/sys/",
    "/proc/PID/mount",
];

/// If both lines are about the same such file, returns its path, with `PID` for a process, and why
/// its contents may differ.
pub(super) fn told_otherwise(before: &Line<'_>, after: &Line<'_>) -> Option<(String, Class)> {
    let path = file_of(before).filter(|path| file_of(after).as_ref() == Some(path))?;
    let class = match OF_MACHINE.iter().any(|start| path.starts_with(start)) {
        true => Class::Environment,
        false => Class::Behaviour,
    };
    Some((path, class))
}

/// Returns the file that a call reads or looks at: that of its first argument, a descriptor.
fn file_of(line: &Line<'_>) -> Option<String> {
    const READING: &[&str] = &[
        "read",
        "pread64",
        "readv",
        "preadv",
        "lseek",
        "getdents64",
        "newfstatat",
        "fstat",
        "statx",
    ];
    if !READING.contains(&line.name) {
        return None;
    }
    let (arguments, _) = line.call()?;
    let file = arguments
        .first()?
        .trim_start_matches(|c: char| c.is_ascii_digit());
    let path = file.strip_prefix('<')?.strip_suffix('>')?;
    let is_told = path.starts_with("/proc") || path.starts_with("/sys/");
    is_told.then(|| without_pid(path))
}

/// `/proc/self/status` and `/proc/12/status` are the same file of different processes.
fn without_pid(path: &str) -> String {
    let rest = path.strip_prefix("/proc/").unwrap_or_default();
    let (process, file) = rest.split_once('/').unwrap_or((rest, ""));
    let is_process = process == "self"
        || process == "thread-self"
        || (!process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit()));
    if is_process {
        format!("/proc/PID/{file}")
    } else {
        path.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(before: &str, after: &str) -> Option<(String, Class)> {
        told_otherwise(&Line::of(before), &Line::of(after))
    }

    #[test]
    fn what_a_kernel_writes_in_a_file_is_that_file_told_otherwise() {
        let read = |path: &str, bytes: &str| format!("read(<{path}>, <addr>, 1024) = {bytes}");
        let of = |path: &str| told(&read(path, "317"), &read(path, "410"));
        let some = |path: &str, class| Some((path.to_owned(), class));
        assert_eq!(
            of("/proc/self/status"),
            some("/proc/PID/status", Class::Behaviour)
        );
        assert_eq!(
            of("/proc/2/status"),
            some("/proc/PID/status", Class::Behaviour)
        );
        assert_eq!(of("/proc/meminfo"), some("/proc/meminfo", Class::Behaviour));
        assert_eq!(
            of("/proc/self/mountinfo"),
            some("/proc/PID/mountinfo", Class::Environment)
        );
        assert_eq!(
            of("/proc/cpuinfo"),
            some("/proc/cpuinfo", Class::Environment)
        );
        let possible = "/sys/devices/system/cpu/possible";
        assert_eq!(of(possible), some(possible, Class::Environment));
        assert_eq!(of("/etc/passwd"), None);
        assert_eq!(
            told(
                "lseek(</proc/self/mountinfo>, 0, SEEK_CUR) = 3595",
                "lseek(</proc/self/mountinfo>, 0, SEEK_CUR) = 3624"
            ),
            some("/proc/PID/mountinfo", Class::Environment)
        );
        assert_eq!(
            told(
                "getdents64(3</proc>, <addr>, 32768) = 1848",
                "getdents64(3</proc>, <addr>, 32768) = 1816"
            ),
            some("/proc", Class::Behaviour)
        );
        assert_eq!(
            told(&read("/proc/stat", "1"), &read("/proc/meminfo", "1")),
            None
        );
    }
}
