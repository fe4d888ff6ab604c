//! What an input says of itself: its events, formats and features.

use super::header::Numbers;
use super::{EventDesc, Feature, ReadError, TracingData, features, names};
use crate::attr::{Layout, StoredAttr};
use crate::record::{LayoutTable, TableError};
use crate::space::Origin;
use crate::units::Nanos;
use std::collections::BTreeMap;

/// What an input says of itself. Of a file all of it is there before the first record, of a pipe it
/// grows.
#[derive(Clone, Debug)]
pub struct Meta {
    /// Whether it is a pipe's stream.
    pub is_pipe: bool,
    /// Whether it is of a machine of the other byte order. Records come in this machine's all the
    /// same, and so do the payloads of those tracepoints whose formats are there.
    pub is_foreign: bool,
    /// Whether the writer did not finish the file (its header says that it has no data): it has no
    /// features then.
    pub is_unfinished: bool,
    /// The events.
    pub events: Vec<EventDesc>,
    /// The formats of tracepoints.
    pub tracing: Option<TracingData>,
    /// The features, their bytes as they are: in the order of the input's machine.
    pub features: BTreeMap<Feature, Vec<u8>>,
    /// Goes up whenever something of this changes.
    pub revision: u64,
    table: Result<LayoutTable<usize>, TableError>,
    is_table_stale: bool,
}

impl Meta {
    pub(super) fn new(is_pipe: bool, is_foreign: bool) -> Self {
        Self {
            is_pipe,
            is_foreign,
            is_unfinished: false,
            events: Vec::new(),
            tracing: None,
            features: BTreeMap::new(),
            revision: 0,
            table: Err(TableError::Empty),
            is_table_stale: false,
        }
    }

    /// Which event a record belongs to; the number is its place in `events`.
    ///
    /// # Errors
    /// There are no events, or they cannot be told apart.
    pub fn table(&self) -> Result<&LayoutTable<usize>, TableError> {
        self.table.as_ref().map_err(|error| *error)
    }

    /// Returns the event of a record of the kernel; `None` if the record's id is of no event here.
    #[must_use]
    pub fn event(&self, record: &[u8]) -> Option<(usize, &Layout)> {
        let (layout, event) = self.table.as_ref().ok()?.resolve(record)?;
        Some((event, layout))
    }

    /// Returns the layout of a record of the other byte order whose header has been turned. If its
    /// id is of no event here, the first event's layout is taken, as most events of a session have
    /// the same one.
    pub(super) fn foreign_layout(&self, record: &[u8]) -> Option<Layout> {
        let table = self.table.as_ref().ok()?;
        match table.resolve_foreign(record) {
            Some((layout, _)) => Some(*layout),
            None => self.events.first().map(|event| event.attr.layout()),
        }
    }

    /// The time of a record; `None` where it has none.
    #[must_use]
    pub fn time(&self, record: &[u8]) -> Option<Nanos> {
        self.table.as_ref().ok()?.time(record)
    }

    /// An event's name; where nothing says it, perf's words for that.
    #[must_use]
    pub fn name(&self, event: usize) -> &str {
        match self.events.get(event) {
            Some(event) if !event.name.is_empty() => &event.name,
            _ => "unknown tracepoint",
        }
    }

    /// Returns a feature that is a text, such as [`Feature::HOSTNAME`].
    #[must_use]
    pub fn text(&self, feature: Feature) -> Option<String> {
        let mut members = self.members(feature)?;
        members.text()
    }

    /// The texts of a feature that is a list of them: [`Feature::CMDLINE`].
    #[must_use]
    pub fn texts(&self, feature: Feature) -> Option<Vec<String>> {
        let mut members = self.members(feature)?;
        let count = members.u32()?;
        (0..count).map(|_| members.text()).collect()
    }

    /// The words of a feature that is made of u64: [`Feature::SAMPLE_TIME`],
    /// [`Feature::TOTAL_MEM`], [`Feature::CLOCKID`].
    #[must_use]
    pub fn words(&self, feature: Feature) -> Option<Vec<u64>> {
        let mut members = self.members(feature)?;
        Some(std::iter::from_fn(|| members.u64()).collect())
    }

    /// The words of a feature that is made of u32: [`Feature::NRCPUS`], [`Feature::COMPRESSED`].
    #[must_use]
    pub fn halves(&self, feature: Feature) -> Option<Vec<u32>> {
        let mut members = self.members(feature)?;
        Some(std::iter::from_fn(|| members.u32()).collect())
    }

    /// The nanoseconds by which the clock on the wall was ahead of that of the events
    /// ([`Feature::CLOCK_DATA`]), if that is told.
    #[must_use]
    pub fn wall_clock_offset(&self) -> Option<i64> {
        let mut members = self.members(Feature::CLOCK_DATA)?;
        let (version, _clock) = (members.u32()?, members.u32()?);
        let (wall, events) = (members.u64()?, members.u64()?);
        let offset = i64::try_from(i128::from(wall).wrapping_sub(events.into()));
        offset.ok().filter(|_| version == 1)
    }

