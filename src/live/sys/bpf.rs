//! `bpf(2)`: maps, programs and raw tracepoints.

mod arrays;

use super::check;
use super::rights::{self, Right};
use std::cell::UnsafeCell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

// enum bpf_cmd, include/uapi/linux/bpf.h.
const MAP_CREATE: libc::c_int = 0;
const MAP_LOOKUP_ELEM: libc::c_int = 1;
const MAP_UPDATE_ELEM: libc::c_int = 2;
const MAP_DELETE_ELEM: libc::c_int = 3;
const PROG_LOAD: libc::c_int = 5;
const RAW_TRACEPOINT_OPEN: libc::c_int = 17;
const MAP_UPDATE_BATCH: libc::c_int = 26;

/// What a map is (`enum bpf_map_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// A hash table.
    Hash = 1,
    /// An array, whose keys are the numbers below its size.
    Array = 2,
    /// An array of programs that others go on with.
    ProgramArray = 3,
    /// An array of events to write records to.
    PerfEventArray = 4,
    /// An array of which every CPU has its own.
    PerCpuArray = 6,
    /// An array of maps.
    ArrayOfMaps = 12,
}

/// What a program may be attached to (`enum bpf_prog_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// The event of a tracepoint; it sees the tracepoint's record.
    Tracepoint = 5,
    /// A tracepoint itself; it sees the arguments of the call in the kernel's source.
    RawTracepoint = 17,
}

/// A map; gone with its last descriptor and the last program that uses it.
#[derive(Debug)]
pub struct Map {
    fd: OwnedFd,
    key_size: usize,
    value_size: usize,
}

#[repr(C)]
#[derive(Default)]
struct MapAttr {
    kind: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    flags: u32,
    inner: u32,
}

#[repr(C)]
struct ElemAttr {
    fd: u32,
    pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct BatchAttr {
    from: u64,
    to: u64,
    keys: u64,
    values: u64,
    count: u32,
    fd: u32,
    element_flags: u64,
    flags: u64,
}

#[repr(C)]
struct ProgramAttr {
    kind: u32,
    n_instructions: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
}

#[repr(C)]
struct RawTracepointAttr {
    name: u64,
    program: u32,
    pad: u32,
}

/// # Safety
/// `attr` must be what the command expects, a cell where the command writes into it, and every
/// pointer in it must be good for what the command does with it.
unsafe fn bpf<T>(command: libc::c_int, attr: &T) -> io::Result<libc::c_long> {
    let attr: *const T = attr;
    // SAFETY: the kernel reads `size` bytes of attr; the caller answers for the pointers in it.
    rights::with(&[Right::Bpf, Right::Perfmon, Right::SysAdmin], || unsafe {
        check(libc::syscall(libc::SYS_bpf, command, attr, size_of::<T>()))
    })
}

/// # Safety
/// `fd` must be a descriptor that the kernel has just returned and that has no other owner.
unsafe fn own(fd: libc::c_long) -> OwnedFd {
    // SAFETY: the caller's promise.
    unsafe { OwnedFd::from_raw_fd(fd as i32) }
}

impl Map {
    /// Creates a map. Before Linux 5.11 its memory counts against `RLIMIT_MEMLOCK`.
    ///
    /// # Errors
    /// `EPERM` without `CAP_BPF` (`CAP_SYS_ADMIN` before Linux 5.8) or above that limit, `ENOMEM`.
    pub fn create(
        kind: MapKind,
        key_size: usize,
        value_size: usize,
        max_entries: u32,
    ) -> io::Result<Self> {
        Self::make(&MapAttr {
            kind: kind as u32,
            key_size: key_size as u32,
            value_size: value_size as u32,
            max_entries,
            ..MapAttr::default()
        })
    }

    fn make(attr: &MapAttr) -> io::Result<Self> {
        // SAFETY: no pointers.
        let fd = unsafe { bpf(MAP_CREATE, attr) }?;
        // SAFETY: a new descriptor.
        let fd = unsafe { own(fd) };
        Ok(Self {
            fd,
            key_size: attr.key_size as usize,
            value_size: attr.value_size as usize,
        })
    }

