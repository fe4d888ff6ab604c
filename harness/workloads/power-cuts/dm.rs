//! The device mapper's calls, as <linux/dm-ioctl.h> has them: a process for each would take most of
//! the time.
#![expect(unsafe_code, reason = "no safe wrapper makes these calls")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;

/// The size of `struct dm_ioctl`, and where its name is.
const HEAD: usize = 312;
const NAME: usize = 48;
const ROOM: usize = 4096;

const CREATE: u8 = 3;
const REMOVE: u8 = 4;
/// Resumes, without the flag `DM_SUSPEND_FLAG`.
const SUSPEND: u8 = 6;
const LOAD: u8 = 9;
const MESSAGE: u8 = 14;

/// The control device.
pub(crate) struct Mapper(File);

impl Mapper {
    pub(crate) fn open() -> io::Result<Self> {
        let mut options = OpenOptions::new();
        Ok(Self(
            options.read(true).write(true).open("/dev/mapper/control")?,
        ))
    }

    /// Makes a device of one target.
    pub(crate) fn create(
        &self,
        name: &str,
        sectors: u64,
        target: &str,
        parameters: &str,
    ) -> io::Result<()> {
        // struct dm_target_spec: start, length, status, next, type; behind it the parameters.
        let mut table = Vec::new();
        table.extend(0_u64.to_ne_bytes());
        table.extend(sectors.to_ne_bytes());
        table.extend([0; 8]);
        let mut kind = target.as_bytes().to_vec();
        kind.resize(16, 0);
        table.extend(kind);
        table.extend(parameters.as_bytes());
        table.push(0);
        table.resize(table.len().next_multiple_of(8), 0);
        self.call(CREATE, name, 0, &[])?;
        self.call(LOAD, name, 1, &table)?;
        self.call(SUSPEND, name, 0, &[])
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        self.call(REMOVE, name, 0, &[])
    }

    /// Sends a message to the target at the beginning of a device.
    pub(crate) fn message(&self, name: &str, message: &str) -> io::Result<()> {
        let sector = 0_u64.to_ne_bytes();
        let data = [&sector[..], message.as_bytes(), &[0]].concat();
        self.call(MESSAGE, name, 0, &data)
    }

    fn call(&self, number: u8, name: &str, targets: u32, data: &[u8]) -> io::Result<()> {
        let mut bytes = vec![0; ROOM];
        let size = u32::try_from(ROOM).unwrap_or(0);
        let head = u32::try_from(HEAD).unwrap_or(0);
        // Version 4.0.0, the size of all, the offset of the data, the number of targets.
        let words = [4, 0, 0, size, head, targets];
        let words: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
        for (at, part) in [(0, words.as_slice()), (NAME, name.as_bytes()), (HEAD, data)] {
            let room = bytes.get_mut(at..at + part.len());
            room.ok_or(io::ErrorKind::InvalidInput)?
                .copy_from_slice(part);
        }
        // _IOWR(0xfd, number, struct dm_ioctl)
        let request = 0xc138_fd00 | libc::c_ulong::from(number);
        // SAFETY: the kernel reads and writes at most as many bytes as the fourth word says, which
        // is the length of the buffer.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), request, bytes.as_mut_ptr()) };
        match done {
            0.. => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
