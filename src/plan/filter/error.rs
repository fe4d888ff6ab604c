//! What is wrong with a filter.

/// Why a filter cannot be; `at` is the character within its text, from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// Something else should stand here.
    #[error("at character {at}: expected {expected}, found {found}")]
    Syntax {
        /// The character.
        at: usize,
        /// What should stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// The event has no such field.
    #[error("at character {at}: the event has no field `{field}`")]
    NoField {
        /// The character.
        at: usize,
        /// As written.
        field: String,
        /// The nearest field that there is.
        nearest: Option<String>,
    },
    /// The operator is not for such a field.
    #[error("at character {at}: `{operator}` cannot be used on `{field}`, which is {what}")]
    Operator {
        /// The character.
        at: usize,
        /// The operator.
        operator: String,
        /// The field.
        field: String,
        /// What the field is.
        what: &'static str,
    },
    /// The value is not of the field's kind.
    #[error("at character {at}: `{field}` is compared with {expected}, not with {found}")]
    Value {
        /// The character.
        at: usize,
        /// The field.
        field: String,
        /// What it is compared with.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// The kernel compares the field as a number that is never below 0.
    #[error(
        "at character {at}: the kernel's filter takes `{field}` for a number without a sign, so it is never {found}"
    )]
    NoSign {
        /// The character.
        at: usize,
        /// The field.
        field: String,
        /// What it is compared with.
        found: String,
    },
    /// The kernel compares a whole register, of which a call takes the lower half.
    #[error(
        "at character {at}: the kernel's filter compares all bits of the register of `{field}`, and the call takes the lower ones, so that no number below 0 is the same in all programs"
    )]
    Register {
        /// The character.
        at: usize,
        /// The field.
        field: String,
    },
    /// A filter of a scenario asks for a task by the machine's number.
    #[error(
        "at character {at}: `{field}` is the machine's number of a task, which no scenario can know"
    )]
    OfMachine {
        /// The character.
        at: usize,
        /// The field.
        field: String,
    },
    /// A filter of a scenario asks for a string in the program's memory.
    #[error(
        "at character {at}: where the memory of `{field}` is not there yet, as it is of most constants of a program, the kernel takes it for another string"
    )]
    NotThere {
        /// The character.
        at: usize,
        /// The field.
        field: String,
    },
}

impl FilterError {
    /// What was meant, perhaps.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoField {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean `{nearest}`?")),
            Self::Register { field, .. } => Some(format!(
                "record the call itself, and expect `{field}` of it"
            )),
            Self::OfMachine { field, .. } => Some(format!(
                "leave it out of the filter, and expect `{field}: P1` of the event"
            )),
            Self::NotThere { .. } => Some(
                "record the call itself, and expect it with `path`, which is read all the same"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
