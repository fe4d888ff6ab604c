//! Call chains of samples.

use super::{Attr, SampleType};

/// How the chain of calls is recorded that leads to a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// How many bytes of the user's stack are copied, so that callers can be found there later; 0
    /// if the kernel follows frame pointers.
    pub user_stack: u32,
    /// How many frames it has at most; 0 for `kernel.perf_event_max_stack`.
    pub max_stack: u16,
    /// Whether the kernel's part is left out.
    pub user_only: bool,
}

impl Chain {
    /// How many bytes perf copies by default.
    pub const STACK: u32 = 8192;
    /// The kernel takes a multiple of 8 below 64 KiB (`perf_event_open(2)`, `sample_stack_user`).
    pub const MOST_STACK: u32 = 65528;

    /// The fields that samples have for it.
    #[must_use]
    pub fn sample_type(self) -> SampleType {
        if self.user_stack == 0 {
            return SampleType::CALLCHAIN;
        }
        SampleType::CALLCHAIN
            .and(SampleType::REGS_USER)
            .and(SampleType::STACK_USER)
    }

    /// The user registers that callers are found with.
    #[must_use]
    pub fn user_registers(self) -> u64 {
        match self.user_stack {
            0 => 0,
            // All but the segments that the kernel refuses (`PERF_REG_X86_RESERVED` and
            // `REG_NOSUPPORT`, arch/x86/kernel/perf_regs.c).
            _ if cfg!(target_arch = "x86_64") => 0xff_0fff,
            // X0 to X29, LR, SP and PC.
            _ => 0x1_ffff_ffff,
        }
    }
}

impl Attr {
    /// The same, with samples that have such a call chain.
    #[must_use]
    pub fn with_chain(self, chain: Option<Chain>) -> Self {
        let Some(chain) = chain else {
            return self;
        };
        Self {
            sample_type: self.sample_type.and(chain.sample_type()),
            user_registers: self.user_registers | chain.user_registers(),
            max_stack: chain.max_stack,
            chain,
            ..self
        }
    }

    /// The same, with samples that have these user registers, a bit each.
    #[must_use]
    pub fn with_user_registers(self, mask: u64) -> Self {
        if mask == 0 {
            return self;
        }
        Self {
            sample_type: self.sample_type.and(SampleType::REGS_USER),
            user_registers: self.user_registers | mask,
            ..self
        }
    }

    /// Whether its samples have a call chain.
    #[must_use]
    pub fn has_chain(&self) -> bool {
        self.sample_type.has(SampleType::CALLCHAIN)
    }
}
