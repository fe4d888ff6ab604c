//! Feeds the records of a file to the reader, one by one.

use super::super::sum::Sum;
use super::recount::recount;
use super::{RecordedRun, ReplayError};
use crate::plan::{EventsPlan, Reach};
use crate::run::GRACE;
use crate::run::reader::{Life, Reader};
use crate::run::{Fired, Observer, Setting, Turn};
use crate::verdict::{About, Finding, Kind, Known, Run};
use perf_live::events::{EventAccount, EventRequest, MEMORY, Origin};
use perf_live::sandbox::World;
use perf_live::units::{ExitKind, SoftwareEvent};
use perf_records::perfdata::{self, EventDesc};
use perf_records::record::kind;
use perf_records::space::Stack;
use perf_records::units::{Cpu, Nanos, Pid};
use std::sync::Arc;
use std::time::SystemTime;
use syscall_model::{Observation, Remembered};

impl RecordedRun {
    /// Says that the run was on this machine just now: the files that its calls named can still be
    /// looked up.
    pub(in crate::run) fn of_this_machine(self, world: World, since: SystemTime) -> Self {
        Self {
            machine: Some((world, since)),
            ..self
        }
    }

    /// Reads all records of a plan's events, reports to the observer, and returns the run. What the
    /// recording does not say is among its findings, and prevents a pass.
    ///
    /// # Errors
    /// [`ReplayError`]; the observer has been told all that came before the error.
    pub fn replay(
        &self,
        plan: &EventsPlan,
        observer: &mut dyn Observer,
    ) -> Result<Run<()>, ReplayError> {
        let (run, parts) = self.replay_with_parts(plan, observer)?;
        let parts = parts.into_iter();
        let parts = parts.map(|why| Finding::new(Kind::Lost, About::Run, why));
        Ok(Run {
            findings: parts.chain(run.findings).collect(),
            ..run
        })
    }

    /// Does so, and returns of which events it holds samples or some alone, a line each, beside the
    /// findings and not among them.
    ///
    /// # Errors
    /// As above.
    pub fn replay_with_parts(
        &self,
        plan: &EventsPlan,
        observer: &mut dyn Observer,
    ) -> Result<(Run<()>, Vec<String>), ReplayError> {
        let since = self.forgot_calls_until(plan);
        let setting = match &self.saved {
            Some(saved) => Setting {
                calls: match since {
                    Some(_) => Remembered::None,
                    None => Remembered::All,
                },
                names: saved.setting().names.map(|names| match &self.machine {
                    Some((world, since)) => names.asking(world, *since),
                    None => names,
                }),
                ..saved.setting()
            },
            None => Setting {
                attached: !self.is_from_exec(),
                convention: self.convention(plan),
                ..Setting::default()
            },
        };
        let mut watcher = Watcher {
            observer,
            main: None,
            exit: None,
        };
        let mut reader = Reader::new(plan, plan.requests.len(), &mut watcher, setting);
        let origins = self.origins(plan);
        let mut untold = self.feed(&origins, &mut reader, since)?;
        reader.finish();
        let life = reader.life();
        let (mut account, delivered) = reader.recorded();
        let delivered = delivered.to_vec();
        drop(reader);
        let exit = watcher.exit;
        let mut may_lack = Vec::new();
        let run = match &self.saved {
            Some(saved) => {
                let run = saved.run();
                let rows = self.rows(plan, &origins);
                recount(&mut account, &run.account, &rows, &delivered);
                if since.is_some() {
                    // Both may count overwritten calls.
                    (account.never_started, account.unread) = (false, 0);
                }
                Run { account, ..run }
            }
            None => {
                for (request, delivered) in plan.requests.iter().zip(&delivered) {
                    account.events.push(EventAccount {
                        name: request.name.clone(),
                        counted: *delivered,
                        delivered: *delivered,
                        said_lost: None,
                        overwritten: 0,
                        sampled: false,
                    });
                }
                // The cork's own call may not have been recorded.
                account.never_started = false;
                // A program that came out of sight counts only if the begin of programs was
                // recorded.
                if self.reach() == Reach::Recorded && !self.has("syscalls:sys_exit_execve") {
                    account.out_of_sight = 0;
                }
                may_lack = self.may_lack(plan);
                untold.extend(self.untold());
                let run = Run::recorded(account);
                Run {
                    exit: exit.map_or(run.exit, Known::Yes),
                    ..run
                }
            }
        };
        if self.architecture.is_none() {
            let said = "the recording does not say of which architecture its machine was: calls have other numbers on others";
            untold.push(said.to_owned());
        }
        let run = lived(run, life);
        let found = |kind| move |why| Finding::new(kind, About::Run, why);
        let may_lack = may_lack.into_iter().map(found(Kind::Lost));
        let untold = untold.into_iter().map(found(Kind::Unknown));
        let run = Run {
            findings: may_lack.chain(untold).collect(),
            ..run
        };
        Ok((run, self.parts(plan)))
    }

