//! What is to be read of the memory behind the arguments of calls, and by whom.

/// Who reads the strings that calls are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StringSource {
    /// A BPF program; where none is allowed the kernel's own tracepoints, as far as they hold strings; else nobody.
    #[default]
    Auto,
    /// A BPF program, or the run is refused.
    Bpf,
    /// The kernel's own tracepoints, from Linux 6.19 on, or the run is refused.
    Kernel,
    /// Nobody: each string is shown as unread, and nothing else is read either.
    None,
}

/// What is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Who reads.
    pub strings: StringSource,
    /// How many bytes of the buffers of `read(2)`, `write(2)` and their like, at most; 0 for none.
    pub contents: u16,
    /// Whether calls get the absolute paths that they name, which takes following of working directories.
    pub paths: bool,
}
