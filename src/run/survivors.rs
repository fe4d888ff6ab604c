//! Finds the processes that outlive the main one, and kills them.

use super::setting::Setting;
use crate::trace::Trace;
use crate::verdict::{Known, Run};
use perf_live::host::{Host, ProcessStatus};
use perf_live::ring::Look;
use perf_live::sandbox::Running;
use perf_live::sys::{self, pidfd};
use perf_live::units::Survivor;
use perf_records::units::{Nanos, Pid};
use std::collections::HashMap;
use std::os::fd::AsFd;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use syscall_model::{Lineage, Living};

/// How long after the main process' end the others may take to end: a process that was just killed,
/// or whose pipe was just closed, is no survivor. What it was ready to run and had no CPU is not
/// counted.
pub const GRACE: Duration = Duration::from_millis(200);

// How long after the main process' end a process that has no CPU is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

// How long until the next look, if processes are left but all of them may be dying.
const AGAIN: Duration = Duration::from_millis(20);

// After so many looks, processes that only procfs shows count too.
const PATIENT_LOOKS: u32 = 10;

// How long after a process' end its record has been read, in nanoseconds, if the rings are read
// then.
const SETTLED: u64 = 1_000_000;

// How long reading command lines may take, as they lie in the memory of their processes.
const READING: Duration = Duration::from_millis(100);

// How far the time of a fork's record may lie from the start that procfs shows. No id is used again
// as quickly.
const SAME: Duration = Duration::from_secs(1);

/// Watches over the end of one run.
#[derive(Debug)]
pub(super) struct Survivors {
    is_forbidden: bool,
    ends_all: bool,
    init: Option<Pid>,
    next_look: Option<Instant>,
    n_looks: u32,
    /// When the main process had ended, and how long each other one had had no CPU by then.
    since: Option<(Instant, HashMap<Pid, Duration>)>,
    /// When processes were first found gone whose ends the records did not tell: a record of an end
    /// read after this moment would tell.
    missed_since: Option<Nanos>,
    found: Vec<Survivor>,
}

impl Survivors {
    pub(super) fn new(setting: &Setting) -> Self {
        Self {
            is_forbidden: setting.forbids_survivors,
            ends_all: setting.ends_all && setting.init.is_none(),
            init: setting.init,
            next_look: None,
            n_looks: 0,
            since: None,
            missed_since: None,
            found: Vec::new(),
        }
    }

    /// Returns how long to wait at most, so that the next look is in time.
    pub(super) fn wait(&mut self, otherwise: Duration, running: &Running) -> Duration {
        if running.is_killed() {
            // On the bare host no namespace kills what was born in the meantime.
            let again = if self.ends_all { AGAIN } else { otherwise };
            return otherwise.min(again);
        }
        let now = Instant::now();
        if self.is_forbidden && running.exit().is_some() {
            self.next_look.get_or_insert(now + GRACE);
        }
        let look = self
            .next_look
            .map(|look| look.saturating_duration_since(now));
        otherwise.min(look.unwrap_or(otherwise))
    }

    /// Whether a process has outlived the main process and may not. Called as long as the run is
    /// not over; `look` says up to when records have been read.
    pub(super) fn outlive(&mut self, running: &Running, lineage: &Lineage, look: Look) -> bool {
        let now = Instant::now();
        if self.is_forbidden && running.exit().is_some() {
            self.next_look.get_or_insert(now + GRACE);
            self.since
                .get_or_insert_with(|| (now, starved(&lineage.living())));
        }
        if self.next_look.is_none_or(|look| now < look) {
            return false;
        }
        self.next_look = Some(now + AGAIN);
        self.n_looks += 1;
        let mut others = lineage.living();
        others.retain(|living| !living.is_main);
        let is_patient = self.n_looks >= PATIENT_LOOKS;
        if is_patient {
            self.add_unrecorded(running, &mut others);
        }
        let (alive, missed) = self.look(others);
        let is_starved =
            |(living, now): &(Living, ProcessStatus)| !self.had_its_time(living.pid, now.starved);
        if alive.iter().any(is_starved) {
            return false;
        }
        self.found = self.named(alive);
        if !is_patient || !self.found.is_empty() || missed.is_empty() {
            self.missed_since = None;
        } else if look.is_all && self.missed_since.is_some_and(|since| look.until > since) {
            // Each process had gone when it was looked at, but had left another like it: the
            // records of the processes that had gone at an earlier look have been read.
            self.found = missed;
        } else {
            let now = sys::monotonic_now().0.saturating_add(SETTLED);
            self.missed_since.get_or_insert(Nanos(now));
        }
        !self.found.is_empty()
    }

    /// Notes which processes live at the timeout, the main process included.
    pub(super) fn note(&mut self, lineage: &Lineage) {
        self.found = self.named(self.look(lineage.living()).0);
    }

    /// Kills the living processes on the bare host, where no namespace does; a control group has
    /// its own kill.
    pub(super) fn end(&self, lineage: &Lineage) {
        if !self.ends_all {
            return;
        }
        let host = Host::running();
        for living in lineage.living().iter().filter(|living| !living.is_main) {
            // Opens the descriptor first and looks then: the id may have been used again in
            // between.
            if let Ok(Some(descriptor)) = pidfd::open(living.pid)
                && living.started.is_some()
                && host
                    .process(living.pid)
                    .is_some_and(|now| self.is(living, &now))
            {
                let _killed = pidfd::signal(descriptor.as_fd(), libc::SIGKILL);
            }
        }
    }

