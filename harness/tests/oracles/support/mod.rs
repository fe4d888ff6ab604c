//! The witnesses, and what they have in common.

pub(crate) mod calls;
pub(crate) mod command;
pub(crate) mod compiler;
pub(crate) mod harness;
pub(crate) mod numbers;
pub(crate) mod oracle;
pub(crate) mod perf;
pub(crate) mod require;
pub(crate) mod spoken;
pub(crate) mod strace;
