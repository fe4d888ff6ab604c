//! Which system calls are meant: from words (`openat`, `rename*`, `%file`, `!futex`) to a set of
//! numbers, and from the set to the filter that the kernel applies.

mod admitted;
mod filter;
mod words;

pub use admitted::Admitted;
pub use filter::{FilterPlan, in_kernel_filter, native_filter};

use super::call::{Call, Entry};
use super::names::{self, Abi};
use super::relatives;
pub use words::is_match_all;
use words::{nearest, rows_of_word, served};

/// A set of system calls, chosen by name and asked by number.
///
/// A name stands for the call in every convention that the kernel serves: choosing `openat` on
/// x86_64 chooses 257 of x86_64, 295 of i386 and 257 of x32. It stands for the call's relatives as
/// well, which do the same under another name (`relatives`): choosing `setuid` chooses `setuid32`
/// of i386, and choosing `socket` the `socketcall` of i386 whose first word says so.
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
    /// What else can be done about it.
    pub advice: Option<String>,
}

impl UnknownWord {
    /// What to write instead, where something comes near.
    pub fn hint(&self) -> Option<String> {
        if self.advice.is_some() {
            return self.advice.clone();
        }
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

    /// Reads words from left to right: names, globs (`*`, `?`, `[a-c]`, `[!a]`) and strace's
    /// `%classes`, each taken away instead of added where it starts with `!`.
    ///
    /// Of strace's further words there are `all`, `none`, its seven classes without `%` (`file`),
    /// `/regex`, which matches anywhere in a name, and `?name`, which is no error where nothing has
    /// that name.
    ///
    /// Starts from nothing, or from everything where the first word is a negation or there is no
    /// word. A name that is not one of `native` may be tracefs's name for one (`newfstat`) or the
    /// name of a 32-bit call (`fstat64`), which is then chosen alone, as is an operation
    /// (`socketcall.bind`). `=name` is that name without its relatives. A name of x86-64 that
    /// `native` lacks (`rename` on aarch64) adds the calls that do the same here (`renameat`,
    /// `renameat2`), as the C library makes them; with `!` it takes none of them away.
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
            let matched = rows_of_word(positive, native).map_err(|advice| UnknownWord {
                index,
                word: String::from(*word),
                nearest: nearest(positive, native),
                advice,
            })?;
            let is_alone = positive.starts_with('=');
            for slot in matched {
                selection.rows.set(slot, !negated);
                let others = relatives::chosen_with(native, slot);
                for other in others.iter().filter(|_| !is_alone) {
                    selection.rows.set(*other, !negated);
                }
                if !is_alone && !negated {
                    selection.add_natives(slot);
                }
            }
            if is_match_all(positive) {
                selection.others = !negated;
            }
        }
        Ok(selection)
    }

    /// Adds what does the same here as a call of 64-bit programs that this convention lacks.
    fn add_natives(&mut self, slot: usize) {
        let is_of = |abi| slot < names::ROW_COUNT && names::row_number(abi, slot).is_some();
        if !is_of(Abi::X86_64) || is_of(self.native) {
            return;
        }
        for native in relatives::rows_of_natives(self.native, slot) {
            self.rows.set(*native, true);
            for other in relatives::chosen_with(self.native, *native) {
                self.rows.set(*other, true);
            }
        }
    }

    /// Whether call `nr` of convention `abi` may belong to the set; takes constant time. Of a call
    /// that is many it may where one of its operations does.
    pub fn contains(&self, abi: Abi, nr: u32) -> bool {
        names::row(abi, nr).map_or(self.others, |row| self.holds(row))
    }

    /// Whether a call belongs to the set. One whose operation was not seen does if any does; one
    /// without a number may be any call.
    pub fn has(&self, call: &Call) -> bool {
        let Ok(number) = u32::try_from(call.number) else {
            return self.is_everything();
        };
        match (names::row(call.abi, number), call.operation(), &call.entry) {
            (Some(_), Some(operation), _) => relatives::place_of_operation(operation)
                .is_some_and(|place| self.rows.contains(names::ROW_COUNT + place)),
            // The kernel has no such operation.
            (Some(row), None, Entry::Seen { .. } | Entry::UnderWay { .. }) => {
                self.rows.contains(row)
            }
            _ => self.contains(call.abi, number),
        }
    }

    /// Whether every call belongs to the set that the native kernel can see, unknown ones included.
    pub fn is_everything(&self) -> bool {
        self.others && self.known().all(|slot| self.rows.contains(slot))
    }

    /// Whether calls of numbers that no table knows belong to the set.
    pub fn has_nameless(&self) -> bool {
        self.others
    }

    /// Whether no call at all belongs to the set.
    pub fn is_empty(&self) -> bool {
        !self.others && !self.known().any(|slot| self.rows.contains(slot))
    }

    /// The known numbers of `abi` in the set, in order; of the set's unknown numbers there is no
    /// list.
    pub fn numbers(&self, abi: Abi) -> impl Iterator<Item = u32> {
        names::all_rows(abi)
            .filter(|(_, row)| self.holds(*row))
            .map(|(nr, _)| nr)
    }

    /// The names in the set that the native convention has, in order of their numbers.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        names::all_rows(self.native)
            .filter(|(_, row)| self.rows.contains(*row))
            .map(|(_, row)| names::row_name(row))
    }

    /// All names in the set, those of other conventions and of operations included.
    pub fn all_names(&self) -> impl Iterator<Item = &'static str> {
        self.known()
            .filter(|slot| self.rows.contains(*slot))
            .map(slot_name)
    }

    /// The same without those that go without saying, as relatives of others in the set.
    pub fn own_names(&self) -> impl Iterator<Item = &'static str> {
        let is_in = |slot: &usize| self.rows.contains(*slot);
        let goes_without_saying = move |slot: &usize| {
            let natives = relatives::rows_of_natives(self.native, *slot);
            natives.iter().any(is_in)
        };
        let chosen = self.known().filter(is_in);
        chosen
            .filter(move |slot| !goes_without_saying(slot))
            .map(slot_name)
    }

    /// Whether a name is in the set that the native convention has.
    #[must_use]
    pub fn has_name(&self, name: &str) -> bool {
        let row = names::row_of(name).filter(|row| self.rows.contains(*row));
        row.is_some_and(|row| names::row_number(self.native, row).is_some())
    }

    /// Words that [`parse`](Self::parse) reads as this set.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let negation = if self.others { "!" } else { "" };
        let named = self
            .known()
            .filter(|slot| self.rows.contains(*slot) != self.others);
        let mut words = vec![if self.others { "all" } else { "none" }.to_owned()];
        words.extend(named.map(|slot| format!("{negation}={}", slot_name(slot))));
        words
    }

    /// Whether every call of another set belongs to this one.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let has = |slot| self.rows.contains(slot) || !other.rows.contains(slot);
        (self.others || !other.others) && self.known().all(has)
    }

    /// The convention that the words were read for.
    pub fn native(&self) -> Abi {
        self.native
    }

    /// The slots of every call that the native kernel serves: its row, or that of its operation
    /// behind all rows.
    fn known(&self) -> impl Iterator<Item = usize> {
        served(self.native).iter().copied()
    }

    /// Whether a row is in the set, or an operation of its call.
    fn holds(&self, row: usize) -> bool {
        let of_it = || {
            let name = names::row_name(row);
            relatives::is_many(name)
                && relatives::chosen_with(self.native, row)
                    .iter()
                    .any(|slot| self.rows.contains(*slot))
        };
        self.rows.contains(row) || of_it()
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

/// The name of a row, or of an operation behind the last row.
fn slot_name(slot: usize) -> &'static str {
    let operation = slot.checked_sub(names::ROW_COUNT);
    match operation.and_then(|place| relatives::OPERATIONS.get(place)) {
        Some(operation) => operation.name,
        None => names::row_name(slot),
    }
}

