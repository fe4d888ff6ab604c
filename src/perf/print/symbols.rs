//! The names that a format has for a field's numbers.

use super::conversion::{Kind, Measure, Piece};
use super::expression::{Expression, Names};
use super::number::{Operator, Type};
use super::text::Text;
use crate::format::Format;

/// The table of a `__print_flags()` or `__print_symbolic()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbols {
    /// Whether the names are those of bits, of which a number has many.
    pub are_flags: bool,
    /// The bits of the field that the table speaks of.
    pub mask: u64,
    /// Numbers, or bits, and their names, in the order of the format.
    pub entries: Vec<(u64, String)>,
}

impl Symbols {
    /// The name of a number; nothing for bits, or where it has none.
    #[must_use]
    pub fn name(&self, number: u64) -> Option<&str> {
        let number = number & self.mask;
        let entries = self.entries.iter().filter(|_| !self.are_flags);
        entries
            .filter(|(known, _)| known & self.mask == number)
            .map(|(_, name)| name.as_str())
            .next()
    }

    /// The names of a number's bits, and the bits that have none.
    #[must_use]
    pub fn flags(&self, number: u64) -> (Vec<&str>, u64) {
        let mut rest = number & self.mask;
        let mut names = Vec::new();
        for (bits, name) in self.entries.iter().filter(|_| self.are_flags) {
            if rest != 0 && rest & bits == *bits {
                names.push(name.as_str());
                rest &= !bits;
            }
        }
        (names, rest)
    }
}

/// The names of the numbers of that field, where the event's text has some.
///
/// ```
/// # let text = "name: irq_end\nID: 150\nformat:\n\
/// #     \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
/// #     \tfield:int ret;\toffset:8;\tsize:4;\tsigned:1;\n\n\
/// #     print fmt: \"%s\", __print_symbolic(REC->ret, { 0, \"unhandled\" }, { 1, \"handled\" })\n";
/// let format = perf_records::format::parse(text)?;
/// let symbols = perf_records::print::symbols(&format, "ret").expect("a table");
/// assert_eq!(symbols.name(1), Some("handled"));
/// # Ok::<(), perf_records::format::FormatError>(())
/// ```
#[must_use]
pub fn symbols(format: &Format, field: &str) -> Option<Symbols> {
    let text = Text::new(format);
    let mut all = Vec::new();
    for piece in text.pieces() {
        if let Piece::Conversion(conversion) = piece {
            all.push(&conversion.of);
            all.extend(
                [&conversion.width, &conversion.precision]
                    .into_iter()
                    .filter_map(|measure| match measure {
                        Measure::Of(of) => Some(of),
                        _ => None,
                    }),
            );
        }
    }
    // Depth first, so that the table found is the first of the text.
    all.reverse();
    while let Some(expression) = all.pop() {
        if let Expression::Names(names) = expression
            && let Some(mask) = mask(&names.of, field)
        {
            return Some(table(names, mask));
        }
        all.extend(expression.parts().iter().rev());
    }
    None
}

fn table(names: &Names, mask: u64) -> Symbols {
    let entries = names.entries.iter();
    Symbols {
        are_flags: names.delimiter.is_some(),
        mask,
        entries: entries
            .map(|(number, name)| (*number, String::from_utf8_lossy(name).into_owned()))
            .collect(),
    }
}

/// The bits of `field` that `of` is, if it is nothing else.
fn mask(of: &Expression, field: &str) -> Option<u64> {
    let width = |of: &Type| {
        u64::MAX.unbounded_shr(64_u32.saturating_sub(u32::from(of.bytes).saturating_mul(8)))
    };
    match of {
        Expression::Scalar(own, _) if own.name == field => Some(u64::MAX),
        Expression::Cast(to, of) => Some(mask(of, field)? & width(to)),
        Expression::Binary(Operator::And, both) => match &**both {
            [of, Expression::Constant(bits)] | [Expression::Constant(bits), of] => {
                Some(mask(of, field)? & bits.bits)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The fields that the event's text shows as functions of the kernel (`%ps`), and whether with how
/// far into them (`%pS`).
#[must_use]
pub fn function_fields(format: &Format) -> Vec<(String, bool)> {
    let text = Text::new(format);
    let conversions = text.pieces().iter().filter_map(|piece| match piece {
        Piece::Conversion(conversion) => Some(conversion),
        _ => None,
    });
    let fields = conversions.filter_map(|conversion| match conversion.kind {
        Kind::Function { has_offset } => Some((field_of(&conversion.of)?, has_offset)),
        _ => None,
    });
    fields.collect()
}

/// The field that an expression is, if it is nothing else.
fn field_of(of: &Expression) -> Option<String> {
    match of {
        Expression::Scalar(field, _) => Some(field.name.clone()),
        Expression::Cast(_, of) => field_of(of),
        _ => None,
    }
}
