//! How much is read of a structure.

use super::StructKind;

impl StructKind {
    /// Its size in bytes; of an array that of an element; 1 where the call tells the size in bytes.
    #[must_use]
    pub const fn size(self) -> u16 {
        let is_x86 = cfg!(target_arch = "x86_64");
        match self {
            Self::BpfAttributes
            | Self::CloneArguments
            | Self::Cpus
            | Self::Directory
            | Self::MountAttributes
            | Self::OpenHow
            | Self::ScheduleAttributes
            | Self::SocketAddress
            | Self::SocketOption
            | Self::Text => 1,
            Self::CloneAnswer | Self::Id | Self::Ids | Self::Int | Self::IntOut => 4,
            Self::Group | Self::GroupOut | Self::InodeFlags | Self::SignalOut => 4,
            Self::FileOwner | Self::WindowSize | Self::WindowSizeOut => 8,
            Self::ThreadAnswer | Self::ThreadName => 16,
            Self::InodeAttributes => 28,
            Self::CloneRange | Self::ExtentMap => 32,
            Self::Devices => 16,
            // Of the arrays a part.
            Self::Registration => 256,
            Self::RingParameters => 120,
            Self::Device => 40,
            // The longest of them.
            Self::Request | Self::Terminal => 44,
            // The longest of them.
            Self::IpcControl => 120,
            Self::SocketLength | Self::WaitStatus => 4,
            Self::SemaphoreOperations => 6,
            Self::CapabilityHeader | Self::Descriptors | Self::PollFds => 8,
            Self::Offset | Self::QueueMessage | Self::SignalSet => 8,
            // Packed on x86_64, so that its layout is that of 32-bit programs.
            Self::EpollEvent | Self::EpollEvents if is_x86 => 12,
            Self::EpollEvent | Self::EpollEvents => 16,
            Self::Clock | Self::Remaining | Self::Timespec => 16,
            Self::TimeOfDay | Self::Timeval => 16,
            Self::FileTimes | Self::Iovecs | Self::Limits | Self::SignalSetArgument => 16,
            Self::Capabilities | Self::FutexWaiters | Self::SignalStack => 24,
            Self::FileLock | Self::FileLockOut | Self::ProcessTimes | Self::SignalAction => 32,
            Self::Itimerspec | Self::Itimerval | Self::Timespecs | Self::Timevals => 32,
            Self::Message => 56,
            Self::Messages | Self::QueueAttributes | Self::SignalEvent => 64,
            Self::Sysinfo => 112,
            Self::Statfs => 120,
            Self::FdSet | Self::SignalInfo => 128,
            Self::Stat if is_x86 => 144,
            Self::Stat => 128,
            Self::Usage => 144,
            Self::EventAttributes => 48,
            Self::Statx => 256,
            Self::SystemName => 390,
        }
    }
}
