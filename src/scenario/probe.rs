//! Probes among the events of a scenario.

use super::flexible::{Text, deserialize_flexible};
use perf_live::units::{Probe, ProbeKind};

/// What the keys of an event say that is a probe.
#[derive(Debug)]
pub(super) struct WrittenProbe {
    pub(super) uprobe: Option<UserPlace>,
    pub(super) uretprobe: Option<UserPlace>,
    pub(super) kprobe: Option<KernelPlace>,
    pub(super) kretprobe: Option<KernelPlace>,
    pub(super) args: Option<Vec<Argument>>,
    pub(super) name: Option<ProbeName>,
}

/// A path, a colon and a place.
#[derive(Debug)]
pub(super) struct UserPlace(String);

/// A function.
#[derive(Debug)]
pub(super) struct KernelPlace(String);

/// What is read.
#[derive(Debug)]
pub(super) struct Argument(String);

/// A name for the events.
#[derive(Debug)]
pub(super) struct ProbeName(String);

impl WrittenProbe {
    /// The probe, where the keys say one.
    pub(super) fn probe(self) -> Option<Result<Probe, String>> {
        let user = |place: Option<UserPlace>| place.map(|UserPlace(text)| text);
        let kernel = |place: Option<KernelPlace>| place.map(|KernelPlace(text)| text);
        let places = [
            (ProbeKind::Uprobe, user(self.uprobe)),
            (ProbeKind::Uretprobe, user(self.uretprobe)),
            (ProbeKind::Kprobe, kernel(self.kprobe)),
            (ProbeKind::Kretprobe, kernel(self.kretprobe)),
        ];
        let mut places = places
            .into_iter()
            .filter_map(|(kind, place)| Some((kind, place?)));
        let first = places.next();
        if let (Some((first, _)), Some((second, _))) = (&first, places.next()) {
            let (first, second) = (first.word(), second.word());
            return Some(Err(format!("`{first}` and `{second}` exclude each other")));
        }
        let Some((kind, place)) = first else {
            let key = match (self.args, self.name) {
                (Some(_), _) => "args",
                (None, Some(_)) => "name",
                (None, None) => return None,
            };
            return Some(Err(format!("`{key}` belongs to a probe")));
        };
        let key = kind.word();
        let made = Probe::of(kind, &place).map_err(|wrong| format!("`{key}`: {wrong}"));
        let arguments = self.args.unwrap_or_default();
        let made = arguments
            .into_iter()
            .try_fold(made, |made, Argument(text)| {
                let made = made?;
                let added = made.with_argument(&text);
                Ok(added.map_err(|wrong| format!("`args`: in `{text}`, {wrong}")))
            });
        Some(made.and_then(|made| match self.name {
            None => made,
            Some(ProbeName(name)) => made?.named(&name).map_err(|wrong| wrong.what),
        }))
    }
}

/// A part of a probe as it was written, which has been tried.
fn kept(text: &str, tried: Result<Probe, impl ToString>) -> Result<String, String> {
    let tried = tried.map_err(|wrong| wrong.to_string());
    tried.map(|_| text.to_owned())
}

impl Text for UserPlace {
    const EXPECTED: &'static str = "a string such as `./bin/save:commit`";
    const LIKE: &'static str = "^[^:]+(.*[^:])?:[^:].*$";

    fn read(text: &str) -> Option<Result<Self, String>> {
        let read = Probe::of(ProbeKind::Uprobe, text);
        Some(kept(text, read).map(Self))
    }
}

impl Text for KernelPlace {
    const EXPECTED: &'static str = "a string such as `vfs_open`";
    const LIKE: &'static str = "^[^0-9].*$";

    fn read(text: &str) -> Option<Result<Self, String>> {
        let read = Probe::of(ProbeKind::Kprobe, text);
        Some(kept(text, read).map(Self))
    }
}

impl Text for Argument {
    const EXPECTED: &'static str = "a string such as `path=+0(%di):ustring`";

    fn read(text: &str) -> Option<Result<Self, String>> {
        // What it may be hangs on the kind of the probe, but that `$retval` is there.
        let probe = Probe::of(ProbeKind::Kretprobe, "f").ok()?;
        let read = probe.with_argument(text);
        Some(kept(text, read).map(Self))
    }
}

impl Text for ProbeName {
    const EXPECTED: &'static str = "a word such as `begin`";
    const LIKE: &'static str = "^[A-Za-z_][A-Za-z0-9_]*$";

    fn read(text: &str) -> Option<Result<Self, String>> {
        let probe = Probe::of(ProbeKind::Kprobe, "f").ok()?;
        let named = probe.named(text).map_err(|wrong| wrong.what);
        Some(named.map(|_| Self(text.to_owned())))
    }
}

deserialize_flexible!(UserPlace, KernelPlace, Argument, ProbeName);
