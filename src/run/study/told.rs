//! What the expectations of a plan tell of the events of a run.

use crate::matching::{self, Bindings, Expected, Matcher, Scene, SpanRule, may_be};
use crate::mutate::{self, Least, Number, Step, Tells};
use crate::plan::Plan;
use crate::scenario::{Pattern, Role};
use crate::trace::{Deed, Normalised, Stretch};
use crate::verdict::{asks_for, stretches};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What a plan tells. Events of a section are looked for in its stretch alone.
pub(super) struct Told<'a> {
    steps: Vec<StepTold<'a>>,
    worlds: Vec<World<'a>>,
}

/// A step of the expectations.
struct StepTold<'a> {
    matcher: &'a Matcher,
    number: Number,
    is_ordered: bool,
    part: Part,
    /// Fields that are told beside those that the matcher tests.
    also: Vec<&'a str>,
}

/// An `only`: nothing else may come in its stretch.
struct World<'a> {
    only: &'a [Matcher],
    part: Part,
}

/// The part of the run that expectations are about, with the values of their captures.
#[derive(Clone, Default)]
struct Part {
    /// All of the run, if there is none.
    within: Option<Stretch>,
    bindings: Rc<Bindings>,
}

impl Part {
    fn has(&self, deed: &Deed) -> bool {
        self.within.is_none_or(|stretch| stretch.has(deed))
    }

    /// Whether an event may be what a matcher means here.
    fn may_be(&self, deed: &Deed, matcher: &Matcher) -> bool {
        self.has(deed) && may_be(deed, matcher, &self.bindings)
    }
}

impl<'a> Told<'a> {
    /// Finds what the plan tells of this run.
    pub(super) fn of(plan: &'a Plan, trace: &Normalised) -> Self {
        let mut told = Self {
            steps: Vec::new(),
            worlds: Vec::new(),
        };
        let deeds = trace.in_order();
        let part = |expected: &Expected, within, outer: &Part| {
            let part = Part {
                within,
                ..outer.clone()
            };
            let held = deeds.iter().copied();
            let held = held.filter(|deed| asks_for(plan, deed) && part.has(deed));
            let scene = Scene::new(&held.collect::<Vec<_>>());
            let most = matching::MOST_TRIES;
            let judged = matching::judge(expected, &scene, None, &part.bindings, most);
            Part {
                bindings: Rc::new(judged.bindings),
                ..part
            }
        };
        let whole = part(&plan.expected, None, &Part::default());
        told.expected(&plan.expected, &whole);
        for (name, stretch) in stretches(plan, &deeds) {
            if let Some(expected) = plan.sections.get(name) {
                told.expected(expected, &part(expected, Some(stretch), &whole));
            }
        }
        // Any other number is another difference, unless it is one of a range.
        for delta in plan.baseline.iter().flat_map(|baseline| &baseline.delta) {
            let number = Number {
                least: Least::Number(usize::MAX),
                most: Some(0),
            };
            told.step(&delta.step, number, false, &Part::default());
        }
        for rule in &plan.spans {
            told.span(rule);
        }
        told
    }

    fn expected(&mut self, expected: &'a Expected, part: &Part) {
        let each = Number {
            least: Least::Each,
            most: None,
        };
        let any = Number {
            least: Least::Number(0),
            ..each
        };
        let none = Number {
            most: Some(0),
            ..any
        };
        for pattern in &expected.sequence {
            self.in_order(pattern, part);
        }
        for pattern in &expected.any_order {
            match pattern {
                Pattern::Step(matcher) | Pattern::Next(matcher) => {
                    self.step(matcher, each, false, part);
                }
                Pattern::Never(_) | Pattern::Sequence(_) | Pattern::AnyOrder(_) => {
                    self.in_order(pattern, part);
                }
            }
        }
        for matcher in &expected.never {
            self.step(matcher, none, false, part);
        }
        for count in &expected.count {
            let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
            let number = Number {
                least: Least::Number(number(count.times.min)),
                most: count.times.max.map(number),
            };
            self.step(&count.step, number, false, part);
        }
        for between in &expected.between {
            let first = self.steps.len();
            let of_first = Number {
                least: Least::Of(first),
                ..each
            };
            self.step(&between.first, any, true, part);
            self.step(&between.then, any, true, part);
            self.step(&between.there_is, of_first, true, part);
        }
        if !expected.only.is_empty() {
            self.worlds.push(World {
                only: &expected.only,
                part: part.clone(),
            });
        }
    }

