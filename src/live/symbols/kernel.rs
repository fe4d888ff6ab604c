//! Functions of the running kernel.

use super::Book;
use super::table::{Binding, Symbol, Table, readable};
use crate::elf;
use crate::host::Host;
use perf_records::space::{Frame, KERNEL_ITSELF, Place};

/// What the kernel told of its symbols.
#[derive(Debug)]
pub(super) struct Kernel {
    table: Table,
    /// Where `_text` and `_stext` are, by which a recording of another boot is told.
    text: Option<u64>,
    stext: Option<u64>,
}

impl Kernel {
    /// Of the text of `/proc/kallsyms`; `None` where it has no addresses, as this user may not know
    /// them.
    pub(super) fn new(kallsyms: &str) -> Option<Self> {
        let mut symbols: Vec<Symbol> = kallsyms.lines().filter_map(symbol).collect();
        if symbols.iter().all(|symbol| symbol.address == 0) {
            return None;
        }
        let place = |name: &str| {
            let found = symbols.iter().find(|symbol| &*symbol.name == name)?;
            Some(found.address)
        };
        let (text, stext) = (place("_text"), place("_stext"));
        // Of several names of one address the last alone has an end when perf chooses, and so is
        // the one that it takes (symbols__fixup_end() before symbols__fixup_duplicate(),
        // tools/perf/util/symbol.c).
        symbols.sort_by_key(|symbol| symbol.address);
        symbols.reverse();
        symbols.dedup_by_key(|symbol| symbol.address);
        Some(Self {
            table: Table::new(symbols),
            text,
            stext,
        })
    }

    pub(super) fn find(&self, address: u64) -> Option<(&Symbol, u64)> {
        self.table.find(address)
    }

    /// The names of all its functions.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.table.names()
    }

    /// Where `_text` or `_stext` is now.
    pub(super) fn place(&self, name: &str) -> Option<u64> {
        match name {
            "_text" => self.text,
            "_stext" => self.stext,
            _ => self.table.address_of(name),
        }
    }
}

/// Of a line as `ffffffff81000000 T _text` or `ffffffffc0a01000 t ext4_sync_file [ext4]`.
fn symbol(line: &str) -> Option<Symbol> {
    let mut columns = line.split_whitespace();
    let address = u64::from_str_radix(columns.next()?, 16).ok()?;
    let kind = columns.next()?.chars().next()?;
    let name = columns.next()?;
    // symbol_type__filter(), tools/perf/util/symbol.c.
    if !matches!(kind.to_ascii_uppercase(), 'T' | 'W' | 'D' | 'B') {
        return None;
    }
    Some(Symbol {
        address,
        size: 0,
        // kallsyms2elf_binding().
        binding: match kind {
            'W' | 'w' => Binding::Weak,
            kind if kind.is_uppercase() => Binding::Global,
            _ => Binding::Local,
        },
        is_function: true,
        name: name.into(),
    })
}

impl Book {
    /// The name of a function of the running kernel, where `address` is its beginning or is in it;
    /// `None` where it is not known.
    pub fn kernel_function(&mut self, address: u64) -> Option<&str> {
        let kernel = self.kernel()?;
        let (symbol, _) = kernel.find(address)?;
        Some(&symbol.name)
    }

    pub(super) fn kernel(&mut self) -> Option<&Kernel> {
        if self.kernel.is_none() {
            let kernel = self.host.kernel_symbols();
            let kernel = kernel.as_deref().and_then(Kernel::new);
            if kernel.is_none() {
                self.notes.push_back(
                    "the kernel's functions are not named: it does not tell this user where they are \
                     (kernel.kptr_restrict)"
                        .to_owned(),
                );
            }
            self.kernel = Some(kernel);
        }
        self.kernel.as_ref()?.as_ref()
    }

    /// Whether what was recorded is of the kernel that runs here.
    pub(super) fn is_same_kernel(&mut self) -> bool {
        let Some(origin) = &self.origin else {
            return true;
        };
        if let Some(is_same) = self.is_same_kernel {
            return is_same;
        }
        let recorded = origin.build_ids.get(KERNEL_ITSELF);
        let is_same = match recorded {
            Some(recorded) => {
                let notes = self.host.kernel_notes().unwrap_or_default();
                elf::build_id_in(&notes) == Some(&**recorded)
            }
            None => {
                let is_release =
                    |release: &String| self.host.kernel_release().is_ok_and(|own| own == *release);
                origin.release.as_ref().is_some_and(is_release)
            }
        };
        if !is_same {
            let release = origin.release.as_deref().unwrap_or("of unknown version");
            self.notes.push_back(format!(
                "the kernel's functions are not named: it was recorded on another kernel ({release})"
            ));
        }
        self.is_same_kernel = Some(is_same);
        is_same
    }

    /// Where an address of the kernel's that was recorded is now.
    fn of_kernel(&mut self, place: &Place<'_>, address: u64) -> Option<u64> {
        if !self.is_same_kernel() {
            return None;
        }
        if self.origin.is_none() {
            return Some(address);
        }
        if place.name == KERNEL_ITSELF {
            let Some(reference) = place.reference else {
                let note = "the kernel's functions are not named: the recording does not say where the kernel lay";
                if !self.is_without_place {
                    self.notes.push_back(note.to_owned());
                }
                self.is_without_place = true;
                return None;
            };
            let now = self.kernel()?.place(reference.name)?;
            return Some(address.wrapping_sub(reference.address).wrapping_add(now));
        }
        // A module is loaded anywhere.
        let is_there = |host: &Host| {
            let modules = host.modules();
            modules.iter().any(|module| module.address == place.start)
        };
        is_there(&self.host).then_some(address)
    }

    pub(super) fn kernel_frames(&mut self, place: &Place<'_>, address: u64) -> Box<[Frame]> {
        let Some(address) = self.of_kernel(place, address) else {
            return Box::default();
        };
        let found = self.kernel().and_then(|kernel| kernel.find(address));
        let Some((symbol, into)) = found else {
            return Box::default();
        };
        Box::new([Frame {
            name: readable(&symbol.name),
            into,
            line: None,
            is_inlined: false,
        }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_names_of_one_address_the_last_is_the_kernels() {
        let text = "ffffffff81000000 T _text\nffffffff81358d20 t __do_sys_vfork\nffffffff81358d20 T __ia32_sys_vfork\n\
                    ffffffff81358d20 T __x64_sys_vfork\nffffffff81358d90 T next\n";
        let kernel = Kernel::new(text).expect("addresses");
        let found = kernel.find(0xffff_ffff_8135_8d24).expect("a function");
        assert_eq!((&*found.0.name, found.1), ("__x64_sys_vfork", 4));
        assert_eq!(kernel.place("_text"), Some(0xffff_ffff_8100_0000));
    }
}