const ROW_WORDS: usize = (names::ROW_COUNT + relatives::OPERATIONS.len()).div_ceil(64);

/// A set of rows of the table of names, and of operations behind them.
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
    fn a_name_that_aarch64_lacks_is_what_does_the_same_there() {
        let chosen = |words: &[&str]| {
            let selection = Selection::parse(words, Abi::Aarch64).expect("calls");
            selection.names().collect::<Vec<_>>()
        };
        assert_eq!(chosen(&["rename"]), ["renameat", "renameat2"]);
        assert_eq!(chosen(&["dup2", "close"]), ["dup3", "close"]);
        assert_eq!(chosen(&["*fork"]), ["clone"]);
        assert_eq!(chosen(&["=rename", "close"]), ["close"]);
        // What is taken away is the name alone.
        assert_eq!(chosen(&["unlinkat", "!unlink"]), ["unlinkat"]);
        // Of 32-bit programs' names nothing is added.
        assert_eq!(chosen(&["fstat64", "close"]), ["close"]);
        assert_eq!(names(&["rename"]), ["rename"]);
        assert_eq!(names(&["fstat64", "close"]), ["close"]);
    }

    #[test]
    fn a_class_is_straces() {
        assert_eq!(names(&["%statfs"]), ["statfs"]);
        assert!(names(&["%file"]).contains(&"openat"));
        assert_eq!(select(&["%net"]), select(&["%network"]));
    }

    #[test]
    fn what_straces_users_write_means_the_same_here() {
        for (ours, straces) in [
            ("*", "all"),
            ("*", "?all"),
            ("%file", "file"),
            ("%desc", "desc"),
            ("%memory", "memory"),
            ("%process", "process"),
            ("%network", "network"),
            ("%signal", "signal"),
            ("%ipc", "ipc"),
            ("open*", "/^open"),
            ("*statfs*", "/statfs"),
            ("mount", "?mount"),
            ("%file", "?%file"),
        ] {
            assert_eq!(select(&[ours]), select(&[straces]), "{straces}");
        }
        // As the manual of strace says of its class.
        let statfs = select(&["/^(.*_)?statv?fs"]);
        assert_eq!(statfs.names().collect::<Vec<_>>(), names(&["%statfs"]));
        assert!(select(&["none"]).is_empty() && select(&["!all"]).is_empty());
        assert!(select(&["!none"]).is_everything());
        assert_eq!(names(&["?frobnicate", "read"]), ["read"]);
        assert_eq!(names(&["/^dup", "!/2$"]), ["dup", "dup3"]);
    }

    #[test]
    fn what_is_wrong_with_straces_words_is_said() {
        let hint = |word| refused(&[word]).hint();
        assert_eq!(
            hint("openat@64").as_deref(),
            Some("a name stands for the call in every convention: write `openat`")
        );
        assert_eq!(
            hint("/open(").as_deref(),
            Some("it is no regular expression: unclosed group")
        );
        assert_eq!(hint("/^frobnicate"), None);
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
    fn a_name_stands_for_its_relatives_of_every_convention() {
        let i386 = |words: &[&str]| -> Vec<u32> { select(words).numbers(Abi::I386).collect() };
        assert_eq!(i386(&["ftruncate"]), [93, 194]);
        assert_eq!(i386(&["setuid"]), [23, 213]);
        assert_eq!(i386(&["umount2"]), [22, 52]);
        assert_eq!(i386(&["socket"]), [102, 359]);
        assert_eq!(i386(&["=setuid"]), [23]);
        assert_eq!(i386(&["setuid", "!setuid"]), [0; 0]);
        assert!(select(&["%net"]).contains(Abi::I386, 102));
        assert!(select(&["set*id"]).contains(Abi::I386, 213));
        assert!(!select(&["!setuid"]).contains(Abi::I386, 213));
        assert!(!select(&["%file"]).contains(Abi::I386, 102));
    }

    #[test]
    fn of_a_call_that_is_many_the_operation_decides() {
        let call = |first| Call::entered_as(Abi::I386, 102, [first, 0, 0, 0, 0, 0]);
        let socket = select(&["socket"]);
        assert!(socket.has(&call(1)) && !socket.has(&call(3)) && !socket.has(&call(77)));
        let whole = select(&["socketcall"]);
        assert!(whole.has(&call(1)) && whole.has(&call(77)));
        assert!(select(&["socketcall.bind"]).has(&call(2)));
        let rest = select(&["!socket"]);
        assert!(!rest.has(&call(1)) && rest.has(&call(3)));
        let mut unseen = call(1);
        unseen.entry = Entry::Missing;
        assert!(socket.has(&unseen), "it may be a socket");
        assert!(!select(&["openat"]).has(&unseen));
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
    fn a_set_in_words_is_read_as_the_same_set_and_covers_what_has_no_more() {
        let lists: [&[&str]; 5] = [
            &[],
            &["none"],
            &["openat", "stat64"],
            &["%file"],
            &["!%memory", "!brk"],
        ];
        for words in [
            &["setuid", "!setuid32"][..],
            &["!socket"],
            &["=mmap", "socketcall"],
        ] {
            let set = select(words);
            let again = set.words();
            let again: Vec<&str> = again.iter().map(String::as_str).collect();
            assert_eq!(select(&again).words(), set.words(), "{words:?}");
        }
        let sets = lists.map(select);
        for set in &sets {
            let words = set.words();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let again = select(&words);
            assert!(again.covers(set) && set.covers(&again), "{words:?}");
        }
        let [all, none, two, file, most] = &sets;
        assert!(sets.iter().all(|set| all.covers(set) && set.covers(none)));
        assert!(!file.covers(most) && !most.covers(all) && most.covers(two));
        assert!(file.covers(two) && !two.covers(file));
    }
}
