//! Why there is no running workload, and what can be done about it.

use super::NotExecuted;
use crate::gate::TooLong;
use crate::sys::process::{Stage, Step};
use std::io;

/// Why there is no running workload.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A descriptor for standard input or output.
    #[error("cannot prepare the workload's input and output")]
    Stdio(#[source] io::Error),
    /// `clone3(2)`.
    #[error("cannot start a process for the workload{}", if *.namespace { " in a pid namespace of its own" } else { "" })]
    Fork {
        /// Whether it was to live in a namespace.
        namespace: bool,
        /// The error of `clone3(2)`.
        source: io::Error,
    },
    /// A step of laying out its world.
    #[error("the sandbox could not be made: it failed while {step}")]
    Step {
        /// The step.
        step: Box<Step>,
        /// The error of the step.
        source: io::Error,
    },
    /// The ids of its user namespace.
    #[error("cannot map the ids of the workload's user namespace")]
    Map(#[source] io::Error),
    /// A step between the start of the process and its `execve(2)`.
    #[error("the workload's process failed while {}", doing(*.stage))]
    Stage {
        /// The step.
        stage: Stage,
        /// The error of the step.
        source: io::Error,
    },
    /// `execve(2)` itself.
    #[error(transparent)]
    NotExecuted(#[from] NotExecuted),
    /// The process was gone before it could execute anything.
    #[error("the workload's process was killed before it could execute anything")]
    Vanished,
    /// It did not get as far in time.
    #[error("the workload's process did not reach its program in time")]
    TimedOut,
    /// What holds its calls for faults did not come.
    #[error("the workload's calls could not be held for its faults")]
    Gate(#[source] io::Error),
    /// The filter of its policy.
    #[error("the policy cannot be enforced")]
    Policy(#[from] TooLong),
    /// A pipe to it broke.
    #[error("cannot talk to the workload's process")]
    Pipe(#[source] io::Error),
}

impl LaunchError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotExecuted(error) => error.hint(),
            _ => self.remedy().map(str::to_owned),
        }
    }

    /// Whether the user or the machine lacks what a sandbox takes: nothing was executed.
    #[must_use]
    pub fn is_of_rights(&self) -> bool {
        self.remedy().is_some()
    }

    /// How to get the right that is missing.
    fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Fork {
                namespace: true,
                source,
            } if source.raw_os_error() == Some(libc::EPERM) => Some(crate::host::HOW_TO_GET_RIGHTS),
            Self::Step { step, source } if source.raw_os_error() == Some(libc::EPERM) => {
                // `new_idmap_permitted()`, kernel/user_namespace.c, since 5.12; `create_user_ns()`.
                let of_step = match &**step {
                    Step::Write(file, _) if file.as_bytes() == super::world::USERS.as_bytes() => {
                        "add CAP_SETFCAP, by which root's id may be in a user namespace, or run it as a user other than root"
                    }
                    Step::Unshare(_) => {
                        "in a chroot there are no user namespaces: use a container, or pivot_root"
                    }
                    _ => return None,
                };
                Some(of_step)
            }
            _ => None,
        }
    }
}

fn doing(stage: Stage) -> &'static str {
    match stage {
        Stage::Step(_) => "laying out its world",
        Stage::Descriptors => "putting its descriptors in place",
        Stage::Signals => "resetting its signals",
        Stage::Session => "starting its session",
        Stage::User => "becoming the user that it runs as",
        Stage::Directory => "changing to its working directory",
        Stage::Personality => "switching address space randomisation off",
        Stage::Fork => "forking",
        Stage::Exec => "executing its program",
        Stage::Limits => "setting its limits",
        Stage::Gate => "having its calls held for faults",
        Stage::Policy => "having its calls refused by the policy",
        Stage::Rules => "being kept to the rules of its policy",
    }
}
