//! Stable names for mappings.

use std::collections::HashMap;
use std::fmt::Write;
use syscall_model::mappings::Place;

/// The number of each mapping among those of the same name in its address space, by their first
/// appearance in the text.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    numbers: HashMap<(u64, u64), u32>,
    used: HashMap<(u64, Vec<u8>), u32>,
}

impl Mappings {
    fn number(&mut self, place: &Place, name: &[u8]) -> u32 {
        let used = &mut self.used;
        let number = self.numbers.entry((place.space, place.mapping.id));
        *number.or_insert_with(|| {
            let used = used.entry((place.space, name.to_vec())).or_default();
            *used += 1;
            *used
        })
    }

    /// Writes what follows the name of the mapping: `:2+0x1000`. The first mapping of a path has no
    /// number, and its beginning has no offset.
    pub(super) fn behind_name(&mut self, place: &Place, name: &[u8]) -> String {
        let number = self.number(place, name);
        let mut text = String::new();
        // Writing to a String cannot fail.
        if number > 1 || !place.mapping.is_named() {
            let _always_fits = write!(text, ":{number}");
        }
        if place.offset > 0 {
            let _always_fits = write!(text, "+{:#x}", place.offset);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use syscall_model::mappings::{Mapping, Source};

    #[test]
    fn mappings_are_numbered_as_they_stand_in_the_text_of_each_space() {
        let mut mappings = Mappings::default();
        let mut shown = |space, id, source, offset| {
            let mapping = Arc::new(Mapping::new(id, source));
            let place = Place {
                space,
                mapping,
                offset,
            };
            let name = place.mapping.name();
            let behind = mappings.behind_name(&place, &name);
            String::from_utf8(name).unwrap() + &behind
        };
        assert_eq!(shown(0, 7, Source::Anonymous, 0), "map:1");
        assert_eq!(shown(0, 3, Source::Anonymous, 0x1000), "map:2+0x1000");
        assert_eq!(shown(0, 7, Source::Anonymous, 0x20), "map:1+0x20");
        assert_eq!(shown(0, 8, Source::Shared, 0), "shm:1");
        assert_eq!(shown(0, 9, Source::Heap, 0x2_1000), "heap+0x21000");
        assert_eq!(shown(1, 3, Source::Anonymous, 0), "map:1");
        assert_eq!(shown(1, 10, Source::UnknownFile, 0), "file:1");
    }
}
