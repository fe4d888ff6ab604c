//! `-e inject=SET:...`: what is done to calls, in the words of strace.

use super::delivered::no_signal;
use super::{Arguments, chosen};
use crate::out::note;
use nix::libc;
use perf_live::gate::{MADE, first_without};
use perf_records::units::Nanos;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use syscall_model::errno::errno_name;
use syscall_model::names::Abi;
use syscall_model::select::Selection;
use syscall_model::signals::signal_by;
use syscall_model::{Answer, Injected};
use trace_harness::plan::{EventsPlan, FaultPlan};
use trace_harness::run::{Bench, Doing, Setting};
use trace_harness::scenario::When;
use trace_harness::verdict::{FaultOutcome, Faults, Known};

const MOST_COUNT: u64 = 65535;

/// What keeps strace from writing messages that are not written here.
const QUIET: [&str; 4] = ["q", "quiet", "silence", "silent"];

/// All words of `-e`, and those of the options for two of its qualifiers.
pub(super) fn sets(arguments: &Arguments) -> Vec<String> {
    let of = |qualifier: &'static str, words: &[String]| -> Vec<String> {
        let words = words.iter();
        words.map(|words| format!("{qualifier}={words}")).collect()
    };
    let Arguments { inject, fault, .. } = arguments;
    [
        arguments.events.clone(),
        of("inject", inject),
        of("fault", fault),
    ]
    .concat()
}

/// Leaves faults to calls that are traced, and of these to those that `-P` chooses, as strace does;
/// says so where none is left.
pub(super) fn restrict(
    faults: &mut Vec<FaultPlan>,
    plan: &EventsPlan,
    (paths, directory): (&[PathBuf], Option<&[u8]>),
) -> io::Result<()> {
    let selected = plan.selection.iter().flat_map(Selection::all_names);
    let traced: BTreeSet<&str> = selected.collect();
    let is_traced = |name: &String| traced.contains(&**name);
    let untraced = faults.extract_if(.., |fault| !fault.matcher.names.iter().any(is_traced));
    let untraced: Vec<String> = untraced.map(|fault| fault.matcher.word).collect();
    if faults.is_empty() && !untraced.is_empty() {
        let untraced = untraced.join(", ");
        note!("harness: nothing is injected, as none of these calls is traced: {untraced}");
    }
    let mut files = BTreeSet::new();
    for path in paths {
        let all = [vec![path.clone()], chosen::from_here(path)?].concat();
        files.extend(
            all.iter()
                .map(|path| in_directory(path.as_os_str().as_bytes(), directory)),
        );
    }
    for fault in faults {
        fault.within.clone_from(&files);
    }
    Ok(())
}

/// Says what is to be known of what was done, and of how many calls it is not known whether `-P`
/// means them: to those nothing was done. Returns what was done.
pub(super) fn say(done: Known<Faults>, faults: &[FaultPlan]) -> Known<Faults> {
    if let Some(done) = done.yes() {
        say_of(done, faults);
    }
    done
}

fn say_of(done: &Faults, faults: &[FaultPlan]) {
    for remark in done.remarks.iter().chain(&done.unknown) {
        note!("harness: {remark}");
    }
    if done.may_end_threads {
        note!(
            "harness: a seccomp filter of the command's own may end a thread (SECCOMP_RET_KILL_THREAD) at a call that is injected for: such a call may be in no trace"
        );
    }
    for (fault, outcome) in faults.iter().zip(&done.outcomes) {
        let (unknown, word) = (outcome.unknown, &fault.matcher.word);
        if unknown > 0 {
            note!(
                "harness: nothing was done to {unknown} calls of `{word}`: not all of their arguments could be read, so that -P may mean them"
            );
        }
    }
}