    /// Returns the requests of the plan for each event; none for an event that the plan does not
    /// use. A request has the event of its filter; events of the same name and filter are in the
    /// same order in both. What the plan would record twice, as a call and as a tracepoint that was
    /// asked for, another tool may have recorded once.
    fn origins(&self, plan: &EventsPlan) -> Vec<Vec<Origin>> {
        let is_of = |event: &EventDesc, request: &EventRequest| {
            let same =
                || SoftwareEvent::parse(&event.name).is_some_and(|it| it.name() == request.name);
            request.name == event.name || same()
        };
        let fits = |at: usize, request: &EventRequest| {
            let filter = self.filter_of(at);
            filter.is_none_or(|filter| filter == request.filter.as_deref())
        };
        let is_memory = |event: &EventDesc| event.name == MEMORY && self.saved.is_some();
        let memory = |event| match is_memory(event) {
            true => vec![Origin::Memory],
            false => Vec::new(),
        };
        let mut all: Vec<Vec<Origin>> = self.events.iter().map(memory).collect();
        let mut rest = Vec::new();
        let places = |request| {
            let events = self.events.iter().enumerate();
            events.filter_map(move |(at, event)| is_of(event, request).then_some(at))
        };
        for (place, request) in plan.requests.iter().enumerate() {
            let own = places(request).find(|at| all[*at].is_empty() && fits(*at, request));
            match own {
                Some(at) => all[at].push(Origin::Request(place)),
                None => rest.push((place, request)),
            }
        }
        for (place, request) in rest {
            let shared = places(request).find(|at| fits(*at, request));
            let free = || places(request).find(|at| all[*at].is_empty());
            if let Some(at) = shared.or_else(free).or_else(|| places(request).next()) {
                all[at].push(Origin::Request(place));
            }
        }
        all
    }

    /// Returns the filter that an event of the harness' own recording was recorded with; `None` if
    /// that is not known.
    fn filter_of(&self, at: usize) -> Option<Option<&str>> {
        let name = self.events.get(at)?.name.as_str();
        self.saved.as_ref()?.filters(name).nth(self.before(at))
    }

    /// Returns how many events before this one have its name.
    fn before(&self, at: usize) -> usize {
        let (before, rest) = self.events.split_at(at);
        let name = rest.first().map(|event| event.name.as_str());
        let same = before
            .iter()
            .filter(|event| Some(event.name.as_str()) == name);
        same.count()
    }

