//! Why a probe cannot be.

use crate::host::HostError;
use std::io;
use std::path::PathBuf;

/// Why a probe cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The program or library.
    #[error("cannot use `{path}`")]
    File {
        /// The program or library.
        path: PathBuf,
        /// The reason.
        source: ElfError,
    },
    /// An argument.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The kernel does not take it.
    #[error("the kernel refuses it: {said}{}", at_caret(.caret))]
    Refused {
        /// What it says.
        said: String,
        /// The arguments, and how many characters stand before what it refuses.
        caret: Option<(String, usize)>,
    },
    /// As above, and it may be for a parameter of the kernel's own.
    #[error(
        "the kernel refuses it: {said}{}\n  it knows the parameters of its functions by their names from Linux 6.6 on: before, write where one is, \
         as in path=%di:x64",
        at_caret(.caret)
    )]
    RefusedName {
        /// What it says.
        said: String,
        /// As above.
        caret: Option<(String, usize)>,
    },
    /// The kernel does not take it and does not say why.
    #[error("the kernel refuses it")]
    Unexplained(#[source] io::Error),
    /// The program or library cannot be mapped, or the mapping cannot be recorded.
    #[error("cannot look how `{path}` is mapped")]
    Mapped {
        /// The program or library.
        path: PathBuf,
        /// The error of doing it.
        source: io::Error,
    },
    /// The event that has it in every process that maps the file cannot be opened.
    #[error("cannot open an event of all processes, without which the kernel forgets a probe")]
    Everywhere(#[source] io::Error),
    /// The janitor that removes it could not be started.
    #[error("cannot start the janitor, which removes probes when the harness is killed")]
    Janitor(#[source] io::Error),
    /// The lock by which others see that it is in use.
    #[error("cannot lock the list of probes")]
    Lock(#[source] io::Error),
    /// The list of probes, or the event's format.
    #[error(transparent)]
    Host(#[from] HostError),
    /// What the kernel made of it.
    #[error("cannot understand the format of its event")]
    Format(#[source] perf_records::format::FormatError),
}

fn at_caret(caret: &Option<(String, usize)>) -> String {
    match caret {
        Some((text, at)) => format!("\n  {text}\n  {:at$}^", ""),
        None => String::new(),
    }
}

/// Why a parameter cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// The function's parameters are not known.
    #[error(
        "the parameter `{name}` is not known, as there is no debugging information of the function: write where it is, as in `{name}=%di:u64`, or `{name}=+0(%di):ustring`"
    )]
    NoInformation {
        /// As written.
        name: String,
    },
    /// It is no place where a function begins.
    #[error(
        "the parameter `{name}` is where the calling convention puts it only where the function begins"
    )]
    NotAtEntry {
        /// As written.
        name: String,
    },
    /// The function has no such parameter.
    #[error("the function has no parameter `{name}`: it has {}", listed(.known))]
    NoParameter {
        /// As written.
        name: String,
        /// The names of its parameters.
        known: Vec<String>,
    },
    /// No probe reads it.
    #[error("the parameter `{name}` is {why}")]
    Unreadable {
        /// As written.
        name: String,
        /// The reason.
        why: &'static str,
    },
    /// It has no register of its own.
    #[error("`$arg{number}` is in no register: `$stack1` is the first that is passed on the stack")]
    NoRegister {
        /// Its number.
        number: usize,
    },
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

/// Why a place in a program or library is not found.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    /// It cannot be read.
    #[error("cannot read it")]
    Read(#[source] io::Error),
    /// It is not there when the workload is started.
    #[error("it is not among the `files` of the workload that are taken from a file")]
    NotLaidOut,
    /// It is none.
    #[error("it is no program or library of this machine: {0}")]
    NoElf(String),
    /// It has no such function.
    #[error("it has no function `{name}`{}", more(.nearest))]
    NoSymbol {
        /// As written.
        name: String,
        /// What comes near.
        nearest: Option<String>,
    },
    /// It has no symbols at all.
    #[error("it has no symbols, and no file with debugging information was found for it (build id {})", .build_id.as_deref().unwrap_or("missing"))]
    NoSymbols {
        /// What that file would be found by.
        build_id: Option<String>,
    },
    /// It only uses it.
    #[error("it calls `{name}` and does not have it: name the library that does")]
    Imported {
        /// As written.
        name: String,
    },
    /// It is no code.
    #[error("`{name}` is no function but data")]
    Data {
        /// As written.
        name: String,
    },
    /// What is called is chosen when the program starts.
    #[error("`{name}` only chooses a function when the program starts (`STT_GNU_IFUNC`){}", one_of(.functions))]
    Chooser {
        /// As written.
        name: String,
        /// What it may choose.
        functions: Vec<String>,
    },
    /// There are several.
    #[error("it has several functions `{name}`: {}", .places.join(", "))]
    Several {
        /// As written.
        name: String,
        /// Each with its offset.
        places: Vec<String>,
    },
    /// It is not within the function.
    #[error("`{name}` has {size} bytes, so that there is no {offset:#x} in it")]
    Beyond {
        /// The function.
        name: String,
        /// Its length.
        size: u64,
        /// As written.
        offset: u64,
    },
    /// It is within nothing that is executed.
    #[error("nothing is executed at {offset:#x}")]
    NoCode {
        /// As written, or found.
        offset: u64,
    },
}

fn more(nearest: &Option<String>) -> String {
    let near = nearest.as_ref();
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

fn one_of(functions: &[String]) -> String {
    match functions {
        [] => String::new(),
        some => format!(": probe one of {}", some.join(", ")),
    }
}