/// Says so of each set among these words of `-e` that was done to no call, where any could be and
/// the command line does not ask for quiet.
pub(super) fn say_never(
    done: &Known<Faults>,
    faults: &[FaultPlan],
    (arguments, sets): (&Arguments, &[String]),
) {
    let is_quiet = arguments.quieter > 0
        || !arguments.quiet.is_empty()
        || sets.iter().any(|set| asks_for_quiet(set));
    let Some(done) = done.yes().filter(|_| !is_quiet) else {
        return;
    };
    let both = faults.iter().zip(&done.outcomes);
    for (place, set) in sets.iter().enumerate().filter(|(_, set)| injects(set)) {
        let of_set = both.clone().filter(|(it, _)| it.matcher.line == place + 1);
        let outcomes: Vec<&FaultOutcome> = of_set.map(|(_, outcome)| outcome).collect();
        if outcomes.iter().any(|it| it.fired > 0) {
            continue;
        }
        let seen: u64 = outcomes.iter().map(|it| it.seen).sum();
        let why = match (outcomes.is_empty(), seen) {
            (true, _) => "its calls are not traced, or a later one is about them".to_owned(),
            (false, 0) => "none of its calls was held".to_owned(),
            (false, 1) => "one of its calls was held".to_owned(),
            (false, n) => format!("{n} of its calls were held"),
        };
        note!("harness: nothing was injected by {set}: {why}");
    }
}

/// A path as deeds have it.
fn in_directory(path: &[u8], directory: Option<&[u8]>) -> Vec<u8> {
    let rest = directory.and_then(|directory| path.strip_prefix(directory));
    match rest.filter(|rest| rest.is_empty() || rest.starts_with(b"/")) {
        Some(rest) => [b"$DIR", rest].concat(),
        None => path.to_vec(),
    }
}

/// Returns the words of `-e` without those that inject, and the faults of these, whose line is the
/// number of their word. Of several that name a call the last counts, as in strace.
pub(super) fn split(sets: &[String]) -> Result<(Vec<String>, Vec<FaultPlan>), String> {
    let (mut rest, mut faults) = (Vec::new(), Vec::<FaultPlan>::new());
    for (place, set) in sets.iter().enumerate() {
        if asks_for_quiet(set) {
            continue;
        }
        let Some((qualifier, said)) = set.split_once('=').filter(|(word, _)| is_ours(word)) else {
            rest.push(set.clone());
            continue;
        };
        let fault = fault(qualifier, said).map_err(|why| format!("-e {set}: {why}"))?;
        faults.retain(|earlier| earlier.matcher.names.is_disjoint(&fault.matcher.names));
        // strace counts each call of a set by itself.
        let each = fault.matcher.names.iter().map(|name| {
            let names = BTreeSet::from([name.clone()]);
            let mut fault = FaultPlan::of_calls(name, names, fault.when, fault.injected);
            fault.matcher.line = place + 1;
            fault
        });
        faults.extend(each);
    }
    Ok((rest, faults))
}

/// What is done to the calls of a command.
pub(super) fn doing<'a>(
    bench: &'a Bench<'a>,
    events: &'a EventsPlan,
    faults: &'a [FaultPlan],
    setting: &'a Setting,
) -> Doing<'a> {
    let directory = setting.initial.directory.as_deref().unwrap_or_default();
    Doing {
        bench,
        events,
        faults,
        directory: Path::new(OsStr::from_bytes(directory)),
        aliases: &[],
    }
}

fn asks_for_quiet(set: &str) -> bool {
    set.split_once('=')
        .is_some_and(|(word, _)| QUIET.contains(&word))
}

fn injects(set: &str) -> bool {
    set.split_once('=').is_some_and(|(word, _)| is_ours(word))
}

fn is_ours(word: &str) -> bool {
    ["inject", "fault"].contains(&word)
}