    /// Returns the row of the account that is of each request of a plan: the name of its event, and
    /// how many rows of that name are before it.
    fn rows<'p>(&self, plan: &'p EventsPlan, origins: &[Vec<Origin>]) -> Vec<(&'p str, usize)> {
        let row = |(place, request): (usize, &'p EventRequest)| {
            let is_its = |of: &Vec<Origin>| of.contains(&Origin::Request(place));
            let at = origins.iter().position(is_its);
            (request.name.as_str(), at.map_or(0, |at| self.before(at)))
        };
        plan.requests.iter().enumerate().map(row).collect()
    }

    /// Returns the time up to which calls were overwritten; `None` if none were.
    fn forgot_calls_until(&self, plan: &EventsPlan) -> Option<Nanos> {
        let account = self.saved.as_ref()?.account();
        let until = account.remembers_from.map(Nanos);
        until.filter(|_| plan.forgot_calls(account))
    }

    /// Passes all records to a reader; returns what keeps it from understanding all of them, a line
    /// each.
    fn feed(
        &self,
        origins: &[Vec<Origin>],
        reader: &mut Reader<'_>,
        mut since: Option<Nanos>,
    ) -> Result<Vec<String>, ReplayError> {
        for (event, origins) in self.events.iter().zip(origins) {
            for origin in origins {
                if let Origin::Request(place) = origin {
                    reader.has_registers(*place, event.attr.user_registers);
                }
            }
        }
        if let Some(chains) = reader.chains() {
            chains.recorded(self.origin.clone());
        }
        let mut strangers = 0_u64;
        let mut sum = Sum::default();
        let mut records = perfdata::Ordered::new(self.reader()?);
        while let Some(record) = records.next().map_err(|source| self.unreadable(source))? {
            sum.record(record.bytes);
            let is_remembered =
                since.is_some_and(|since| record.time().is_some_and(|time| time >= since));
            if is_remembered {
                reader.remembers();
                since = None;
            }
            let Some((event, layout)) = record.event() else {
                strangers += u64::from(record.header().kind < kind::OWN);
                continue;
            };
            let origins = origins.get(event).map_or(&[][..], Vec::as_slice);
            if record.header().kind != kind::SAMPLE {
                let origin = origins.first().copied().unwrap_or(Origin::SideBand);
                reader.take(Cpu(0), layout, origin, record.bytes)?;
                continue;
            }
            for origin in origins {
                reader.take(Cpu(0), layout, *origin, record.bytes)?;
            }
        }
        let meta = records.meta();
        sum.events(&meta.events, meta.tracing.as_ref());
        if self
            .saved
            .as_ref()
            .is_some_and(|saved| !saved.is_sealed_by(sum.number()))
        {
            return Err(ReplayError::Damaged {
                path: self.path.clone(),
            });
        }
        let mut untold = Vec::new();
        if strangers > 0 {
            untold.push(format!(
                "{strangers} records are of no event of the recording"
            ));
        }
        if records.late() > 0 {
            untold.push(format!(
                "{} records are not in the order of time",
                records.late()
            ));
        }
        Ok(untold)
    }
}

/// Adds to a run the time that it took and the processes that outlived the main one, by the
/// records, if the recording does not say that itself.
fn lived(mut run: Run<()>, (life, n_unended): (Option<Life>, usize)) -> Run<()> {
    let Some(life) = life.filter(|_| n_unended == 0) else {
        return run;
    };
    run.took = Some(life.took());
    if let (Known::No(_), Some(behind)) = (&run.survivors, life.behind()) {
        run.survivors = match behind <= GRACE {
            true => Known::Yes(Vec::new()),
            false => Known::No(format!(
                "processes lived on for {behind:?} after the end of the main one"
            )),
        };
    }
    run
}

/// Looks for the end of the main process, which no other observation tells.
struct Watcher<'a> {
    observer: &'a mut dyn Observer,
    main: Option<Pid>,
    exit: Option<ExitKind>,
}

impl Watcher<'_> {
    fn look_at(&mut self, observation: &Observation) {
        match observation {
            Observation::Born {
                child,
                parent: None,
                ..
            } => {
                self.main.get_or_insert(child.pid);
            }
            Observation::Call(call)
                if self.main == Some(call.actor.pid) && call.name() == Some("exit_group") =>
            {
                if let Some([status, ..]) = call.entry.args() {
                    self.exit = i32::try_from(status & 0xff).ok().map(ExitKind::Code);
                }
            }
            _ => {}
        }
    }
}

impl Observer for Watcher<'_> {
    fn observe(&mut self, observation: &Observation) {
        self.look_at(observation);
        self.observer.observe(observation);
    }

    fn observe_with(&mut self, observation: &Observation, stack: &Arc<Stack>) {
        self.look_at(observation);
        self.observer.observe_with(observation, stack);
    }

    fn note(&mut self, note: &str) {
        self.observer.note(note);
    }

    fn event(&mut self, fired: &Fired<'_>) {
        self.observer.event(fired);
    }

    fn turn(&mut self, turn: Turn) {
        self.observer.turn(turn);
    }

    fn wants_functions(&self) -> bool {
        self.observer.wants_functions()
    }

    fn pause(&mut self) {
        self.observer.pause();
    }
}
