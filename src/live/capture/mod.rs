//! Reading the memory of the workload at the time of its calls: BPF programs, what tells them what
//! to read, and their records.
//!
//! The programs write into the rings of the runs, so that what they read has its place in the order
//! of the events. One set of programs serves all runs of a process: a run has a slot, which says
//! whose memory is read and into which rings it goes. The programs are gone with the process,
//! however it ends: nothing of them is pinned.
//!
//! A task becomes one of a slot by asking for it while it is still corked, with a token; what it
//! creates then follows.

mod asked;
mod asm;
mod attaching;
mod error;
mod loading;
mod programs;
mod recorded;
mod recorder;
mod slot;
mod types;
mod wire;

pub use error::CaptureError;
pub use recorded::{CallEvents, Half, OfCalls, Written};
pub use slot::{ReadOf, Slot};
pub use wire::parse;

use crate::host::Catalogue;
use crate::sys::bpf::{Map, MapKind};
use crate::sys::perf;
use crate::sys::rights::{self, Right};
use perf_records::attr::{Attr, SampleType, Source};
use perf_records::units::Cpu;
use programs::{Calls, Members, Names, Preemption};
use recorder::Recorder;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};
use syscall_model::memory::Fetches;
use syscall_model::names::{self, Abi};
use wire::{MAX_SLOTS, MAX_TASKS, PLACES, SCRATCH, spec, task};

fn system(doing: &'static str) -> impl Fn(io::Error) -> CaptureError {
    move |source| CaptureError::System { doing, source }
}

/// The tracepoints that programs are attached to. While an event of another descriptor holds them,
/// programs come and go in no time.
pub const TRACEPOINTS: [&str; 6] = [
    "raw_syscalls:sys_enter",
    "raw_syscalls:sys_exit",
    "sched:sched_process_fork",
    "sched:sched_process_exec",
    "sched:sched_process_exit",
    "signal:signal_deliver",
];

/// The programs, attached, and their maps.
#[derive(Debug)]
pub struct Capture {
    claims: Map,
    specs: Map,
    slots: Map,
    output: Map,
    n_cpus: u32,
    n_slots: u32,
    /// What each slot in use is told to read; `None` for a free one.
    used: Mutex<Vec<Option<Arc<Fetches>>>>,
    tasks: Map,
    _scratch: Map,
    _others: Map,
    /// Of the programs that record calls; `None` where there are none.
    recorder: Option<Recorder>,
    _attached: Vec<OwnedFd>,
}

/// What is to be known of the kernel.
#[derive(Clone, Copy, Debug)]
struct Kernel {
    members: Option<Members>,
    compat: Option<i32>,
    may_preempt: bool,
    /// By which a program forbids to be preempted; needed if it may be and records calls.
    preemption: Option<Preemption>,
    /// The bytes of rings to be made at once, if there are to be programs that record calls.
    recording: Option<u64>,
}

impl Capture {
    /// Loads and attaches the programs, for so many runs at a time. `types` is the kernel's
    /// description of its types (BTF); `may_preempt` says whether it may preempt a program on a
    /// tracepoint of calls (Linux 6.19 and later). `recording` is `None` where there are to be no
    /// programs that record calls, and else the bytes of each ring that the first run will need for
    /// them, 0 where that is not known: such rings are made at once.
    ///
    /// # Errors
    /// [`CaptureError`]; `EPERM` without `CAP_BPF` and `CAP_PERFMON`, or under lockdown.
    pub fn start(
        catalogue: &dyn Catalogue,
        cpus: &[Cpu],
        (types, may_preempt): (Option<&[u8]>, bool),
        runs: usize,
        recording: Option<u64>,
    ) -> Result<Arc<Self>, CaptureError> {
        let records_calls = recording.is_some();
        let n_slots = u32::try_from(runs).map_or(MAX_SLOTS, |runs| runs.clamp(1, MAX_SLOTS));
        let preemption = types.filter(|_| may_preempt).and_then(preemption);
        if records_calls && may_preempt && preemption.is_none() {
            return Err(CaptureError::Shape {
                what: "it may preempt a program, and has no function to forbid that",
            });
        }
        if records_calls && !cfg!(target_arch = "x86_64") {
            return Err(CaptureError::Shape {
                what: "programs record calls on x86_64 alone",
            });
        }
        let kernel = Kernel {
            members: types.and_then(members),
            compat: types.and_then(types::compat),
            may_preempt,
            preemption,
            recording,
        };
        with_locked_memory(|| Self::try_start(catalogue, cpus, kernel, n_slots))
    }

