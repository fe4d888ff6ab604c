//! Names of functions as people write them.

/// What a mangled name of Rust or C++ stands for; `None` for a plain name.
pub(super) fn demangled(name: &str) -> Option<String> {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        // Without the hash, which nobody knows.
        return Some(format!("{rust:#}"));
    }
    if !name.starts_with("_Z") {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    symbol.demangle().ok()
}

/// Whether a symbol is meant by a name: its own, with its version or without, or that which it stands for, with what the function takes or
/// without.
pub(super) fn is_meant(wanted: &str, symbol: &str) -> bool {
    let symbol = without_clone(symbol);
    if wanted == symbol {
        return true;
    }
    let Some(plain) = demangled(symbol) else {
        return false;
    };
    plain == wanted || without_parameters(&plain) == wanted
}

/// `commit` of `commit.constprop.0` and `commit.isra.0`, which a compiler makes of it and has called in its place.
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
}
