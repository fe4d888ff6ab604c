//! What stands in memory behind the arguments of calls.
//!
//! The form is that of `strace -X abbrev`, and the layouts are those of the native 64-bit
//! convention. What the kernel fills in is there only when the call has filled it in; where it has
//! not, and where bytes are too few, the address is shown instead, as strace does.

use super::Call;
use super::text::Values;
pub(crate) use message::passed;
use pen::Pen;
pub(crate) use signal::{code_name, code_names};
use site::Site;
use time::{Sense, Unit};
pub use varying::Varying;

mod address;
pub(crate) mod device;
mod event;
mod families;
mod file;
mod file_names;
pub(crate) mod ipc;
mod lock;
mod machine;
mod message;
mod names;
pub(crate) mod netlink;
#[cfg(fuzzing)]
pub use netlink::fuzzed;
mod options;
mod pen;
mod polling;
mod process;
mod program;
mod request;
pub(crate) mod ring;
mod signal;
mod site;
mod size;
mod time;
mod varying;

/// A C structure, or an array of such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StructKind {
    /// `union bpf_attr`, as much of it as the program knows.
    BpfAttributes,
    /// `struct __user_cap_data_struct[2]`.
    Capabilities,
    /// `struct __user_cap_header_struct`.
    CapabilityHeader,
    /// `struct timespec`: what a clock shows.
    Clock,
    /// `int`: what clone(2) writes for the parent, the child's id or a descriptor for it.
    CloneAnswer,
    /// `struct clone_args`, as much of it as the program knows.
    CloneArguments,
    /// A mask of CPUs.
    Cpus,
    /// `int[2]`: the descriptors of a pipe or of a pair of sockets.
    Descriptors,
    /// `struct ifreq`: what is asked of a network device.
    Device,
    /// A path, the zero byte included in its length: what getcwd(2) gives.
    Directory,
    /// `struct perf_event_attr`, as far as its flags.
    EventAttributes,
    /// `struct epoll_event`.
    EpollEvent,
    /// `struct epoll_event[]`.
    EpollEvents,
    /// `fd_set`.
    FdSet,
    /// `struct flock`, as the program gives it.
    FileLock,
    /// `struct flock`, as the kernel answers.
    FileLockOut,
    /// `struct utimbuf`.
    FileTimes,
    /// `struct f_owner_ex`.
    FileOwner,
    /// `struct futex_waitv[]`.
    FutexWaiters,
    /// A number of 32 bits, mostly the id of a user or a group.
    Id,
    /// `gid_t[]`.
    Ids,
    /// `int`.
    Int,
    /// `int`, as the kernel answers.
    IntOut,
    /// `struct iovec[]`; what the first of them point to, where contents are read.
    Iovecs,
    /// `struct itimerspec`.
    Itimerspec,
    /// `struct itimerval`.
    Itimerval,
    /// `struct rlimit`.
    Limits,
    /// `struct msghdr`.
    Message,
    /// `struct mmsghdr[]`.
    Messages,
    /// `struct mount_attr`, as much of it as the program knows.
    MountAttributes,
    /// `loff_t`.
    Offset,
    /// `struct open_how`, as much of it as the program knows.
    OpenHow,
    /// What an operation of `io_uring_register` is given, of which this much is read.
    Registration,
    /// `struct io_uring_params`.
    RingParameters,
    /// What a request of ioctl(2) points to, of which this much is read.
    Request,
    /// `struct winsize`.
    WindowSize,
    /// `struct winsize`, as the kernel answers.
    WindowSizeOut,
    /// `pid_t` of a group of processes or a session.
    Group,
    /// The same, as the kernel answers.
    GroupOut,
    /// `struct msqid64_ds`, `struct semid64_ds` or `struct shmid64_ds`, by the call.
    IpcControl,
    /// `struct file_clone_range`.
    CloneRange,
    /// `struct fiemap`, without the extents behind it.
    ExtentMap,
    /// `struct ifconf`: room for what there is of network devices.
    Devices,
    /// The attributes of a file that ext2 had first (`FS_IOC_GETFLAGS`).
    InodeFlags,
    /// `struct fsxattr`.
    InodeAttributes,
    /// `struct pollfd[]`.
    PollFds,
    /// `struct tms`.
    ProcessTimes,
    /// `struct msgbuf`: the type of a message of System V, and behind it the message.
    QueueMessage,
    /// `struct mq_attr`.
    QueueAttributes,
    /// `struct timespec`: what was left of a sleep that a signal interrupted.
    Remaining,
    /// `struct sched_attr`, as much of it as the program knows.
    ScheduleAttributes,
    /// `struct sembuf[]`.
    SemaphoreOperations,
    /// The kernel's `struct sigaction`, which is not the C library's.
    SignalAction,
    /// `struct sigevent`.
    SignalEvent,
    /// `siginfo_t`.
    SignalInfo,
    /// `int`: a signal, as the kernel answers.
    SignalOut,
    /// `sigset_t`, 64 bits of it.
    SignalSet,
    /// The last argument of `pselect6`: where a set of signals is, and its size.
    SignalSetArgument,
    /// `stack_t`.
    SignalStack,
    /// `struct sockaddr` of any family.
    SocketAddress,
    /// `socklen_t`, which the kernel changes.
    SocketLength,
    /// The value of a socket's option.
    SocketOption,
    /// `struct stat`.
    Stat,
    /// `struct statfs`.
    Statfs,
    /// `struct statx`.
    Statx,
    /// `struct sysinfo`.
    Sysinfo,
    /// `struct new_utsname`.
    SystemName,
    /// `struct termios`, `struct termios2` or `struct termio`, by the request.
    Terminal,
    /// Bytes that are mostly text: a link's target, an attribute's value, a host's name.
    Text,
    /// What `prctl(PR_GET_NAME)` and other options answer, of which this much is read.
    ThreadAnswer,
    /// The name of a thread, as the kernel answers.
    ThreadName,
    /// `struct timeval`: what a clock shows.
    TimeOfDay,
    /// `struct timespec`.
    Timespec,
    /// `struct timespec[2]`: the times of a file.
    Timespecs,
    /// `struct timeval`.
    Timeval,
    /// `struct timeval[2]`: the times of a file.
    Timevals,
    /// `struct rusage`.
    Usage,
    /// `int`: how a child ended or what happened to it.
    WaitStatus,
}