fn fault(qualifier: &str, said: &str) -> Result<FaultPlan, String> {
    let mut parts = said.split(':');
    let set = parts.next().unwrap_or_default();
    let is_negated = set.starts_with('!');
    let words = set
        .split(',')
        .enumerate()
        .map(|(place, word)| match is_negated && place > 0 {
            true => format!("!{word}"),
            false => word.to_owned(),
        });
    let words: Vec<String> = words.collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let native = Abi::native();
    let selection = Selection::parse(&words, native).map_err(|unknown| unknown.to_string())?;
    let names: BTreeSet<String> = selection.all_names().map(str::to_owned).collect();
    let (mut injected, mut when) = (Injected::default(), When::default());
    let mut late = None;
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let wrong = || format!("`{part}` makes no sense");
        match key {
            "error" if injected.answer.is_none() => {
                let error = error(value).ok_or_else(wrong)?;
                if MAKES_AGAIN.contains(&error) {
                    return Err(format!("`{value}` is the kernel's own: no program sees it"));
                }
                injected.answer = Some(Answer::Error(error));
            }
            "retval" if injected.answer.is_none() && qualifier == "inject" => {
                injected.answer = Some(Answer::Value(number(value).ok_or_else(wrong)?));
            }
            "error" | "retval" => return Err("there is one answer to a call".to_owned()),
            "signal" => {
                let signal = signal_by(value).ok_or_else(|| no_signal(value))?;
                injected.signal = Some(signal);
            }
            "delay_enter" => injected.delay = Some(delay(value).ok_or_else(wrong)?),
            "delay_exit" => late = Some(delay(value).ok_or_else(wrong)?),
            "when" => when = times(value).ok_or_else(wrong)?,
            "syscall" | "poke_enter" | "poke_exit" => {
                return Err(format!(
                    "there is no `{key}`: neither the call nor memory is changed"
                ));
            }
            _ => return Err(wrong()),
        }
    }
    if injected.answer.is_none() && qualifier == "fault" {
        injected.answer = Some(Answer::Error(libc::ENOSYS));
    }
    if injected.is_nothing() && late.is_none() {
        return Err(
            "it does not say what is done: `error`, `retval`, `signal` or a delay".to_owned(),
        );
    }
    match (late, injected.answer) {
        (None, _) => {}
        // Nothing happens between the two ends of a call that is not made.
        (Some(late), Some(_)) => {
            let before = injected.delay.map_or(0, |delay| delay.0);
            injected.delay = Some(Nanos(before.saturating_add(late.0)));
        }
        (Some(_), None) if injected.signal.is_some() => {
            return Err(
                "`delay_exit` and `signal` go together with `error` or `retval`".to_owned(),
            );
        }
        (Some(late), None) => {
            if let Some(other) = first_without(&names, &MADE) {
                return Err(format!(
                    "`delay_exit` needs `error` or `retval` for `{other}`: of calls that are made only {} can be held at their end",
                    MADE.join(", ")
                ));
            }
            (injected.answer, injected.late) = (Some(Answer::Whole), Some(late));
        }
    }
    Ok(FaultPlan::of_calls(set, names, when, injected))
}

/// `ERESTARTSYS`, `ERESTARTNOINTR`, `ERESTARTNOHAND`, `ERESTART_RESTARTBLOCK`
/// (`include/linux/errno.h`): by these the kernel makes a call again that a signal interrupted, so
/// that a trace could not tell whether it did.
const MAKES_AGAIN: [i32; 4] = [512, 513, 514, 516];

fn error(value: &str) -> Option<i32> {
    let named = (1..4096).find(|number| errno_name(*number) == Some(value));
    let number = || {
        value
            .parse()
            .ok()
            .filter(|number| (1..4096).contains(number))
    };
    named.or_else(number)
}

fn number(value: &str) -> Option<i64> {
    let number = match value.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => value.parse().ok(),
    };
    number.filter(|number| *number >= 0)
}

/// Microseconds, or with a unit.
fn delay(value: &str) -> Option<Nanos> {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = value.split_at_checked(digits)?;
    let factor: u64 = match unit {
        "" | "us" => 1_000,
        "ns" => 1,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor).map(Nanos)
}