    /// The size of a value in bytes.
    #[must_use]
    pub fn value_size(&self) -> usize {
        self.value_size
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// `InvalidInput` where the sizes are not those of the map, `E2BIG` where it is full.
    pub fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        if key.len() != self.key_size || value.len() != self.value_size {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let attr = self.element(key, value.as_ptr() as u64);
        // SAFETY: the kernel reads key_size and value_size bytes, which the slices have. (A per-CPU
        // map's value would be larger: `get` and `set` are for the other maps only.)
        unsafe { bpf(MAP_UPDATE_ELEM, &attr) }.map(drop)
    }

    /// Sets the values of many keys, which stand one behind the other as their values do.
    ///
    /// # Errors
    /// `InvalidInput` where the sizes are not those of the map; some may be set then.
    ///
    /// # References
    /// `generic_map_update_batch()`, `kernel/bpf/syscall.c`, Linux 5.6.
    pub fn set_all(&self, keys: &[u8], values: &[u8]) -> io::Result<()> {
        let count = keys.len() / self.key_size;
        let sizes = (count * self.key_size, count * self.value_size);
        if sizes != (keys.len(), values.len()) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if count == 0 {
            return Ok(());
        }
        let attr = UnsafeCell::new(BatchAttr {
            from: 0,
            to: 0,
            keys: keys.as_ptr() as u64,
            values: values.as_ptr() as u64,
            count: u32::try_from(count).map_err(|_| io::ErrorKind::InvalidInput)?,
            fd: self.fd.as_raw_fd() as u32,
            element_flags: 0,
            flags: 0,
        });
        // SAFETY: the kernel reads that many keys and values, which the slices have, as for `set`.
        // It writes how many it took into the attr, which is a cell.
        unsafe { bpf(MAP_UPDATE_BATCH, &attr) }.map(drop)
    }

    /// The value of a key, written into `value`; false where there is none.
    ///
    /// # Errors
    /// `InvalidInput` where the sizes are not those of the map.
    pub fn get(&self, key: &[u8], value: &mut [u8]) -> io::Result<bool> {
        if key.len() != self.key_size || value.len() != self.value_size {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let attr = self.element(key, value.as_mut_ptr() as u64);
        // SAFETY: the kernel reads key_size bytes and writes value_size bytes, which the slices
        // have.
        match unsafe { bpf(MAP_LOOKUP_ELEM, &attr) } {
            Ok(_) => Ok(true),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes a key out; one that is not there is no error.
    ///
    /// # Errors
    /// `InvalidInput` where the size is not that of the map.
    pub fn remove(&self, key: &[u8]) -> io::Result<()> {
        if key.len() != self.key_size {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let attr = self.element(key, 0);
        // SAFETY: the kernel reads key_size bytes, which the slice has.
        match unsafe { bpf(MAP_DELETE_ELEM, &attr) } {
            Err(error) if error.raw_os_error() != Some(libc::ENOENT) => Err(error),
            _ => Ok(()),
        }
    }

    /// Puts an event into an array of events, a program into an array of programs, or a map into
    /// an array of maps. The last waits until every program is done that may use the map that was
    /// there (`maybe_wait_bpf_programs()`).
    ///
    /// # Errors
    /// Those of `bpf(2)`.
    pub fn put(&self, place: u32, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        self.set(&place.to_ne_bytes(), &descriptor.as_raw_fd().to_ne_bytes())
    }

    fn element(&self, key: &[u8], value: u64) -> ElemAttr {
        ElemAttr {
            fd: self.fd.as_raw_fd() as u32,
            pad: 0,
            key: key.as_ptr() as u64,
            value,
            flags: 0,
        }
    }
}

impl AsFd for Map {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A program that the kernel would not take, and what its verifier says.
#[derive(Debug)]
pub struct Refused {
    /// `EPERM` without the right, `EINVAL` or `EACCES` from the verifier.
    pub error: io::Error,
    /// The end of the verifier's log; empty where it was not asked.
    pub log: String,
}

/// How many lines of the verifier's log are shown.
const LOG_LINES: usize = 12;

/// Loads a program. It is gone with its last descriptor, once nothing is attached to it.
///
/// # Errors
/// [`Refused`].
pub fn load(kind: ProgramKind, instructions: &[u64]) -> Result<OwnedFd, Refused> {
    let error = match undisturbed(|| try_load(kind, instructions, &mut [])) {
        Ok(fd) => return Ok(fd),
        Err(error) => error,
    };
    let is_verifier = matches!(
        error.raw_os_error(),
        Some(libc::EINVAL | libc::EACCES | libc::E2BIG)
    );
    let mut log = vec![0; 1 << 20];
    // The same again, for the reason.
    let mut with_log = || try_load(kind, instructions, &mut log);
    if is_verifier && let Ok(fd) = undisturbed(&mut with_log) {
        return Ok(fd);
    }
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(log.get(..end).unwrap_or_default());
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(LOG_LINES);
    Err(Refused {
        error,
        log: lines.get(last..).unwrap_or_default().join("\n"),
    })
}

/// How often a load is tried that signals disturb.
const TRIES: usize = 100;

/// Loads again where the verifier has given up for a signal, which says nothing of the program. The
/// signal has come by then: it is delivered as the call returns, also one that stops the process.
///
/// # References
/// `signal_pending()` in `do_check()`, `kernel/bpf/verifier.c`.
fn undisturbed(mut load: impl FnMut() -> io::Result<OwnedFd>) -> io::Result<OwnedFd> {
    let mut loaded = load();
    for _ in 1..TRIES {
        match &loaded {
            Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => loaded = load(),
            _ => break,
        }
    }
    loaded
}

fn try_load(kind: ProgramKind, instructions: &[u64], log: &mut [u8]) -> io::Result<OwnedFd> {
    let attr = ProgramAttr {
        kind: kind as u32,
        n_instructions: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        license: c"Dual MIT/GPL".as_ptr() as u64,
        log_level: u32::from(!log.is_empty()),
        log_size: log.len() as u32,
        log: if log.is_empty() {
            0
        } else {
            log.as_mut_ptr() as u64
        },
    };
    // SAFETY: the kernel reads n_instructions instructions of 8 bytes and the string, and writes at
    // most log_size bytes to the log.
    let fd = unsafe { bpf(PROG_LOAD, &attr) }?;
    // SAFETY: a new descriptor.
    Ok(unsafe { own(fd) })
}

/// Attaches a program to a tracepoint itself, beside whatever else is attached there; detached with
/// the last copy of the descriptor.
///
/// # Errors
/// `ENOENT` for a name that is no tracepoint.
///
/// # References
/// `bpf_raw_tracepoint_open()`, `kernel/bpf/syscall.c`.
pub fn attach_raw(name: &std::ffi::CStr, program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let attr = RawTracepointAttr {
        name: name.as_ptr() as u64,
        program: program.as_raw_fd() as u32,
        pad: 0,
    };
    // SAFETY: the kernel reads the string.
    let fd = unsafe { bpf(RAW_TRACEPOINT_OPEN, &attr) }?;
    // SAFETY: a new descriptor.
    Ok(unsafe { own(fd) })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// How often it is tried, and what comes of it, where each try ends with the next of these.
    fn tries(errors: &[i32]) -> (usize, Option<i32>) {
        let mut made = 0;
        let loaded = undisturbed(|| {
            let error = errors.get(made.min(errors.len().saturating_sub(1)));
            made += 1;
            match error {
                Some(0) => Ok(std::fs::File::open("/dev/null").unwrap().into()),
                error => Err(io::Error::from_raw_os_error(*error.unwrap())),
            }
        });
        (made, loaded.err().and_then(|error| error.raw_os_error()))
    }

    #[test]
    fn a_load_that_a_signal_disturbs_is_made_again_and_no_other() {
        let again = libc::EAGAIN;
        assert_eq!(tries(&[0]), (1, None));
        assert_eq!(tries(&[again, again, 0]), (3, None));
        for refused in [libc::EPERM, libc::EINVAL, libc::EACCES] {
            assert_eq!(tries(&[refused, 0]), (1, Some(refused)));
            assert_eq!(tries(&[again, refused, 0]), (2, Some(refused)));
        }
        assert_eq!(tries(&[again]), (TRIES, Some(again)));
    }
}
