//! What an event measures, in the kernel's numbers, and how a source of events says where such a
//! number stands.

use super::{Attr, Sampling, StoredAttr};
use perf_event_open_sys::bindings;

/// What an event measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A tracepoint, by the id that tracefs gives for this boot.
    Tracepoint(u16),
    /// A software event, by its `PERF_COUNT_SW_*`.
    Software(u32),
    /// An event of any other source, by its numbers.
    Numbers {
        /// `perf_event_attr.type`: which source it is.
        kind: u32,
        /// `config`, `config1`, `config2` and `config3`: which of its events.
        config: [u64; 4],
    },
    /// What is done to a place of memory, by a debug register of the processor.
    Breakpoint {
        /// The place.
        address: u64,
        /// How many bytes it has.
        length: u64,
        /// What is done.
        access: Access,
    },
}

/// What a breakpoint waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// Either of them.
    ReadWrite,
    /// An instruction there.
    Execute,
}

/// In which modes of the processor an event is left out, beside the kernel's of
/// [`Attr::exclude_kernel`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// In user mode.
    pub exclude_user: bool,
    /// In kernel mode.
    pub exclude_kernel: bool,
    /// In a hypervisor, where the processor tells it from the kernel.
    pub exclude_hypervisor: bool,
    /// How far the instruction pointer of a sample may be from what happened:
    /// `perf_event_attr.precise_ip`, 0 (anyhow) to 3 (exact).
    pub precise: u8,
}

impl Source {
    /// The software event that never fires, for the side-band records alone.
    pub const DUMMY: Self = Self::Software(bindings::PERF_COUNT_SW_DUMMY);
    /// A thread goes off its CPU.
    pub const CONTEXT_SWITCHES: Self = Self::Software(bindings::PERF_COUNT_SW_CONTEXT_SWITCHES);
    /// The software event whose records BPF programs write.
    pub const BPF_OUTPUT: Self = Self::Software(bindings::PERF_COUNT_SW_BPF_OUTPUT);

    /// A hardware event by its `PERF_COUNT_HW_*`.
    #[must_use]
    pub const fn hardware(number: u32) -> Self {
        Self::numbers(bindings::PERF_TYPE_HARDWARE, number as u64)
    }

    /// What a cache of the processor does: `PERF_COUNT_HW_CACHE_*`, `_OP_*` and `_RESULT_*`.
    #[must_use]
    pub const fn cache(cache: u32, operation: u32, result: u32) -> Self {
        let config = cache as u64 | (operation as u64) << 8 | (result as u64) << 16;
        Self::numbers(bindings::PERF_TYPE_HW_CACHE, config)
    }

    /// What the processor's manual has under this number.
    #[must_use]
    pub const fn raw(number: u64) -> Self {
        Self::numbers(bindings::PERF_TYPE_RAW, number)
    }

    const fn numbers(kind: u32, config: u64) -> Self {
        Self::Numbers {
            kind,
            config: [config, 0, 0, 0],
        }
    }

    /// An event of a source that sysfs describes. Those of the sources that every kernel has under
    /// the same number are what they are named by.
    #[must_use]
    pub fn of_kind(kind: u32, config: [u64; 4]) -> Self {
        let is_plain = config.iter().skip(1).all(|word| *word == 0);
        let number = config.first().copied().unwrap_or_default();
        match (kind, u32::try_from(number), u16::try_from(number)) {
            (bindings::PERF_TYPE_SOFTWARE, Ok(number), _) if is_plain => Self::Software(number),
            (bindings::PERF_TYPE_TRACEPOINT, _, Ok(id)) if is_plain => Self::Tracepoint(id),
            _ => Self::Numbers { kind, config },
        }
    }

    /// Whether a counter of the processor is needed for it, which not every machine has.
    #[must_use]
    pub fn is_hardware(self) -> bool {
        use bindings::{PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE, PERF_TYPE_RAW};
        matches!(
            self,
            Self::Numbers {
                kind: PERF_TYPE_HARDWARE | PERF_TYPE_HW_CACHE | PERF_TYPE_RAW,
                ..
            }
        )
    }

    /// Whether each occurrence counts as one, so that a period of 1 is a record of each.
    #[must_use]
    pub fn counts_by_one(self) -> bool {
        match self {
            Self::Tracepoint(_) | Self::Breakpoint { .. } => true,
            // Clocks count nanoseconds.
            Self::Software(number) => {
                let is_clock = number == bindings::PERF_COUNT_SW_CPU_CLOCK
                    || number == bindings::PERF_COUNT_SW_TASK_CLOCK;
                !is_clock
            }
            Self::Numbers { .. } => false,
        }
    }

    pub(super) fn write(self, raw: &mut bindings::perf_event_attr) {
        match self {
            Self::Tracepoint(id) => {
                (raw.type_, raw.config) = (bindings::PERF_TYPE_TRACEPOINT, id.into());
            }
            Self::Software(number) => {
                (raw.type_, raw.config) = (bindings::PERF_TYPE_SOFTWARE, number.into());
            }
            Self::Numbers { kind, config } => {
                let [config, config1, config2, config3] = config;
                (raw.type_, raw.config, raw.config3) = (kind, config, config3);
                raw.__bindgen_anon_3.config1 = config1;
                raw.__bindgen_anon_4.config2 = config2;
            }
            Self::Breakpoint {
                address,
                length,
                access,
            } => {
                raw.type_ = bindings::PERF_TYPE_BREAKPOINT;
                raw.bp_type = access.number();
                raw.__bindgen_anon_3.bp_addr = address;
                raw.__bindgen_anon_4.bp_len = length;
            }
        }
    }
}

