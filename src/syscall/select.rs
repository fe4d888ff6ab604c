//! Which system calls are meant: from words (`openat`, `rename*`, `%file`, `!futex`) to a set of numbers,
//! and from the set to the filter that the kernel applies.

use super::class;
use super::names::{self, Abi};

/// A set of system calls, chosen by name and asked by number.
///
/// A name stands for the call in every convention that the kernel serves: choosing `openat` on x86_64
/// chooses 257 of x86_64, 295 of i386 and 257 of x32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    native: Abi,
    rows: Rows,
    /// Whether numbers that no table knows belong to the set.
    others: bool,
}

/// A word that names no system call and no class, or a pattern that matches none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no system call or class matches `{word}`")]
pub struct UnknownWord {
    /// Which of the words it is, counted from 0.
    pub index: usize,
    /// The word as it was written, its `!` included.
    pub word: String,
    /// At most three names that look most like it, the nearest first.
    pub nearest: Vec<String>,
}

impl UnknownWord {
    /// What to write instead, where something comes near.
    pub fn hint(&self) -> Option<String> {
        let quoted: Vec<_> = self
            .nearest
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        (!quoted.is_empty()).then(|| format!("did you mean {}?", quoted.join(" or ")))
    }
}

impl Selection {
    /// Every call, those included that only a later kernel knows.
    pub fn everything(native: Abi) -> Self {
        Self {
            native,
            rows: Rows::full(),
            others: true,
        }
    }

    /// Reads words from left to right: names, globs (`*`, `?`, `[a-c]`, `[!a]`) and strace's `%classes`, each
    /// taken away instead of added where it starts with `!`.
    ///
    /// Starts from nothing, or from everything where the first word is a negation or there is no word. A
    /// name that is not one of `native` may be tracefs's name for one (`newfstat`) or the name of a 32-bit
    /// call (`fstat64`).
    ///
    /// # Errors
    /// The first word that matches nothing, with the nearest names.
    pub fn parse(words: &[&str], native: Abi) -> Result<Self, UnknownWord> {
        let starts_full = words.first().is_none_or(|word| word.starts_with('!'));
        let mut selection = if starts_full {
            Self::everything(native)
        } else {
            Self {
                native,
                rows: Rows::default(),
                others: false,
            }
        };
        for (index, word) in words.iter().enumerate() {
            let (positive, negated) = match word.strip_prefix('!') {
                Some(rest) => (rest, true),
                None => (*word, false),
            };
            let matched = rows_of_word(positive, native);
            if matched.is_empty() {
                let nearest = nearest(positive, native);
                return Err(UnknownWord {
                    index,
                    word: String::from(*word),
                    nearest,
                });
            }
            for row in matched {
                selection.rows.set(row, !negated);
            }
            if is_match_all(positive) {
                selection.others = !negated;
            }
        }
        Ok(selection)
    }

    /// Whether call `nr` of convention `abi` belongs to the set; takes constant time.
    pub fn contains(&self, abi: Abi, nr: u32) -> bool {
        names::row(abi, nr).map_or(self.others, |row| self.rows.contains(row))
    }

    /// Whether every call belongs to the set that the native kernel can see, unknown ones included.
    pub fn is_everything(&self) -> bool {
        self.others && self.known().all(|row| self.rows.contains(row))
    }

    /// Whether no call at all belongs to the set.
    pub fn is_empty(&self) -> bool {
        !self.others && !self.known().any(|row| self.rows.contains(row))
    }

    /// The known numbers of `abi` in the set, in order; of the set's unknown numbers there is no list.
    pub fn numbers(&self, abi: Abi) -> impl Iterator<Item = u32> {
        names::all_rows(abi)
            .filter(|(_, row)| self.rows.contains(*row))
            .map(|(nr, _)| nr)
    }

    /// The names in the set that the native convention has, in order of their numbers.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        names::all_rows(self.native)
            .filter(|(_, row)| self.rows.contains(*row))
            .map(|(_, row)| names::row_name(row))
    }

    /// The convention that the words were read for.
    pub fn native(&self) -> Abi {
        self.native
    }

    fn known(&self) -> impl Iterator<Item = usize> {
        served_rows(self.native)
    }

    /// Whether a tracepoint that tells only the number may mean a call of the set.
    fn admits(&self, nr: u32) -> bool {
        self.contains(self.native, nr)
            || self
                .native
                .compat()
                .is_some_and(|compat| self.contains(compat, nr))
    }
}

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

