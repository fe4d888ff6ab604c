//! A request to end is taken between two records, however many wait to be read, and the account
//! says that the rest was not read.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use perf_live::events::Origin;
use perf_live::host::Host;
use perf_live::sandbox::Running;
use perf_records::record::LayoutTable;
use perf_records::units::Pid;
use syscall_model::Observation;
use trace_harness::plan::{CallSource, MemoryPlan, Reach, Wanted, events_within};
use trace_harness::run::{
    Bench, Control, Fired, Next, Observer, Options, Suite, discover, follow_living,
};
use trace_harness::verdict::Verdict;

use crate::support::oracle;
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use crate::support::unread::OnlyWhenOver;

/// How many records may be read between a request and its answer: one stretch, of which a pass
/// before may have begun another.
const FEW: u64 = 4096;

/// Many times as many calls, of two records each.
const CALLS: u64 = 100_000;

/// A process that ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ended = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Lets all calls be made before it takes the first record, and asks for the end then.
struct Late<'a> {
    output: Option<BufReader<ChildStdout>>,
    asks: PipeWriter,
    since: &'a Cell<u64>,
}

impl Observer for Late<'_> {
    fn observe(&mut self, _: &Observation) {}
    fn event(&mut self, _: &Fired<'_>) {}
    fn record(&mut self, _: &LayoutTable<Origin>, _: &[u8]) {
        if let Some(mut output) = self.output.take() {
            output.read_line(&mut String::new()).expect("a line");
            self.asks.write_all(b"x").expect("a pipe");
        }
        self.since.set(self.since.get() + 1);
    }
}

/// Asks for the end until nothing is read any more; notes how many records had been read each time.
struct Asks<'a> {
    asked: PipeReader,
    since: &'a Cell<u64>,
    taken: Vec<u64>,
}

impl Control for Asks<'_> {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.asked.as_fd())
    }
    fn ready(&mut self, _: &mut Running) -> io::Result<Next> {
        unreachable!("no command was started")
    }
    fn ends(&mut self) -> io::Result<()> {
        self.taken.push(self.since.get());
        Ok(())
    }
}

#[test]
fn a_request_to_end_does_not_wait_for_what_a_living_process_has_done() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let mut command = project.command("python3");
    let script = format!(
        "import os, sys\n\
         print('ready', flush=True); sys.stdin.readline()\n\
         for _ in range({CALLS}): os.getppid()\n\
         print('done', flush=True); sys.stdin.readline()"
    );
    command.args(["-c", &script]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = Ended(command.spawn().expect("python3"));
    let mut input = child.0.stdin.take().expect("a pipe");
    let mut output = BufReader::new(child.0.stdout.take().expect("a pipe"));
    output.read_line(&mut String::new()).expect("a line");

    let host = Host::running();
    let bench = Bench::new(&host).expect("a bench");
    let wanted = [Wanted::Syscalls(vec!["getppid".to_owned()])];
    let memory = MemoryPlan::default();
    let plan = events_within(Reach::Everything, &wanted, memory, &bench).expect("a plan");
    let attached = bench.attach(&plan, &[Pid(child.0.id())], 256);
    let attached = attached.expect("attached");
    writeln!(input).expect("a pipe");
    let (asked, asks) = io::pipe().expect("a pipe");
    let since = Cell::new(0);
    let mut observer = Late {
        output: Some(output),
        asks,
        since: &since,
    };
    let mut control = Asks {
        asked,
        since: &since,
        taken: Vec::new(),
    };
    let tick = Duration::from_secs(1);
    let followed = follow_living(attached, &bench, &plan, tick, &mut control, &mut observer);
    let (account, lives_on) = followed.expect("followed");
    assert!(lives_on);
    // Once for the processes, which live on, and once for the records that were left.
    assert_eq!(control.taken.len(), 2, "{:?}", control.taken);
    assert!(
        control.taken.iter().all(|n| *n <= FEW),
        "{:?}",
        control.taken
    );
    assert!(account.broke_off && !account.is_complete());
    let counted: u64 = account.events.iter().map(|event| event.counted).sum();
    assert!(counted >= 2 * CALLS, "{account:?}");
    let complaints = account.complaints().join("\n");
    assert!(complaints.contains("asked to end"), "{complaints}");
}

#[test]
fn a_request_to_end_does_not_wait_for_the_records_of_a_command_that_is_over() {
    require!(right_to_trace());
    let project = Project::new();
    project.scenario(
        "a",
        &format!(
            "sandbox: {{ root: host }}\n\
             workload: {{ run: [{}, flood, \"{CALLS}\"] }}\n\
             trace:\n  events: [{{ syscalls: [getppid] }}]\n  ring: {{ size: 64MiB }}\n\
             snapshot: false",
            oracle::path(),
        ),
    );
    let host = Host::running();
    for source in [CallSource::Auto, CallSource::Perf] {
        let bench = Bench::new(&host).expect("a bench").with_source(source);
        let items = discover(&[project.join("scenarios")]).expect("scenarios");
        let suite = Suite::read(&bench, items).expect("a suite");
        let control = || -> Box<dyn Control> { Box::new(OnlyWhenOver::new(Next::Kill)) };
        let reports = Mutex::new(Vec::new());
        suite.run(&Options::default(), &control, &|report| {
            reports.lock().expect("reports").push(report)
        });
        let reports = reports.into_inner().expect("reports");
        let report = reports.first().expect("a report");
        assert_eq!(report.verdict, Verdict::Broken, "{report:?}");
        // All the others were there to be read.
        assert!(report.events < FEW, "{report:?}");
        assert!(report.lost > CALLS, "{report:?}");
    }
}
