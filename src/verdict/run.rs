//! A run that has ended, as far as it is known.

use super::{Crashed, Faults, Finding, Known};
use crate::crash::Built;
use crate::policy::Needs;
use crate::policy::landlock::Programs;
use crate::trace::Normalised;
use perf_live::events::Account;
use perf_live::sandbox::{Captured, Exited, Left};
use perf_live::units::{ExitKind, Limit, Struck, Survivor, Usage};
use std::time::Duration;

/// A run that has ended: it was followed live, or read from a recording.
///
/// `T` is its trace, or `()` if none was collected; such a run cannot be judged.
#[derive(Clone, Debug)]
pub struct Run<T = Normalised> {
    /// How the main process ended.
    pub exit: Known<ExitKind>,
    /// The pid of the main process in its own namespace, if it was started.
    pub main_pid: Option<i32>,
    /// What the workload wrote to standard output.
    pub stdout: Known<Captured>,
    /// And to standard error.
    pub stderr: Known<Captured>,
    /// The files in its directory at the end.
    pub left: Known<Left>,
    /// What the main process and the processes that it waited for used.
    pub used_by_main: Usage,
    /// Whether it was killed at its timeout.
    pub timed_out: Known<bool>,
    /// How long it took, by its records; `None` if they do not tell.
    pub took: Option<Duration>,
    /// Whether a signal to the harness ended it.
    pub interrupted: bool,
    /// Whether descendants were left running.
    pub left_alone: bool,
    /// The limits that it reached.
    pub struck: Known<Vec<Struck>>,
    /// The limits of which it is not known whether it reached them, and why.
    pub untold: Vec<(Limit, String)>,
    /// The processes that lived when all were killed: at the timeout, or after the end of the main
    /// process if none may outlive it.
    pub survivors: Known<Vec<Survivor>>,
    /// What the whole run used.
    pub usage: Usage,
    /// Every record accounted for.
    pub account: Account,
    /// The working directory, as the workload saw it.
    pub directory: Option<String>,
    /// What was found while it was read: a missing mark, or what a recording does not say.
    pub findings: Vec<Finding>,
    /// What it needed of the kernel, where every call was recorded.
    pub needs: Known<Needs>,
    /// What the kernel executed beside its programs, where that was asked for.
    pub programs: Programs,
    /// What became of its faults.
    pub faults: Known<Faults>,
    /// All calls, of loaders and from before its start as well, where it has faults;
    /// `None` unless every event is kept ([`Plan::keeps_all`](crate::plan::Plan)).
    pub held: Option<Normalised>,
    /// How long a recorded run took, where the scenario gives it less time than it had then: as
    /// that of the scenario it would have been killed.
    pub outlasted: Option<Duration>,
    /// The log of what it changed, where the states after a power cut are asked for.
    pub changes: Option<Box<Built>>,
    /// What a recovery makes of the states that a power cut may leave.
    pub crash: Known<Crashed>,
    /// The trace of the baseline's run, if the scenario has one.
    pub base: Known<Normalised>,
    /// Its trace.
    pub trace: T,
}

impl Run<()> {
    /// Makes a run of which only the records are known, from a recording.
    #[must_use]
    pub fn recorded(account: Account) -> Self {
        let unknown = |what| format!("the recording does not {what}");
        let output = || Known::No(unknown("hold what the workload wrote"));
        Self {
            exit: Known::No(unknown("say how the workload ended")),
            main_pid: None,
            stdout: output(),
            stderr: output(),
            left: Known::No(unknown("hold what the run left")),
            used_by_main: Usage::default(),
            timed_out: Known::No(unknown("say how much time the workload was given")),
            took: None,
            interrupted: false,
            left_alone: false,
            struck: Known::No(unknown("say which limits the workload reached")),
            untold: Vec::new(),
            survivors: Known::No(unknown("say whether a process outlived the main one")),
            usage: Usage::default(),
            account,
            directory: None,
            findings: Vec::new(),
            needs: Known::No("not every call was asked for".to_owned()),
            programs: Programs::new(),
            faults: Known::No(unknown("say what was done to calls")),
            held: None,
            outlasted: None,
            changes: None,
            crash: Known::No(unknown("hold what files had in them")),
            base: Known::No("the baseline was not run".to_owned()),
            trace: (),
        }
    }

    /// Makes a run that was followed to this end.
    #[must_use]
    pub fn of(exited: Exited, usage: Usage, account: Account) -> Self {
        let inherited = || Known::No("the workload's output was not captured".to_owned());
        let (stdout, stderr) = match exited.outputs {
            Some([stdout, stderr]) => (Known::Yes(stdout), Known::Yes(stderr)),
            None => (inherited(), inherited()),
        };
        Self {
            exit: Known::Yes(exited.exit),
            main_pid: exited.main_pid,
            stdout,
            stderr,
            left: Known::No("the directory was not looked at".to_owned()),
            used_by_main: exited.usage,
            struck: Known::Yes(Vec::new()),
            usage,
            crash: Known::No("no state that a power cut may leave was tried".to_owned()),
            ..Self::recorded(account)
        }
    }