/// Filters longer than this many bytes are not used; Linux 6.18 takes 4095 (a page with its final zero).
const MAX_FILTER: usize = 4000;

/// The shortest filter on the field `id` of `raw_syscalls:sys_enter` (`enter`) or `sys_exit` that lets every
/// call of the set through.
///
/// The event does not tell the convention, so that a number passes when it belongs to the set in the native
/// or in the 32-bit table. What passes beyond the set is exactly: native calls whose number is that of a
/// chosen 32-bit call and the reverse; any x32 call where one is chosen; and exits with number -1, which a
/// call has whose number was rewritten on its way (`rt_sigreturn`, a skip by ptrace).
pub fn in_kernel_filter(selection: &Selection, enter: bool) -> FilterPlan {
    if selection.is_empty() {
        return FilterPlan::Nothing;
    }
    let spans = admitted_spans(selection, enter);
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
struct Span {
    first: Option<i64>,
    last: Option<i64>,
    admitted: bool,
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
fn admitted_spans(selection: &Selection, enter: bool) -> Vec<Span> {
    let x32 = selection.native == Abi::X86_64 && selection.numbers(Abi::X32).next().is_some();
    let arm_private = names::ARM_PRIVATE..names::ARM_PRIVATE + names::ARM_PRIVATE_LEN;
    let ends = [
        (None, selection.others),
        (Some(-1), selection.others || !enter),
    ];
    let plain = (0..names::PLAIN_LEN).map(|nr| (Some(i64::from(nr)), selection.admits(nr)));
    let gap = [(Some(i64::from(names::PLAIN_LEN)), selection.others)];
    let private = arm_private
        .clone()
        .map(|nr| (Some(i64::from(nr)), selection.admits(nr)));
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

/// The rows that one word without its `!` stands for.
fn rows_of_word(word: &str, native: Abi) -> Vec<usize> {
    let served = |row: &usize| is_served(*row, native);
    if let Some(class) = word.strip_prefix('%') {
        return class::class_rows(class)
            .into_iter()
            .flatten()
            .filter(served)
            .collect();
    }
    if word.contains(['*', '?', '[']) {
        let matches = |row: &usize| glob_matches(word.as_bytes(), names::row_name(*row).as_bytes());
        return served_rows(native).filter(matches).collect();
    }
    let same = names::row_of(word).filter(served);
    let aliases = if names::number(native, word).is_none() {
        names::renamed_by_tracefs(word)
            .filter(|name| names::number(native, name).is_some())
            .filter_map(names::row_of)
            .collect()
    } else {
        Vec::new()
    };
    same.into_iter().chain(aliases).collect()
}

fn is_served(row: usize, native: Abi) -> bool {
    [Abi::X86_64, Abi::I386, Abi::X32, Abi::Aarch64, Abi::Arm]
        .into_iter()
        .any(|abi| native.serves(abi) && names::row_number(abi, row).is_some())
}

fn served_rows(native: Abi) -> impl Iterator<Item = usize> {
    (0..names::ROW_COUNT).filter(move |row| is_served(*row, native))
}

fn is_match_all(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte == b'*')
}

/// A word longer than this is not compared with the names: none is half as long.
const MAX_COMPARED: usize = 64;

/// The three names that differ least from the word, where a third of its letters may differ.
fn nearest(word: &str, native: Abi) -> Vec<String> {
    if word.len() > MAX_COMPARED {
        return Vec::new();
    }
    let allowed = (word.chars().count() / 3).max(1);
    let classes = class::class_names().map(|class| format!("%{class}"));
    let calls = names::all(native).map(|(_, name)| String::from(name));
    let mut ranked: Vec<_> = classes
        .chain(calls)
        .map(|name| (strsim::damerau_levenshtein(word, &name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    ranked.sort();
    ranked.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Whether the pattern matches the whole text: `*`, `?`, `[a-c]`, `[!a]`; an unclosed `[` matches nothing.
///
/// Goes back to the last `*` only, so that the time is at most the product of the lengths.
fn glob_matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut rest, mut left) = (pattern, text);
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        if let Some((b'*', after)) = rest.split_first() {
            retry = Some((after, left));
            rest = after;
        } else if rest.is_empty() && left.is_empty() {
            return true;
        } else if let Some((after, remaining)) = match_one(rest, left) {
            (rest, left) = (after, remaining);
        } else if let Some((after, (_, remaining))) =
            retry.and_then(|(after, from)| Some((after, from.split_first()?)))
        {
            retry = Some((after, remaining));
            (rest, left) = (after, remaining);
        } else {
            return false;
        }
    }
}

/// What is left of both when the pattern's first element matches the text's first byte.
fn match_one<'a, 'b>(pattern: &'a [u8], text: &'b [u8]) -> Option<(&'a [u8], &'b [u8])> {
    let (byte, remaining) = text.split_first()?;
    let (element, after) = pattern.split_first()?;
    match element {
        b'[' => match_set(after, *byte).map(|after| (after, remaining)),
        b'?' => Some((after, remaining)),
        literal => (literal == byte).then_some((after, remaining)),
    }
}

/// What follows the set that starts after its `[`, where the byte belongs to it.
fn match_set(set: &[u8], byte: u8) -> Option<&[u8]> {
    let (negated, set) = match set.split_first()? {
        (b'!' | b'^', rest) => (true, rest),
        _ => (false, set),
    };
    let close = 1 + set.iter().skip(1).position(|byte| *byte == b']')?;
    let (mut members, after) = (set.get(..close)?, set.get(close + 1..)?);
    let mut found = false;
    while let Some((first, rest)) = members.split_first() {
        members = match rest {
            [b'-', last, rest @ ..] => {
                found |= (*first..=*last).contains(&byte);
                rest
            }
            _ => {
                found |= *first == byte;
                rest
            }
        };
    }
    (found != negated).then_some(after)
}

const ROW_WORDS: usize = names::ROW_COUNT.div_ceil(64);

/// A set of rows of the table of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rows([u64; ROW_WORDS]);

impl Rows {
    fn full() -> Self {
        Self([u64::MAX; ROW_WORDS])
    }

    fn set(&mut self, row: usize, present: bool) {
        if let Some(word) = self.0.get_mut(row / 64) {
            let bit = 1 << (row % 64);
            if present { *word |= bit } else { *word &= !bit }
        }
    }

    fn contains(&self, row: usize) -> bool {
        self.0
            .get(row / 64)
            .is_some_and(|word| word >> (row % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(words: &[&str]) -> Selection {
        Selection::parse(words, Abi::X86_64).expect("words that name calls")
    }

    fn names(words: &[&str]) -> Vec<&'static str> {
        select(words).names().collect()
    }

    fn refused(words: &[&str]) -> UnknownWord {
        Selection::parse(words, Abi::X86_64).expect_err("a word that names nothing")
    }

    #[test]
    fn a_name_is_that_call_in_every_convention() {
        let selection = select(&["openat"]);
        assert_eq!(names(&["openat"]), ["openat"]);
        assert!(selection.contains(Abi::X86_64, 257));
        assert!(selection.contains(Abi::I386, 295));
        assert!(selection.contains(Abi::X86_64, names::X32_BIT | 257));
        assert!(!selection.contains(Abi::I386, 257));
        assert!(!selection.contains(Abi::X86_64, 295));
    }

    #[test]
    fn a_glob_is_every_name_it_matches() {
        assert_eq!(names(&["rename*"]), ["rename", "renameat", "renameat2"]);
        assert_eq!(names(&["dup[23]"]), ["dup2", "dup3"]);
        assert_eq!(names(&["dup[!2]"]), ["dup3"]);
    }

    #[test]
    fn a_class_is_straces() {
        assert_eq!(names(&["%statfs"]), ["statfs"]);
        assert!(names(&["%file"]).contains(&"openat"));
        assert_eq!(select(&["%net"]), select(&["%network"]));
    }

    #[test]
    fn words_apply_from_left_to_right() {
        assert_eq!(names(&["rename*", "!renameat"]), ["rename", "renameat2"]);
        assert_eq!(names(&["rename*", "!rename*", "renameat"]), ["renameat"]);
    }

    #[test]
    fn a_list_that_starts_with_a_negation_starts_from_everything() {
        let selection = select(&["!futex"]);
        assert!(!selection.contains(Abi::X86_64, 202));
        assert!(!selection.contains(Abi::I386, 240));
        assert!(selection.contains(Abi::X86_64, 0));
        assert!(
            selection.contains(Abi::X86_64, 5000),
            "a call of a later kernel"
        );
        assert!(!selection.is_everything());
    }

    #[test]
    fn no_word_and_a_lone_star_are_everything() {
        for selection in [select(&[]), select(&["*"]), select(&["!read", "read"])] {
            assert!(selection.is_everything());
            assert!(selection.contains(Abi::X86_64, 5000));
        }
        assert!(!select(&["?*"]).contains(Abi::X86_64, 5000));
        assert!(select(&["!*"]).is_empty());
    }

    #[test]
    fn the_names_of_tracefs_are_understood() {
        assert_eq!(names(&["newfstat"]), ["fstat"]);
        assert_eq!(names(&["newuname", "sendfile64"]), ["sendfile", "uname"]);
        assert_eq!(names(&["umount"]), ["umount2"]);
        assert!(
            select(&["umount"]).contains(Abi::I386, 22),
            "i386 has an umount of its own"
        );
        assert!(refused(&["arm64_personality_"]).nearest.is_empty());
    }

    #[test]
    fn a_name_that_only_the_32_bit_table_has_chooses_there() {
        let selection = select(&["fstat64"]);
        assert_eq!(selection.names().count(), 0);
        assert_eq!(selection.numbers(Abi::I386).collect::<Vec<_>>(), [197]);
    }

    #[test]
    fn a_name_of_another_machine_is_unknown() {
        assert_eq!(refused(&["cacheflush"]).index, 0);
        assert!(Selection::parse(&["cacheflush"], Abi::Aarch64).is_ok());
        assert!(Selection::parse(&["arch_prctl"], Abi::Aarch64).is_err());
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_nearest_names() {
        let unknown = refused(&["read", "!fysnc"]);
        assert_eq!((unknown.index, unknown.word.as_str()), (1, "!fysnc"));
        assert_eq!(unknown.nearest.first().map(String::as_str), Some("fsync"));
        assert_eq!(
            unknown.to_string(),
            "no system call or class matches `!fysnc`"
        );
        assert_eq!(refused(&["%flie"]).nearest, ["%file"]);
        assert_eq!(
            refused(&["opnat"]).hint().as_deref(),
            Some("did you mean `openat`?")
        );
    }

    #[test]
    fn a_word_that_cannot_match_is_refused() {
        for word in [
            "",
            "!",
            "%",
            "!!read",
            "zz*",
            "[",
            "[a",
            "open[",
            "a b",
            "op\u{e9}nat",
        ] {
            assert_eq!(refused(&[word]).word, word);
        }
        assert!(refused(&["x".repeat(100_000).as_str()]).nearest.is_empty());
    }

    #[test]
    fn a_pattern_of_many_stars_ends() {
        let pattern = format!("{}x", "*a".repeat(2000));
        assert_eq!(refused(&[pattern.as_str()]).word, pattern);
    }

    #[test]
    fn globs_match_as_in_a_shell() {
        let matches = |pattern: &str, text: &str| glob_matches(pattern.as_bytes(), text.as_bytes());
        for (pattern, text) in [
            ("*", ""),
            ("a*b*c", "aXbbYc"),
            ("[a-c]x", "bx"),
            ("[]]x", "]x"),
            ("[!a-c]x", "dx"),
            ("[^a]x", "bx"),
            ("*[0-9]", "dup3"),
            ("[a-]", "-"),
            ("**at", "openat"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("", "a"),
            ("a", ""),
            ("[a-c]", "d"),
            ("?", ""),
            ("a*b", "abc"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
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

    /// A number passes exactly when it is chosen in the native or the 32-bit table, is an x32 call of a
    /// set that has any, or is the -1 of an exit.
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

    /// The words of set number `seed`: as many calls as `one_in` leaves, the first negated in odd sets.
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
}
