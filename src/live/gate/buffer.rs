//! The memory of a call that is made for the workload.

/// Memory for the bytes of a call, as well aligned as the call's own, which matters to files that
/// are open with `O_DIRECT`.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    /// How many bytes there are.
    pub(super) length: usize,
}

/// No file system asks for more.
const ALIGNMENT: usize = 64 << 10;

impl Buffer {
    /// Zeros, for a call whose bytes are at this address.
    pub(super) fn like(address: u64, length: usize) -> Self {
        let bytes = vec![0; length + ALIGNMENT];
        let start = (address as usize).wrapping_sub(bytes.as_ptr().addr()) % ALIGNMENT;
        Self {
            bytes,
            start,
            length,
        }
    }

    pub(super) fn all(&mut self) -> &mut [u8] {
        let end = self.start + self.length;
        self.bytes.get_mut(self.start..end).unwrap_or_default()
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_call_are_as_well_aligned_as_its_own() {
        for address in [0x7f00_0000_0000, 0x7f00_0000_0200, 0x7f00_0000_1001] {
            let mut buffer = Buffer::like(address, 5000);
            assert_eq!(buffer.all().len(), 5000);
            assert_eq!(
                buffer.all().as_ptr().addr() % ALIGNMENT,
                address as usize % ALIGNMENT
            );
            buffer.truncate(7);
            assert_eq!(buffer.all().len(), 7);
        }
    }
}
