//! Names of functions as people write them.

/// What a mangled name of Rust or C++ stands for; `None` for a plain name.
pub(super) fn demangled(name: &str) -> Option<String> {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        // Without the hash, which users do not write.
        return Some(format!("{rust:#}"));
    }
    if !name.starts_with("_Z") {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    symbol.demangle().ok()
}

/// Whether a symbol is meant by a name: its own, with its version or without, or that which it
/// stands for, with what the function takes or without.
pub(super) fn is_meant(wanted: &str, symbol: &str) -> bool {
    let symbol = without_clone(symbol);
    if wanted == symbol {
        return true;
    }
    let Some(plain) = demangled(symbol) else {
        return false;
    };
    plain == wanted || without_parameters(&plain) == wanted || as_written(symbol, &plain) == wanted
}

/// Whether that is what a symbol stands for, to the letter.
pub(super) fn is_whole(wanted: &str, symbol: &str) -> bool {
    let symbol = without_clone(symbol);
    wanted == symbol || demangled(symbol).is_some_and(|plain| plain == wanted)
}

/// Whether a name ends a path, `commit` or `Log::commit` of `save::Log::commit`: then that path.
pub(super) fn ends(wanted: &str, symbol: &str) -> Option<String> {
    let plain = demangled(without_clone(symbol))?;
    let written = as_written(symbol, &plain);
    let before = written.strip_suffix(wanted)?;
    before.ends_with("::").then_some(written)
}

/// A function's path as the source of a Rust program has it: `save::Log::commit` of
/// `<save::Log>::commit` and `<save::Log as save::Save>::commit`, `save::twice` of
/// `save::twice::<u8>`. Of others what is in front of their parameters.
fn as_written(symbol: &str, plain: &str) -> String {
    if rustc_demangle::try_demangle(symbol).is_err() {
        return without_parameters(plain).to_owned();
    }
    let of_type = plain.strip_prefix('<').and_then(|inner| {
        let (of, method) = inner.split_at_checked(closing(inner)?)?;
        let of = of.get(..outer_as(of))?;
        Some(as_written(symbol, of) + &without_types(method.strip_prefix('>')?))
    });
    of_type.unwrap_or_else(|| without_types(plain))
}

/// Each character with how many `<` are open before it; the arrow of a function's type is no
/// bracket.
fn depths(text: &str) -> impl Iterator<Item = (usize, usize, char)> + '_ {
    let mut depth = 0_usize;
    let mut last = ' ';
    text.char_indices().map(move |(at, c)| {
        let before = depth;
        match c {
            '<' => depth = depth.saturating_add(1),
            '>' if last != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        last = c;
        (at, before, c)
    })
}

/// Where the `>` is that closes what was opened before the text.
fn closing(text: &str) -> Option<usize> {
    let mut last = ' ';
    depths(text).find_map(|(at, depth, c)| {
        let is_it = depth == 0 && c == '>' && last != '-';
        last = c;
        is_it.then_some(at)
    })
}

/// Where the trait of `Type as Trait` begins, or the end.
fn outer_as(text: &str) -> usize {
    let mut all = depths(text);
    let found = all.find(|(at, depth, _)| {
        *depth == 0 && text.get(*at..).is_some_and(|rest| rest.starts_with(" as "))
    });
    found.map_or(text.len(), |(at, ..)| at)
}

/// `twice` of `twice::<u8>`.
fn without_types(text: &str) -> String {
    let mut out = String::new();
    for (_, depth, c) in depths(text) {
        match (depth, c) {
            (0, '<') => out.truncate(out.trim_end_matches("::").len()),
            (0, _) => out.push(c),
            // Also what closes the outermost, before which one is open.
            _ => {}
        }
    }
    out
}

/// `commit` of `commit.constprop.0` and `commit.isra.0`, which a compiler makes of it and has
/// called in its place.
pub(super) fn without_clone(symbol: &str) -> &str {
    let clone = [".constprop.", ".isra."]
        .iter()
        .filter_map(|of| symbol.find(of))
        .min();
    clone.and_then(|at| symbol.get(..at)).unwrap_or(symbol)
}

