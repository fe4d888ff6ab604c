//! Expectations of single events as text.

use super::scalar::flow;
use crate::scenario::{
    Between, Expectations, KeyPath, Literal, NumberOf, Pattern, StepSpec, Test, field_test,
};
use std::fmt;

/// A list between brackets is no longer than this, in characters; else each of its elements has a
/// line.
const LONGEST: usize = 90;

/// The keys of these expectations that say something, each with its lines; not indented.
pub(super) fn lines(expectations: &Expectations) -> Vec<String> {
    let Expectations {
        sequence,
        any_order,
        never,
        only,
        count,
        between,
    } = expectations;
    let mut lines = list("sequence", sequence.iter().map(pattern).collect(), false);
    lines.extend(list(
        "any_order",
        any_order.iter().map(pattern).collect(),
        false,
    ));
    lines.extend(list("never", never.iter().map(step).collect(), true));
    lines.extend(list("only", only.iter().map(step).collect(), true));
    lines.extend(counts(count));
    lines.extend(betweens(between));
    lines
}

/// An event of a suggestion.
#[must_use]
pub fn event(name: &str, fields: Vec<(String, Test)>) -> StepSpec {
    StepSpec {
        event: name.to_owned(),
        fields,
        at: KeyPath::root(),
    }
}

fn list(key: &str, items: Vec<String>, is_short: bool) -> Vec<String> {
    let on_a_line = format!("{key}: [{}]", items.join(", "));
    if items.is_empty() {
        Vec::new()
    } else if is_short && on_a_line.chars().count() <= LONGEST {
        vec![on_a_line]
    } else {
        let items = items.iter().map(|item| format!("  - {}", bare(item)));
        std::iter::once(format!("{key}:")).chain(items).collect()
    }
}

/// An element of a block needs no braces around its only key.
fn bare(item: &str) -> &str {
    let inner = item
        .strip_prefix("{ ")
        .and_then(|item| item.strip_suffix(" }"));
    inner.unwrap_or(item)
}

fn counts(counts: &[NumberOf]) -> Vec<String> {
    if counts.is_empty() {
        return Vec::new();
    }
    let times = |count: &NumberOf| match count.times.max {
        Some(max) if max == count.times.min => max.to_string(),
        _ => flow(&count.times.to_string()),
    };
    if counts.iter().all(|count| count.step.fields.is_empty()) {
        let items = counts.iter();
        let items: Vec<String> = items
            .map(|count| format!("{}: {}", flow(&count.step.event), times(count)))
            .collect();
        return vec![format!("count: {{ {} }}", items.join(", "))];
    }
    let items = counts.iter().map(|count| {
        let NumberOf { step, .. } = count;
        let fields = fields(&step.fields);
        format!(
            "  - {{ {}: {fields}, times: {} }}",
            flow(&step.event),
            times(count)
        )
    });
    std::iter::once("count:".to_owned()).chain(items).collect()
}

fn betweens(all: &[Between]) -> Vec<String> {
    if all.is_empty() {
        return Vec::new();
    }
    let one = |between: &Between| {
        let Between {
            first,
            then,
            there_is,
            times,
        } = between;
        let mut lines = vec![
            format!("  - first: {}", step(first)),
            format!("    then: {}", step(then)),
            format!("    there_is: {}", step(there_is)),
        ];
        if (times.min, times.max) != (1, None) {
            lines.push(format!("    times: {}", flow(&times.to_string())));
        }
        lines
    };
    std::iter::once("between:".to_owned())
        .chain(all.iter().flat_map(one))
        .collect()
}

fn pattern(pattern: &Pattern) -> String {
    let steps = |steps: &[StepSpec]| match steps {
        [one] => step(one),
        many => format!("[{}]", many.iter().map(step).collect::<Vec<_>>().join(", ")),
    };
    let patterns = |patterns: &[Pattern]| {
        let patterns: Vec<String> = patterns.iter().map(self::pattern).collect();
        format!("[{}]", patterns.join(", "))
    };
    match pattern {
        Pattern::Step(one) => step(one),
        Pattern::Next(one) => format!("{{ next: {} }}", step(one)),
        Pattern::Never(none) => format!("{{ never: {} }}", steps(none)),
        Pattern::Sequence(all) => format!("{{ sequence: {} }}", patterns(all)),
        Pattern::AnyOrder(all) => format!("{{ any_order: {} }}", patterns(all)),
    }
}

fn step(step: &StepSpec) -> String {
    let name = flow(&step.event);
    if step.fields.is_empty() {
        name
    } else {
        format!("{{ {name}: {} }}", fields(&step.fields))
    }
}

fn fields(fields: &[(String, Test)]) -> String {
    if fields.is_empty() {
        return "{}".to_owned();
    }
    let fields = fields.iter();
    let fields: Vec<String> = fields
        .map(|(name, test)| format!("{}: {}", flow(name), self::test(test)))
        .collect();
    format!("{{ {} }}", fields.join(", "))
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&test(self))
    }
}

fn test(test: &Test) -> String {
    let one = |key: &str, value: String| format!("{{ {key}: {value} }}");
    if let Some(inner) = test.one_of() {
        return one("one_of", self::test(inner));
    }
    match test {
        Test::Any => "any".to_owned(),
        Test::Capture(name) => format!("${name}"),
        Test::Is(Literal::Number(number)) => number.to_string(),
        // What the short form takes for something else.
        Test::Is(Literal::Text(text))
            if text == "any" || text.starts_with('$') || field_test::ends(text).is_some() =>
        {
            one("equals", flow(text))
        }
        Test::Is(Literal::Text(text)) => flow(text),
        Test::OneOf(tests) => {
            format!(
                "[{}]",
                tests.iter().map(self::test).collect::<Vec<_>>().join(", ")
            )
        }
        Test::Prefix(text) => one("prefix", flow(text)),
        Test::Glob(glob) => one("glob", flow(glob)),
        Test::Regex(regex) => one("regex", flow(regex.as_str())),
        Test::Contains(texts) => match texts.as_slice() {
            [text] => one("contains", flow(text)),
            texts => one("contains", super::list(texts)),
        },
        Test::Range(min, max) => {
            let end = |end: &Option<i128>| end.map(|end| end.to_string()).unwrap_or_default();
            let equal = if max.is_some() { "=" } else { "" };
            one("range", flow(&format!("{}..{equal}{}", end(min), end(max))))
        }
        Test::Words(words) => super::list(words),
        Test::Not(inner) => one("not", self::test(inner)),
        Test::Spelled(inner) => one("text", self::test(inner)),
    }
}
