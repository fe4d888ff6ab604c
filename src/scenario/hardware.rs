//! The hardware of a guest, as a list of kernels has it.

use super::quantity::ByteSize;

/// What a guest has of its own, where it differs from all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    /// Its memory, in MiB.
    pub memory: Option<u32>,
    /// Its CPUs.
    pub cpus: Option<u32>,
    /// More words for QEMU, behind all others.
    pub qemu: Vec<String>,
}

/// The same as written.
#[derive(Debug, Default)]
pub(super) struct WrittenHardware {
    pub(super) memory: Option<ByteSize>,
    pub(super) cpus: Option<u32>,
    pub(super) qemu: Option<Vec<String>>,
}

const MIB: u64 = 1 << 20;

impl WrittenHardware {
    /// Reads it, for a guest or for the host, which has none.
    pub(super) fn read(self, is_host: bool) -> Result<Hardware, String> {
        let Self { memory, cpus, qemu } = self;
        if is_host && (memory.is_some() || cpus.is_some() || qemu.is_some()) {
            let text = "`memory`, `cpus` and `qemu` are for a kernel that is booted, and the host's runs already";
            return Err(text.to_owned());
        }
        let memory = match memory {
            Some(ByteSize(bytes)) if bytes % MIB == 0 && bytes >= 256 * MIB => {
                let memory = u32::try_from(bytes / MIB);
                Some(memory.map_err(|_| "`memory` is more than any machine has".to_owned())?)
            }
            Some(_) => return Err("`memory` is at least 256MiB, in whole MiB".to_owned()),
            None => None,
        };
        if cpus.is_some_and(|cpus| !(1..=64).contains(&cpus)) {
            return Err("`cpus` is a number from 1 to 64".to_owned());
        }
        match qemu {
            Some(words) if words.is_empty() || words.iter().any(String::is_empty) => Err(
                "`qemu` has words for its command line, as in [-device, virtio-rng-pci]".to_owned(),
            ),
            Some(words) if words.iter().any(|word| word.contains('\0')) => {
                Err("a word of `qemu` cannot hold a NUL".to_owned())
            }
            qemu => Ok(Hardware {
                memory,
                cpus,
                qemu: qemu.unwrap_or_default(),
            }),
        }
    }
}