    /// From now on ends all processes, of a run that may otherwise leave some.
    pub(super) fn end_all(&mut self) {
        self.ends_all = self.init.is_none();
    }

    /// Kills the processes that were born since.
    pub(super) fn end_again(&self, running: &Running, lineage: &Lineage) {
        running.end_members();
        self.end(lineage);
    }

    /// Returns the processes found, if they were looked for.
    pub(super) fn into_found(self) -> Known<Vec<Survivor>> {
        match self.is_forbidden || !self.found.is_empty() {
            true => Known::Yes(self.found),
            false => Known::No("processes might outlive the main one".to_owned()),
        }
    }

    /// Adds the processes that no record tells of: their program took its events off, or records
    /// were lost.
    fn add_unrecorded(&self, running: &Running, others: &mut Vec<Living>) {
        let seen = match self.init {
            Some(init) => Host::running().descendants(init),
            None => running.members(),
        };
        for pid in seen {
            if !others.iter().any(|known| known.pid == pid) {
                others.push(Living {
                    pid,
                    id: None,
                    started: None,
                    is_main: false,
                    command: Vec::new(),
                    creator: None,
                });
            }
        }
    }

    /// Returns those that live, and those that live by the records and are gone when looked at.
    fn look(&self, living: Vec<Living>) -> (Vec<(Living, ProcessStatus)>, Vec<Survivor>) {
        let host = Host::running();
        let mut missed = Vec::new();
        let mut alive = Vec::new();
        for living in living {
            match host.process(living.pid).filter(|now| self.is(&living, now)) {
                None => missed.push(survivor(living)),
                Some(now) if now.is_ending => {}
                Some(now) => alive.push((living, now)),
            }
        }
        (alive, missed)
    }

    /// Names processes by their ids and commands, as far as these can be read.
    fn named(&self, mut alive: Vec<(Living, ProcessStatus)>) -> Vec<Survivor> {
        let mut commands = commands(alive.iter().map(|(living, _)| living.pid).collect());
        // The id in the workload's namespace, whichever namespaces lie inside it.
        let level = self.level();
        let ids: HashMap<Pid, i32> = alive
            .iter()
            .filter_map(|(living, now)| Some((living.pid, *now.ids.get(level)?)))
            .collect();
        for (living, now) in &mut alive {
            living.id = ids.get(&living.pid).copied();
            if let Some(creator) = &mut living.creator {
                creator.id = ids.get(&creator.pid).copied().or(creator.id);
            }
            if let Some(command) = commands.remove(&living.pid) {
                living.command = command;
            } else if living.command.is_empty() {
                living.command = vec![format!("[{}]", now.name)];
            }
        }
        let alive = alive.into_iter().map(|(living, _)| survivor(living));
        alive.collect()
    }

    /// Whether a process that lives has had its time to end.
    fn had_its_time(&self, pid: Pid, starved: Duration) -> bool {
        let Some((since, before)) = &self.since else {
            return true;
        };
        let before = before.get(&pid).copied().unwrap_or_default();
        let all = since.elapsed();
        all >= PATIENCE || all.saturating_sub(starved.saturating_sub(before)) >= GRACE
    }

    /// How many pid namespaces lie between the harness and the workload.
    fn level(&self) -> usize {
        usize::from(self.init.is_some())
    }

    /// Whether a process is the one that the records tell of, and not a later one with the same id.
    fn is(&self, living: &Living, now: &ProcessStatus) -> bool {
        let asleep = sys::boottime_now().0.saturating_sub(sys::monotonic_now().0);
        let is_as_old = living.started.is_none_or(|started| {
            let started = Duration::from_nanos(started.0.saturating_add(asleep));
            now.started.abs_diff(started) < SAME
        });
        now.ids.len() > self.level() && is_as_old
    }
}

/// How long each process had no CPU.
fn starved(living: &[Living]) -> HashMap<Pid, Duration> {
    let host = Host::running();
    let each = living.iter();
    each.filter_map(|living| Some((living.pid, host.process(living.pid)?.starved)))
        .collect()
}

/// Finds the survivors of a run in its trace.
pub(super) fn number(run: &mut Run<()>, trace: &Trace, is_bare: bool) {
    let Known::Yes(survivors) = &mut run.survivors else {
        return;
    };
    for survivor in survivors.iter_mut().filter(|it| it.pid != 0) {
        survivor.process = trace.process(survivor.pid, is_bare);
    }
}

fn survivor(living: Living) -> Survivor {
    let creator = living.creator;
    Survivor {
        pid: living.id.unwrap_or(0),
        command: living.command,
        parent: creator.map(|creator| (creator.id.unwrap_or(0), creator.command)),
        process: None,
    }
}

/// Returns the command lines of these processes that can be read in time: reading one waits for the
/// process that handles its page faults, which may be that process itself. A waiting thread goes on
/// when the process is dead.
fn commands(of: Vec<Pid>) -> HashMap<Pid, Vec<String>> {
    let mut commands = HashMap::new();
    if of.is_empty() {
        return commands;
    }
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        let host = Host::running();
        for pid in of {
            // The receiver is gone: the time is over.
            if sender.send((pid, host.command_line(pid))).is_err() {
                break;
            }
        }
    };
    let reader = std::thread::Builder::new().name("command lines".to_owned());
    if reader.spawn(read).is_err() {
        return commands;
    }
    let end = Instant::now() + READING;
    while let Ok((pid, command)) =
        receiver.recv_timeout(end.saturating_duration_since(Instant::now()))
    {
        commands.extend(command.map(|command| (pid, command)));
    }
    commands
}
