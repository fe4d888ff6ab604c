//! What a program made of an answer, by how it ended and what it left: never by a message's words.

use super::found::Found;
use super::learned::{Learned, News, crashes};
use super::site::Site;
use super::stored::{Tells, tells_of_data, tells_of_interrupted};
use crate::plan::Plan;
use crate::trace::Deed;
use crate::verdict::{self, FaultOutcome, Kind, Known, Run};
use perf_live::units::ExitKind;
use perf_records::units::count_of;
use syscall_model::{Answer, Injected};

/// How often a call must come again behind its fault, beyond all of the run that learned, before a
/// program that does not end counts as one that tries again.
const RETRIES: u64 = 3;

/// What a program made of an answer; the worst is the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A signal ended it.
    Crashed,
    /// It did not end in its time.
    Hung,
    /// It did not end in its time, and made the same call again and again.
    Retried,
    /// A process outlived the main one.
    Leaked,
    /// It said that it worked, and what it did is not what is expected; or a sync failed, or
    /// the close of a file that was written, whose loss no file shows as long as the machine runs.
    Silent,
    /// It has lost what a file held that it was given, whatever it said.
    Damaged,
    /// It said that it failed, and did what `never` or `confined` forbid.
    Forbidden,
    /// It is not known.
    Unknown,
    /// It said so, or did without.
    Handled,
}

impl Class {
    /// All of them, the worst first.
    pub const ALL: [Self; 9] = [
        Self::Crashed,
        Self::Hung,
        Self::Retried,
        Self::Leaked,
        Self::Silent,
        Self::Damaged,
        Self::Forbidden,
        Self::Unknown,
        Self::Handled,
    ];

    /// Its word in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Crashed => "crashed",
            Self::Hung => "hung",
            Self::Retried => "retried_without_end",
            Self::Leaked => "leaked",
            Self::Silent => "silent",
            Self::Damaged => "damaged",
            Self::Forbidden => "forbidden",
            Self::Unknown => "unknown",
            Self::Handled => "handled",
        }
    }
}

/// How an answer was handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// The exit status says so.
    Status,
    /// All is as expected, and an output has lines that it had not before: standard error, or
    /// standard output where something is expected of it.
    Message,
    /// All is as expected, and nothing was said.
    Without,
}

impl How {
    /// Its word in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Message => "message",
            Self::Without => "did_without",
        }
    }
}

/// One run with one fault.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The site that was failed.
    pub site: &'a Site,
    /// What was done.
    pub injected: Injected,
    /// Its place among the faults of the plan.
    pub fault: usize,
    /// What is expected of results.
    pub plan: &'a Plan,
    /// The program without faults.
    pub learned: &'a Learned,
    /// Whether the plan expects something of what the program writes and leaves.
    pub expects_results: bool,
}

/// What was made of an answer.
#[derive(Clone, Debug)]
pub struct Told {
    /// The class.
    pub class: Class,
    /// How it was handled, if it was.
    pub how: Option<How>,
    /// Why it is of this class, for people; none where the class and the end of the run say all.
    /// For what was handled by a message its lines, and where the program did without which names
    /// it left otherwise than without the fault, of which nothing is expected.
    pub why: Vec<String>,
    /// How the main process ended; `None` where that is not known or the harness ended it.
    pub exit: Option<ExitKind>,
    /// Whether all that is expected of results was met, so that the same run as a scenario passes.
    pub is_met: bool,
    /// The line of the call that the fault was done to.
    pub line: Option<String>,
}

impl Told {
    /// One of which no more is known than why.
    #[must_use]
    pub fn unknown(why: Vec<String>) -> Self {
        Self {
            class: Class::Unknown,
            how: None,
            why,
            exit: None,
            is_met: false,
            line: None,
        }
    }
}

