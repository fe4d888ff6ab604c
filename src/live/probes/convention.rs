//! Where the arguments of a function are when it begins: the calling convention.
//!
//! The reference is "Parameter Passing" in the System V ABI, AMD64 supplement, section 3.2.3; Rust
//! differs where a comment says so. If debugging information names the register, that register is
//! taken: a compiler may use any convention for a function that is called only within its own unit.

use super::error::ArgumentError;
use crate::units::ProbeArgument;

/// A type, as far as passing takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Integer {
        size: u64,
        is_signed: bool,
    },
    Pointer {
        /// Whether to a string.
        is_text: bool,
    },
    Float {
        size: u64,
    },
    Aggregate {
        size: u64,
        /// Each number in it: where, and whether it is a float; `None` where that is not known.
        leaves: Option<Vec<(u64, bool)>>,
        /// Whether only a constructor of the type may copy it, so that its address is passed in its
        /// place.
        by_reference: bool,
    },
    Nothing,
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: Option<String>,
    pub(super) ty: Type,
    /// By the number that debugging information has for it.
    pub(super) register: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) parameters: Vec<Parameter>,
    pub(super) returns: Type,
    pub(super) is_rust: bool,
}

/// Those that integers and addresses are passed in, as the kernel names them.
const PASSING: &[&str] = match cfg!(target_arch = "aarch64") {
    true => &["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"],
    false => &["di", "si", "dx", "cx", "r8", "r9"],
};

/// All by their numbers ("DWARF Register Number Mapping", figure 3.36 there).
const NUMBERED: &[&str] = match cfg!(target_arch = "aarch64") {
    true => &["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"],
    false => &[
        "ax", "dx", "cx", "bx", "si", "di", "bp", "sp", "r8", "r9", "r10", "r11", "r12", "r13",
        "r14", "r15",
    ],
};

/// Bytes in a register, and in each place on the stack.
const WORD: u64 = 8;

/// The register of the argument at this place, from 1, where all before it are integers or
/// addresses.
pub(super) fn passing(place: usize) -> Option<&'static str> {
    PASSING.get(place.checked_sub(1)?).copied()
}

impl Function {
    /// What the kernel is to fetch for an argument that names a parameter.
    pub(super) fn parameter(&self, wanted: &ProbeArgument) -> Result<ProbeArgument, ArgumentError> {
        let name = wanted.parameter().unwrap_or_default();
        let is_it = |parameter: &Parameter| parameter.name.as_deref() == Some(name);
        let Some(place) = self.parameters.iter().position(is_it) else {
            let names = self.parameters.iter().filter_map(|it| it.name.clone());
            return Err(ArgumentError::NoParameter {
                name: name.to_owned(),
                known: names.collect(),
            });
        };
        let unread = |why| ArgumentError::Unreadable {
            name: name.to_owned(),
            why,
        };
        let value = self.value(place).map_err(unread)?;
        let ty = self.parameters.get(place).map(|parameter| &parameter.ty);
        let (value, ty) = fetched(value, ty, wanted.ty.as_deref());
        Ok(ProbeArgument {
            name: Some(wanted.name.clone().unwrap_or_else(|| name.to_owned())),
            value,
            ty,
        })
    }

    /// The same for `$retval` without a type.
    pub(super) fn result(&self, wanted: &ProbeArgument) -> ProbeArgument {
        let ty = match self.returns {
            Type::Integer { size, is_signed } => integer(size, is_signed),
            _ => None,
        };
        ProbeArgument {
            ty: wanted.ty.clone().or(ty),
            ..wanted.clone()
        }
    }

    /// Where an argument is, in the kernel's language.
    fn value(&self, place: usize) -> Result<String, &'static str> {
        let parameter = self.parameters.get(place).ok_or("there is none")?;
        match &parameter.ty {
            Type::Float { .. } => return Err("a float, which no probe reads"),
            Type::Aggregate { .. } => {
                return Err("a structure: name what of it is wanted in the kernel's language");
            }
            Type::Nothing | Type::Unknown => return Err("of a type that is not known"),
            Type::Integer { size, .. } if *size > WORD => {
                return Err("wider than a register");
            }
            Type::Integer { .. } | Type::Pointer { .. } => {}
        }
        if let Some(number) = parameter.register {
            let register = NUMBERED.get(usize::from(number));
            return register
                .map(|name| format!("%{name}"))
                .ok_or("in a register that no probe reads");
        }
        let mut at = At::default();
        if self.returns_in_memory() {
            at.take(1);
        }
        for before in self.parameters.iter().take(place) {
            at.pass(&before.ty, self.is_rust)?;
        }
        match (
            at.registers.checked_add(1).and_then(passing),
            cfg!(target_arch = "x86_64"),
        ) {
            (Some(name), _) => Ok(format!("%{name}")),
            // The first word is where it returns to.
            (None, true) => Ok(format!("$stack{}", (at.stack / WORD).saturating_add(1))),
            (None, false) => Err("passed on the stack"),
        }
    }

    /// Whether the caller passes the address of a place for the result.
    fn returns_in_memory(&self) -> bool {
        match &self.returns {
            Type::Aggregate {
                size, by_reference, ..
            } => cfg!(target_arch = "x86_64") && (*by_reference || *size > 2 * WORD),
            _ => false,
        }
    }
}

/// How much is taken by arguments so far.
#[derive(Default)]
struct At {
    registers: usize,
    /// The bytes on the stack.
    stack: u64,
}

