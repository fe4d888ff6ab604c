//! Whether a call tells of data that were not stored, though every file shows them as long as the
//! machine runs.

use super::errors::{bits, is_open, is_sync, is_write, opens, writes};
use crate::plan::EventsPlan;
use crate::trace::{Deed, Normalised, Value};
use perf_records::units::Nanos;
use std::collections::BTreeSet;
use syscall_model::names::{self, Abi};
use syscall_model::native_calls;

/// Whether who ignores that a call failed may have lost data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tells {
    /// No.
    Nothing,
    /// It may: a sync, or the close of a file with something written that no sync followed
    /// (`close(2)`).
    OfData,
    /// It is not known, for this reason.
    Unknown(&'static str),
}

/// The calls that store what was written to a file and say whether they did: `sync(2)` says
/// nothing, and `sync_file_range(2)` stores no more than pages.
const STORES: [&str; 3] = ["fsync", "fdatasync", "syncfs"];

/// The calls that hand over writes which no call shows.
const HANDS_OVER: [&str; 3] = ["io_submit", "io_uring_enter", "io_uring_setup"];

/// The requests of `ioctl(2)` that give a file what another holds.
const CLONES: [&str; 2] = ["FICLONE", "FICLONERANGE"];

const NOT_RECORDED: &str = "what was written was not recorded";
const OTHER_FILE: &str = "which file it was is not known";
const NOT_OPENED: &str = "how its file was opened was not recorded";
const NOT_ENDED: &str = "whether its file was written is not known: such a call had not ended";
const NO_TARGET: &str = "something was written, and to which file is not known";
const HANDED: &str = "writes were handed over that no call shows";
const OTHER_SYNC: &str = "another descriptor was synced of a file of the same name, and whether it \
    is the same file is not known";
const OTHER_SYSTEM: &str =
    "`syncfs` stored what was written if that lay on its file system, which is not known";
const OTHER_STORE: &str =
    "another sync came behind it, and whether that stored the same is not known";
const MAPPED: &str = "its file was mapped, and what is stored in a mapping is not seen";

/// Returns the calls that must be recorded to tell of the close of a file whether data may be lost.
#[must_use]
pub fn looked_at() -> BTreeSet<&'static str> {
    let all = opens().chain(writes()).chain(STORES).chain(HANDS_OVER);
    all.chain(["close", "ioctl", "mmap"]).collect()
}

/// Whether who ignores that this call failed may have lost data, by all that was recorded of its
/// run.
pub(super) fn tells_of_data(
    call: &Deed,
    (whole, events): (Option<&Normalised>, &EventsPlan),
) -> Tells {
    if is_sync(&call.name) {
        return Tells::OfData;
    }
    if &*call.name != "close" {
        return Tells::Nothing;
    }
    let whole = whole.map(Normalised::in_order).unwrap_or_default();
    let is_it = |deed: &&&Deed| (deed.thread, deed.clock.0) == (call.thread, call.clock.0);
    let Some(own) = whole.iter().find(is_it) else {
        return Tells::Unknown(NOT_RECORDED);
    };
    let name = file_name(own);
    let Some(Target::Own(own)) = target(own, None) else {
        return Tells::Unknown(OTHER_FILE);
    };
    let mut history = History {
        name,
        ..History::default()
    };
    let before = whole.iter().filter(|deed| deed.clock.0 < call.clock.0);
    before.for_each(|deed| history.note(deed, own, call.clock.0));
    match history.tells() {
        Tells::Nothing if !history.is_only_read() && !are_recorded(events) => {
            Tells::Unknown(NOT_RECORDED)
        }
        tells => tells,
    }
}

/// Whether who goes on as if nothing had happened when a signal interrupted this call may have lost
/// data: a sync that was not made again, as `is_again` says of a call.
pub(super) fn tells_of_interrupted(
    call: &Deed,
    behind: &[&Deed],
    is_again: impl Fn(&Deed) -> bool,
) -> Tells {
    if !is_sync(&call.name) {
        return Tells::Nothing;
    }
    let returned = |deed: &Deed| deed.returns.as_ref().map(|part| part.value.clone());
    let has_stored = |deed: &&&Deed| {
        let is_store = is_sync(&deed.name) || &*deed.name == "sync";
        is_store && matches!(returned(deed), Some(Value::Number(_)))
    };
    let stores: Vec<&&Deed> = behind.iter().filter(has_stored).collect();
    match stores.is_empty() {
        true => Tells::OfData,
        false if stores.iter().any(|deed| is_again(deed)) => Tells::Nothing,
        false => Tells::Unknown(OTHER_STORE),
    }
}

