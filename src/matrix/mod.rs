//! The same programs on other kernels, each in a virtual machine of its own.
//!
//! ```text
//! the list of kernels -> Place::get (fetched once) -> Kernel --+
//! modules, this program, orders -> an initramfs ---------------+--> guest::run: QEMU
//!                                                                       |  virtio serial: frames
//! the host's files by 9p ------------------> init (pid 1 in the guest) -+
//! a root of its own: a folder, or unpacked (files) -> by 9p, or in the initramfs (pack);
//!   an ext4 -> a disk
//! ```
//!
//! No rights, no image and no KVM are needed: a guest is QEMU as any user may run it, its root is
//! the host's, or a folder of it, read as this user may.

mod bisect;
mod cache;
mod cell;
mod config;
mod cpio;
mod fetch;
mod files;
mod formats;
mod frame;
#[cfg(fuzzing)]
mod fuzzed;
mod guest;
mod hardware;
mod image;
mod init;
mod initramfs;
mod job;
mod kernel;
mod kvm;
mod modules;
mod no_kernel;
mod options;
mod pack;
mod packed;
mod port;
mod relay;
mod renames;
mod results;
mod root;
mod steps;
mod talk;
mod trouble;
mod variants;
mod why;
mod work;

pub use bisect::{Bisected, Bisection, Found, Tried};
pub use cache::CacheError;
pub use cell::Cell;
pub use fetch::FetchError;
pub use files::{ImageError, RootError, TarError, TreeError};
pub use formats::{Change, EventChange, EventField, EventFormats, FieldChange, FormatsError};
#[cfg(fuzzing)]
pub use fuzzed::fuzzed;
pub use guest::{Heard, Machine, Stop, qemu, run};
pub use init::init;
pub use initramfs::{INIT_COMMAND, OwnFileError};
pub use job::Job;
pub use kernel::{Kernel, Place};
pub use modules::ModuleError;
pub use no_kernel::KernelError;
pub use options::fragment;
pub use pack::PackError;
pub use results::{Column, Difference, Matrix};
pub use steps::{Explained, Seen, Step};
pub use trouble::{Console, GuestError};
pub use variants::{Settled, Told, settle};
pub use why::{Printed, Trouble};

/// The name of the port over which a guest speaks.
const PORT: &str = "harness";

/// The variable by which `harness run` is told how much longer scenarios may take.
const TIMES: &str = "HARNESS_PATIENCE";

/// How much longer scenarios may take in an emulated guest. The kernel passes on unknown words of
/// its command line as init's environment.
const SLOWER: u32 = 6;

/// The tag of the host's root.
const ROOT: &str = "root";

/// Where the initramfs has modules and orders.
const MODULES: &str = "/vm/modules";
const ORDERS: &str = "/vm/orders";

/// The serial number of the disk that holds a guest's files.
const DISK: &str = "harness-root";

/// What is laid into a guest's memory last: where it is, all is.
const WHOLE: &str = "/vm/whole";

/// Where the host's root is until the guest's is entered.
const HOST: &str = "/lower";
