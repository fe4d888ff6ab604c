//! The cork: what waits at it, what leaves it, and what never gets through it.

mod ends;
mod refused;
mod start;

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::wait::{Id, WaitPidFlag, waitid};
use perf_live::host::Host;
use perf_live::sandbox::{
    Corked, Exited, Program, Running, Stdio, Workload, World, Worlds, launch,
};
use perf_live::sandbox::{Root, WorldSpec};
use perf_live::sys::process::{Message, Own, Parked, Spawn, World as ParkedIn, park, token};
use perf_live::units::ExitKind;

use crate::support::PATIENCE;
use crate::support::process::{Watched, any_is_ready, is_ready};
use crate::support::project::PATH;
use crate::support::require::{require, right_to_trace};

/// The bare host, and a world of one's own, in which the programs of the tests are where they are
/// outside.
pub(crate) fn worlds() -> [World; 2] {
    let spec = WorldSpec {
        root: Root::Host,
        ..WorldSpec::default()
    };
    [World::Host, own_world(&spec)]
}

pub(crate) fn own_world(spec: &WorldSpec) -> World {
    let worlds = Worlds::new(&Host::running()).expect("the machine's facts");
    Arc::new(worlds).own(spec, None)
}

/// What the contract allows for the end of a workload that is cancelled at its cork.
const AT_ONCE: Duration = Duration::from_millis(100);

/// A workload whose outputs are captured.
pub(crate) fn workload(words: &[&str], world: &World) -> Workload {
    let words_of_c = |words: &[&str]| -> Vec<CString> {
        words
            .iter()
            .map(|word| CString::new(*word).expect("no zero"))
            .collect()
    };
    let program = OsStr::new(words.first().expect("a program"));
    Workload {
        program: Program::find(program, OsStr::new(PATH), std::path::Path::new("."))
            .expect("a program"),
        arguments: words_of_c(words),
        environment: words_of_c(&["LANG=C"]),
        directory: None,
        stdio: Stdio::Captured { input: None },
        world: world.clone(),
        umask: None,
        inherited: Vec::new(),
        fixed_addresses: false,
        limits: Vec::new(),
        group: None,
        held: Default::default(),
        lasts: None,
        allowed: None,
        ruled: None,
    }
}

/// Collects what a running workload says until it ends.
pub(crate) fn end_of(mut running: Running) -> Exited {
    while !running.is_gone() {
        let ready = any_is_ready(&running.descriptors(), PATIENCE);
        assert!(ready, "the workload neither speaks nor ends");
        running.collect().expect("collect");
    }
    running.finish().expect("finish")
}

fn watch(corked: &Corked) -> Watched {
    Watched::new(corked.pid().0.cast_signed()).expect("a parked process")
}

#[test]
fn any_of_fifty_corked_workloads_can_be_cancelled_at_once_and_the_others_still_run() {
    require!(right_to_trace());
    for world in worlds() {
        let number = |index: usize| index.to_string();
        let mut corked: Vec<Option<(Corked, Watched)>> = (0..50)
            .map(|index| {
                let corked = launch(&workload(&["echo", &number(index)], &world)).expect("a cork");
                let watched = watch(&corked);
                Some((corked, watched))
            })
            .collect();
        let mut times = Vec::new();
        for cancelled in [0, 49, 25, 1, 48, 26, 2, 47, 24] {
            let (corked, watched) = corked[cancelled].take().expect("not cancelled yet");
            let start = Instant::now();
            drop(corked);
            times.push(start.elapsed());
            assert!(
                watched.ends_within(Duration::ZERO),
                "{world:?}: {cancelled} is not reaped"
            );
        }
        times.sort();
        // Not the longest: on a busy machine any one may have to wait for its turn on a CPU.
        let median = times[times.len() / 2];
        assert!(median < AT_ONCE, "{world:?}: cancelling took {times:?}");
        let left: Vec<_> = corked
            .into_iter()
            .enumerate()
            .filter_map(|(i, c)| Some((i, c?)))
            .collect();
        assert_eq!(left.len(), 41);
        for (index, (_, watched)) in &left {
            assert!(
                !watched.ends_within(Duration::ZERO),
                "{world:?}: {index} has left its cork"
            );
        }
        for (index, (corked, _)) in left {
            let exited = end_of(corked.uncork(PATIENCE).expect("a running workload"));
            assert_eq!(exited.exit, ExitKind::Code(0));
            assert_eq!(
                exited.outputs.expect("outputs")[0].bytes.as_slice(),
                format!("{index}\n").as_bytes(),
                "{world:?}"
            );
        }
    }
}

/// As above, but by nothing else than the end of the go pipe: a cork that held another's end would
/// keep it waiting.
#[test]
fn the_end_of_its_go_pipe_ends_a_parked_process_whatever_others_were_parked_later() {
    require!(right_to_trace());
    let own = Own {
        namespaces: libc::CLONE_NEWPID | libc::CLONE_NEWNS,
        steps: &[],
        user: None,
        words: None,
        lasts: None,
    };
    for world in [ParkedIn::Host, ParkedIn::Own(own)] {
        let null = File::open("/dev/null").expect("/dev/null");
        let arguments = [CString::from(c"/bin/false")];
        let spawn = Spawn {
            program: c"/bin/false",
            arguments: &arguments,
            environment: &[],
            directory: None,
            stdio: [null.as_fd(); 3],
            world,
            own_session: false,
            is_as_ours: false,
            umask: None,
            inherited: &[],
            fixed_addresses: false,
            limits: &[],
            group: None,
            gate: None,
            refusing: None,
            ruled: None,
            token: token(),
        };
        let parked: Vec<Parked> = (0..50)
            .map(|_| park(&spawn).expect("a parked process"))
            .collect();
        // A parked process has closed what it inherited before it says anything, so all of them are
        // waited for: the descriptors of one that has not got so far would decide by chance.
        parked.iter().for_each(wait_until_parked);
        let mut left = parked.into_iter();
        while let Some(Parked {
            go,
            status,
            pidfd,
            obituary: _,
            gate: _,
            pid: _,
        }) = left.next()
        {
            drop(go);
            assert!(
                is_ready(&pidfd, PATIENCE),
                "{world:?}: a parked process waits for ever"
            );
            waitid(Id::PIDFd(pidfd.as_fd()), WaitPidFlag::WEXITED).expect("waitid");
            let mut message = Vec::new();
            File::from(status)
                .read_to_end(&mut message)
                .expect("the status pipe");
            let failed = message.chunks(8).any(|message| {
                let message = message.try_into().ok().and_then(Message::from_bytes);
                !matches!(message, Some(Message::Ready))
            });
            assert!(!failed, "it says why it left: {message:?}");
            for other in left.as_slice() {
                assert!(
                    !is_ready(&other.pidfd, Duration::ZERO),
                    "{world:?}: another ended with it"
                );
            }
        }
    }
}

/// Returns when the process has only the descriptors that belong at a cork: three, the go pipe, the
/// status pipe, and in a namespace that of the obituary.
fn wait_until_parked(parked: &Parked) {
    let n_expected = 5 + usize::from(parked.obituary.is_some());
    let end = Instant::now() + PATIENCE;
    loop {
        let entries = fs::read_dir(format!("/proc/{}/fd", parked.pid)).expect("a process");
        let open: BTreeSet<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        if open.len() == n_expected {
            return;
        }
        assert!(Instant::now() < end, "the parked process holds {open:?}");
        std::thread::yield_now();
    }
}