    /// Build ids by the names of files, as far as they are told.
    pub fn build_ids(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let all = self.features.get(&Feature::BUILD_ID);
        let mut rest = all
            .filter(|_| !self.is_foreign)
            .map_or(&[][..], Vec::as_slice);
        std::iter::from_fn(move || {
            let (name, id, more) = features::first_build_id(rest)?;
            rest = more;
            Some((name, id))
        })
    }

    /// Returns the machine that it was recorded on.
    #[must_use]
    pub fn origin(&self) -> Origin {
        let machine = if self.is_foreign {
            Some("of the other byte order".to_owned())
        } else {
            self.text(Feature::ARCH)
        };
        let ids = self.build_ids();
        Origin {
            machine,
            release: self.text(Feature::OSRELEASE),
            build_ids: ids.map(|(name, id)| (name.into(), id.into())).collect(),
        }
    }

    fn members(&self, feature: Feature) -> Option<Members<'_>> {
        Some(Members {
            rest: self.features.get(&feature)?,
            numbers: Numbers::new(self.is_foreign),
        })
    }

    pub(super) fn add_event(&mut self, attr: StoredAttr, ids: Vec<u64>) {
        let name = names::derived(&attr, self.tracing.as_ref()).unwrap_or_default();
        self.events.push(EventDesc { attr, ids, name });
        self.revision = self.revision.wrapping_add(1);
        self.is_table_stale = true;
    }

    pub(super) fn set_tracing(&mut self, tracing: TracingData) {
        for event in self.events.iter_mut().filter(|event| event.name.is_empty()) {
            event.name = names::derived(&event.attr, Some(&tracing)).unwrap_or_default();
        }
        self.tracing = Some(tracing);
        self.revision = self.revision.wrapping_add(1);
    }

    pub(super) fn add_feature(&mut self, feature: Feature, bytes: Vec<u8>) {
        self.features.insert(feature, bytes);
        if feature == Feature::EVENT_DESC {
            self.take_names();
        }
        self.revision = self.revision.wrapping_add(1);
    }

    /// Of a pipe, a record of a build id: as it would stand in a file's feature.
    pub(super) fn add_build_id(&mut self, record: &[u8]) {
        let all = self.features.entry(Feature::BUILD_ID).or_default();
        all.extend_from_slice(record);
        self.revision = self.revision.wrapping_add(1);
    }

    /// The name of the event with this id.
    pub(super) fn set_name(&mut self, id: u64, name: String) {
        let event = self.events.iter_mut().find(|event| event.ids.contains(&id));
        if let Some(event) = event {
            event.name = name;
        }
        self.revision = self.revision.wrapping_add(1);
    }

    /// Takes the names of the feature: its events are those of the attributes, in their order
    /// (`evlist__set_event_name()`).
    fn take_names(&mut self) {
        let names = self.members(Feature::EVENT_DESC).map(|mut members| {
            let count = members.u32().unwrap_or(0);
            let size = members.u32().unwrap_or(0);
            let each = (0..count).map_while(|_| members.description(size));
            each.collect::<Vec<_>>()
        });
        for (event, name) in self.events.iter_mut().zip(names.unwrap_or_default()) {
            if !name.is_empty() {
                event.name = name;
            }
        }
    }

    /// Builds the table anew if events have come.
    pub(super) fn settle(&mut self) {
        if std::mem::take(&mut self.is_table_stale) {
            let events = self
                .events
                .iter()
                .enumerate()
                .map(|(place, event)| (event.ids.iter().copied(), event.attr.layout(), place));
            self.table = LayoutTable::of_events(events);
            self.revision = self.revision.wrapping_add(1);
        }
    }
}

/// The members of a feature.
struct Members<'a> {
    rest: &'a [u8],
    numbers: Numbers,
}

impl<'a> Members<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(head)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(self.numbers.u32(self.take(4)?, 0))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(self.numbers.u64(self.take(8)?, 0))
    }

    /// A length, and so many bytes, the text up to its NUL (`do_read_string()`).
    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.u32()?).ok()?;
        let padded = self.take(length)?;
        let text = padded.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// One of [`Feature::EVENT_DESC`]: an attribute, a number of ids, the name, the ids.
    fn description(&mut self, attr_size: u32) -> Option<String> {
        self.take(usize::try_from(attr_size).ok()?)?;
        let count = usize::try_from(self.u32()?).ok()?;
        let name = self.text()?;
        self.take(count.checked_mul(8)?)?;
        Some(name)
    }
}

/// Reads the formats of tracepoints that begin at this byte of the input.
pub(super) fn tracing(bytes: &[u8], at: u64) -> Result<TracingData, ReadError> {
    match TracingData::from_bytes(bytes) {
        Ok((data, _)) => Ok(data),
        Err(source) => Err(ReadError::Tracing { at, source }),
    }
}