impl StructKind {
    /// Whether it is one number, shown in brackets: `[1]`.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(
            self,
            Self::Id
                | Self::Int
                | Self::IntOut
                | Self::Offset
                | Self::SocketLength
                | Self::SocketOption
        )
    }

    /// Whether it is a text, and compared as that.
    #[must_use]
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Directory)
    }
}

/// Writes what an argument points to, in strace's form; false, and nothing written, where it is not
/// known.
///
/// What the kernel fills in is known only when the call succeeded.
pub fn write_struct(
    out: &mut String,
    kind: StructKind,
    (call, argument): (&Call, usize),
    values: &mut impl Values,
) -> bool {
    let site = Site::new(call, argument);
    whole_or_nothing(out, values, |pen| write(pen, kind, site))
}

/// The bytes of a structure that is a text by itself, and whether there were more; `None` for
/// another one, and where they are not known.
#[must_use]
pub fn text_behind(kind: StructKind, call: &Call, argument: usize) -> Option<(&[u8], bool)> {
    let site = Site::new(call, argument);
    match kind {
        StructKind::Text => file::text(site),
        StructKind::Directory => file::directory(site),
        _ => None,
    }
}

/// The set of signals behind a pointer, a bit each from 1 on; `None` where it is not known.
#[must_use]
pub fn signals_behind(call: &Call, argument: usize) -> Option<u64> {
    Site::new(call, argument).known()?.u64(0)
}

/// Writes what strace shows behind a result: what happened at the descriptors that a call waited
/// for.
pub(super) fn write_result_details(out: &mut String, call: &Call, values: &mut impl Values) {
    let site = Site::new(call, 0);
    whole_or_nothing(out, values, |pen| polling::outcome(pen, site));
}

