//! What structures point to.

/// What a structure points to: where it has the address and the number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Behind {
    /// Where in the structure the address stands, in bytes.
    pub pointer: u8,
    /// Whether that is the address of a `struct iovec`, and this is about what that points to.
    pub is_twice: bool,
    /// Where the number stands, in bytes: a multiple of 4.
    pub length: u8,
    /// Whether it has 64 bits, and not 32.
    pub is_wide: bool,
    /// The size of each element in bytes.
    pub unit: u8,
    /// Of an array of structures: how many there are. This is about each of the first
    /// [`Several::MOST`].
    pub of: Option<Several>,
    /// Whether addresses have 32 bits: the structure is a 32-bit program's.
    pub is_narrow: bool,
    /// Whether it is a string, to its zero byte, and not a number of elements.
    pub is_text: bool,
    /// Whether the structure has the same layout in 32-bit programs.
    pub is_same: bool,
}

/// How many structures there are in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Several {
    /// The argument that has their number, or [`Several::RESULT`].
    pub count: u8,
    /// How far from each other they are where addresses have 64 bits, in bytes, as a power of 2;
    /// half as far where they have 32.
    pub apart: u8,
}

impl Several {
    /// In place of an argument: as many as the call returned.
    pub const RESULT: u8 = 6;
    /// What more of them point to is not read.
    pub const MOST: u16 = 4;
}

impl Behind {
    /// The name in a `struct msghdr`.
    pub const NAME: Self = Self {
        pointer: 0,
        is_twice: false,
        length: 8,
        is_wide: false,
        unit: 1,
        of: None,
        is_narrow: false,
        is_text: false,
        is_same: false,
    };
    /// The path or name with which a `union bpf_attr` begins for some commands. It has the same
    /// layout in 32-bit programs.
    pub const PATH: Self = Self {
        is_text: true,
        is_same: true,
        ..Self::NAME
    };
    /// The licence of a program in a `union bpf_attr`.
    pub const LICENSE: Self = Self {
        pointer: 16,
        ..Self::PATH
    };
    /// The vectors of a `struct msghdr`: `struct iovec[]`.
    pub const VECTORS: Self = Self {
        pointer: 16,
        length: 24,
        is_wide: true,
        unit: 16,
        ..Self::NAME
    };
    /// The contents of the first of them.
    pub const CONTENTS: Self = Self {
        pointer: 16,
        is_twice: true,
        length: 8,
        is_wide: true,
        ..Self::NAME
    };
    /// The control messages of a `struct msghdr`.
    pub const CONTROL: Self = Self {
        pointer: 32,
        length: 40,
        is_wide: true,
        ..Self::NAME
    };

    /// The files or buffers of a `struct io_uring_rsrc_register`; as many bytes are read as buffers
    /// have.
    pub const REGISTERED: Self = Self {
        pointer: 16,
        length: 0,
        unit: 16,
        is_same: true,
        ..Self::NAME
    };
    /// The tags of these.
    pub const REGISTERED_TAGS: Self = Self {
        pointer: 24,
        unit: 8,
        ..Self::REGISTERED
    };
    /// The files or buffers of a `struct io_uring_rsrc_update2`, likewise.
    pub const UPDATED: Self = Self {
        pointer: 8,
        length: 24,
        ..Self::REGISTERED
    };
    /// The tags of these.
    pub const UPDATED_TAGS: Self = Self {
        pointer: 16,
        unit: 8,
        ..Self::UPDATED
    };

    /// The contents of each of an array of `struct iovec`, as many as an argument says.
    #[must_use]
    pub const fn of_vectors(count: u8) -> Self {
        Self {
            length: 8,
            is_wide: true,
            of: Some(Several { count, apart: 4 }),
            ..Self::NAME
        }
    }

    /// The same of each of an array of `struct mmsghdr`, which begin with a `struct msghdr`: as
    /// many as an argument says, or [`Several::RESULT`].
    #[must_use]
    pub const fn of_messages(self, count: u8) -> Self {
        Self {
            of: Some(Several { count, apart: 6 }),
            ..self
        }
    }

    /// The same where addresses and lengths have 32 bits: in `struct compat_msghdr` and
    /// `struct compat_iovec` all that is of interest stands half as far from the start.
    #[must_use]
    pub const fn narrow(self) -> Self {
        if self.is_same {
            return self;
        }
        Self {
            pointer: self.pointer / 2,
            length: self.length / 2,
            is_wide: false,
            unit: if self.unit == 16 { 8 } else { self.unit },
            is_narrow: true,
            ..self
        }
    }

    /// The place of its piece among those of the argument, of which the structure is 0: that of the
    /// native structure, also for a narrow one. A structure that begins with the number has it
    /// further on, as what an address leads to depends on what the structure is.
    #[must_use]
    pub const fn element(self) -> u16 {
        let place = ((self.pointer as u16) << self.is_narrow as u16) + 1;
        let first = if self.length == 0 { 0x80 } else { 0 };
        let twice = if self.is_twice { 0x100 } else { 0 };
        place + first + twice
    }

    /// The same for one of an array of structures, of which the first is 0; `None` for one of which
    /// nothing is read.
    #[must_use]
    pub const fn element_of(self, place: u16) -> Option<u16> {
        match self.of {
            Some(several) if place < Several::MOST => {
                Some(self.element() + (place << several.apart))
            }
            None if place == 0 => Some(self.element()),
            _ => None,
        }
    }
}
