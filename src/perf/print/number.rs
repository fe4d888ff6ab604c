//! Numbers as C computes with them.

/// A type of numbers: its bytes (1, 2, 4 or 8) and whether it has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) bytes: u8,
    pub(super) signed: bool,
}

impl Type {
    pub(super) const INT: Self = Self {
        bytes: 4,
        signed: true,
    };
    pub(super) const UNSIGNED_LONG: Self = Self {
        bytes: 8,
        signed: false,
    };

    /// What values of the type are computed as: whatever is narrower than an `int` is one.
    pub(super) fn promoted(self) -> Self {
        if self.bytes < 4 { Self::INT } else { self }
    }

    /// What two operands become: the wider one, and without sign where as wide.
    fn common(self, other: Self) -> Self {
        let (left, right) = (self.promoted(), other.promoted());
        match left.bytes.cmp(&right.bytes) {
            std::cmp::Ordering::Less => right,
            std::cmp::Ordering::Greater => left,
            std::cmp::Ordering::Equal => Self {
                bytes: left.bytes,
                signed: left.signed && right.signed,
            },
        }
    }
}

/// A number and its type; the bits above the type's are those of its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) bits: u64,
    pub(super) of: Type,
}

/// `bits` as a number of `bytes` bytes, extended to 64 bits.
#[inline]
pub(super) fn extend(bits: u64, bytes: u8, signed: bool) -> u64 {
    let unused = 64_u32.saturating_sub(u32::from(bytes).saturating_mul(8));
    let high = bits.unbounded_shl(unused);
    if signed {
        high.cast_signed().unbounded_shr(unused).cast_unsigned()
    } else {
        high.unbounded_shr(unused)
    }
}

/// An operator between two numbers. `&&`, `||` and `?:` are none: they do not always compute both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Left,
    Right,
    And,
    Or,
    Xor,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

/// An operator before a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Minus,
    Complement,
    Not,
}

impl Number {
    pub(super) fn new(bits: u64, of: Type) -> Self {
        Self {
            bits: extend(bits, of.bytes, of.signed),
            of,
        }
    }

    pub(super) fn truth(value: bool) -> Self {
        Self {
            bits: u64::from(value),
            of: Type::INT,
        }
    }

    pub(super) fn is_true(self) -> bool {
        self.bits != 0
    }

    pub(super) fn cast(self, of: Type) -> Self {
        Self::new(self.bits, of)
    }

    pub(super) fn sign(self, sign: Sign) -> Self {
        let of = self.of.promoted();
        match sign {
            Sign::Minus => Self::new(self.bits.wrapping_neg(), of),
            Sign::Complement => Self::new(!self.bits, of),
            Sign::Not => Self::truth(self.bits == 0),
        }
    }

    /// A division by zero, which has no meaning, is 0.
    pub(super) fn operate(self, operator: Operator, other: Self) -> Self {
        if matches!(operator, Operator::Left | Operator::Right) {
            return self.shift(operator == Operator::Left, other);
        }
        let of = self.of.common(other.of);
        let (left, right) = (self.cast(of).bits, other.cast(of).bits);
        let order = if of.signed {
            left.cast_signed().cmp(&right.cast_signed())
        } else {
            left.cmp(&right)
        };
        let signed = |operate: fn(i64, i64) -> Option<i64>| {
            operate(left.cast_signed(), right.cast_signed())
                .unwrap_or(0)
                .cast_unsigned()
        };
        let bits = match operator {
            Operator::Add => left.wrapping_add(right),
            Operator::Subtract => left.wrapping_sub(right),
            Operator::Multiply => left.wrapping_mul(right),
            Operator::Divide if of.signed => signed(i64::checked_div),
            Operator::Divide => left.checked_div(right).unwrap_or(0),
            Operator::Remainder if of.signed => signed(i64::checked_rem),
            Operator::Remainder => left.checked_rem(right).unwrap_or(0),
            Operator::And => left & right,
            Operator::Or => left | right,
            Operator::Xor => left ^ right,
            Operator::Less => return Self::truth(order.is_lt()),
            Operator::LessOrEqual => return Self::truth(order.is_le()),
            Operator::Greater => return Self::truth(order.is_gt()),
            Operator::GreaterOrEqual => return Self::truth(order.is_ge()),
            Operator::Equal => return Self::truth(order.is_eq()),
            Operator::NotEqual => return Self::truth(order.is_ne()),
            Operator::Left | Operator::Right => 0,
        };
        Self::new(bits, of)
    }

    /// A shift by more than the type has bits has no meaning in C; it is what the processor makes
    /// of it.
    fn shift(self, is_left: bool, by: Self) -> Self {
        let of = self.of.promoted();
        let by = (by.bits as u32) & u32::from(of.bytes).saturating_mul(8).saturating_sub(1);
        let bits = match (is_left, of.signed) {
            (true, _) => self.bits.unbounded_shl(by),
            (false, true) => self.bits.cast_signed().unbounded_shr(by).cast_unsigned(),
            (false, false) => self.bits.unbounded_shr(by),
        };
        Self::new(bits, of)
    }
}
