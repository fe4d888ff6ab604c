//! Which fields a line has.

use super::Class;
use crate::attr::SampleType as S;

/// A field of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is named as `perf script -F` names it")]
pub enum Field {
    Comm,
    Pid,
    Tid,
    Time,
    Cpu,
    Event,
    Trace,
    Ip,
    Sym,
    Symoff,
    Dso,
    Addr,
    Period,
    Callchain,
    Misc,
    Weight,
    DataSrc,
    PhysAddr,
    DataPageSize,
    CodePageSize,
    Cgroup,
    BpfOutput,
    Srcline,
}

const NAMES: [(&str, Field); 23] = [
    ("comm", Field::Comm),
    ("pid", Field::Pid),
    ("tid", Field::Tid),
    ("time", Field::Time),
    ("cpu", Field::Cpu),
    ("event", Field::Event),
    ("trace", Field::Trace),
    ("ip", Field::Ip),
    ("sym", Field::Sym),
    ("symoff", Field::Symoff),
    ("dso", Field::Dso),
    ("addr", Field::Addr),
    ("period", Field::Period),
    ("callchain", Field::Callchain),
    ("misc", Field::Misc),
    ("weight", Field::Weight),
    ("data_src", Field::DataSrc),
    ("phys_addr", Field::PhysAddr),
    ("data_page_size", Field::DataPageSize),
    ("code_page_size", Field::CodePageSize),
    ("cgroup", Field::Cgroup),
    ("bpf-output", Field::BpfOutput),
    ("srcline", Field::Srcline),
];

/// A set of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields(u32);

impl Fields {
    const fn bit(field: Field) -> u32 {
        1 << field as u32
    }

    /// The set of these.
    #[must_use]
    pub fn of(fields: &[Field]) -> Self {
        Self(fields.iter().fold(0, |set, field| set | Self::bit(*field)))
    }

    /// Whether a field is in it.
    #[must_use]
    pub fn has(self, field: Field) -> bool {
        self.0 & Self::bit(field) != 0
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What the samples of an event can show.
    pub(super) fn there(kind: S, class: Class) -> Self {
        let mut set = Self::of(&[Field::Comm, Field::Event, Field::Misc, Field::Period]);
        let mut add = |is: bool, fields: &[Field]| {
            if is {
                set = set.and(Self::of(fields));
            }
        };
        add(kind.has(S::TID), &[Field::Pid, Field::Tid]);
        add(kind.has(S::TIME), &[Field::Time]);
        add(kind.has(S::CPU), &[Field::Cpu]);
        let places = [Field::Sym, Field::Symoff, Field::Dso, Field::Srcline];
        add(kind.has(S::IP), &[Field::Ip]);
        add(kind.has(S::ADDR), &[Field::Addr]);
        add(kind.has(S::IP.and(S::ADDR).and(S::CALLCHAIN)), &places);
        add(kind.has(S::CALLCHAIN), &[Field::Ip, Field::Callchain]);
        add(
            kind.has(S::RAW) && class == Class::Tracepoint,
            &[Field::Trace],
        );
        add(
            kind.has(S::RAW) && class == Class::Software,
            &[Field::BpfOutput],
        );
        add(kind.has(S::WEIGHT.and(S::WEIGHT_STRUCT)), &[Field::Weight]);
        add(kind.has(S::DATA_SRC), &[Field::DataSrc]);
        add(kind.has(S::PHYS_ADDR), &[Field::PhysAddr]);
        add(kind.has(S::DATA_PAGE_SIZE), &[Field::DataPageSize]);
        add(kind.has(S::CODE_PAGE_SIZE), &[Field::CodePageSize]);
        add(kind.has(S::CGROUP), &[Field::Cgroup]);
        set
    }

    /// Returns the fields that are shown by default (`output[]`, tools/perf/builtin-script.c), with
    /// call chains if there are any.
    fn by_default(class: Class, there: Self) -> Self {
        let always = [
            Field::Comm,
            Field::Tid,
            Field::Cpu,
            Field::Time,
            Field::Event,
        ];
        let place = [
            Field::Ip,
            Field::Sym,
            Field::Symoff,
            Field::Dso,
            Field::Callchain,
        ];
        let set = match class {
            Class::Tracepoint if there.has(Field::Callchain) => {
                Self::of(&place).and(Self::of(&[Field::Trace]))
            }
            Class::Tracepoint => Self::of(&[Field::Trace]),
            Class::Software => Self::of(&place).and(Self::of(&[Field::Period, Field::BpfOutput])),
            Class::Raw => Self::of(&place).and(Self::of(&[
                Field::Period,
                Field::Addr,
                Field::DataSrc,
                Field::Weight,
                Field::PhysAddr,
            ])),
            Class::Hardware | Class::Breakpoint | Class::Other => {
                Self::of(&place).and(Self::of(&[Field::Period]))
            }
        };
        set.and(Self::of(&always))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Only,
    Also,
    Not,
}

/// The fields that were asked for: none, a list, or changes of the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// For which class of events (all: none), and what.
    steps: Vec<(Option<Class>, How, Fields)>,
}

/// What is wrong with a choice of fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// There is none of that name.
    #[error("there is no field `{0}`; there are {names}", names = names())]
    Unknown(String),
    /// There is no such class of events.
    #[error("there is no class of events `{0}`; there are hw, sw, trace, raw, break and other")]
    Class(String),
    /// A list that names fields, and changes.
    #[error(
        "`{0}` names fields and changes of those that are shown anyway; it can do one of these"
    )]
    Mixed(String),
    /// No event has it.
    #[error("no event has the field `{0}` in its samples; it was not recorded")]
    Absent(&'static str),
}