/// Whether all is recorded by which a file may have been written.
fn are_recorded(events: &EventsPlan) -> bool {
    let native = Abi::native();
    let numbers = looked_at().into_iter();
    let mut numbers = numbers.filter_map(|name| names::number(native, name));
    let selection = events.selection.as_ref();
    selection.is_some_and(|selection| numbers.all(|number| selection.contains(native, number)))
}

/// What became of an open file, up to its close.
#[derive(Debug, Default)]
struct History {
    /// The name of the file, where it is known.
    name: Option<Vec<u8>>,
    /// The flags that it was opened with, where that was recorded.
    opened: Option<i32>,
    /// When the last call ended that wrote it since it was stored.
    written: Option<Nanos>,
    /// Why it may have been written since it was stored.
    doubt: Option<(&'static str, Nanos)>,
    is_mapped: bool,
    /// Whether others write for the run, of whom no call says when (`io_uring`, `io_submit`): no
    /// store of the file is known to come behind what they write.
    is_handed: bool,
}

impl History {
    /// Adds a call that came before the close.
    fn note(&mut self, deed: &Deed, own: u64, close: Nanos) {
        let name = native(deed);
        let (begin, end) = deed.clock;
        let returned = deed.returns.as_ref().map(|part| &part.value);
        if matches!(returned, None | Some(Value::Error(_) | Value::Never)) {
            return;
        }
        let has_ended = !matches!(returned, Some(Value::Nothing | Value::Unread));
        if is_open(name) {
            if matches!(returned, Some(Value::File { description: Some(it), .. }) if *it == own) {
                self.opened = Some(flags(name, deed));
            }
        } else if HANDS_OVER.contains(&name) {
            self.is_handed = true;
        } else if STORES.contains(&name) {
            let is_own = target(deed, None) == Some(Target::Own(own));
            let is_of_all = name == "syncfs";
            let is_alike = self.name.is_some() && file_name(deed) == self.name;
            let is_before = |at: &Nanos| has_ended && end <= close && *at <= begin;
            match is_own {
                true => {
                    self.written = self.written.filter(|at| !is_before(at));
                    self.doubt = self.doubt.filter(|(_, at)| !is_before(at));
                }
                false if is_of_all => {
                    let written = self.written.filter(is_before);
                    self.written = self.written.filter(|at| !is_before(at));
                    self.doubt = self.doubt.or(written.map(|at| (OTHER_SYSTEM, at)));
                }
                false if is_alike => {
                    let written = self.written.filter(is_before);
                    self.written = self.written.filter(|at| !is_before(at));
                    self.doubt = self.doubt.or(written.map(|at| (OTHER_SYNC, at)));
                }
                false => {}
            }
        } else if name == "mmap" {
            // MAP_SHARED and MAP_SHARED_VALIDATE have this bit in common.
            let is_shared = bits(deed, "flags") & libc::MAP_SHARED as u64 != 0;
            self.is_mapped |= is_shared && target(deed, None) == Some(Target::Own(own));
        } else if is_write(name) || name == "ioctl" && clones(deed) {
            match target(deed, Some("fd_out")) {
                Some(Target::Own(it)) if it != own => {}
                Some(Target::Own(_)) if has_ended && self.stores(name, deed) => {}
                Some(Target::Own(_)) if has_ended => self.written = Some(end),
                Some(Target::Own(_)) => self.doubt = Some((NOT_ENDED, end)),
                Some(Target::NotOpen) => {}
                Some(Target::Unknown) | None => self.doubt = Some((NO_TARGET, end)),
            }
        }
    }

    /// Whether a call stores what it writes before it returns (`generic_write_sync()`): the file
    /// was opened so, or the call asks for it.
    fn stores(&self, name: &str, deed: &Deed) -> bool {
        let is_opened_so = self.opened.is_some_and(|it| it & libc::O_DSYNC != 0);
        let asks = u64::from((libc::RWF_DSYNC | libc::RWF_SYNC).cast_unsigned());
        match name {
            "pwritev2" => is_opened_so || bits(deed, "flags") & asks != 0,
            "write" | "writev" | "pwrite64" | "pwritev" => is_opened_so,
            _ => false,
        }
    }

