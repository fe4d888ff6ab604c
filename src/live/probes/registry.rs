//! The probes that this process has made.

use super::convention::{Function, passing};
use super::elf::Binary;
use super::error::{ArgumentError, ProbeError};
use super::mapped::Mapped;
use crate::files;
use crate::host::{Host, ProbeList};
use crate::sys::perf;
use crate::sys::process::{Janitor, ProbeDuty};
use crate::sys::removal::{remove_probe, remove_probes};
use crate::units::{GETNAME, Probe, ProbeArgument, ProbeKind, ProbePlace, VFS_GETNAME};
use nix::fcntl::{FcntlArg, fcntl};
use nix::sched::sched_getcpu;
use perf_records::attr::Attr;
use perf_records::format::{self, Format};
use perf_records::units::Cpu;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What the groups of all harnesses begin with; a number follows.
const PREFIX: &str = "harness_";

/// How long an event may still be open somewhere: in a child that has just been made and closes
/// what it has copies of.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many returns of a kernel's function may be waited for at a time: what is more is not seen
/// (`KRETPROBE_MAXACTIVE_MAX`).
const MOST_RETURNS: u32 = 4096;

/// The group of one harness' probes.
///
/// ```text
/// dynamic_events    p:harness_<number>/p0 /bin/save:0x1139 path=+0(%di):ustring
/// ```
/// Each user of a group holds a lock on the byte with that number in the list of all probes: the
/// harness and its janitor. So a group stays behind only if both die, and the next harness that
/// makes a group removes those without a lock.
#[derive(Debug)]
pub struct Registry {
    list: File,
    group: CString,
    name: String,
    next: AtomicU32,
    janitor: Option<Janitor>,
    /// How many copies there are of a function, by what its file holds and its address.
    copies: Mutex<HashMap<(u64, u64), u64>>,
}

/// A probe that is an event, until this value goes.
#[derive(Debug)]
pub struct Registered {
    /// Goes before the event, which is in use as long as it is there.
    everywhere: Option<OwnedFd>,
    _event: Event,
    /// How its records are read.
    pub format: Arc<Format>,
    /// The text of that.
    pub format_text: String,
    /// The file that it is in; `None` for the kernel.
    pub mapped: Option<Mapped>,
    /// How many copies of its function a compiler has made, in which it is not.
    pub copies: u64,
}

#[derive(Debug)]
struct Event {
    registry: Arc<Registry>,
    name: CString,
}

impl Registry {
    /// Begins a group, with a janitor over it. Removes the abandoned probes that it finds.
    ///
    /// # Errors
    /// [`ProbeError::Host`], [`ProbeError::Lock`], [`ProbeError::Janitor`].
    pub fn new(host: &Host) -> Result<Self, ProbeError> {
        let list = host.probes()?;
        let number = loop {
            let number = random();
            if lock(&list, number).map_err(ProbeError::Lock)? {
                break number;
            }
        };
        remove_abandoned(host)?;
        let name = format!("{PREFIX}{number:016x}");
        let group = CString::new(name.as_str()).unwrap_or_default();
        let duty = ProbeDuty {
            events: list.as_fd(),
            group: &group,
        };
        let janitor = Janitor::over_probes(&duty).map_err(ProbeError::Janitor)?;
        Ok(Self {
            list,
            name,
            next: AtomicU32::new(0),
            janitor: Some(janitor),
            group,
            copies: Mutex::default(),
        })
    }