fn names() -> String {
    let all: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    all.join(", ")
}

impl Choice {
    /// Reads `comm,tid,time` or `+addr,-period`, for one class of events with `trace:` or `sw:` in
    /// front; each list that is given is added.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn add(&mut self, list: &str) -> Result<(), FieldError> {
        let (class, words) = match list.split_once(':') {
            Some((class, words)) => {
                let known = Class::parse(class).ok_or_else(|| FieldError::Class(class.into()))?;
                (Some(known), words)
            }
            None => (None, list),
        };
        let mut only = Fields::default();
        let mut changes = Vec::new();
        for word in words.split(',').filter(|word| !word.is_empty()) {
            let (how, name) = match (word.strip_prefix('+'), word.strip_prefix('-')) {
                (Some(name), _) => (How::Also, name),
                (_, Some(name)) => (How::Not, name),
                _ => (How::Only, word),
            };
            let known = NAMES.iter().find(|(known, _)| *known == name);
            let (_, field) = known.ok_or_else(|| FieldError::Unknown(name.into()))?;
            let mut fields = Fields::of(&[*field]);
            // As in perf, with the address come those that it was called from.
            if how != How::Not && *field == Field::Ip {
                fields = fields.and(Fields::of(&[Field::Callchain]));
            }
            match how {
                How::Only => only = only.and(fields),
                how => changes.push((class, how, fields)),
            }
        }
        match (only == Fields::default(), changes.is_empty()) {
            (false, false) => return Err(FieldError::Mixed(list.into())),
            (false, true) => self.steps.push((class, How::Only, only)),
            _ => self.steps.extend(changes),
        }
        Ok(())
    }

    /// Adds another's lists.
    pub fn append(&mut self, other: &Self) {
        self.steps.extend_from_slice(&other.steps);
    }

    /// The fields of an event's lines.
    pub(super) fn fields(&self, class: Class, there: Fields) -> Fields {
        let mut set = Fields::by_default(class, there);
        for (of, how, fields) in &self.steps {
            if of.is_some_and(|of| of != class) {
                continue;
            }
            set = match how {
                How::Only => *fields,
                How::Also => set.and(*fields),
                How::Not => set.without(*fields),
            };
        }
        set.both(there)
    }

    /// Complains of a field that was asked for and that no event of its class has.
    pub(super) fn check(
        &self,
        events: impl Iterator<Item = (Class, Fields)> + Clone,
    ) -> Result<(), FieldError> {
        for (of, how, fields) in &self.steps {
            let concerned = events
                .clone()
                .filter(|(class, _)| of.is_none_or(|of| of == *class));
            let mut n_events = 0_usize;
            let there = concerned.fold(Fields::default(), |all, (_, has)| {
                n_events = n_events.saturating_add(1);
                all.and(has)
            });
            let absent = NAMES.iter().find(|(_, field)| {
                *field != Field::Callchain && fields.has(*field) && !there.has(*field)
            });
            if let (Some((name, _)), true, true) = (absent, *how != How::Not, n_events > 0) {
                return Err(FieldError::Absent(name));
            }
        }
        Ok(())
    }
}