    /// Adds the steps of an order.
    fn in_order(&mut self, pattern: &'a Pattern<Matcher>, part: &Part) {
        let each = Number {
            least: Least::Each,
            most: None,
        };
        let any = Number {
            least: Least::Number(0),
            most: None,
        };
        for (role, matcher) in pattern.roles() {
            let number = if role == Role::Never { any } else { each };
            self.step(matcher, number, true, part);
        }
    }

    fn step(&mut self, matcher: &'a Matcher, number: Number, is_ordered: bool, part: &Part) {
        self.steps.push(StepTold {
            matcher,
            number,
            is_ordered,
            part: part.clone(),
            also: Vec::new(),
        });
    }

    /// Adds the two ends of a span of which something is expected, with the fields that are told of
    /// either.
    fn span(&mut self, rule: &'a SpanRule) {
        let of_span = |step: &&StepTold<'a>| step.matcher.names.contains(&*rule.name);
        let named: Vec<&'a Matcher> = self
            .steps
            .iter()
            .filter(of_span)
            .map(|it| it.matcher)
            .collect();
        if named.is_empty() {
            return;
        }
        let fields = || named.iter().flat_map(|matcher| &matcher.fields);
        let of_end = |prefix: &str| -> Vec<&'a str> {
            let words = fields().filter_map(|(word, _)| word.strip_prefix(prefix));
            words.collect()
        };
        let always = Number {
            least: Least::Number(usize::MAX),
            most: None,
        };
        let begins = rule.key.iter().map(|key| key.begin.as_str());
        let ends = rule.key.iter().map(|key| key.end.as_str());
        let ends = [
            (&rule.begin, of_end("begin."), begins.collect::<Vec<_>>()),
            (&rule.end, of_end("end."), ends.collect()),
        ];
        for (matcher, told, key) in ends {
            self.steps.push(StepTold {
                matcher,
                number: always,
                is_ordered: true,
                part: Part::default(),
                also: [told, key].concat(),
            });
        }
    }
}

impl Tells for Told<'_> {
    fn number(&self, step: Step) -> Number {
        let none = Number {
            least: Least::Number(0),
            most: None,
        };
        self.steps.get(step).map_or(none, |step| step.number)
    }

    fn is_ordered(&self, step: Step) -> bool {
        self.steps.get(step).is_some_and(|step| step.is_ordered)
    }

    fn of(&self, deed: &Deed) -> mutate::Told {
        let mut told = mutate::Told::default();
        let words = |matcher: &Matcher| -> BTreeSet<String> {
            matcher
                .fields
                .iter()
                .map(|(word, _)| word.clone())
                .collect()
        };
        for (place, step) in self.steps.iter().enumerate() {
            if step.part.may_be(deed, step.matcher) {
                let mut fields = words(step.matcher);
                fields.extend(step.also.iter().map(|word| (*word).to_owned()));
                told.steps.insert(place, fields);
            }
        }
        for world in self.worlds.iter().filter(|world| world.part.has(deed)) {
            let of_it = |matcher: &&Matcher| world.part.may_be(deed, matcher);
            let mut allowing = world.only.iter().filter(of_it);
            match (allowing.next(), allowing.next()) {
                (None, _) => told.is_forbidden = true,
                (Some(only), None) => told.allowed_by.extend(words(only)),
                (Some(_), Some(_)) => {}
            }
        }
        told
    }
}