    /// Adds its trace to the run.
    #[must_use]
    pub fn with(self, trace: Normalised) -> Run {
        Run {
            exit: self.exit,
            main_pid: self.main_pid,
            stdout: self.stdout,
            stderr: self.stderr,
            left: self.left,
            used_by_main: self.used_by_main,
            timed_out: self.timed_out,
            took: self.took,
            interrupted: self.interrupted,
            left_alone: self.left_alone,
            struck: self.struck,
            untold: self.untold,
            survivors: self.survivors,
            usage: self.usage,
            account: self.account,
            directory: self.directory,
            findings: self.findings,
            faults: self.faults,
            needs: self.needs,
            programs: self.programs,
            held: self.held,
            outlasted: self.outlasted,
            changes: self.changes,
            crash: self.crash,
            base: self.base,
            trace,
        }
    }
}

impl<T> Run<T> {
    /// Returns the limits that it is known to have reached, except for its time.
    pub(super) fn strikes(&self) -> impl Iterator<Item = &Struck> {
        self.struck.yes().into_iter().flatten()
    }

    /// Whether it is known to have been killed at its timeout.
    #[must_use]
    pub fn has_timed_out(&self) -> bool {
        self.timed_out == Known::Yes(true)
    }

    /// Returns all limits that it is known to have reached, including its time.
    #[must_use]
    pub fn struck(&self) -> Vec<Limit> {
        let time = self.has_timed_out().then_some(Limit::Timeout);
        let others = self.strikes().map(|struck| struck.limit);
        time.into_iter().chain(others).collect()
    }

    /// Whether a limit ended it. Its trace then stops at another point in each run.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.has_timed_out() || self.strikes().any(|struck| struck.is_end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Plan, Resolved, tests::resolved};
    use crate::trace::{Trace, View};
    use crate::verdict::{About, Verdict, judge};
    use syscall_model::Signatures;

    fn nothing_done() -> Normalised {
        let signatures = Signatures::new(Box::new(|_| None));
        Trace::default().normalise(&View::default(), &signatures)
    }

    /// Makes a run of which all is known, and which used up its CPU time.
    fn known() -> Run {
        let struck = Struck {
            limit: Limit::Cpu,
            how: "it used more".to_owned(),
            is_end: true,
        };
        let exited = Exited {
            exit: ExitKind::Code(0),
            main_pid: Some(1),
            outputs: Some(Default::default()),
            usage: Usage::default(),
            is_overdue: false,
        };
        Run {
            left: Known::Yes(Left::default()),
            timed_out: Known::Yes(false),
            survivors: Known::Yes(Vec::new()),
            struck: Known::Yes(vec![struck]),
            base: Known::Yes(nothing_done()),
            ..Run::of(exited, Usage::default(), Account::default()).with(nothing_done())
        }
    }

    fn unknown<T>() -> Known<T> {
        Known::No("it was not seen".to_owned())
    }

    fn plan(expect: &str) -> Plan {
        let baseline = match expect.contains("delta") {
            true => "baseline: { run: [\"true\", again] }",
            false => "",
        };
        let resolved = resolved(&format!(
            "description: it ends\nworkload: {{ run: [\"true\"] }}\n{baseline}\n\
             sandbox: {{ limits: {{ cpu: 1s }} }}\ntrace: {{ events: [{{ syscalls: [openat] }}] }}\n\
             expect: {{ limit: cpu, {expect} }}\nsnapshot: false"
        ));
        match resolved {
            Ok(Resolved::Plan(plan)) => *plan,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_expected_and_not_known_of_a_run_is_never_a_pass() {
        type Hide = fn(&mut Run);
        let cases: [(&str, Hide); 9] = [
            ("exit: 0", |run| run.exit = unknown()),
            ("exit: 0, stdout: ''", |run| run.stdout = unknown()),
            ("exit: 0, stderr: ''", |run| run.stderr = unknown()),
            ("exit: 0, files_after: { gone: { exists: false } }", |run| {
                run.left = unknown()
            }),
            ("exit: 0", |run| run.struck = unknown()),
            ("exit: 0", |run| run.survivors = unknown()),
            ("exit: 0", |run| run.timed_out = unknown()),
            ("exit: 0", |run| run.left_alone = true),
            ("exit: 0, delta: { openat: 0 }", |run| run.base = unknown()),
        ];
        for (expect, hide) in cases {
            let (plan, mut run) = (plan(expect), known());
            let judgement = judge(&plan, &run);
            assert_eq!(judgement.verdict(), Verdict::Pass, "{judgement:?}");
            hide(&mut run);
            let judgement = judge(&plan, &run);
            assert_eq!(judgement.verdict(), Verdict::Incomplete, "{judgement:?}");
        }
    }

    #[test]
    fn what_a_recording_does_not_say_is_never_a_pass_and_what_it_was_ended_for_is_no_judgement() {
        let plan = plan("exit: 0");
        let mut run = known();
        let untold = Finding::unknown(About::Run, "it was recorded by another tool");
        run.findings.push(untold);
        assert_eq!(judge(&plan, &run).verdict(), Verdict::Incomplete);
        run.interrupted = true;
        assert_eq!(judge(&plan, &run).verdict(), Verdict::Broken);
        let recorded = Run::recorded(Account::default()).with(nothing_done());
        assert_eq!(judge(&plan, &recorded).verdict(), Verdict::Incomplete);
    }
}