impl At {
    fn take(&mut self, n_registers: usize) {
        match self.registers.saturating_add(n_registers) <= PASSING.len() {
            true => self.registers = self.registers.saturating_add(n_registers),
            // All of it is passed on the stack then.
            false => self.push(WORD.saturating_mul(n_registers as u64)),
        }
    }

    fn push(&mut self, size: u64) {
        self.stack = self.stack.saturating_add(size.next_multiple_of(WORD));
    }

    /// Passes an argument.
    fn pass(&mut self, ty: &Type, is_rust: bool) -> Result<(), &'static str> {
        match ty {
            Type::Integer { size, .. } if *size > 2 * WORD => {
                return Err("behind an argument of unknown size");
            }
            Type::Integer { size, .. } => self.take(size.div_ceil(WORD).max(1) as usize),
            Type::Pointer { .. } => self.take(1),
            Type::Float { size } if *size <= WORD => {}
            // `long double`.
            Type::Float { .. } => {
                self.stack = self.stack.next_multiple_of(2 * WORD);
                self.push(2 * WORD);
            }
            Type::Aggregate { size: 0, .. } => {}
            Type::Aggregate {
                by_reference: true, ..
            } => self.take(1),
            Type::Aggregate { size, .. } if *size > 2 * WORD => match is_rust {
                true => self.take(1),
                false => self.push(*size),
            },
            Type::Aggregate {
                leaves: Some(leaves),
                size,
                ..
            } => {
                let words = 0..size.div_ceil(WORD);
                let is_integer = |word: &u64| {
                    let mut of_word = leaves.iter().filter(|(at, _)| at / WORD == *word);
                    of_word.any(|(_, is_float)| !is_float)
                };
                self.take(words.filter(is_integer).count());
            }
            Type::Aggregate { .. } | Type::Nothing | Type::Unknown => {
                return Err("behind an argument of which it is not known how it is passed");
            }
        }
        Ok(())
    }
}

/// With the type that was asked for, or its own.
fn fetched(place: String, ty: Option<&Type>, wanted: Option<&str>) -> (String, Option<String>) {
    let is_text = |ty: &str| ty.starts_with("ustring") || ty.starts_with("string");
    match (wanted, ty) {
        (Some(wanted), _) if is_text(wanted) => (format!("+0({place})"), Some(wanted.to_owned())),
        (Some(wanted), _) => (place, Some(wanted.to_owned())),
        (None, Some(Type::Pointer { is_text: true })) => {
            (format!("+0({place})"), Some("ustring".to_owned()))
        }
        (None, Some(Type::Integer { size, is_signed })) => (place, integer(*size, *is_signed)),
        (None, _) => (place, Some("x64".to_owned())),
    }
}

fn integer(size: u64, is_signed: bool) -> Option<String> {
    let sign = if is_signed { 's' } else { 'u' };
    matches!(size, 1 | 2 | 4 | 8).then(|| format!("{sign}{}", size.saturating_mul(8)))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn parameter(name: &str, ty: Type) -> Parameter {
        Parameter {
            name: Some(name.to_owned()),
            ty,
            register: None,
        }
    }

    fn aggregate(size: u64, leaves: &[(u64, bool)]) -> Type {
        Type::Aggregate {
            size,
            leaves: Some(leaves.to_vec()),
            by_reference: false,
        }
    }

    const INT: Type = Type::Integer {
        size: 4,
        is_signed: true,
    };

    fn fetched(function: &Function, name: &str) -> String {
        let wanted = ProbeArgument {
            name: None,
            value: name.to_owned(),
            ty: None,
        };
        match function.parameter(&wanted) {
            Ok(argument) => argument.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn arguments_are_where_the_convention_puts_them() {
        let text = Type::Pointer { is_text: true };
        let long = |is_signed| Type::Integer { size: 8, is_signed };
        let parameters = vec![
            parameter("path", text),
            parameter("ratio", Type::Float { size: 8 }),
            parameter("pair", aggregate(16, &[(0, false), (8, true)])),
            parameter("big", aggregate(24, &[(0, false), (8, false), (16, false)])),
            parameter("count", INT),
            parameter("a", long(false)),
            parameter("two", aggregate(16, &[(0, false), (8, false)])),
            parameter("last", long(true)),
            parameter("three", aggregate(16, &[(0, false), (8, false)])),
            parameter("beyond", INT),
        ];
        let mut function = Function {
            parameters,
            returns: INT,
            is_rust: false,
        };
        for (name, said) in [
            ("path", "path=+0(%di):ustring"),
            ("count", "count=%dx:s32"),
            ("a", "a=%cx:u64"),
            // Behind the copy of `big`, and of `three`, for which one register was left.
            ("beyond", "beyond=$stack7:s32"),
        ] {
            assert_eq!(fetched(&function, name), said);
        }
        assert!(fetched(&function, "ratio").contains("a float"));
        assert!(fetched(&function, "pair").contains("a structure"));
        assert!(fetched(&function, "none").contains("path, ratio"));
        function.returns = aggregate(24, &[]);
        assert_eq!(fetched(&function, "path"), "path=+0(%si):ustring");
    }

    #[test]
    fn what_the_compiler_says_is_taken_before_the_convention() {
        let mut moved = parameter("n", INT);
        moved.register = Some(4);
        let function = Function {
            parameters: vec![moved],
            returns: INT,
            is_rust: false,
        };
        assert_eq!(fetched(&function, "n"), "n=%si:s32");
    }
}
