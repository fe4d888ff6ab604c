//! Functions of one file, or of the kernel, by their addresses.

use cpp_demangle::DemangleOptions;
use std::cmp::Reverse;
use std::sync::Arc;

/// A symbol, as the file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    pub(super) address: u64,
    /// In bytes; 0 where the file does not say.
    pub(super) size: u64,
    pub(super) binding: Binding,
    /// Whether it is said to be a function, and not only a place in the code.
    pub(super) is_function: bool,
    pub(super) name: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    Global,
    Weak,
    Local,
}

/// Symbols that do not begin at the same address, in their order. A mark inside of a function has
/// no size: what is behind it is the function's, as gdb has it. Which of the two perf takes there
/// depends on the shape of its tree.
#[derive(Debug, Default)]
pub(super) struct Table(Vec<Symbol>);

impl Table {
    pub(super) fn new(mut symbols: Vec<Symbol>) -> Self {
        // The one that perf takes comes first, and of those that are alike the first in the file.
        symbols.sort_by_cached_key(|symbol| (symbol.address, Reverse(rank(symbol))));
        symbols.dedup_by_key(|symbol| symbol.address);
        // symbols__fixup_end(), tools/perf/util/symbol.c: what has no end goes on to the next.
        let starts: Vec<u64> = symbols.iter().map(|symbol| symbol.address).collect();
        let nexts = starts.iter().skip(1).copied().chain([u64::MAX]);
        let mut inside = 0;
        for (symbol, next) in symbols.iter_mut().zip(nexts) {
            inside = inside.max(symbol.address.saturating_add(symbol.size));
            if symbol.size == 0 && symbol.address >= inside {
                // The last one has a page.
                let end = next.min(symbol.address.saturating_add(4096) & !4095);
                let end = if next == u64::MAX { end } else { next };
                symbol.size = end.saturating_sub(symbol.address);
            }
        }
        Self(symbols)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The symbol at an address, and how far into it that is.
    pub(super) fn find(&self, address: u64) -> Option<(&Symbol, u64)> {
        let behind = self.0.partition_point(|symbol| symbol.address <= address);
        let before = self.0.get(..behind)?.iter();
        let symbol = before.rev().find(|symbol| symbol.size != 0)?;
        let into = address.checked_sub(symbol.address)?;
        (into < symbol.size).then_some((symbol, into))
    }

    /// All names, as the file has them.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|symbol| &*symbol.name)
    }

    /// Where a symbol of this name is.
    pub(super) fn address_of(&self, name: &str) -> Option<u64> {
        let found = self.0.iter().find(|symbol| &*symbol.name == name)?;
        Some(found.address)
    }
}

/// How good a name is among those of one address; the greatest is taken (`choose_best_symbol()`,
/// `tools/perf/util/symbol.c`).
fn rank(symbol: &Symbol) -> (bool, bool, bool, bool, Reverse<usize>, usize, bool) {
    let name = &*symbol.name;
    let n_underscores = name.bytes().take_while(|byte| *byte == b'_').count();
    (
        symbol.size != 0,
        symbol.is_function,
        symbol.binding != Binding::Weak,
        symbol.binding == Binding::Global,
        Reverse(n_underscores),
        name.len(),
        // Old names of system calls (arch__choose_best_symbol()).
        !name.starts_with("SyS") && !name.starts_with("compat_SyS"),
    )
}

/// A name as its author wrote it: of C++ and Rust. Others are not touched: `f` is no encoded
/// `float`.
pub(super) fn readable(name: &str) -> Arc<str> {
    // A symbol of a library has the version behind it that it was linked with; it is no part of the
    // name.
    let bare = name.split_once('@').map_or(name, |(bare, _)| bare);
    let bare = if bare.is_empty() { name } else { bare };
    if let Ok(rust) = rustc_demangle::try_demangle(bare) {
        return format!("{rust:#}").into();
    }
    if bare.starts_with("_Z") {
        // What the compiler made of a function stands behind a dot: `_Z1fi.isra.0`. As perf has it,
        // neither that nor the parameters are shown.
        let encoded = bare.split_once('.').map_or(bare, |(encoded, _)| encoded);
        let options = DemangleOptions::new().no_params().no_return_type();
        let parsed = cpp_demangle::Symbol::new(encoded).ok();
        let text = parsed.and_then(|symbol| symbol.demangle_with_options(&options).ok());
        if let Some(text) = text {
            return text.into();
        }
    }
    bare.into()
}