impl Source {
    /// What stands in words that have other names for other sources.
    pub(super) fn store(self, stored: &mut StoredAttr) {
        match self {
            Self::Tracepoint(_) | Self::Software(_) => {}
            Self::Numbers { config, .. } => {
                [_, stored.config1, stored.config2, stored.config3] = config;
            }
            Self::Breakpoint {
                address,
                length,
                access,
            } => {
                stored.breakpoint_type = access.number();
                (stored.config1, stored.config2) = (address, length);
            }
        }
    }
}

impl Access {
    fn number(self) -> u32 {
        match self {
            Self::Read => bindings::HW_BREAKPOINT_R,
            Self::Write => bindings::HW_BREAKPOINT_W,
            Self::ReadWrite => bindings::HW_BREAKPOINT_RW,
            Self::Execute => bindings::HW_BREAKPOINT_X,
        }
    }
}

impl Modes {
    pub(super) fn write(self, raw: &mut bindings::perf_event_attr) {
        raw.set_exclude_user(self.exclude_user.into());
        raw.set_exclude_hv(self.exclude_hypervisor.into());
        raw.set_precise_ip(self.precise.into());
    }
}

impl Attr {
    /// Whether each occurrence is counted and has a record, so that the one tells how many of the
    /// other are missing.
    #[must_use]
    pub fn records_each(&self) -> bool {
        self.sampling == Sampling::Period(1) && self.source.counts_by_one()
    }
}

/// Where a number stands in an event's words, as a file of a source's folder `format` says it:
/// `config:0-7,32-35`. The number's low bits go to the range that is named first
/// (`pmu_format_value()`, `tools/perf/util/pmu.c`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits {
    /// `config`, `config1`, `config2` or `config3`, from 0.
    word: usize,
    /// First and last bit of each, both included.
    ranges: Vec<(u32, u32)>,
}

/// Why a text says no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `config:` and bits such as 0-7,32-35")]
pub struct BitsError;

impl Bits {
    /// Reads a file of a folder `format`.
    ///
    /// # Errors
    /// [`BitsError`].
    pub fn parse(text: &str) -> Result<Self, BitsError> {
        let (word, list) = text.trim().split_once(':').ok_or(BitsError)?;
        let word = match word {
            "config" => 0,
            "config1" => 1,
            "config2" => 2,
            "config3" => 3,
            _ => return Err(BitsError),
        };
        let bit = |text: &str| text.parse().ok().filter(|bit| *bit < u64::BITS);
        let range = |text: &str| {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let (first, last) = (bit(first)?, bit(last)?);
            (first <= last).then_some((first, last))
        };
        let ranges: Option<Vec<_>> = list.split(',').map(range).collect();
        Ok(Self {
            word,
            ranges: ranges.ok_or(BitsError)?,
        })
    }

    /// A whole word: `config`, `config1`, `config2` or `config3`, from 0.
    #[must_use]
    pub fn whole(word: usize) -> Self {
        Self {
            word,
            ranges: vec![(0, u64::BITS - 1)],
        }
    }

    /// The greatest number that there is room for.
    #[must_use]
    pub fn most(&self) -> u64 {
        let widths = self.ranges.iter().map(|(first, last)| last - first + 1);
        match widths.sum() {
            width @ 0..u64::BITS => (1 << width) - 1,
            _ => u64::MAX,
        }
    }

    /// Puts a number there. `None` where it is greater than there is room for.
    #[must_use]
    pub fn put(&self, mut number: u64, config: &mut [u64; 4]) -> Option<()> {
        let word = config.get_mut(self.word)?;
        if number > self.most() {
            return None;
        }
        for (first, last) in &self.ranges {
            let width = last - first + 1;
            let mask = u64::MAX >> (u64::BITS - width);
            *word = *word & !(mask << first) | (number & mask) << first;
            number = number.checked_shr(width).unwrap_or(0);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_spread_over_its_bits_from_the_lowest_on() {
        let put = |format: &str, number| {
            let mut config = [0; 4];
            let bits = Bits::parse(format).expect("a format");
            bits.put(number, &mut config).map(|()| config)
        };
        assert_eq!(put("config:0-7\n", 0x3c), Some([0x3c, 0, 0, 0]));
        assert_eq!(
            put("config:0-7,32-35", 0xf3c),
            Some([0xf_0000_003c, 0, 0, 0])
        );
        assert_eq!(
            put("config:32-35,0-7", 0xf3c),
            Some([0xc_0000_00f3, 0, 0, 0])
        );
        assert_eq!(put("config1:23", 1), Some([0, 1 << 23, 0, 0]));
        assert_eq!(put("config2:0-63", u64::MAX), Some([0, 0, u64::MAX, 0]));
        assert_eq!(put("config3:63", 1), Some([0, 0, 0, 1 << 63]));
        assert_eq!(put("config:0-7", 256), None);
        assert_eq!(put("config:0-7,32-35", 0x1000), None);
    }

    #[test]
    fn the_greatest_number_fills_all_bits() {
        for (format, most) in [
            ("config:0-7,32-35", 0xfff),
            ("config:63", 1),
            ("config1:0-63", u64::MAX),
            ("config:0-15", 0xffff),
        ] {
            assert_eq!(Bits::parse(format).map(|bits| bits.most()), Ok(most));
        }
    }

    #[test]
    fn what_names_no_bits_is_refused() {
        for text in [
            "",
            "config",
            "config:",
            "config:64",
            "config:7-0",
            "config:a",
            "config4:0",
            "0-7",
            "config:0-7,",
            "config:0--7",
        ] {
            assert_eq!(Bits::parse(text), Err(BitsError), "{text}");
        }
    }
}
