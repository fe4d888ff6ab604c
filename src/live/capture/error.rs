//! Why memory cannot be read.

use crate::host::HostError;
use std::io;

/// Why memory cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// A map or an attachment was refused.
    #[error("cannot {doing} (bpf(2))")]
    System {
        /// What was being done.
        doing: &'static str,
        /// The error of `bpf(2)`.
        source: io::Error,
    },
    /// A program was refused.
    #[error("the kernel refuses the BPF program for `{name}`{}", verifier(log))]
    Refused {
        /// The tracepoint that it is for.
        name: &'static str,
        /// The end of the verifier's log.
        log: String,
        /// The error of loading the program.
        source: io::Error,
    },
    /// As many runs as there is room for are captured already.
    #[error("more runs at a time than there is room for in the BPF programs' maps")]
    Full,
    /// A tracepoint that is needed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A tracepoint's record lacks a field, or a program does not fit: not a kernel that this build
    /// knows.
    #[error("cannot read memory with BPF on this kernel: {what}")]
    Shape {
        /// What is wrong.
        what: &'static str,
    },
}

impl CaptureError {
    pub(super) fn is_for_lack_of_rights(&self) -> bool {
        match self {
            Self::System { source, .. } | Self::Refused { source, .. } => {
                source.raw_os_error() == Some(libc::EPERM)
            }
            Self::Host(_) | Self::Full | Self::Shape { .. } => false,
        }
    }

    /// Whether this process or the machine had too little left at that moment: that says nothing of
    /// what the kernel allows.
    #[must_use]
    pub fn is_for_want_of_resources(&self) -> bool {
        let error = match self {
            Self::System { source, .. } | Self::Refused { source, .. } => source,
            Self::Host(HostError::Read { source, .. }) => source.as_ref(),
            Self::Host(_) | Self::Full | Self::Shape { .. } => return false,
        };
        let wants = [libc::EAGAIN, libc::EMFILE, libc::ENFILE, libc::ENOMEM];
        error
            .raw_os_error()
            .is_some_and(|error| wants.contains(&error))
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let rights = "reading strings takes BPF: run as root, or give the program cap_bpf and cap_perfmon \
                      (before Linux 5.11 cap_sys_resource as well, for its RLIMIT_MEMLOCK); a kernel under lockdown=confidentiality refuses it to every user";
        self.is_for_lack_of_rights().then(|| rights.to_owned())
    }
}

fn verifier(log: &str) -> String {
    if log.is_empty() {
        String::new()
    } else {
        format!("; its verifier says:\n{log}\n")
    }
}