    /// Makes an event of a probe; one in a program or library is in the file that is given, or in a
    /// copy of it.
    ///
    /// # Errors
    /// [`ProbeError`].
    pub fn register(
        self: &Arc<Self>,
        host: &Host,
        probe: &Probe,
        file: Option<&Path>,
        copy: Option<&Path>,
    ) -> Result<Registered, ProbeError> {
        let event = format!("p{}", self.next.fetch_add(1, Ordering::Relaxed));
        let mut arguments = probe.arguments.clone();
        arguments.iter_mut().for_each(name_result);
        let (list, place, open) = match file {
            None => (ProbeList::Kernel, in_kernel(probe, host), None),
            Some(path) => {
                let (place, found) = in_file(probe, path, copy, &mut arguments)?;
                (ProbeList::User, place, Some((path, found)))
            }
        };
        let kind = match (probe.kind.is_return(), list) {
            (false, _) => "p".to_owned(),
            (true, ProbeList::User) => "r".to_owned(),
            (true, ProbeList::Kernel) => format!("r{MOST_RETURNS}"),
        };
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let arguments = arguments.join(" ");
        let begin = format!("{kind}:{}/{event} {place}", self.name);
        let line = format!("{begin} {arguments}");
        let line = line.trim_end();
        if let Err(error) = host.add_probe(list, &format!("{line}\n"))? {
            let Some((said, at)) = host.probe_complaint(line) else {
                return Err(ProbeError::Unexplained(error));
            };
            let before = begin.chars().count().saturating_add(1);
            let caret = at.checked_sub(before).map(|at| (arguments, at));
            let mut named = probe.arguments.iter().filter_map(ProbeArgument::parameter);
            return Err(match (list, named.next()) {
                (ProbeList::Kernel, Some(_)) => ProbeError::RefusedName { said, caret },
                _ => ProbeError::Refused { said, caret },
            });
        }
        let made = Event {
            registry: Arc::clone(self),
            name: CString::new(event.as_str()).unwrap_or_default(),
        };
        let mapped = open.map(|(path, found)| {
            let path = path.to_owned();
            let mapped = Mapped::of(found.file);
            let mapped = mapped.map_err(|source| ProbeError::Mapped { path, source })?;
            let copies = found.entry.map_or(0, |(binary, address)| {
                let mut known = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
                let known = known.entry((mapped.sum(), address));
                *known.or_insert_with(|| binary.copies(address))
            });
            Ok::<_, ProbeError>((mapped, copies))
        });
        let (mapped, copies) = mapped.transpose()?.unzip();
        let text = host.probe_format(&self.name, &event)?;
        let name = probe.name.split_once(':').map_or("", |(_, name)| name);
        // As people know it, and other tools that read a recording.
        let text = text.replacen(&format!("name: {event}\n"), &format!("name: {name}\n"), 1);
        let format = format::parse(&text).map_err(ProbeError::Format)?;
        Ok(Registered {
            everywhere: None,
            _event: made,
            format: Arc::new(format),
            format_text: text,
            mapped,
            copies: copies.unwrap_or(0),
        })
    }
}

impl Registered {
    /// Has the breakpoints of a probe in every process that maps its file, which should be the
    /// run's own: others notice them (`uretprobe` makes calls on x86-64).
    ///
    /// The kernel plants them for those alone that an event follows, and takes them away where a
    /// breakpoint is hit in another's memory (uprobe_perf_func() in `kernel/trace/trace_uprobe.c`).
    /// Whom an inherited event follows it knows by the task that the event was made for. But where
    /// the kernel switches from a task to one that it made, both swap their events instead
    /// (perf_event_context_sched_out()), so that with the end of the one the other's are gone: what
    /// it calls from then on would be told by no record and no counter.
    ///
    /// # Errors
    /// Those of `perf_event_open(2)`, for an event of all processes that never counts.
    pub fn plant_everywhere(&mut self) -> Result<(), ProbeError> {
        let opened = sched_getcpu().map_err(io::Error::from).and_then(|cpu| {
            let cpu = Cpu(u32::try_from(cpu).unwrap_or_default());
            let attr = Attr::holding(self.format.id).raw();
            perf::open(&attr, perf::Target::Everybody, Some(cpu))
        });
        self.everywhere = Some(opened.map_err(ProbeError::Everywhere)?);
        Ok(())
    }

    /// Whether its breakpoints are in [every process](Self::plant_everywhere).
    #[must_use]
    pub fn is_everywhere(&self) -> bool {
        self.everywhere.is_some()
    }
}

fn in_kernel(probe: &Probe, host: &Host) -> String {
    if probe.name == VFS_GETNAME
        && let Some(function) = GETNAME.iter().find(|name| host.has_kernel_function(name))
    {
        return (*function).to_owned();
    }
    match &probe.place {
        ProbePlace::Symbol(symbol, 0) => symbol.clone(),
        ProbePlace::Symbol(symbol, offset) => format!("{symbol}+{offset}"),
        ProbePlace::Offset(offset) => format!("{offset:#x}"),
    }
}

/// A probe's place in a file.
struct InFile {
    file: File,
    /// The address of the function that it is at the beginning of.
    entry: Option<(Binary, u64)>,
}

