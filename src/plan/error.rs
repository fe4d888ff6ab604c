//! Why an author's names are no plan.

use super::filter::FilterError;
use crate::host::HostError;
use crate::syscall::select::UnknownWord;

/// Why names are no plan; `at` is the place in the list of wants, and within it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EventsError {
    /// No such call, glob or class.
    #[error("unknown system call `{}`", .unknown.word)]
    Syscall {
        /// The want's place, and the word's within it.
        at: (usize, usize),
        /// The word, and what comes near.
        unknown: UnknownWord,
    },
    /// No such tracepoint.
    #[error("this kernel has no tracepoint `{name}`")]
    Tracepoint {
        /// The want's place.
        at: usize,
        /// As written.
        name: String,
        /// The nearest that there is.
        nearest: Option<String>,
    },
    /// No such operation of io_uring.
    #[error("io_uring has no operation `{name}`")]
    Operation {
        /// The want's place.
        at: usize,
        /// As written.
        name: String,
        /// The nearest that there is.
        nearest: Option<String>,
    },
    /// The text is no event's name at all.
    #[error("`{name}` is no event: a tracepoint is named `system:name`")]
    NoEvent {
        /// The want's place.
        at: usize,
        /// As written.
        name: String,
    },
    /// The filter cannot be.
    #[error("the filter of `{name}` is wrong")]
    Filter {
        /// The want's place.
        at: usize,
        /// The event.
        name: String,
        /// Why.
        source: FilterError,
    },
    /// The host could not be asked.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A tracepoint of the kernel's own has not the fields that it always had.
    #[error("`{name}` has no field `{field}` of the known form on this kernel")]
    Shape {
        /// The tracepoint.
        name: &'static str,
        /// The field.
        field: &'static str,
    },
}
