//! Places and call chains, as text.

use super::fields::{Field, Fields};
use super::{Shot, put};
use crate::space::{
    Depth, End, Frame, KERNEL, Maps, Place, Snapshot, Symbols, UNKNOWN, USER, addresses,
};
use crate::units::Pid;
use std::sync::Arc;

/// So many frames perf finds in a copy of the stack (`PERF_MAX_STACK_DEPTH`).
const MOST: usize = 127;

/// The addresses of a call chain, each with the mode of the CPU, and how it ended where that is
/// known.
pub(super) type Chain = (Vec<(u16, u64)>, Option<End>);

/// Finds the names of addresses, and says how much of them is shown.
#[derive(Debug)]
pub(super) struct Names<'a, S> {
    pub(super) maps: &'a Maps,
    pub(super) symbols: &'a mut S,
    pub(super) depth: Depth,
    pub(super) no_inline: bool,
}

impl<S: Symbols> Names<'_, S> {
    /// The functions at a place, the innermost first.
    pub(super) fn frames(
        &mut self,
        place: &Place<'_>,
        address: u64,
    ) -> impl Iterator<Item = &Frame> {
        let no_inline = self.no_inline;
        let all = self.symbols.frames(place, address, self.depth);
        all.iter()
            .filter(move |frame| !(no_inline && frame.is_inlined))
    }

    /// The function of the kernel's that an address is in, and how far into it.
    pub(super) fn function(&mut self, address: u64) -> Option<(Arc<str>, u64)> {
        let place = self.maps.find(Pid(u32::MAX), KERNEL, address)?;
        let found = self
            .symbols
            .frames(&place, address, Depth::Function)
            .last()?;
        Some((Arc::clone(&found.name), found.into))
    }

    /// The addresses of a sample's call chain, each with the mode of the CPU, and how it ended
    /// where that is known: first what the kernel found, then what the copy of the stack tells.
    // Where it followed frame pointers that are none, the kernel may have found what is neither a
    // mark nor an address: perf, which then shows nothing of the chain, is followed
    // (add_callchain_ip(), tools/perf/util/machine.c).
    pub(super) fn chain(&mut self, shot: &Shot<'_>) -> Option<Chain> {
        let words = shot.sample.callchain?;
        if is_corrupt(words) {
            return Some((Vec::new(), None));
        }
        let mut chain: Vec<_> = addresses(shot.misc, words).collect();
        let (Some(registers), Some(stack), Some((pid, _))) = (
            shot.sample.user_registers.or(shot.tail.user_registers),
            shot.tail.user_stack.filter(|stack| !stack.is_empty()),
            shot.sample.task,
        ) else {
            return Some((chain, None));
        };
        let snapshot = Snapshot {
            pid,
            mask: shot.event.user_registers,
            registers,
            stack,
        };
        let mut unwound = Vec::new();
        let end = self
            .symbols
            .unwind(self.maps, &snapshot, MOST, &mut unwound);
        chain.extend(unwound.into_iter().map(|address| (USER, address)));
        Some((chain, Some(end)))
    }
}

/// How the places of a call chain are shown.
pub(super) struct At<'a, 'n, S> {
    pub(super) pid: Pid,
    pub(super) fields: Fields,
    pub(super) names: &'a mut Names<'n, S>,
}

impl<S: Symbols> At<'_, '_, S> {
    fn has_names(&self) -> bool {
        [Field::Sym, Field::Dso, Field::Srcline]
            .iter()
            .any(|field| self.fields.has(*field))
    }

    /// The symbol and the file of an address, where they are to be shown.
    // sample__fprintf_sym(), tools/perf/util/evsel_fprintf.c: without what was inlined.
    pub(super) fn place(&mut self, out: &mut Vec<u8>, misc: u16, address: u64) {
        if !self.has_names() {
            return;
        }
        let place = self.names.maps.find(self.pid, misc, address);
        let found = place.and_then(|place| {
            let frames = self.names.frames(&place, address);
            frames.last()
        });
        frame(out, self.fields, found, place.as_ref());
    }

    // sample__fprintf_callchain(), tools/perf/util/evsel_fprintf.c. Addresses are those of the
    // process, as in 7.2; 6.1 has places in the file.
    pub(super) fn chain(&mut self, out: &mut Vec<u8>, chain: &[(u16, u64)]) {
        for (mode, address) in chain {
            let begin = |out: &mut Vec<u8>| {
                out.push(b'\t');
                put::hex(out, *address, 16);
            };
            if !self.has_names() {
                begin(out);
                out.push(b'\n');
                continue;
            }
            let place = self.names.maps.find(self.pid, *mode, *address);
            let mut is_named = false;
            if let Some(place) = &place {
                for found in self.names.frames(place, *address) {
                    is_named = true;
                    begin(out);
                    frame(out, self.fields, Some(found), Some(place));
                    out.push(b'\n');
                }
            }
            if !is_named {
                begin(out);
                frame(out, self.fields, None, place.as_ref());
                out.push(b'\n');
            }
        }
    }
}

// __symbol__fprintf_symname_offs(), map__fprintf_dsoname() and map__fprintf_srcline().
fn frame(out: &mut Vec<u8>, fields: Fields, found: Option<&Frame>, place: Option<&Place<'_>>) {
    if fields.has(Field::Sym) {
        out.push(b' ');
        match found {
            Some(found) => {
                put::foreign(out, found.name.as_bytes());
                if fields.has(Field::Symoff) {
                    out.extend_from_slice(b"+0x");
                    put::hex(out, found.into, 1);
                }
            }
            None => out.extend_from_slice(UNKNOWN),
        }
    }
    let is_inlined = found.is_some_and(|found| found.is_inlined);
    if fields.has(Field::Dso) && !is_inlined {
        out.extend_from_slice(b" (");
        put::foreign(out, place.map_or(UNKNOWN, |place| place.name));
        out.push(b')');
    }
    if fields.has(Field::Srcline) && place.is_some() {
        out.extend_from_slice(b"\n  ");
        match found.and_then(|found| found.line.as_ref()) {
            Some(line) => {
                let file = line.file.rsplit('/').next().unwrap_or(&line.file);
                put::foreign(out, file.as_bytes());
                out.push(b':');
                put::number(out, line.number);
            }
            None => out.extend_from_slice(b"??:0"),
        }
    }
    if is_inlined {
        out.extend_from_slice(b" (inlined)");
    }
}

fn is_corrupt(words: &[u8]) -> bool {
    let (words, _) = words.as_chunks::<8>();
    let mut words = words
        .iter()
        .map(|word| u64::from_ne_bytes(*word).cast_signed());
    words.any(|word| matches!(word, -4095..=-1) && !matches!(word, -32 | -128 | -512 | -640))
}

/// What perf 7.2 says behind a word of a call chain that is a mark (`callchain_context_str()`,
/// `tools/perf/util/session.c`).
pub(super) fn mark(word: u64) -> &'static str {
    match word.cast_signed() {
        -32 => " (PERF_CONTEXT_HV)",
        -128 => " (PERF_CONTEXT_KERNEL)",
        -512 => " (PERF_CONTEXT_USER)",
        -640 => " (PERF_CONTEXT_USER_DEFERRED)",
        -2048 => " (PERF_CONTEXT_GUEST)",
        -2176 => " (PERF_CONTEXT_GUEST_KERNEL)",
        -2560 => " (PERF_CONTEXT_GUEST_USER)",
        _ => "",
    }
}