/// `N`, `N+`, `N+S`, `N..M`, `N..M+S`.
fn times(value: &str) -> Option<When> {
    let number = |text: &str| {
        let number = text.parse::<u64>().ok()?;
        (1..=MOST_COUNT).contains(&number).then_some(number)
    };
    let (range, step) = match value.split_once('+') {
        Some((range, "")) => (range, Some(1)),
        Some((range, step)) => (range, Some(number(step)?)),
        None => (value, None),
    };
    let (first, last) = match range.split_once("..") {
        Some((first, last)) => (number(first)?, Some(number(last)?)),
        None => (number(range)?, None),
    };
    let last = match (last, step) {
        (Some(last), _) if last < first => return None,
        (Some(last), _) => Some(last),
        (None, Some(_)) => None,
        (None, None) => Some(first),
    };
    Some(When {
        first,
        last,
        step: step.unwrap_or(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_has_all_forms_of_strace() {
        let hits = |text| {
            let when = times(text).unwrap();
            (1..=9)
                .filter(|number| when.has(*number))
                .collect::<Vec<u64>>()
        };
        assert_eq!(hits("2"), [2]);
        assert_eq!(hits("7+"), [7, 8, 9]);
        assert_eq!(hits("2+3"), [2, 5, 8]);
        assert_eq!(hits("2..4"), [2, 3, 4]);
        assert_eq!(hits("2..7+2"), [2, 4, 6]);
        for bad in ["", "0", "x", "3..2", "1..", "..2", "1+0", "65536"] {
            assert_eq!(times(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_last_word_on_a_call_counts_and_an_error_is_the_default() {
        let sets = [
            "inject=open,openat:error=EIO",
            "trace=all",
            "fault=openat:when=2",
        ];
        let sets = sets.map(str::to_owned);
        let (rest, faults) = split(&sets).unwrap();
        assert_eq!(rest, ["trace=all"]);
        let of = |fault: &FaultPlan| {
            let names: Vec<String> = fault.matcher.names.iter().cloned().collect();
            (names.join(","), fault.injected.answer)
        };
        let each: Vec<_> = faults.iter().map(of).collect();
        let error = |number| Some(Answer::Error(number));
        let open = ("open".to_owned(), error(libc::EIO));
        assert_eq!(each, [open, ("openat".to_owned(), error(libc::ENOSYS))]);
    }

    #[test]
    fn each_call_of_a_set_is_counted_by_itself() {
        let (_, faults) = split(&["inject=read,write:error=EIO:when=2".to_owned()]).unwrap();
        let names: Vec<_> = faults.iter().map(|it| it.matcher.names.len()).collect();
        assert_eq!(names, [1, 1]);
    }

    #[test]
    fn the_return_of_a_call_is_held_that_is_made_for_its_thread() {
        let set = "inject=read:delay_enter=2:delay_exit=3".to_owned();
        let (_, faults) = split(&[set]).unwrap();
        let injected = faults[0].injected;
        assert_eq!(injected.answer, Some(Answer::Whole));
        let micro = |number: u64| Some(Nanos(1000 * number));
        assert_eq!((injected.delay, injected.late), (micro(2), micro(3)));
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_name() {
        let of = |said: &str| split(&[said.to_owned()]).unwrap_err();
        assert!(of("inject=open:poke_enter=@arg1=00").contains("poke_enter"));
        assert!(of("inject=openat:delay_exit=100").contains("for `openat`"));
        assert!(of("inject=read:delay_exit=100:signal=USR1").contains("`signal`"));
        assert!(of("inject=read").contains("does not say"));
        assert!(of("inject=read:error=EFOO").contains("EFOO"));
        assert!(of("inject=read:signal=SIGRTMIN+3").contains("`SIGRT_5` here"));
        assert!(of("inject=read:signal=FOO").contains("no signal `FOO`"));
        assert!(of("inject=read:error=ERESTARTSYS").contains("the kernel's own"));
        assert!(of("inject=read:error=516").contains("the kernel's own"));
        assert!(of("inject=read:error=EIO:retval=1").contains("one answer"));
        assert!(of("inject=nosuch:error=EIO").contains("nosuch"));
    }
}
