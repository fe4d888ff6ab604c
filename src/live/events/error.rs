//! Why an event is not open, and what can be done about it.

use perf_records::record::TableError;
use perf_records::units::{Cpu, excerpt};
use std::io;

/// What to do where the machine has no counter for an event.
const NO_COUNTER: &str = "this machine has no counter for it: a virtual machine has those of a processor (a PMU) only where its host gives them \
    (QEMU: -cpu host,pmu=on), and not every processor has each; `harness doctor` says which sources of events there are";

/// So many characters of a filter are said, which may have thousands.
const MOST_OF_A_FILTER: usize = 120;

/// Why an event is not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// `perf_event_open(2)`.
    #[error("cannot open `{event}`")]
    Open {
        /// Its name.
        event: String,
        /// The error of the call.
        source: io::Error,
    },
    /// The ring.
    #[error("cannot map a ring of {kib} KiB for CPU {}", cpu.0)]
    Ring {
        /// Its CPU.
        cpu: Cpu,
        /// Its size.
        kib: usize,
        /// The error of `mmap(2)`.
        source: io::Error,
    },
    /// Sending the event's records to its CPU's ring, or asking for its id.
    #[error("cannot connect `{event}` to its ring")]
    Connect {
        /// Its name.
        event: String,
        /// The error of `ioctl(2)`.
        source: io::Error,
    },
    /// The kernel refused the filter.
    #[error(
        "the kernel refused the filter `{}` of `{event}`",
        excerpt(filter, MOST_OF_A_FILTER)
    )]
    Filter {
        /// The event's name.
        event: String,
        /// The filter.
        filter: String,
        /// The error of `ioctl(2)`.
        source: io::Error,
    },
    /// The event can only be counted for a control group, and there is none.
    #[error(
        "`{event}` is not delivered to the events of a task by every kernel, and there is no control group to count it for"
    )]
    NeedsGroup {
        /// Its name.
        event: String,
    },
    /// The event counts for no task.
    #[error("`{event}` counts for the whole machine, and cannot count for single tasks")]
    OfEverybody {
        /// Its name.
        event: String,
    },
    /// The kernel does not start the event.
    #[error("cannot enable `{event}`")]
    Enable {
        /// Its name.
        event: String,
        /// The error of `ioctl(2)`.
        source: io::Error,
    },
    /// The records of the events could not be told apart.
    #[error("the events do not fit into one stream")]
    Table(#[from] TableError),
}

impl OpenError {
    /// Whether the task is gone that the event was to follow.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Open { source, .. } if source.raw_os_error() == Some(libc::ESRCH))
    }

    /// Whether the machine has nothing that counts such an event.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        use libc::{ENODEV, ENOENT, ENXIO, EOPNOTSUPP};
        let error = match self {
            Self::Open { source, .. } => source.raw_os_error(),
            _ => None,
        };
        matches!(error, Some(ENOENT | EOPNOTSUPP | ENODEV | ENXIO))
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open { source, .. } => match source.raw_os_error() {
                Some(libc::EACCES | libc::EPERM) => Some(format!(
                    "{}; in a container also allow perf_event_open in its seccomp profile",
                    crate::host::HOW_TO_GET_RIGHTS
                )),
                _ if self.is_absent() => Some(NO_COUNTER.to_owned()),
                Some(libc::ENOSPC) => Some(
                    "the processor has no register left for it: of breakpoints there are four on x86, for all of the machine's tracers".to_owned(),
                ),
                Some(libc::EINVAL) => Some(
                    "the kernel gives no reason; sources that cannot tell modes apart (msr) take no modifiers, and have no samples".to_owned(),
                ),
                Some(libc::EMFILE) => {
                    Some("raise the limit of open files: ulimit -n 65536".to_owned())
                }
                Some(libc::EOVERFLOW) => Some(
                    "call chains are at most kernel.perf_event_max_stack frames deep: lower max-stack, or raise that".to_owned(),
                ),
                Some(libc::ENOSYS) => {
                    Some("this kernel has no perf events (CONFIG_PERF_EVENTS)".to_owned())
                }
                _ => None,
            },
            Self::OfEverybody { .. } => Some("count for the whole machine: -a".to_owned()),
            Self::NeedsGroup { .. } => Some(
                "mount the version 2 hierarchy of control groups (mount -t cgroup2 none DIR) and run as root; \
                 version 1 must not have taken its perf_event controller"
                    .to_owned(),
            ),
            Self::Ring { source, .. } if source.raw_os_error() == Some(libc::EPERM) => Some(
                "use a smaller ring, raise kernel.perf_event_mlock_kb, or run as root".to_owned(),
            ),
            _ => None,
        }
    }

    /// Whether it is a missing right and not a mistake.
    #[must_use]
    pub fn is_permission(&self) -> bool {
        matches!(self, Self::Open { source, .. } if matches!(source.raw_os_error(), Some(libc::EACCES | libc::EPERM | libc::ENOSYS)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_filter_that_the_kernel_refuses_is_shortened() {
        let said = |filter: String| {
            let (event, source) = ("a:b".to_owned(), io::Error::from_raw_os_error(libc::EINVAL));
            let error = OpenError::Filter {
                event,
                filter,
                source,
            };
            crate::errors::chain(&error)
        };
        assert_eq!(
            said("id==1".to_owned()),
            "the kernel refused the filter `id==1` of `a:b`: invalid argument"
        );
        let long = said("id==1||".repeat(3000));
        assert!(
            long.len() < 250 && long.contains("... (21000 bytes)` of `a:b`"),
            "{long}"
        );
    }
}
