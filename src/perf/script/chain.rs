//! Places and call chains, as text.

use super::fields::{Field, Fields};
use super::{Shot, put};
use crate::record::Registers;
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
        let registers = shot.sample.user_registers.or(shot.tail.user_registers);
        let (Some(registers), Some((pid, _))) = (registers, shot.sample.task) else {
            return Some((chain, None));
        };
        let Some(stack) = shot.tail.user_stack.filter(|stack| !stack.is_empty()) else {
            self.add_leafs_caller(&mut chain, pid, shot.event.user_registers, &registers);
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

    /// Puts the caller of the innermost function behind it, where that function keeps no frame and
    /// its caller is known by the link register alone, which perf records on arm64 for this.
    // get_leaf_frame_caller_aarch64(), tools/perf/util/arm64-frame-pointer-unwind-support.c; where
    // it stands in the chain: thread__resolve_callchain_sample(), tools/perf/util/machine.c.
    fn add_leafs_caller(
        &mut self,
        chain: &mut Vec<(u16, u64)>,
        pid: Pid,
        mask: u64,
        registers: &Registers<'_>,
    ) {
        // Of arch/arm64/include/uapi/asm/perf_regs.h; x86 has no register of that number.
        const LINK: u32 = 30;
        const STACK: u32 = 31;
        const INSTRUCTION: u32 = 32;
        let innermost = chain.iter().position(|(mode, _)| *mode == USER);
        let is_recorded = registers.abi == Registers::ABI_64 && mask >> LINK & 1 != 0;
        let (Some(at), true) = (innermost, is_recorded) else {
            return;
        };
        let (Some((_, leaf)), Some((USER, next))) = (chain.get(at), chain.get(at + 1)) else {
            return;
        };
        let mut recorded = registers.iter();
        let values: Option<Vec<[u8; 8]>> = (0..u64::BITS)
            .filter_map(|bit| match mask >> bit & 1 {
                0 if bit == STACK => Some(Some(0)),
                0 if bit == INSTRUCTION => Some(Some(*leaf)),
                0 => None,
                _ => Some(recorded.next()),
            })
            .map(|value| value.map(u64::to_ne_bytes))
            .collect();
        let Some(values) = values else {
            return;
        };
        let snapshot = Snapshot {
            pid,
            mask: mask | 1 << STACK | 1 << INSTRUCTION,
            registers: Registers::of(&values),
            stack: &[],
        };
        let mut unwound = Vec::new();
        let end = self.symbols.unwind(self.maps, &snapshot, 2, &mut unwound);
        let below = mask & ((1 << LINK) - 1);
        let link = registers.get(below.count_ones() as usize);
        let caller = match (unwound.as_slice(), end, link) {
            ([_, caller], ..) => *caller,
            // Once the function has made a call of its own, the register holds the place behind
            // that call, which perf shows as a caller. That place is in the function's own file.
            ([leaf], End::NoTable, Some(link)) if self.are_apart(pid, *leaf, link) => {
                link.wrapping_sub(1)
            }
            _ => return,
        };
        // Where the function keeps a frame, its caller stands there by the address behind the call:
        // perf tells it twice.
        if caller != *next && caller != next.wrapping_sub(1) {
            chain.insert(at + 1, (USER, caller));
        }
    }

    /// Whether two addresses are known to be in two files.
    fn are_apart(&self, pid: Pid, one: u64, other: u64) -> bool {
        let file = |address| Some(self.maps.find(pid, USER, address)?.name);
        matches!((file(one), file(other)), (Some(one), Some(other)) if one != other)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Map;
    use crate::space::{NoSymbols, Origin};
    use crate::units::Tid;

    /// Finds the caller by the link register, as where the innermost function keeps no frame; or
    /// has no table for that function.
    #[derive(Default)]
    struct ByLink {
        asked: Option<(u64, Vec<u64>)>,
        has_no_table: bool,
    }

    impl Symbols for ByLink {
        fn recorded(&mut self, _: Origin) {}

        fn frames(&mut self, _: &Place<'_>, _: u64, _: Depth) -> &[Frame] {
            &[]
        }

        fn unwind(
            &mut self,
            _: &Maps,
            snapshot: &Snapshot<'_>,
            most: usize,
            addresses: &mut Vec<u64>,
        ) -> End {
            assert_eq!((most, snapshot.stack), (2, &[][..]));
            let values: Vec<u64> = snapshot.registers.iter().collect();
            let place = |bit: u32| (snapshot.mask & ((1 << bit) - 1)).count_ones() as usize;
            let (leaf, caller) = (values[place(32)], values[place(30)] - 1);
            self.asked = Some((snapshot.mask, values));
            addresses.push(leaf);
            if self.has_no_table {
                return End::NoTable;
            }
            addresses.push(caller);
            End::Enough
        }
    }

    fn with_leafs_caller<S: Symbols>(
        symbols: &mut S,
        chain: &[(u16, u64)],
        registers: (u64, &[u64]),
    ) -> Vec<u64> {
        with_caller(&Maps::default(), symbols, chain, registers)
    }

    fn with_caller<S: Symbols>(
        maps: &Maps,
        symbols: &mut S,
        chain: &[(u16, u64)],
        (mask, values): (u64, &[u64]),
    ) -> Vec<u64> {
        let mut names = Names {
            maps,
            symbols,
            depth: Depth::Function,
            no_inline: false,
        };
        let values: Vec<_> = values.iter().map(|value| value.to_ne_bytes()).collect();
        let mut chain = chain.to_vec();
        names.add_leafs_caller(&mut chain, Pid(1), mask, &Registers::of(&values));
        chain.into_iter().map(|(_, address)| address).collect()
    }

    const LINK: u64 = 1 << 30;

    #[test]
    fn the_caller_of_a_function_without_a_frame_stands_behind_it() {
        let chain = [(KERNEL, 1), (USER, 0x100), (USER, 0x200), (USER, 0x300)];
        let mut symbols = ByLink::default();
        let found = with_leafs_caller(&mut symbols, &chain, (LINK, &[0x184]));
        assert_eq!(found, [1, 0x100, 0x183, 0x200, 0x300]);
        assert_eq!(symbols.asked, Some((7 << 30, vec![0x184, 0, 0x100])));
        // Registers before and behind it were recorded too, the instruction's among them.
        let mask = LINK | 1 << 2 | 1 << 32 | 1 << 46;
        let found = with_leafs_caller(&mut symbols, &chain, (mask, &[9, 0x184, 0x104, 8]));
        assert_eq!(found, [1, 0x100, 0x183, 0x200, 0x300]);
        let whole = vec![9, 0x184, 0, 0x104, 8];
        assert_eq!(symbols.asked, Some((mask | 1 << 31, whole)));
    }

    #[test]
    fn without_a_table_the_link_register_has_the_caller_only_where_it_leads_to_another_file() {
        let mut maps = Maps::default();
        for (address, name) in [(0x1000, &b"/bin/a"[..]), (0x2000, b"/lib/b")] {
            let map = Map {
                pid: Pid(1),
                tid: Tid(1),
                address,
                length: 0x1000,
                offset: 0,
                name,
                is_data: false,
                more: None,
            };
            maps.map(&map, USER);
        }
        let chain = [(USER, 0x1100), (USER, 0x2200)];
        for (link, added) in [
            (0x2184, Some(0x2183)),
            // Behind the function's own last call, perhaps.
            (0x1184, None),
            // In no file that is known.
            (0x9184, None),
            (0x2200, None),
        ] {
            let mut symbols = ByLink {
                has_no_table: true,
                ..ByLink::default()
            };
            let found = with_caller(&maps, &mut symbols, &chain, (LINK, &[link]));
            let wanted: Vec<u64> = [Some(0x1100), added, Some(0x2200)]
                .into_iter()
                .flatten()
                .collect();
            assert_eq!(found, wanted, "{link:#x}");
        }
    }

    #[test]
    fn a_caller_that_is_not_known_or_there_already_is_not_added() {
        let chain = [(USER, 0x100), (USER, 0x200)];
        let both = [0x100, 0x200];
        let found = with_leafs_caller(&mut ByLink::default(), &chain, (LINK, &[0x201]));
        assert_eq!(found, both);
        // The frame of the function has it too.
        let found = with_leafs_caller(&mut ByLink::default(), &chain, (LINK, &[0x200]));
        assert_eq!(found, both);
        let found = with_leafs_caller(&mut NoSymbols, &chain, (LINK, &[0x184]));
        assert_eq!(found, both);
        let found = with_leafs_caller(&mut ByLink::default(), &chain, (1, &[7]));
        assert_eq!(found, both);
        // Of a chain of one perf adds nothing.
        let found = with_leafs_caller(&mut ByLink::default(), &chain[..1], (LINK, &[0x184]));
        assert_eq!(found, [0x100]);
    }
}
