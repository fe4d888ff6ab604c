//! A panic in one scenario is that one's verdict: the others run, and nothing of it is left.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use perf_live::host::Host;
use perf_live::sandbox::Running;
use trace_harness::run::{Bench, Control, Next, Options, Suite, Update, discover};
use trace_harness::verdict::{About, Kind, Verdict};

use crate::support::fifo::Fifo;
use crate::support::oracle;
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};
use trace_harness::run::Undisturbed;

/// Panics in the middle of a run, when the workload has said through the pipe where it is.
struct Panics<'a>(&'a Mutex<Fifo>);

impl Control for Panics<'_> {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.0.lock().expect("the pipe").wait_for_lines(2);
        panic!("as planned");
    }
    fn ready(&mut self, _: &mut Running) -> io::Result<Next> {
        Ok(Next::Follow)
    }
}

#[test]
fn a_panic_ends_the_workload_removes_its_directory_and_spares_the_others() {
    require!(right_to_trace());
    let project = Project::new();
    let fifo = Fifo::new(&project.join("fifo"));
    let script = format!(
        "exec > '{}'; pwd; exec '{}' ignore-sigterm",
        fifo.path(),
        oracle::path()
    );
    project.scenario(
        "a",
        &format!("sandbox: {{ root: host }}\nworkload:\n  shell: |\n    {script}\n  timeout: 60m\nsnapshot: false"),
    );
    for name in ["b", "c"] {
        project.scenario(name, "workload: { run: [\"true\"] }\nsnapshot: false");
    }
    let host = Host::running();
    let bench = Bench::new(&host).expect("a bench");
    let items = discover(&[project.join("scenarios")]).expect("scenarios");
    let suite = Suite::read(&bench, items).expect("a suite");
    let options = Options {
        update: Update::Accept,
        require_all: true,
        ..Options::default()
    };
    let fifo = Mutex::new(fifo);
    let is_first = AtomicBool::new(true);
    let control = || -> Box<dyn Control + '_> {
        if is_first.swap(false, Ordering::Relaxed) {
            Box::new(Panics(&fifo))
        } else {
            Box::new(Undisturbed)
        }
    };
    let reports = Mutex::new(Vec::new());
    suite.run(&options, &control, &|report| {
        reports.lock().expect("reports").push(report)
    });
    let reports = reports.into_inner().expect("reports");
    let verdicts: Vec<_> = reports
        .iter()
        .map(|report| (report.name.as_str(), report.verdict))
        .collect();
    let expected = [
        ("a", Verdict::Broken),
        ("b", Verdict::Pass),
        ("c", Verdict::Pass),
    ];
    assert_eq!(verdicts, expected, "{reports:?}");
    let [panicked] = reports[0].findings.as_slice() else {
        panic!("{reports:?}");
    };
    let told = (panicked.kind, &panicked.about, panicked.text.as_str());
    assert_eq!(told, (Kind::Broken, &About::Run, "the harness panicked"));
    let mut fifo = fifo
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let said = fifo.wait_for_end();
    let directory = said.lines().next().expect("its working directory");
    assert!(directory.contains("harness-"), "{directory}");
    assert!(
        !std::path::Path::new(directory).exists(),
        "`{directory}` was left behind"
    );
    assert_eq!(project.snapshots(), [""; 0]);
}