/// Decides what a program made of an answer.
///
/// What is certain of a bad end counts whatever else is not known: that it was killed for its time,
/// that a signal ended it, that a process outlived it. All else follows from a complete run alone.
#[must_use]
pub fn classify(given: &Given<'_>, mut run: Run) -> Told {
    let done = match Done::of(given, &run) {
        Ok(done) => done,
        Err(why) => return Told::unknown(vec![why]),
    };
    let mut told = Told {
        line: done.line.clone(),
        ..Told::unknown(Vec::new())
    };
    // A call that was answered is not one that the program has made.
    for block in &mut run.trace.blocks {
        block.deeds.retain(|deed| deed.injected != given.injected);
        block.recount();
    }
    let plan = Plan {
        faults: Vec::new(),
        ..given.plan.clone()
    };
    let found = Found(verdict::judge(&plan, &run).findings);
    if found.has(Kind::TooLong) {
        told.why = found.texts(Kind::TooLong);
        told.why.extend(found.alive());
        told.class = match done.retries {
            Some(retries) => {
                let times = count_of(retries, "time");
                told.why.push(format!("the call came {times} more"));
                Class::Retried
            }
            None => Class::Hung,
        };
        told.why.extend(done.not_known(&run));
        return told;
    }
    let wanted = given.plan.expect.exit.unwrap_or(ExitKind::Code(0));
    told.exit = run.exit.yes().copied();
    told.is_met =
        told.exit == Some(wanted) && !found.has(Kind::Missed) && !found.has(Kind::Outlived);
    let crashes = crashes(&run);
    // Who writes to nobody is ended by SIGPIPE where it does not say otherwise: that says it.
    let is_told = |exit| exit == wanted || exit == ExitKind::Signal(libc::SIGPIPE);
    if matches!(told.exit, Some(exit @ ExitKind::Signal(_)) if !is_told(exit)) {
        told.class = Class::Crashed;
        told.why = [found.of_rules(Kind::Missed), done.not_known(&run)].concat();
    } else if given.learned.has_more(&crashes) {
        let crashes = crashes.into_iter().map(|crash| crash.told);
        (told.class, told.why) = (Class::Crashed, crashes.collect());
        told.why.extend(found.of_rules(Kind::Missed));
        told.why.extend(done.not_known(&run));
    } else if found.has(Kind::Outlived) {
        told.class = Class::Leaked;
        told.why = [found.texts(Kind::Outlived), done.not_known(&run)].concat();
    } else {
        told.why = [
            found.texts(Kind::Lost),
            found.texts(Kind::Broken),
            done.not_known(&run),
        ]
        .concat();
        match told.exit.filter(|_| told.why.is_empty()) {
            Some(exit) => {
                conclude(given, (&run, &done), (exit, wanted), &found, &mut told);
                look_at_files(given, &run, &mut told);
            }
            None => told.why.extend(found.texts(Kind::Unknown)),
        }
    }
    told
}

/// What was handled, or is told as a failure, may still have lost a file.
fn look_at_files(given: &Given<'_>, run: &Run, told: &mut Told) {
    if !matches!(told.class, Class::Handled | Class::Forbidden) {
        return;
    }
    let (lost, unknown) = given.learned.lost(run);
    if !lost.is_empty() {
        let why = lost.into_iter().chain(std::mem::take(&mut told.why));
        (told.class, told.how, told.why) = (Class::Damaged, None, why.collect());
    } else if !unknown.is_empty() && told.class == Class::Handled {
        (told.class, told.how, told.why) = (Class::Unknown, None, unknown);
    }
}

/// Decides about a run that is known, and whose main process exited.
fn conclude(
    given: &Given<'_>,
    (run, done): (&Run, &Done),
    (exit, wanted): (ExitKind, ExitKind),
    found: &Found,
    told: &mut Told,
) {
    // What its own faults or marks were for may not have come.
    let unreached = found.texts(Kind::Unreached);
    if exit != wanted && exit != ExitKind::Code(0) {
        let broken = found.of_rules(Kind::Missed);
        let undecided = match broken.is_empty() {
            true => found.of_rules(Kind::Unknown),
            false => unreached,
        };
        if !broken.is_empty() && undecided.is_empty() {
            (told.class, told.why) = (Class::Forbidden, broken);
        } else if !undecided.is_empty() {
            told.why = undecided;
        } else {
            (told.class, told.how) = (Class::Handled, Some(How::Status));
        }
        return;
    }
    let missed = found.texts(Kind::Missed);
    let unknown = [unreached, found.texts(Kind::Unknown)].concat();
    if !missed.is_empty() {
        (told.class, told.why) = (Class::Silent, missed);
    } else if !unknown.is_empty() {
        told.why = unknown;
    } else {
        let news = given.learned.news(run, given.plan.expect.stdout.is_some());
        let call = &*given.site.spot.matching.call;
        (told.class, told.how, told.why) = match (news, done.tells) {
            (News::Lines(lines), _) => (Class::Handled, Some(How::Message), lines),
            (News::Doubtful, _) => (Class::Unknown, None, vec![OTHER_OUTPUT.to_owned()]),
            (news, tells) if tells != Tells::Nothing => {
                let (class, why) = match (tells, news) {
                    (Tells::Unknown(why), _) => (Class::Unknown, why),
                    (_, News::Untold) => (Class::Unknown, OUTPUTS_DIFFER),
                    _ => (Class::Silent, "neither the status nor an output says so"),
                };
                (class, None, vec![format!("`{call}` failed: {why}")])
            }
            _ if given.expects_results => {
                let otherwise = given.learned.otherwise(run);
                (Class::Handled, Some(How::Without), otherwise)
            }
            _ => (Class::Unknown, None, vec![NO_RESULTS.to_owned()]),
        };
    }
}