    fn try_start(
        catalogue: &dyn Catalogue,
        cpus: &[Cpu],
        kernel: Kernel,
        n_slots: u32,
    ) -> Result<Arc<Self>, CaptureError> {
        let n_cpus = cpus.iter().map(|cpu| cpu.0 + 1).max().unwrap_or(1);
        let map =
            |kind, key, value, n| Map::create(kind, key, value, n).map_err(system("create a map"));
        let tasks = map(MapKind::Hash, 4, task::SIZE, MAX_TASKS)?;
        let claims = map(MapKind::Hash, 8, 4, n_slots)?;
        let specs = map(MapKind::Array, 4, spec::SIZE, n_slots * PLACES)?;
        let slots = map(MapKind::Array, 4, wire::slot::SIZE, n_slots)?;
        let scratch = map(MapKind::PerCpuArray, 4, SCRATCH, programs::Scratch::NUMBER)?;
        let output = map(MapKind::PerfEventArray, 4, 4, n_slots * n_cpus)?;
        let others = map(MapKind::ProgramArray, 4, 4, programs::Other::NUMBER)?;
        let fd = |map: &Map| map.as_fd().as_raw_fd();
        let recorder = kernel
            .recording
            .map(|_| Recorder::new(n_slots, n_cpus))
            .transpose()?;
        if let (Some(recorder), Some(capacity @ 1..)) = (&recorder, kernel.recording) {
            // The places of the first slot.
            recorder.prepare(cpus.iter().map(|cpu| (cpu.0, *cpu)).collect(), capacity);
        }
        let recording = recorder.as_ref();
        let names = Names {
            tasks: fd(&tasks),
            claims: fd(&claims),
            specs: fd(&specs),
            slots: fd(&slots),
            scratch: fd(&scratch),
            output: fd(&output),
            programs: fd(&others),
            n_cpus: n_cpus as i32,
            calls: Calls {
                prctl: libc::SYS_prctl as i32,
                execve: places("execve"),
                execveat: places("execveat"),
            },
            compat: kernel.compat,
            recording: recording.map(|recorder| recorder.recording(kernel.preemption)),
        };
        let attached = attaching::attach(&names, &others, catalogue, kernel)?;
        Ok(Arc::new(Self {
            claims,
            specs,
            slots,
            output,
            n_cpus,
            n_slots,
            used: Mutex::new(Vec::new()),
            tasks,
            _scratch: scratch,
            _others: others,
            recorder,
            _attached: attached,
        }))
    }

    /// Whether there are programs that record calls.
    #[must_use]
    pub fn records_calls(&self) -> bool {
        self.recorder.is_some()
    }

    /// Makes a slot for a run, whose records go to these rings (one for each CPU). `for_keeping`
    /// says that other tools will read the records: `perf script` refuses samples of a software
    /// event without an address. With `overwrites` the records go to overwritten rings instead; the
    /// opener of the run's events maps these to [those of the slot](Slot::events).
    ///
    /// # Errors
    /// [`CaptureError::System`]; [`CaptureError::Full`] where all slots are taken.
    pub fn slot(
        self: &Arc<Self>,
        rings: &[(Cpu, BorrowedFd<'_>)],
        for_keeping: bool,
        overwrites: bool,
    ) -> Result<Slot, CaptureError> {
        let number = {
            let Ok(mut used) = self.used.lock() else {
                return Err(CaptureError::Full);
            };
            let free = used.iter().position(Option::is_none);
            let number = free.unwrap_or(used.len());
            if number >= self.n_slots as usize {
                return Err(CaptureError::Full);
            }
            if number == used.len() {
                used.push(None);
            }
            used[number] = Some(Arc::default());
            number as u32
        };
        let mut slot = Slot {
            capture: Arc::clone(self),
            number,
            events: Vec::new(),
            attr: Attr {
                write_backward: overwrites,
                ..output_attr(for_keeping)
            },
            before: (0, 0),
            token: None,
            follows_living: false,
            calls: None,
        };
        for (cpu, ring) in rings {
            let event = perf::open(&slot.attr.raw(), perf::Target::Everybody, Some(*cpu))
                .and_then(|event| {
                    if !overwrites {
                        perf::set_output(event.as_fd(), *ring)?;
                    }
                    self.output
                        .put(number * self.n_cpus + cpu.0, event.as_fd())?;
                    Ok(event)
                })
                .map_err(system("open an event for what programs read"))?;
            slot.events.push((*cpu, event));
        }
        Ok(slot)
    }
}

/// The places of a call, by the native and by the 32-bit convention.
fn places(call: &str) -> [i32; 2] {
    let native = Abi::native();
    let of = |abi| wire::place(abi, names::number(abi, call)?);
    let place = of(native).map_or(-1, |place| place as i32);
    let compat = native.compat().and_then(of);
    [place, compat.map_or(place, |place| place as i32)]
}

/// Before Linux 5.11 maps and programs count against `RLIMIT_MEMLOCK`: it is lifted for as long as
/// `start` takes, as workloads get the old one.
fn with_locked_memory<T>(start: impl Fn() -> Result<T, CaptureError>) -> Result<T, CaptureError> {
    use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, setrlimit};
    let refused = match start() {
        Err(error) if error.is_for_lack_of_rights() => error,
        other => return other,
    };
    let limits = getrlimit(Resource::RLIMIT_MEMLOCK);
    let lifted = rights::with(&[Right::SysResource], || {
        setrlimit(Resource::RLIMIT_MEMLOCK, RLIM_INFINITY, RLIM_INFINITY)
    });
    let (Ok((soft, hard)), Ok(())) = (limits, lifted) else {
        return Err(refused);
    };
    let started = start();
    let restored = setrlimit(Resource::RLIMIT_MEMLOCK, soft, hard);
    restored.map_err(|error| system("restore the limit of locked memory")(error.into()))?;
    started
}

fn members(types: &[u8]) -> Option<Members> {
    Some(Members {
        pid: types::offset_of(types, "task_struct", "pid")?,
        exec_file: types::offset_of(types, "linux_binprm", "filename")?,
    })
}

fn preemption(types: &[u8]) -> Option<Preemption> {
    Some(Preemption {
        forbid: types::function(types, "bpf_preempt_disable")?,
        allow: types::function(types, "bpf_preempt_enable")?,
    })
}

/// The event that programs write to. Their records have the fields of all others, but for the
/// address; without it all have their time at one place, and are faster to merge.
fn output_attr(with_address: bool) -> Attr {
    let address = if with_address {
        SampleType::IP
    } else {
        SampleType(0)
    };
    Attr {
        source: Source::BPF_OUTPUT,
        sample_type: perf_records::attr::SAMPLE_TYPE.and(address),
        ..Attr::holding(0)
    }
}
