//! Writes what a search for the first bad kernel has come to, as text and as JSON lines.

use super::json::object_line;
use crate::matrix::{Bisected, Found, Tried};
use crate::verdict::Sign;
use perf_records::units::{shown, shown_lines};
use std::fmt::Write;

/// Appends each kernel that was tried, with what it said and why, and the result.
pub fn bisected_human(out: &mut String, bisected: &Bisected, color: bool) {
    let (good, bad) = &bisected.ends;
    let _always_fits = writeln!(out, "bisect of {} kernels, {good}..{bad}", bisected.kernels);
    for name in &bisected.scenarios {
        let _always_fits = writeln!(out, "  by {}", shown(name));
    }
    let width = bisected.tried.iter().map(|tried| tried.kernel.len()).max();
    for tried in &bisected.tried {
        line(out, tried, width.unwrap_or_default(), color);
    }
    let _always_fits = writeln!(out, "{}", result(bisected));
    if let Some((kernel, names)) = &bisected.otherwise {
        let names: Vec<String> = names.iter().map(|it| shown(it).into_owned()).collect();
        let (names, s) = (names.join(", "), if names.len() == 1 { "s" } else { "" });
        let bad = &bisected.ends.1;
        let _always_fits = writeln!(
            out,
            "{names} fail{s} otherwise on {kernel} than on {bad}: it may not be the same failure"
        );
    }
}

fn line(out: &mut String, tried: &Tried, width: usize, color: bool) {
    let (start, end) = match (color, tried.sign) {
        (false, _) => ("", ""),
        (true, Sign::Good) => ("\u{1b}[32m", "\u{1b}[0m"),
        (true, Sign::Bad) => ("\u{1b}[1;31m", "\u{1b}[0m"),
        (true, Sign::Unclear) => ("\u{1b}[33m", "\u{1b}[0m"),
    };
    let word = match tried.sign {
        Sign::Unclear => "cannot tell",
        sign => sign.word(),
    };
    let kernel = &tried.kernel;
    let _always_fits = writeln!(out, "  {kernel:width$}  {start}{word}{end}");
    for line in tried.why.iter().flat_map(|text| shown_lines(text)) {
        let _always_fits = writeln!(out, "  {:width$}    {line}", "");
    }
}

/// The result in words.
fn result(bisected: &Bisected) -> String {
    let interrupted = match bisected.interrupted {
        true => "interrupted: ",
        false => "",
    };
    let text = match &bisected.found {
        Found::First { bad, good } => {
            format!("{bad} is the first bad kernel; {good}, right before it in the list, is good")
        }
        Found::Left { good, kernels } => {
            let (bad, others) = match kernels.split_last() {
                Some((bad, others)) => (bad.as_str(), others),
                None => ("", &[][..]),
            };
            let is_tried = |name: &&String| bisected.tried.iter().any(|it| it.kernel == **name);
            let (tried, not): (Vec<&String>, Vec<&String>) = others.iter().partition(is_tried);
            let mut text = format!(
                "the first bad kernel is one of {}: {good}, before them, is good, {bad} is bad",
                kernels.join(", ")
            );
            for (what, names) in [("cannot tell", tried), ("not tried", not)] {
                let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
                if !names.is_empty() {
                    let _always_fits = write!(text, "; {what}: {}", names.join(", "));
                }
            }
            text
        }
        Found::Ends(why) => format!("nothing was searched for: {why}"),
    };
    format!("{interrupted}{text}")
}

