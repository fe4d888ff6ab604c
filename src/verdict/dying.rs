//! What a process causes by its end, behind the end of its events.

use super::finding::{About, Finding};
use crate::matching::{Expected, Matcher, is_meant};
use crate::plan::{Grouping, Meaning, Plan};
use crate::trace::{Deed, Part, Value};

const SIGNALS: &str = "signal:signal_generate";

const SIGCHLD: i32 = 17;

/// How a process may have ended, by the code of its signal.
const CODES: [(&str, u64); 3] = [("CLD_EXITED", 1), ("CLD_KILLED", 2), ("CLD_DUMPED", 3)];

/// Finds what is forbidden or counted of signals and may be the one that the end of a process sends
/// to its parent.
///
/// `do_exit()` takes a task's events away (`perf_event_exit_task()`) before it tells the parent
/// (`exit_notify()`), so that neither records nor counter have that signal. Those of a control
/// group do.
pub(super) fn unseen(plan: &Plan) -> Option<Finding> {
    if plan.events.grouping == Grouping::Needed || !records_it(plan) {
        return None;
    }
    let all = || std::iter::once(&plan.expected).chain(plan.sections.values());
    let mut bounds = all().flat_map(Expected::bounds);
    let bound =
        bounds.find(|it| it.names.contains(SIGNALS) && answers(it).any(|it| it != Some(false)));
    let closed = all().find(|expected| {
        let allows = |it: &Matcher| {
            let names_more = it
                .fields
                .iter()
                .any(|(word, _)| !OF_SIGNAL.contains(&&**word));
            let is_it = answers(it).all(|answer| answer == Some(true));
            it.names.contains(SIGNALS) && is_it && !names_more
        };
        !expected.only.is_empty() && !expected.only.iter().any(allows)
    });
    let what = match (bound, closed.and_then(|expected| expected.only.first())) {
        (Some(bound), _) => format!("`{}` (line {})", bound.word, bound.line),
        (None, Some(first)) => format!("`only` (line {})", first.line),
        (None, None) => return None,
    };
    let text = format!(
        "whether {what} holds is not known: a process sends its parent SIGCHLD by its end, behind \
         that of its events, so that there is no record of it; a test of `sig` or a filter \
         `sig == 10` excludes it"
    );
    Some(Finding::unknown(About::Events, text))
}

/// Whether such a signal would be recorded.
fn records_it(plan: &Plan) -> bool {
    let opened = plan.events.requests.iter().zip(&plan.events.meanings);
    let mut of_signals = opened.filter(|(request, meaning)| {
        matches!(meaning, Meaning::Event(_)) && request.name == SIGNALS
    });
    of_signals.any(|(request, _)| !request.filter.as_deref().is_some_and(excludes))
}

/// Whether a filter asks for another signal, in the plainest form: `sig == 10`.
fn excludes(filter: &str) -> bool {
    let is_of_another = |part: &str| {
        let number = part.trim().strip_prefix("sig").map(str::trim_start);
        let number = number.and_then(|rest| rest.strip_prefix("=="));
        let number = number.and_then(|number| number.trim().parse::<i32>().ok());
        number.is_some_and(|number| number != SIGCHLD)
    };
    !filter.contains("||") && filter.split("&&").any(is_of_another)
}

const OF_SIGNAL: [&str; 2] = ["sig", "code"];

/// Whether a matcher means that signal, for each of its codes; all else may be as it says.
fn answers(matcher: &Matcher) -> impl Iterator<Item = Option<bool>> {
    let fields = matcher.fields.iter();
    let fields = fields.filter(|(word, _)| OF_SIGNAL.contains(&&**word));
    let matcher = Matcher {
        fields: fields.cloned().collect(),
        ..matcher.clone()
    };
    CODES.into_iter().map(move |(name, code)| {
        let part = |word: &str, name: &str, number| Part {
            name: word.into(),
            alias: None,
            text: name.to_owned(),
            value: Value::Names(vec![name.into()], number),
        };
        let fields = vec![part("sig", "SIGCHLD", 17), part("code", name, code)];
        is_meant(&Deed::imagined(SIGNALS, fields, None), &matcher)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{KeyPath, Literal, Test};

    #[test]
    fn the_signal_of_an_end_is_told_from_others_by_number_and_code_alone() {
        let means = |word: &str, value: &str| {
            let matcher = Matcher {
                is_closed: false,
                word: SIGNALS.to_owned(),
                names: [SIGNALS.to_owned()].into(),
                fields: vec![(word.to_owned(), Test::Is(Literal::Text(value.to_owned())))],
                at: KeyPath::root(),
                line: 1,
            };
            answers(&matcher).any(|answer| answer != Some(false))
        };
        assert!(means("sig", "SIGCHLD") && means("code", "CLD_KILLED"));
        assert!(means("process", "P2") && means("comm", "sh"));
        assert!(!means("sig", "SIGUSR1") && !means("code", "SI_USER"));
    }

    #[test]
    fn a_filter_excludes_the_signal_of_an_end_where_it_plainly_asks_for_another() {
        for filter in ["sig == 10", "sig==9", "pid > 1 && sig == 1"] {
            assert!(excludes(filter), "{filter}");
        }
        for filter in [
            "sig == 17",
            "sig != 9",
            "sig == 10 || pid == 3",
            "(sig == 9)",
            "pid == 9",
        ] {
            assert!(!excludes(filter), "{filter}");
        }
    }
}
