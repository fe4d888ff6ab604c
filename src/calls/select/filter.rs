//! From a set of system calls to the filter that the kernel applies.

use super::Selection;
use crate::names::{self, Abi};

/// What the kernel can be asked to leave out of `raw_syscalls:sys_enter` or `sys_exit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterPlan {
    /// No filter: every record is wanted, or the filter would be too long.
    Everything,
    /// The set is empty: the event need not be opened.
    Nothing,
    /// The filter's text.
    Only(String),
}

/// Filters longer than this many bytes are not used; Linux 6.18 takes 4095 (a page with its final
/// zero).
const MAX_FILTER: usize = 4000;

/// The shortest filter on the field `id` of `raw_syscalls:sys_enter` (`enter`) or `sys_exit` that
/// lets every call of the set through.
///
/// The event does not tell the convention, so that a number passes when it belongs to the set in
/// the native or in the 32-bit table. What passes beyond the set is exactly: native calls whose
/// number is that of a chosen 32-bit call and the reverse; any x32 call where one is chosen; and
/// exits with number -1, which a call has whose number was rewritten on its way (`rt_sigreturn`, a
/// skip by ptrace).
pub fn in_kernel_filter(selection: &Selection, enter: bool) -> FilterPlan {
    filter(selection, enter, |nr| selection.admits(nr))
}

/// Makes a filter by the native table alone, for records whose convention cannot be told later. It
/// also passes 32-bit calls whose number is that of a chosen native call; other 32-bit calls of the
/// set do not pass.
pub fn native_filter(selection: &Selection, enter: bool) -> FilterPlan {
    filter(selection, enter, |nr| {
        selection.contains(selection.native, nr)
    })
}

fn filter(selection: &Selection, enter: bool, admits: impl Fn(u32) -> bool) -> FilterPlan {
    if selection.is_empty() {
        return FilterPlan::Nothing;
    }
    let spans = admitted_spans(selection, enter, admits);
    let text = |admitted, render: fn(&Span) -> String, glue| {
        let terms: Vec<_> = spans
            .iter()
            .filter(|span| span.admitted == admitted)
            .map(render)
            .collect();
        terms.join(glue)
    };
    if spans.iter().all(|span| span.admitted) {
        return FilterPlan::Everything;
    }
    let direct = text(true, Span::inside, " || ");
    let complement = text(false, Span::outside, " && ");
    let shorter = if complement.len() < direct.len() {
        complement
    } else {
        direct
    };
    if shorter.len() > MAX_FILTER {
        FilterPlan::Everything
    } else {
        FilterPlan::Only(shorter)
    }
}

/// Neighbouring numbers with the same fate; no bound means that the span has no end on that side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) first: Option<i64>,
    pub(super) last: Option<i64>,
    pub(super) admitted: bool,
}

impl Span {
    fn inside(&self) -> String {
        match (self.first, self.last) {
            (Some(a), Some(b)) if a == b => format!("id == {a}"),
            (Some(a), Some(b)) if b - a == 1 => format!("id == {a} || id == {b}"),
            (Some(a), Some(b)) => format!("(id >= {a} && id <= {b})"),
            (Some(a), None) => format!("id >= {a}"),
            (None, Some(b)) => format!("id <= {b}"),
            (None, None) => String::new(),
        }
    }

    fn outside(&self) -> String {
        match (self.first, self.last) {
            (Some(a), Some(b)) if a == b => format!("id != {a}"),
            (Some(a), Some(b)) if b - a == 1 => format!("id != {a} && id != {b}"),
            (Some(a), Some(b)) => format!("(id < {a} || id > {b})"),
            (Some(a), None) => format!("id < {a}"),
            (None, Some(b)) => format!("id > {b}"),
            (None, None) => String::new(),
        }
    }
}

