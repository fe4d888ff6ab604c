//! What structures, attributes and headers hold, as tables say it.

use super::super::Varying;
use crate::constants::Constants;
use crate::memory::Behind;

/// A value of so many bytes.
#[derive(Clone, Copy)]
pub(in crate::structs) enum Form {
    /// An unsigned number.
    Number(u8),
    /// A signed number.
    Signed(u8),
    /// A number in hex.
    Hex(u8),
    /// A number in hex with all of its digits.
    Digits(u8),
    /// A number in the order of the network's bytes: `htons(80)`.
    Network(u8),
    /// A number that is not the same in each run.
    Varying(u8, Varying),
    /// Flags, or one of several numbers.
    Named(u8, &'static Constants),
    /// The same as another form, but for its size: as many bytes as there are, 8 at most.
    AnyWidth(&'static Form),
    /// A port, in the order of the network's bytes.
    Port,
    /// The index of a device.
    Interface,
    /// A user or a group.
    Id,
    /// A descriptor.
    Descriptor,
    /// A process or thread.
    Task,
    /// The port of a netlink socket, mostly the id of a process.
    Peer,
    /// A device number.
    Device,
    /// So many values of the same form.
    Row(u8, &'static Form),
    /// An address of the message's family; in a structure it has 16 bytes.
    Address,
    /// An address of IPv4.
    Address4,
    /// An address of IPv6.
    Address6,
    /// An address of hardware.
    Hardware,
    /// The same with six bytes.
    Mac,
    /// A structure of its own.
    Inner(&'static [Field]),
    /// A structure, of which so many bytes are the least that there may be.
    Structure(&'static [Field], usize),
    /// As many values of the same form as there are, at least one, with the names of their places.
    Rows(&'static Form, Option<&'static Constants>),
    /// A string with its zero byte.
    Text,
    /// A string to its zero byte: the kind of a device, by which [`Form::OfKind`] is written.
    Kind,
    /// Attributes.
    Nested(&'static Attributes),
    /// What the family of the message decides, by its name; the last is for all others.
    OfFamily(&'static [(&'static str, Form)]),
    /// What the kind of the device decides.
    OfKind(&'static [(&'static [u8], Form)]),
    /// `struct rtnexthop[]`, each with attributes behind it.
    Hops,
    /// `struct rtvia`.
    Via,
    /// Bytes that are not told apart.
    Bytes,
    /// A structure of the bits that are set, each a field with this name.
    Bits(&'static [&'static str]),
    /// A value that stands elsewhere in the structure, this far from its beginning, and is told
    /// here.
    At(u8, &'static Form),
    /// So many bytes that mean nothing.
    Padding(u8),
    /// An address of 64 bits.
    Pointer,
    /// A string of so many bytes at most, to its zero byte.
    Name(u8),
    /// What such an address leads to: a string.
    TextAt(Behind),
    /// What such an address leads to: as many of these as the structure says.
    ListAt(Behind, &'static Form),
    /// `struct iovec`, told of native calls alone: 32-bit programs have a shorter one.
    Vector,
    /// The name of a number of 32 bits, another form for all others.
    Either(u32, &'static str, &'static Form),
    /// An address of a socket, in room for so many bytes.
    Socket(u8),
    /// An address of IPv6 that has its name in it.
    NamedAddress6,
    /// An address of hardware, with its length in the two bytes in front.
    HardwareOf(u8),
    /// A version of the kernel.
    KernelVersion,
    /// A value that is told only if it is not 0.
    NotZero(&'static Form),
    /// A value that means something only with one of these bits in the word at this place.
    With(u8, u32, &'static Form),
    /// A value that the kernel changes.
    Changed(&'static Form),
}

/// A part of a structure.
pub(in crate::structs) type Field = (&'static str, Form);

/// Attributes of one kind.
pub(in crate::structs) struct Attributes {
    /// The names of their types.
    pub(in crate::structs) names: &'static Constants,
    /// What they hold, by their names. Those that are not here are [`Form::Bytes`].
    pub(in crate::structs) forms: &'static [(&'static str, Form)],
}

/// What a message begins with.
pub(in crate::structs) struct Header {
    /// Its fields, the first of which is the family in one byte.
    pub(in crate::structs) fields: &'static [Field],
    /// What follows it, if anything.
    pub(in crate::structs) attributes: Option<&'static Attributes>,
}

impl Form {
    /// How many bytes it has in a structure; of an attribute how many it must have.
    pub(in crate::structs) fn size(self) -> usize {
        match self {
            Self::Number(size)
            | Self::Signed(size)
            | Self::Hex(size)
            | Self::Digits(size)
            | Self::Network(size)
            | Self::Varying(size, _)
            | Self::Named(size, _)
            | Self::Padding(size) => size.into(),
            Self::Interface | Self::Id | Self::Descriptor | Self::Task => 4,
            Self::Address4 | Self::KernelVersion | Self::Device | Self::Peer => 4,
            Self::Pointer | Self::TextAt(_) | Self::ListAt(..) => 8,
            Self::Name(size) | Self::Socket(size) | Self::HardwareOf(size) => size.into(),
            Self::NotZero(form) | Self::With(_, _, form) | Self::Changed(form) => form.size(),
            Self::Either(_, _, form) => form.size(),
            Self::Mac => 6,
            Self::Hops => 8,
            Self::Port | Self::Via | Self::Bits(_) => 2,
            Self::Row(count, form) => usize::from(count) * form.size(),
            Self::Vector | Self::Address | Self::Address6 | Self::NamedAddress6 => 16,
            Self::Inner(fields) => size_of_fields(fields),
            Self::Structure(_, least) => least,
            Self::Rows(form, _) => form.size(),
            Self::Hardware
            | Self::AnyWidth(_)
            | Self::At(..)
            | Self::Text
            | Self::Kind
            | Self::Nested(_)
            | Self::OfFamily(_)
            | Self::OfKind(_)
            | Self::Bytes => 0,
        }
    }
}

pub(in crate::structs) fn size_of_fields(fields: &[Field]) -> usize {
    fields.iter().map(|(_, form)| form.size()).sum()
}

impl Attributes {
    /// What an attribute of this type holds.
    pub(in crate::structs) fn form(&self, kind: u16) -> Form {
        let name = self.names.find(kind.into());
        let row = self.forms.iter().find(|(one, _)| Some(*one) == name);
        row.map_or(Form::Bytes, |(_, form)| *form)
    }
}
