//! Numbers that are not the same from run to run.

/// What a number is that varies from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Varying {
    /// A point in time, by any clock: seconds, or the fraction of a second. Of clocks, of files, of
    /// timeouts that are none of length.
    Time,
    /// A length of time that the kernel measured: what was left of a timeout, how long a process
    /// ran.
    Duration,
    /// The size of a file in bytes (`st_size`, `stx_size`).
    Size,
    /// A port, given by the program or chosen by the kernel.
    Port,
    /// What is so on this machine now: of a file system its blocks, files and id, of the memory how
    /// much is free, of a device its traffic and its address, of a socket its inode.
    Machine,
    /// Eight bytes that the program keeps in the kernel for itself (`epoll_event.data`), of which
    /// more than four are not zero: an address, or four bytes beside which the stack held
    /// something. The number by which it tells the answer to a message (`nlmsg_seq`).
    Cookie,
}