    /// Whether nothing could be written by way of it.
    fn is_only_read(&self) -> bool {
        self.opened.is_some_and(|flags| {
            flags & libc::O_ACCMODE == libc::O_RDONLY || flags & libc::O_PATH != 0
        })
    }

    fn tells(&self) -> Tells {
        let doubt = self.doubt.map(|(why, _)| why);
        let doubt = doubt.or_else(|| self.is_handed.then_some(HANDED));
        let doubt = doubt.or_else(|| self.is_mapped.then_some(MAPPED));
        let doubt = doubt.or_else(|| self.opened.is_none().then_some(NOT_OPENED));
        match (self.written, doubt) {
            (Some(_), _) => Tells::OfData,
            _ if self.is_only_read() => Tells::Nothing,
            (None, Some(why)) => Tells::Unknown(why),
            (None, None) => Tells::Nothing,
        }
    }
}

/// Its name, or that of the native call that does the same.
fn native(deed: &Deed) -> &str {
    let natives = native_calls(&deed.name);
    natives.first().copied().unwrap_or(&deed.name)
}

/// The flags that a file was opened with; those for writing where they are not known.
fn flags(name: &str, deed: &Deed) -> i32 {
    match deed.part("flags").map(|part| part.value.clone()) {
        Some(Value::Names(_, bits)) if name != "creat" => bits as i32,
        _ => libc::O_RDWR,
    }
}

fn clones(deed: &Deed) -> bool {
    let is_clone = |name: &str| CLONES.contains(&name);
    deed.part("cmd").is_some_and(|part| match &part.value {
        Value::Names(names, _) => names.iter().any(|name| is_clone(name)),
        _ => false,
    })
}

/// What a call's descriptor is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// This open file description.
    Own(u64),
    NotOpen,
    Unknown,
}

/// The name of the file of a call's first descriptor.
fn file_name(deed: &Deed) -> Option<Vec<u8>> {
    deed.fields.iter().find_map(|part| match &part.value {
        Value::File { name, .. } => Some(name.clone()),
        _ => None,
    })
}

/// What the descriptor of this name is of, or else the first one; `None` where there is none.
fn target(deed: &Deed, word: Option<&str>) -> Option<Target> {
    let of = |value: &Value| match value {
        Value::File { description, .. } => Some(description.map_or(Target::NotOpen, Target::Own)),
        Value::UnknownFile { description, .. } => {
            Some(description.map_or(Target::Unknown, Target::Own))
        }
        _ => None,
    };
    let named = word
        .and_then(|word| deed.part(word))
        .and_then(|part| of(&part.value));
    named.or_else(|| deed.fields.iter().find_map(|part| of(&part.value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::tests::notation::deeds;

    #[test]
    fn a_file_is_stored_with_its_file_system_by_a_descriptor_of_its_own_alone() {
        let told = |synced: &str| {
            let text = format!(
                "P1 openat(dfd=AT_FDCWD, flags=O_WRONLY) = <3 $DIR/new #7>\n\
                 P1 write(fd=<3 $DIR/new #7>) = 4\n\
                 P1 syncfs(fd={synced}) = 0\n"
            );
            let mut history = History::default();
            let all = deeds(&text);
            all.iter().for_each(|deed| history.note(deed, 7, Nanos(9)));
            history.tells()
        };
        assert_eq!(told("<3 $DIR/new #7>"), Tells::Nothing);
        // Any file and any folder may be a mount of its own.
        for elsewhere in ["<4 $DIR #8>", "<4 $DIR/other #8>", "<4 /tmp #8>"] {
            assert_eq!(told(elsewhere), Tells::Unknown(OTHER_SYSTEM), "{elsewhere}");
        }
    }

    #[test]
    fn what_was_handed_over_is_known_to_be_stored_by_no_store() {
        let told = |handed: &str| {
            let text = format!(
                "P1 openat(dfd=AT_FDCWD, flags=O_WRONLY) = <3 $DIR/new #7>\n{handed}\
                 P1 fsync(fd=<3 $DIR/new #7>) = 0\n"
            );
            let mut history = History::default();
            let all = deeds(&text);
            all.iter().for_each(|deed| history.note(deed, 7, Nanos(9)));
            history.tells()
        };
        assert!(matches!(told(""), Tells::Nothing));
        for call in HANDS_OVER {
            let told = told(&format!("P1 {call}() = 1\n"));
            assert!(matches!(told, Tells::Unknown(HANDED)), "{call}");
        }
    }
}
