//! Reads what `-e` names, in the forms that strace's users write.

use super::{Trouble, unusable};
use perf_live::host::Catalogue;
use perf_records::attr::Chain;
use trace_harness::plan::{self, TracedWord, Wanted};

/// Turns `openat,!futex,sched:*` into wants; `trace=` or `t=` in front is a habit from strace.
///
/// As in strace, a set that starts with `!` is taken away as a whole: `!open,close` leaves out
/// both.
///
/// # Errors
/// A qualifier other than `trace=`, with what to write instead; a word that is no event.
///
/// Terms stand after a name between slashes, `openat/call-graph=fp/`; `chain` is the call chain of
/// all names without such a term.
pub(super) fn wanted(
    sets: &[String],
    chain: Option<Chain>,
    catalogue: &dyn Catalogue,
) -> Result<Vec<Wanted>, Trouble> {
    let mut calls = Vec::new();
    let mut others = Vec::new();
    let mut chained = Chained::default();
    for set in sets {
        let set = unqualified(set).map_err(Trouble::Usage)?;
        let is_negated = set.starts_with('!');
        for word in plan::event_words(set) {
            match plan::traced(word, chain, catalogue).map_err(unusable)? {
                TracedWord::Event(event) => others.push(Wanted::Event(event)),
                TracedWord::Calls(word, own) => {
                    chained.add(word, own);
                    let taken = if is_negated && !word.starts_with('!') {
                        "!"
                    } else {
                        ""
                    };
                    calls.push(format!("{taken}{word}"));
                }
            }
        }
    }
    let calls = (!calls.is_empty()).then_some(Wanted::Syscalls(calls));
    let chains = chained.wanted(chain, calls.is_some() || others.is_empty());
    Ok(calls.into_iter().chain(others).chain(chains).collect())
}

/// Which calls have call chains of their own, and which have none.
#[derive(Default)]
struct Chained {
    with: Vec<(String, Chain)>,
    without: Vec<String>,
}

impl Chained {
    fn add(&mut self, word: &str, own: Option<Option<Chain>>) {
        match own {
            Some(Some(chain)) => self.with.push((word.to_owned(), chain)),
            Some(None) => self.without.push(format!("!{word}")),
            None => {}
        }
    }

    /// Returns them as wants; `all` is for calls without a term of their own, if there are calls.
    fn wanted(self, all: Option<Chain>, has_calls: bool) -> Vec<Wanted> {
        let of_all = all.filter(|_| has_calls);
        let of_all = of_all.map(|chain| Wanted::Chains(self.without, chain));
        // If all calls have chains, those of another kind only say how much is copied.
        let kept = |word: String| {
            if all.is_some() {
                Vec::new()
            } else {
                vec![word]
            }
        };
        let own = self.with.into_iter();
        let own = own.map(|(word, chain)| Wanted::Chains(kept(word), chain));
        of_all.into_iter().chain(own).collect()
    }
}