/// Appends an object for each kernel that was tried, and one for the result, each with a line feed.
pub fn bisected_json(out: &mut String, bisected: &Bisected) {
    for tried in &bisected.tried {
        object_line(out, "tried", |line| {
            line.put("kernel", &tried.kernel);
            line.put("release", &tried.release);
            line.put("sign", tried.sign.word());
            line.put("why", &tried.why);
        });
    }
    object_line(out, "bisect", |line| {
        line.put("good", &bisected.ends.0);
        line.put("bad", &bisected.ends.1);
        line.put("kernels", bisected.kernels);
        line.put("scenarios", &bisected.scenarios);
        line.put("interrupted", bisected.interrupted);
        let (first, left, last_good, why) = match &bisected.found {
            Found::First { bad, good } => (Some(bad), vec![bad], Some(good), None),
            Found::Left { good, kernels } => (None, kernels.iter().collect(), Some(good), None),
            Found::Ends(why) => (None, Vec::new(), None, Some(why)),
        };
        line.put("first_bad", first);
        line.put("last_good", last_good);
        line.put("left", left);
        line.put("ends", why);
        line.put("otherwise", bisected.otherwise.as_ref().map(|it| &it.1));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bisected(found: Found) -> Bisected {
        let tried = |kernel: &str, sign, why: &str| Tried {
            kernel: kernel.to_owned(),
            release: String::new(),
            sign,
            why: why.lines().map(str::to_owned).collect(),
        };
        Bisected {
            ends: ("v1".to_owned(), "v10".to_owned()),
            kernels: 4,
            scenarios: vec!["a".to_owned()],
            tried: vec![
                tried("v1", Sign::Good, ""),
                tried("v10", Sign::Bad, "a: fail: \u{1b}why"),
                tried("v2", Sign::Unclear, "it panicked"),
            ],
            found,
            otherwise: None,
            interrupted: false,
        }
    }

    fn human(found: Found) -> String {
        let mut out = String::new();
        bisected_human(&mut out, &bisected(found), false);
        out
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_kernel_that_was_tried_has_its_evidence_and_the_result_says_what_is_known() {
        let first = Found::First {
            bad: "v3".to_owned(),
            good: "v2".to_owned(),
        };
        assert_eq!(
            human(first),
            "bisect of 4 kernels, v1..v10\n  by a\n  v1   good\n  v10  bad\n         a: fail: \\u{1b}why\n  \
             v2   cannot tell\n         it panicked\n\
             v3 is the first bad kernel; v2, right before it in the list, is good\n"
        );
    }

    #[test]
    fn a_range_says_why_it_is_no_single_kernel() {
        let left = |kernels: &[&str]| {
            let good = "v1".to_owned();
            let kernels = names(kernels);
            let text = human(Found::Left { good, kernels });
            text.lines().last().unwrap().to_owned()
        };
        assert_eq!(
            left(&["v2", "v10"]),
            "the first bad kernel is one of v2, v10: v1, before them, is good, v10 is bad; cannot tell: v2"
        );
        let text = left(&["v2", "v3", "v10"]);
        assert!(text.ends_with("; cannot tell: v2; not tried: v3"), "{text}");
        assert!(left(&["v3", "v10"]).ends_with("is bad; not tried: v3"));
    }

    #[test]
    fn a_first_bad_kernel_that_fails_otherwise_than_the_bad_end_is_told() {
        let first = Found::First {
            bad: "v3".to_owned(),
            good: "v2".to_owned(),
        };
        let bisected = Bisected {
            otherwise: Some(("v3".to_owned(), names(&["a"]))),
            ..bisected(first)
        };
        let (mut text, mut json) = (String::new(), String::new());
        bisected_human(&mut text, &bisected, false);
        let last = text.lines().last().unwrap();
        let said = "a fails otherwise on v3 than on v10: it may not be the same failure";
        assert_eq!(last, said);
        bisected_json(&mut json, &bisected);
        let last: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
        assert_eq!(last["otherwise"], serde_json::json!(["a"]));
    }

    #[test]
    fn in_json_a_range_names_no_first_bad_kernel() {
        let mut out = String::new();
        let left = Found::Left {
            good: "v1".to_owned(),
            kernels: names(&["v2", "v10"]),
        };
        bisected_json(&mut out, &bisected(left));
        let last: serde_json::Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        assert_eq!(last["first_bad"], serde_json::Value::Null);
        assert_eq!(last["left"], serde_json::json!(["v2", "v10"]));
        assert_eq!(last["last_good"], "v1");
        assert_eq!(out.lines().count(), 4);
    }
}