const OTHER_OUTPUT: &str = "standard output is another than without the fault, and nothing is \
    expected of it (`stdout`) that would tell whether it says so or is a wrong result";

const OUTPUTS_DIFFER: &str =
    "its outputs differ in each run, so that they do not tell whether it said so";

const NO_RESULTS: &str = "it ended as for a success and said nothing, and no result is expected \
    (`stdout`, `files_after`) that would tell whether it did without";

/// What the run says of the fault.
struct Done {
    /// The line of the call that it was done to; `None` where the trace does not have it.
    line: Option<String>,
    /// Whether that is a call of the site.
    is_of_site: bool,
    /// Whether who ignores that it failed may have lost data.
    tells: Tells,
    /// How often the call came again, if that did not end.
    retries: Option<u64>,
}

impl Done {
    /// # Errors
    /// Why it is not known that it was done.
    fn of(given: &Given<'_>, run: &Run) -> Result<Self, String> {
        let faults = match &run.faults {
            Known::Yes(faults) => faults,
            Known::No(why) => return Err(why.clone()),
        };
        let outcome = faults.outcomes.get(given.fault).copied();
        let FaultOutcome {
            seen,
            fired,
            outside,
            ..
        } = outcome.unwrap_or_default();
        if fired == 0 {
            return Err(format!(
                "the fault never fired: {} matched it",
                count_of(seen, "call")
            ));
        }
        if fired <= outside {
            return Err("the fault was done to a call that is not judged".to_owned());
        }
        let deeds = run.trace.in_order();
        let is_ours = |deed: &&&Deed| deed.injected == given.injected;
        // A fault of the scenario may have the same answer.
        let own = deeds
            .iter()
            .position(|deed| is_ours(&deed) && given.site.is(deed));
        let found = own.or_else(|| deeds.iter().position(|deed| is_ours(&deed)));
        let from = found.and_then(|at| deeds.get(at..));
        let Some((first, behind)) = from.and_then(<[&Deed]>::split_first) else {
            return Ok(Self {
                line: None,
                is_of_site: false,
                tells: Tells::Nothing,
                retries: None,
            });
        };
        Ok(Self {
            line: Some(first.line()),
            is_of_site: given.site.is(first),
            tells: match given.injected.answer {
                Some(Answer::Error(libc::EINTR)) => {
                    tells_of_interrupted(first, behind, |deed| given.site.is(deed))
                }
                _ => tells_of_data(first, (run.held.as_ref(), &given.plan.events)),
            },
            retries: retries(given.site, first, behind),
        })
    }

    /// Why it is not known what the fault has done.
    fn not_known(&self, run: &Run) -> Vec<String> {
        let faults = run.faults.yes();
        let mut why = faults
            .map(|faults| faults.unknown.clone())
            .unwrap_or_default();
        match &self.line {
            None => why.push("the trace lacks the call that the fault was done to".to_owned()),
            Some(line) if !self.is_of_site => {
                why.push(format!("the fault was done to another call: {line}"));
            }
            Some(_) => {}
        }
        why
    }
}

/// How often a call came again, up to the end of the run; `None` where it did not, or stopped.
fn retries(site: &Site, first: &Deed, behind: &[&Deed]) -> Option<u64> {
    let again: Vec<&&Deed> = behind.iter().filter(|deed| site.is(deed)).collect();
    let end = behind.iter().map(|deed| deed.clock.1.0).max()?;
    let last = again.last()?.clock.0.0;
    let start = first.clock.0.0;
    let is_to_the_end = last.saturating_sub(start) > end.saturating_sub(last);
    let n = again.len() as u64;
    (is_to_the_end && n > site.spot.alike.saturating_add(RETRIES)).then_some(n)
}