/// `ns::f` of `ns::f(int, char)` and of `ns::f(int) const`.
fn without_parameters(plain: &str) -> &str {
    // `operator()` and `(anonymous namespace)::f` have parentheses of their own.
    let mut depth = 0_usize;
    let mut begin = None;
    for (at, c) in plain.char_indices() {
        match c {
            '(' => {
                if depth == 0 {
                    begin = Some(at);
                }
                depth = depth.saturating_add(1);
            }
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    begin.and_then(|at| plain.get(..at)).unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_meant_by_each_of_its_names() {
        for (wanted, symbol) in [
            ("commit", "commit"),
            ("commit", "commit.constprop.0"),
            ("_ZN5store6commitEPKci", "_ZN5store6commitEPKci"),
            ("store::commit", "_ZN5store6commitEPKci"),
            ("store::commit(char const*, int)", "_ZN5store6commitEPKci"),
            ("save::commit", "_ZN4save6commit17h0123456789abcdefE"),
            ("(anonymous namespace)::f", "_ZN12_GLOBAL__N_11fEi"),
        ] {
            assert!(
                is_meant(wanted, symbol),
                "{wanted} {symbol} {:?}",
                demangled(symbol)
            );
        }
        for (wanted, symbol) in [("commi", "commit"), ("commit", "_ZN5store6commitEPKci")] {
            assert!(!is_meant(wanted, symbol), "{wanted}");
        }
    }

    #[test]
    fn functions_of_rust_are_called_as_in_the_source_in_both_of_its_manglings() {
        const OF_LOG: &str = "_RNvMNtCs12jkoC9p3aE_1p5storeNtB2_3Log6commit";
        const OF_TRAIT: &str = "_RNvXs_NtCs12jkoC9p3aE_1p5storeNtB4_3LogNtB4_4Save4save";
        const OF_STR: &str = "_RINvNtCs12jkoC9p3aE_1p5store5twiceReEB4_";
        for (wanted, symbol) in [
            ("p::store::Log::commit", OF_LOG),
            ("<p::store::Log>::commit", OF_LOG),
            (OF_LOG, OF_LOG),
            (
                "p::store::Log::commit",
                "_ZN1p5store3Log6commit17h0123456789abcdefE",
            ),
            ("p::store::Log::save", OF_TRAIT),
            ("<p::store::Log as p::store::Save>::save", OF_TRAIT),
            (
                "p::store::Log::save",
                "_ZN48_$LT$p..store..Log$u20$as$u20$p..store..Save$GT$4save17h0123456789abcdefE",
            ),
            ("p::store::twice", OF_STR),
            ("p::store::twice::<&str>", OF_STR),
        ] {
            let plain = demangled(symbol);
            assert!(is_meant(wanted, symbol), "{wanted} {symbol} {plain:?}");
        }
        assert!(!is_meant("store::Log::commit", OF_LOG));
        assert!(!is_meant("p::store::Save::save", OF_TRAIT));
        assert!(is_whole("<p::store::Log>::commit", OF_LOG));
        assert!(!is_whole("p::store::Log::commit", OF_LOG));
        let ends = |wanted| ends(wanted, OF_LOG);
        assert_eq!(
            ends("Log::commit").as_deref(),
            Some("p::store::Log::commit")
        );
        assert_eq!(ends("og::commit"), None);
    }

    #[test]
    fn brackets_of_types_are_told_from_arrows() {
        for (plain, expected) in [
            (
                "a::f::<fn(u8) -> b::C<u8>>::{closure#0}",
                "a::f::{closure#0}",
            ),
            ("<a::B<fn() -> u8> as c::D<a::E>>::f::<u8>", "a::B::f"),
            ("<<a::B as c::D>::E as f::G>::h", "a::B::E::h"),
            ("alloc::vec::Vec<T,A>::push", "alloc::vec::Vec::push"),
            ("<[u8] as a::B>::c", "[u8]::c"),
        ] {
            assert_eq!(as_written("_RNvC1a1f", plain), expected, "{plain}");
        }
    }
}
