//! Which call of one witness is which call of the other.

use super::super::support::calls::Outcome;
use super::super::support::harness::Syscall;
use super::super::support::spoken::Spoken;

/// The calls of a thread that both witnesses tell, and those that one tells alone.
#[derive(Default)]
pub(super) struct Aligned<'a> {
    pub(super) pairs: Vec<(&'a Syscall, &'a Spoken)>,
    /// As text, with who tells it.
    pub(super) alone: Vec<String>,
}

/// How many calls are looked at ahead for one that both tell.
const AHEAD: usize = 32;

/// Pairs calls of the same name and outcome, in order.
pub(super) fn align<'a>(ours: &[&'a Syscall], theirs: &'a [Spoken]) -> Aligned<'a> {
    let mut aligned = Aligned::default();
    let mut left = ours;
    let mut right = theirs;
    // A thread is born in a call that only the tracepoint reports; the first thread is strace's
    // own until it executes the program.
    if let Some(begin) = first_told_by_both(left, right) {
        left = left.get(begin..).unwrap_or_default();
    }
    while let (Some(our), Some(their)) = (left.first(), right.first()) {
        if let ([our], [their]) = (left, right)
            && is_ended(our, their)
        {
            return aligned;
        }
        if is_same(our, their) {
            // Of a call that strace does not know it does not know the arguments.
            if our.name == their.name {
                aligned.pairs.push((our, their));
            }
            left = left.get(1..).unwrap_or_default();
            right = right.get(1..).unwrap_or_default();
            continue;
        }
        let (skip_left, skip_right) = next_told_by_both(left, right).unwrap_or((1, 1));
        aligned
            .alone
            .extend(left.iter().take(skip_left).map(only_ours));
        aligned
            .alone
            .extend(right.iter().take(skip_right).map(only_theirs));
        left = left.get(skip_left..).unwrap_or_default();
        right = right.get(skip_right..).unwrap_or_default();
    }
    if let ([our], []) = (left, right)
        && is_left_out(our)
    {
        return aligned;
    }
    aligned.alone.extend(left.iter().map(only_ours));
    aligned.alone.extend(right.iter().map(only_theirs));
    aligned
}

fn first_told_by_both(ours: &[&Syscall], theirs: &[Spoken]) -> Option<usize> {
    let first = theirs.first()?;
    ours.iter().position(|our| is_same(our, first))
}

/// How many calls of each to skip so that the next are the same call, and as few as possible.
fn next_told_by_both(ours: &[&Syscall], theirs: &[Spoken]) -> Option<(usize, usize)> {
    (1..2 * AHEAD).find_map(|skipped| {
        (0..=skipped).find_map(|left| {
            let right = skipped - left;
            let same = is_same(ours.get(left)?, theirs.get(right)?);
            same.then_some((left, right))
        })
    })
}

fn is_same(our: &Syscall, their: &Spoken) -> bool {
    let ours = our.outcome();
    // A thread that is killed in a blocking call: the tracepoint still sees the call return.
    let killed = matches!(
        (&ours, &their.outcome),
        (Outcome::Interrupted(_), Outcome::Never)
    );
    has_name_of(our, their) && (ours == their.outcome || killed)
}

/// Whether both name the same call. strace has a number for a call that is newer than it is, as
/// those are that the kernel has for probes of others: they may lie in a file that the program
/// runs.
fn has_name_of(our: &Syscall, their: &Spoken) -> bool {
    our.name == their.name || their.name == format!("syscall_{:#x}", our.nr)
}

/// Whether both are the last call of a thread that was killed while ptrace stopped it for strace:
/// in front of that call, which the kernel then left out, or behind it. Of such a thread strace can
/// ask nothing more, and tells that, or what it asked of another thread before: `exit_group` or
/// `read` for the call, 231 (the number of `exit_group`) or an error without a name for what it
/// returned.
fn is_ended(our: &Syscall, their: &Spoken) -> bool {
    let is_told = our.outcome() != Outcome::Never;
    is_told && (has_name_of(our, their) || is_left_out(our))
}

/// Whether the kernel left the call out as ptrace stopped the thread in front of it, and it was
/// killed there (`ptrace_report_syscall_entry()`): its end alone is told, with the error that it
/// begins with on x86-64, as one of no call on arm64 (`NO_SYSCALL`). strace need not have looked at
/// it.
fn is_left_out(our: &Syscall) -> bool {
    our.nr == -1 || our.outcome() == Outcome::Failed("ENOSYS".to_owned())
}

fn only_ours(call: &&Syscall) -> String {
    format!("harness: {} = {}", call.name, call.outcome())
}

fn only_theirs(call: &Spoken) -> String {
    format!("strace: {} = {}", call.name, call.outcome)
}
