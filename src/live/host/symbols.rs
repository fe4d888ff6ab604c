//! What the kernel tells of its own code, and the code that it gives to programs.

use super::Host;
use std::os::unix::fs::FileExt;

impl Host {
    /// The kernel's symbols (`/proc/kallsyms`); all addresses are 0 where this user may not know
    /// them.
    #[must_use]
    pub fn kernel_symbols(&self) -> Option<String> {
        self.read("proc/kallsyms").ok()
    }

    /// The library that the kernel maps into each program (`vdso(7)`), from this process; `None`
    /// where it is not the running host.
    #[must_use]
    pub fn vdso(&self) -> Option<Vec<u8>> {
        // A library of two pages; what has more than this is none.
        const MOST: u64 = 1 << 20;
        let maps = self
            .read("proc/self/maps")
            .ok()
            .filter(|_| self.is_running)?;
        let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        let start = u64::from_str_radix(start, 16).ok()?;
        let length = u64::from_str_radix(end, 16).ok()?.checked_sub(start)?;
        let mut bytes = vec![0; usize::try_from(length.min(MOST)).ok()?];
        let memory = std::fs::File::open(self.root.join("proc/self/mem")).ok()?;
        memory.read_exact_at(&mut bytes, start).ok()?;
        Some(bytes)
    }
}