/// All numbers that `id` can hold, cut into spans, in order, neighbours of the same fate merged.
pub(super) fn admitted_spans(
    selection: &Selection,
    enter: bool,
    admits: impl Fn(u32) -> bool,
) -> Vec<Span> {
    let x32 = selection.native == Abi::X86_64 && selection.numbers(Abi::X32).next().is_some();
    let arm_private = names::ARM_PRIVATE..names::ARM_PRIVATE + names::ARM_PRIVATE_LEN;
    let ends = [
        (None, selection.others),
        (Some(-1), selection.others || !enter),
    ];
    let plain = (0..names::PLAIN_LEN).map(|nr| (Some(i64::from(nr)), admits(nr)));
    let gap = [(Some(i64::from(names::PLAIN_LEN)), selection.others)];
    let private = arm_private
        .clone()
        .map(|nr| (Some(i64::from(nr)), admits(nr)));
    let rest = [
        (Some(i64::from(arm_private.end)), selection.others),
        (Some(i64::from(names::X32_BIT)), selection.others || x32),
    ];
    let starts = ends
        .into_iter()
        .chain(plain)
        .chain(gap)
        .chain(private)
        .chain(rest);
    let mut spans: Vec<Span> = Vec::new();
    for (first, admitted) in starts {
        match spans.last_mut() {
            Some(previous) if previous.admitted == admitted => {}
            previous => {
                if let Some(previous) = previous {
                    previous.last = first.map(|number| number - 1);
                }
                spans.push(Span {
                    first,
                    last: None,
                    admitted,
                });
            }
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(words: &[&str]) -> Selection {
        Selection::parse(words, Abi::X86_64).expect("words that name calls")
    }

    /// The filter as the kernel's `predicate_parse()` would read it: `&&` binds closer than `||`.
    struct Filter<'a> {
        tokens: Vec<&'a str>,
        next: usize,
        id: i64,
    }

    impl<'a> Filter<'a> {
        fn of(text: &'a str) -> Self {
            let spaced = text.split_inclusive('(').flat_map(|part| part.split(' '));
            let tokens = spaced.flat_map(|token| match token.strip_suffix(')') {
                Some(number) => [number, ")"],
                None => [token, ""],
            });
            let tokens = tokens.filter(|token| !token.is_empty()).collect();
            Self {
                tokens,
                next: 0,
                id: 0,
            }
        }

        fn passes(&mut self, id: i64) -> bool {
            (self.next, self.id) = (0, id);
            let value = self.any();
            assert_eq!(self.next, self.tokens.len(), "{:?}", self.tokens);
            value
        }

        fn take(&mut self) -> &'a str {
            self.next += 1;
            self.tokens[self.next - 1]
        }

        fn skip(&mut self, token: &str) -> bool {
            let here = self.tokens.get(self.next) == Some(&token);
            self.next += usize::from(here);
            here
        }

        fn any(&mut self) -> bool {
            let mut value = self.all();
            while self.skip("||") {
                value |= self.all();
            }
            value
        }

        fn all(&mut self) -> bool {
            let mut value = self.term();
            while self.skip("&&") {
                value &= self.term();
            }
            value
        }

        fn term(&mut self) -> bool {
            if self.skip("(") {
                let value = self.any();
                assert!(self.skip(")"), "{:?}", self.tokens);
                return value;
            }
            assert_eq!(self.take(), "id");
            let operator = self.take();
            let number: i64 = self.take().parse().expect("a number");
            match operator {
                "==" => self.id == number,
                "!=" => self.id != number,
                "<=" => self.id <= number,
                ">=" => self.id >= number,
                "<" => self.id < number,
                ">" => self.id > number,
                other => panic!("operator {other}"),
            }
        }
    }

    /// A number passes exactly when it is chosen in the native or the 32-bit table, is an x32 call
    /// of a set that has any, or is the -1 of an exit.
    fn check_filter(selection: &Selection, enter: bool) {
        let plan = in_kernel_filter(selection, enter);
        let mut filter = match &plan {
            FilterPlan::Only(text) => Some(Filter::of(text)),
            FilterPlan::Everything | FilterPlan::Nothing => None,
        };
        let mut passes = |id: i64| match &mut filter {
            Some(filter) => filter.passes(id),
            None => plan == FilterPlan::Everything,
        };
        let any_x32 = selection.numbers(Abi::X32).next().is_some();
        let outliers = [
            983_039,
            983_041,
            983_045,
            983_056,
            5000,
            1 << 30,
            (1 << 30) + 257,
        ];
        for id in (-3..=600).chain(outliers) {
            let expected = match u32::try_from(id) {
                Err(_) if id == -1 && !enter => !selection.is_empty(),
                Err(_) => selection.others,
                Ok(nr) if selection.native == Abi::X86_64 && nr >= names::X32_BIT => {
                    any_x32 || selection.others
                }
                Ok(nr) => {
                    let compat = selection.native.compat().expect("a 32-bit convention");
                    selection.contains(selection.native, nr) || selection.contains(compat, nr)
                }
            };
            assert_eq!(passes(id), expected, "{id} in {plan:?}");
        }
    }

    #[test]
    fn the_filter_passes_exactly_what_the_number_allows() {
        let written: [&[&str]; 12] = [
            &[],
            &["!*"],
            &["openat"],
            &["read", "write", "close"],
            &["%file"],
            &["!%file"],
            &["!futex"],
            &["%%stat"],
            &["!%desc", "!%memory"],
            &["*", "!*at*", "!*s*"],
            &["rt_sigreturn"],
            &["?*"],
        ];
        for native in [Abi::X86_64, Abi::Aarch64] {
            for words in written {
                let selection = Selection::parse(words, native).expect("words that name calls");
                check_filter(&selection, true);
                check_filter(&selection, false);
            }
        }
    }

    /// The words of set number `seed`: as many calls as `one_in` leaves, the first negated in odd
    /// sets.
    fn arbitrary_words(native: Abi, seed: u64, one_in: u64) -> Vec<String> {
        let mut state = seed;
        let negation = if seed % 2 == 1 { "!" } else { "" };
        let mut chosen = |(_, name): (u32, &str)| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33)
                .is_multiple_of(one_in)
                .then(|| format!("{negation}{name}"))
        };
        names::all(native).filter_map(&mut chosen).collect()
    }

    #[test]
    fn filters_of_arbitrary_sets_pass_exactly_what_the_number_allows() {
        for native in [Abi::X86_64, Abi::Aarch64] {
            for seed in 0..10 {
                for one_in in [2, 4, 10, 100] {
                    let words = arbitrary_words(native, seed, one_in);
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    let selection = Selection::parse(&words, native).expect("known names");
                    check_filter(&selection, seed % 3 == 0);
                }
            }
        }
    }

    #[test]
    fn even_a_ragged_set_has_a_filter_that_the_kernel_takes() {
        for native in [Abi::X86_64, Abi::Aarch64] {
            for one_in in [2, 3, 4] {
                let words = arbitrary_words(native, 8, one_in);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let selection = Selection::parse(&words, native).expect("known names");
                let plan = in_kernel_filter(&selection, false);
                assert!(matches!(plan, FilterPlan::Only(text) if text.len() <= MAX_FILTER));
            }
        }
    }

    #[test]
    fn filters_read_as_written_by_hand() {
        let text = |words: &[&str], enter| match in_kernel_filter(&select(words), enter) {
            FilterPlan::Only(text) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            text(&["openat"], true),
            "id == 257 || id == 295 || id >= 1073741824"
        );
        assert_eq!(
            text(&["openat"], false),
            "id == -1 || id == 257 || id == 295 || id >= 1073741824"
        );
        assert_eq!(text(&["fstat64"], true), "id == 197");
        assert_eq!(text(&["!open", "!fork"], true), "id != 2");
        assert_eq!(
            text(&["close_range", "openat2", "pidfd_getfd"], true),
            "id > 435 && (id < 439 || id > 1073741823)"
        );
    }

    #[test]
    fn a_call_that_is_another_one_in_the_other_table_cannot_be_left_out() {
        assert_eq!(
            in_kernel_filter(&select(&["!futex"]), true),
            FilterPlan::Everything
        );
        assert_eq!(in_kernel_filter(&select(&[]), true), FilterPlan::Everything);
        assert_eq!(
            in_kernel_filter(&select(&["!*"]), true),
            FilterPlan::Nothing
        );
    }

    #[test]
    fn by_the_native_table_no_call_of_another_name_passes_for_the_number_that_it_has_there() {
        // 11 is execve of i386, and munmap.
        assert_eq!(
            native_filter(&select(&["execve"]), true),
            FilterPlan::Only("id == 59 || id >= 1073741824".to_owned())
        );
        let both = in_kernel_filter(&select(&["execve"]), true);
        assert!(
            matches!(&both, FilterPlan::Only(text) if text.contains("id == 11")),
            "{both:?}"
        );
    }
}
