//! Records that no kernel wrote: every field has a value, every locator leads into the record.

use perf_records::format::{Content, Extent, Field, Format, Shape};

/// How the numbers of a record are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    Zero,
    /// 0 to 3.
    Small,
    /// Of one byte.
    Byte,
    /// Of all bits.
    Large,
    /// Every bit set.
    Ones,
}

pub(crate) const FLAVOURS: [Flavour; 5] = [
    Flavour::Zero,
    Flavour::Small,
    Flavour::Byte,
    Flavour::Large,
    Flavour::Ones,
];

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The record of an event.
pub(crate) fn payload(format: &Format, flavour: Flavour) -> Vec<u8> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (u64::from(format.id) << 8) ^ flavour as u64);
    let fields = || format.common.iter().chain(&format.fields);
    let end = fields().map(|field| field.offset + field.size).max();
    let mut payload = vec![0; end.unwrap_or(8).next_multiple_of(8)];
    payload[..2].copy_from_slice(&format.id.to_le_bytes());
    for field in &format.fields {
        fill(
            &mut payload,
            field,
            is_length(format, field),
            flavour,
            &mut dice,
        );
    }
    // The kernel's own records are padded so that they end, behind their u32 of a size, at a
    // multiple of 8.
    payload.resize((payload.len() + 4).next_multiple_of(8) - 4, 0);
    payload
}

/// Whether the text takes the field for the length of another: libtraceevent reads on behind the
/// record then.
fn is_length(format: &Format, field: &Field) -> bool {
    let measured = ["__print_hex", "__print_array(", ".*s", "*ph"];
    let is_measuring = measured.iter().any(|call| format.print_fmt.contains(call));
    let words = ["len", "num", "count", "size", "nr"];
    is_measuring && words.iter().any(|word| field.name.contains(word))
}

fn fill(payload: &mut Vec<u8>, field: &Field, is_length: bool, flavour: Flavour, dice: &mut Dice) {
    let number = match flavour {
        Flavour::Zero => 0,
        _ if is_length => 3,
        Flavour::Small => dice.roll() % 4,
        Flavour::Byte => dice.roll() % 256,
        Flavour::Large => dice.roll(),
        Flavour::Ones => u64::MAX,
    };
    let place = field.offset..field.offset + field.size;
    match field.shape {
        Shape::Integer(_) | Shape::Pointer(_) => {
            payload[place].copy_from_slice(&number.to_le_bytes()[..field.size]);
        }
        Shape::Block(extent @ (Extent::DataLoc | Extent::RelLoc), content) => {
            let bytes = content_of(content, 16, flavour, dice);
            let origin = if extent == Extent::RelLoc {
                field.offset + 4
            } else {
                0
            };
            let locator = ((bytes.len() as u32) << 16) | (payload.len() - origin) as u32;
            payload[field.offset..field.offset + 4].copy_from_slice(&locator.to_le_bytes());
            payload.extend(bytes);
            payload.resize(payload.len().next_multiple_of(8), 0);
        }
        Shape::Block(_, content) => {
            let mut bytes = content_of(content, field.size, flavour, dice);
            bytes.resize(field.size, 0);
            payload[place].copy_from_slice(&bytes);
        }
    }
}

fn content_of(content: Content, size: usize, flavour: Flavour, dice: &mut Dice) -> Vec<u8> {
    if content == Content::Text {
        let text = match flavour {
            Flavour::Zero => String::new(),
            Flavour::Small => "a".to_owned(),
            _ => format!("text-{}", dice.roll() % 10_000),
        };
        let text = &text.as_bytes()[..text.len().min(size.saturating_sub(1))];
        return [text, &[0]].concat();
    }
    let byte = |dice: &mut Dice| match flavour {
        Flavour::Zero => 0,
        Flavour::Ones => 0xff,
        Flavour::Small => (dice.roll() % 4) as u8,
        Flavour::Byte | Flavour::Large => dice.roll() as u8,
    };
    (0..size).map(|_| byte(dice)).collect()
}