/// Returns the set after `trace=`.
fn unqualified(set: &str) -> Result<&str, String> {
    let Some((qualifier, rest)) = set.split_once('=') else {
        return Ok(set);
    };
    let is_word = |c: char| c.is_ascii_alphabetic() || c == '-';
    if qualifier.is_empty() || !qualifier.chars().all(is_word) {
        return Ok(set);
    }
    let instead = match qualifier {
        "trace" | "t" => return Ok(rest),
        "inject" | "fault" => "calls are changed by `harness trace` of a live command alone",
        "read" | "reads" | "r" | "write" | "writes" | "w" => {
            "contents of buffers are shown with --string-limit (-s), of all descriptors"
        }
        "raw" | "x" => "the words of a call are in the member `value` of --format json",
        "decode-fds" | "decode-fd" => {
            "descriptors are shown with what they refer to; --decode-fds none leaves it out"
        }
        "decode-pids" | "decode-pid" => "there is --decode-pids comm (-Y)",
        "abbrev" | "a" | "verbose" | "v" => "there is one form, and it is whole",
        "quiet" | "silent" | "silence" | "q" => {
            "there is -q; messages of strace about processes are never written"
        }
        _ => "of strace's qualifiers it takes trace=, status=, fd= and, live, inject= and fault=",
    };
    Err(format!("-e has no `{qualifier}=`: {instead}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_live::host::Host;
    use std::path::Path;
    use trace_harness::plan::WantedEvent;

    /// Reads as on an unknown machine.
    fn read(sets: &[String], chain: Option<Chain>) -> Result<Vec<Wanted>, String> {
        let host = Host::at(Path::new("/nonexistent"));
        wanted(sets, chain, &host).map_err(|trouble| match trouble {
            Trouble::Usage(text) => text,
            _ => panic!("{sets:?}: no error of usage"),
        })
    }

    /// The wants, calls before tracepoints, as words.
    fn words(sets: &[&str]) -> Result<Vec<String>, String> {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let wants = read(&sets, None)?.into_iter();
        Ok(wants
            .flat_map(|want| match want {
                Wanted::Syscalls(words) | Wanted::Counted(words) => words,
                Wanted::Event(WantedEvent { name, .. }) => vec![name],
                Wanted::Starts
                | Wanted::Marks
                | Wanted::Confined(_)
                | Wanted::Changes { .. }
                | Wanted::Evasions
                | Wanted::Every
                | Wanted::Turns
                | Wanted::Chains(..) => Vec::new(),
            })
            .collect())
    }

    #[test]
    fn sets_are_read_as_strace_reads_them() {
        for (sets, expected) in [
            (&["openat,close"][..], &["openat", "close"][..]),
            (&["trace=openat,close"], &["openat", "close"]),
            (&["t=file", "close"], &["file", "close"]),
            (&["!open,close"], &["!open", "!close"]),
            (&["trace=!%memory,!brk"], &["!%memory", "!brk"]),
            (&["%file,!openat"], &["%file", "!openat"]),
            (&["!/[[:digit:]]$", "read"], &["!/[[:digit:]]$", "read"]),
            (&["!futex,sched:*"], &["!futex", "sched:*"]),
            (&["sched:*,read"], &["read", "sched:*"]),
            (&["/a=b"], &["/a=b"]),
            (&["", ","], &[]),
        ] {
            assert_eq!(
                words(sets).as_deref(),
                Ok(expected)
                    .map(|words| words
                        .iter()
                        .map(|word| (*word).to_owned())
                        .collect::<Vec<_>>())
                    .as_deref(),
                "{sets:?}"
            );
        }
    }

    #[test]
    fn terms_say_which_calls_and_events_come_with_call_chains() {
        let fp = Chain::default();
        let chains = |set: &str, all| {
            let wants = read(&[set.to_owned()], all).expect(set);
            let chains = wants.into_iter().filter_map(|want| match want {
                Wanted::Chains(words, _) => Some(words.join(" ")),
                Wanted::Event(WantedEvent { name, chain, .. }) => chain.map(|_| name),
                _ => None,
            });
            chains.collect::<Vec<_>>()
        };
        for (set, all, expected) in [
            ("openat,sched:x", None, &[][..]),
            ("openat/call-graph=fp/,close,sched:x", None, &["openat"]),
            (
                "openat,sched:x/max-stack=3,call-graph=fp/",
                None,
                &["sched:x"],
            ),
            ("openat,close/call-graph=no/", Some(fp), &["!close"]),
            ("sched:x,sched:y/call-graph=no/", Some(fp), &["sched:x"]),
            ("", Some(fp), &[""]),
        ] {
            assert_eq!(chains(set, all), expected, "{set}");
        }
        let refused = read(&["openat/nr=3/".to_owned()], None).expect_err("refused");
        assert!(
            refused.contains("at character 8: `nr` cannot be here"),
            "{refused}"
        );
    }

    #[test]
    fn what_is_not_there_is_refused_with_what_is() {
        for (set, said) in [
            (
                "inject=read:error=EIO",
                "-e has no `inject=`: calls are changed by `harness trace`",
            ),
            ("fault=openat", "-e has no `fault=`: "),
            ("read=3", "-e has no `read=`: contents of buffers"),
            ("kvm=vcpu", "-e has no `kvm=`: of strace's qualifiers"),
        ] {
            let refused = words(&[set]).expect_err(set);
            assert!(refused.starts_with(said), "{refused}");
        }
    }
}