/// The place in the file, or in a copy of it, as the kernel takes it. The file stays open: so it is
/// the very one that was read, whatever its path has in it.
///
/// Arguments that name parameters become what the kernel is to fetch.
fn in_file(
    probe: &Probe,
    path: &Path,
    copy: Option<&Path>,
    arguments: &mut [ProbeArgument],
) -> Result<(String, InFile), ProbeError> {
    let wrong = |source| ProbeError::File {
        path: path.to_owned(),
        source,
    };
    let file = files::open(copy.unwrap_or(path))
        .map_err(|error| wrong(super::ElfError::Read(error.into())))?;
    let binary = Binary::read(&file, path).map_err(wrong)?;
    let found = binary.find(&probe.place).map_err(wrong)?;
    let function = OnceCell::new();
    let function = || {
        function
            .get_or_init(|| binary.function(found.address))
            .as_ref()
    };
    for argument in arguments {
        *argument = in_language(probe.kind, found.is_entry, argument, function)?;
    }
    let path = Host::path_of_descriptor(file.as_raw_fd());
    let place = format!("{}:{:#x}", path.display(), found.offset);
    let entry = found.is_entry.then_some((binary, found.address));
    Ok((place, InFile { file, entry }))
}

/// What is returned has a name that says so, if it has no other.
fn name_result(argument: &mut ProbeArgument) {
    if argument.value == "$retval" && argument.name.is_none() {
        argument.name = Some("retval".to_owned());
    }
}

/// An argument in the kernel's language.
fn in_language<'f>(
    kind: ProbeKind,
    is_entry: bool,
    argument: &ProbeArgument,
    function: impl Fn() -> Option<&'f Function>,
) -> Result<ProbeArgument, ArgumentError> {
    if argument.value == "$retval" {
        return Ok(match (&argument.ty, function()) {
            (None, Some(function)) => function.result(argument),
            _ => argument.clone(),
        });
    }
    let name = argument.value.clone();
    if let Some(number) = argument
        .value
        .strip_prefix("$arg")
        .and_then(|it| it.parse().ok())
    {
        let register = passing(number).ok_or(ArgumentError::NoRegister { number })?;
        return match is_entry && !kind.is_return() {
            true => Ok(ProbeArgument {
                value: format!("%{register}"),
                ..argument.clone()
            }),
            false => Err(ArgumentError::NotAtEntry { name }),
        };
    }
    if argument.parameter().is_none() {
        return Ok(argument.clone());
    }
    match function() {
        _ if !is_entry || kind.is_return() => Err(ArgumentError::NotAtEntry { name }),
        None => Err(ArgumentError::NoInformation { name }),
        Some(function) => function.parameter(argument),
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let Registry { list, group, .. } = &*self.registry;
        // What is still open is removed by the janitor.
        let _left = remove_probe(list.as_fd(), group, &self.name, PATIENCE);
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let left = remove_probes(self.list.as_fd(), &self.group, PATIENCE);
        if let (Ok(()), Some(janitor)) = (left, self.janitor.take()) {
            janitor.dismiss();
        }
    }
}

/// Removes the probes of harnesses that are dead and whose janitors are.
fn remove_abandoned(host: &Host) -> Result<(), ProbeError> {
    let mut list = host.probes()?;
    let mut text = String::new();
    if list.read_to_string(&mut text).is_err() {
        return Ok(());
    }
    let number = |line: &str| {
        let (_, name) = line.split_once(':')?;
        let (group, _) = name.split_once('/')?;
        let digits = group.strip_prefix(PREFIX)?;
        i64::from_str_radix(digits, 16).ok()
    };
    let numbers: BTreeSet<i64> = text.lines().filter_map(number).collect();
    for number in numbers {
        // Open anew: the locks of one open file are no obstacle to it.
        let own = host.probes()?;
        if let (true, Ok(group)) = (
            lock(&own, number).map_err(ProbeError::Lock)?,
            CString::new(format!("{PREFIX}{number:016x}")),
        ) {
            let _left = remove_probes(own.as_fd(), &group, Duration::ZERO);
        }
    }
    Ok(())
}

/// Takes the lock of a byte; returns whether it was free.
///
/// # References
/// "Open file description locks" in `fcntl_locking(2)`.
fn lock(list: &File, number: i64) -> io::Result<bool> {
    let byte = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: number,
        l_len: 1,
        l_pid: 0,
    };
    match fcntl(list, FcntlArg::F_OFD_SETLK(&byte)) {
        Ok(_) => Ok(true),
        Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EACCES) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns a random offset in a file: so large a number that no other process holds it.
fn random() -> i64 {
    use std::hash::{BuildHasher, Hasher};
    let number = std::hash::RandomState::new().build_hasher().finish();
    (number >> 2) as i64
}