fn whole_or_nothing<V: Values>(
    out: &mut String,
    values: &mut V,
    write: impl FnOnce(&mut Pen<'_, V>) -> Option<()>,
) -> bool {
    let before = out.len();
    let is_written = write(&mut Pen { out, values }).is_some();
    if !is_written {
        out.truncate(before);
    }
    is_written
}

fn write<V: Values>(pen: &mut Pen<'_, V>, kind: StructKind, site: Site<'_>) -> Option<()> {
    match kind {
        StructKind::BpfAttributes => program::attributes(pen, site),
        StructKind::Capabilities => process::capabilities(pen, site),
        StructKind::CapabilityHeader => process::capability_header(pen, site),
        StructKind::Clock => time::pair(pen, site.known()?, 0, (Unit::Nano, Sense::Point)),
        StructKind::CloneAnswer => process::clone_answer(pen, site),
        StructKind::CloneArguments => process::clone_arguments(pen, site),
        StructKind::Cpus => process::cpus(pen, site),
        StructKind::Descriptors => file::descriptors(pen, site),
        StructKind::Device => device::request(pen, site),
        StructKind::Directory => file::string(pen, file::directory(site)?),
        StructKind::EventAttributes => event::attributes(pen, site),
        StructKind::EpollEvent => polling::epoll_control(pen, site),
        StructKind::EpollEvents => polling::epoll_events(pen, site),
        StructKind::FdSet => polling::set(pen, site),
        StructKind::FileLock => lock::lock(pen, site, false),
        StructKind::FileLockOut => lock::lock(pen, site, true),
        StructKind::FileTimes => time::utimbuf(pen, site),
        StructKind::FileOwner => lock::owner(pen, site),
        StructKind::FutexWaiters => polling::futexes(pen, site),
        StructKind::Id => process::one(pen, site.known()?, true),
        StructKind::Ids => process::ids(pen, site),
        StructKind::IpcControl => ipc::control(pen, site),
        StructKind::CloneRange => request::clone_range(pen, site),
        StructKind::ExtentMap => request::extents(pen, site),
        StructKind::Devices => device::all(pen, site),
        StructKind::Registration => ring::registration(pen, site),
        StructKind::RingParameters => ring::parameters(pen, site),
        StructKind::Group => request::group(pen, site.given_first(4)?),
        StructKind::GroupOut => request::group(pen, site.filled_first(4)?),
        StructKind::InodeFlags => request::inode_flags(pen, site),
        StructKind::InodeAttributes => request::inode_attributes(pen, site),
        StructKind::Request | StructKind::ThreadAnswer => None,
        StructKind::WindowSize => request::window(pen, site.given_first(8)?),
        StructKind::WindowSizeOut => request::window(pen, site.filled_first(8)?),
        // A request of ioctl(2) may have more behind it.
        StructKind::Int => {
            let bytes = site.given_first(4).or_else(|| site.filled_first(4))?;
            process::one(pen, bytes, false)
        }
        StructKind::IntOut => process::one(pen, site.filled_first(4)?, false),
        StructKind::Iovecs => message::iovecs(pen, site),
        StructKind::Itimerspec => time::timer(pen, site, Unit::Nano),
        StructKind::Itimerval => time::timer(pen, site, Unit::Micro),
        StructKind::Limits => process::limits(pen, site),
        StructKind::Message => message::message(pen, site),
        StructKind::Messages => message::messages(pen, site),
        StructKind::MountAttributes => file::mount(pen, site),
        StructKind::Offset => file::offset(pen, site),
        StructKind::OpenHow => file::open_how(pen, site),
        StructKind::PollFds => polling::poll(pen, site),
        StructKind::ProcessTimes => process::times(pen, site),
        StructKind::QueueMessage => ipc::message(pen, site),
        StructKind::QueueAttributes => polling::queue(pen, site),
        StructKind::Remaining => time::remaining(pen, site),
        StructKind::ScheduleAttributes => process::schedule(pen, site),
        StructKind::SemaphoreOperations => polling::semaphores(pen, site),
        StructKind::SignalAction => signal::action(pen, site),
        StructKind::SignalEvent => signal::event(pen, site),
        StructKind::SignalInfo => signal::info(pen, site),
        StructKind::SignalSet => signal::set(pen, site),
        StructKind::SignalSetArgument => signal::set_argument(pen, site),
        StructKind::SignalStack => signal::stack(pen, site),
        StructKind::SocketAddress => address::address(pen, site),
        StructKind::SocketLength => address::length(pen, site),
        StructKind::SocketOption => address::option(pen, site),
        StructKind::Stat => file::stat(pen, site),
        StructKind::Statfs => file::statfs(pen, site),
        StructKind::Statx => file::statx(pen, site),
        StructKind::Sysinfo => machine::memory(pen, site),
        StructKind::SignalOut => signal::one(pen, site),
        StructKind::SystemName => machine::names(pen, site),
        StructKind::Terminal => request::terminal(pen, site),
        StructKind::Text => file::string(pen, file::text(site)?),
        StructKind::ThreadName => process::name(pen, site),
        StructKind::TimeOfDay => time::pair(pen, site.known()?, 0, (Unit::Micro, Sense::Point)),
        StructKind::Timespec => time::known(pen, site, Unit::Nano),
        StructKind::Timespecs => time::of_file(pen, site, Unit::Nano),
        StructKind::Timeval => time::known(pen, site, Unit::Micro),
        StructKind::Timevals => time::of_file(pen, site, Unit::Micro),
        StructKind::Usage => process::usage(pen, site),
        StructKind::WaitStatus => process::wait_status(pen, site),
    }
}

#[cfg(test)]
mod tests;
