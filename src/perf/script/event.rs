//! The events of a file or pipe, as their samples are read and shown.

use super::fields::Fields;
use super::{Options, put};
use crate::attr::{AttrFlags, Layout};
use crate::format::{self, Format};
use crate::perfdata::{EventDesc, Meta};
use crate::print::{Functions, Text, function_fields};
use crate::record::Tail;

/// The kind of an event, which decides the fields that are shown by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `PERF_TYPE_HARDWARE`, `PERF_TYPE_HW_CACHE`.
    Hardware,
    /// `PERF_TYPE_SOFTWARE`.
    Software,
    /// `PERF_TYPE_TRACEPOINT`.
    Tracepoint,
    /// `PERF_TYPE_RAW`.
    Raw,
    /// `PERF_TYPE_BREAKPOINT`.
    Breakpoint,
    /// A PMU that has its number from the kernel: probes too.
    Other,
}

impl Class {
    fn of(kind: u32) -> Self {
        match kind {
            0 | 3 => Self::Hardware,
            1 => Self::Software,
            2 => Self::Tracepoint,
            4 => Self::Raw,
            5 => Self::Breakpoint,
            _ => Self::Other,
        }
    }

    /// The word that `perf script -F` has for it.
    pub(super) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "hw" => Self::Hardware,
            "sw" => Self::Software,
            "trace" => Self::Tracepoint,
            "raw" => Self::Raw,
            "break" => Self::Breakpoint,
            "other" => Self::Other,
            _ => return None,
        })
    }
}

/// An event.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) class: Class,
    pub(super) layout: Layout,
    /// What its samples have.
    pub(super) has: Fields,
    /// What is shown of them.
    pub(super) fields: Fields,
    /// Of a tracepoint, where the file has it.
    pub(super) format: Option<Format>,
    text: Option<Text>,
    /// The fields that are functions of the kernel, and whether the text says how far into them.
    pub(super) functions: Vec<(String, bool)>,
    /// Whether its samples are printed.
    pub(super) is_wanted: bool,
    /// The period of samples that do not tell theirs.
    pub(super) period: Option<u64>,
    /// Whether its samples have fields that few have.
    pub(super) has_tail: bool,
    /// Whether it counts each task on its own.
    pub(super) is_inherited: bool,
    is_fault: bool,
    /// Which user registers its samples have (`sample_regs_user`).
    pub(super) user_registers: u64,
}

impl Event {
    pub(super) fn new(meta: &Meta, place: usize, desc: &EventDesc, options: &Options) -> Self {
        let class = Class::of(desc.attr.kind);
        let format = (class == Class::Tracepoint).then(|| {
            let (_, text) = meta.tracing.as_ref()?.format_of(desc.attr.config)?;
            // One that makes no sense is as good as none.
            format::parse(text).ok()
        });
        let format = format.flatten();
        let name = meta.name(place).to_owned();
        let layout = desc.attr.layout();
        let has = Fields::there(layout.sample_type, class);
        Self {
            is_wanted: options.filter.wants_event(&name),
            name,
            class,
            layout,
            has,
            fields: options.fields.fields(class, has),
            text: format.as_ref().map(Text::new),
            functions: format.as_ref().map(function_fields).unwrap_or_default(),
            format,
            period: (!desc.attr.flags.has(AttrFlags::FREQ))
                .then_some(desc.attr.period_or_frequency),
            has_tail: layout.sample_type.has(Tail::BITS),
            is_inherited: desc.attr.flags.has(AttrFlags::INHERIT),
            user_registers: desc.attr.user_registers,
            is_fault: class == Class::Software && matches!(desc.attr.config, 2 | 5 | 6),
        }
    }

    /// How many bytes its name has.
    pub(super) fn width(&self) -> usize {
        self.name.len()
    }

    /// Whether the address of its samples is one of data, whose place is worth showing
    /// (`sample_addr_correlates_sym()`, tools/perf/util/evsel.h).
    pub(super) fn has_data_address(&self) -> bool {
        self.is_fault
    }

    /// Appends what the event says of itself: the text of a tracepoint.
    pub(super) fn trace(&self, out: &mut Vec<u8>, payload: &[u8], functions: &Functions<'_>) {
        match &self.text {
            Some(text) => text.write_with(payload, functions, out),
            // As it is, where nothing says what it means.
            None => payload.iter().for_each(|byte| put::pair(out, *byte)),
        }
    }
}
