//! What differs between guests of different architectures: QEMU's program, the machine, and the
//! kernel's words about it.

use super::{SLOWER, TIMES};
use crate::scenario::Architecture;
use perf_live::sys::tsc::tsc_khz;

/// What runs a guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accelerator {
    /// The host's processor.
    Kvm,
    /// QEMU itself.
    Tcg,
}

/// Returns the program that runs guests.
pub(super) const fn program(arch: Architecture) -> &'static str {
    match arch {
        Architecture::Amd64 => "qemu-system-x86_64",
        Architecture::Arm64 => "qemu-system-aarch64",
    }
}

/// Returns the package of Debian that has this program.
pub(super) fn package(program: &str) -> &'static str {
    if program == self::program(Architecture::Arm64) {
        "qemu-system-arm"
    } else {
        "qemu-system-x86"
    }
}

/// Returns QEMU's words for the machine.
pub(super) fn machine(arch: Architecture, accelerator: Accelerator) -> [&'static str; 6] {
    // Emulated CPUs take turns in one thread: opening an event makes Linux patch its own code
    // (text_poke_bp_batch()), and with a thread for each CPU guests have panicked during that.
    let (accel, cpu) = match (accelerator, arch) {
        (Accelerator::Kvm, _) => ("kvm", "host"),
        // Linux does not start with the cmpxchg16b of this model; with rdrand it has random
        // numbers early.
        (Accelerator::Tcg, Architecture::Amd64) => ("tcg,thread=single", "qemu64,-cx16,+rdrand"),
        // Atomic instructions, and neither pointers that are signed nor wide vectors, which take
        // an emulator long; it runs 32-bit programs. Random numbers come with the device tree.
        (Accelerator::Tcg, Architecture::Arm64) => ("tcg,thread=single", "neoverse-n1"),
    };
    let kind = match arch {
        Architecture::Amd64 => "q35,smm=off",
        Architecture::Arm64 => "virt,gic-version=max",
    };
    ["-accel", accel, "-cpu", cpu, "-machine", kind]
}

/// Returns the words of the kernel's command line. Mitigations and the check of the clock take time
/// and change nothing that is observed. The emulated time stamp counter is the host's own: on a
/// busy machine a kernel that measures its rate may be far off, and with it all its timeouts. Its
/// check of the timer, which waits for ten ticks by counting loops, takes a busy host for a machine
/// without a timer (check_timer()). Its tests of its ciphers take an emulator most of a second
/// (`cryptomgr.notests`, crypto/algboss.c).
pub(super) fn kernel_words(arch: Architecture, accelerator: Accelerator) -> String {
    let mut words = match arch {
        Architecture::Amd64 => "console=ttyS0 tsc=reliable".to_owned(),
        Architecture::Arm64 => "console=ttyAMA0".to_owned(),
    };
    words.push_str(" quiet panic=-1 mitigations=off random.trust_cpu=on");
    if accelerator == Accelerator::Tcg {
        words.push_str(" cryptomgr.notests");
        if arch == Architecture::Amd64 {
            words.push_str(" no_timer_check");
            let rate = tsc_khz().map(|khz| format!(" tsc_early_khz={khz}"));
            words.push_str(&rate.unwrap_or_default());
        }
        words.push_str(&format!(" {TIMES}={SLOWER}"));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guests_console_is_the_serial_line_of_its_machine() {
        let words = |arch| kernel_words(arch, Accelerator::Tcg);
        assert!(words(Architecture::Amd64).starts_with("console=ttyS0 "));
        let arm = words(Architecture::Arm64);
        assert!(arm.starts_with("console=ttyAMA0 "), "{arm}");
        // The clock of x86, which an arm64 kernel would hand on to init as a variable.
        assert!(!arm.contains("tsc") && !arm.contains("timer"), "{arm}");
        assert!(arm.ends_with(&format!(" {TIMES}={SLOWER}")), "{arm}");
    }

    #[test]
    fn qemu_for_each_architecture_is_in_a_package_of_its_own() {
        let packages = Architecture::ALL.map(|arch| package(program(arch)));
        assert_eq!(packages, ["qemu-system-x86", "qemu-system-arm"]);
    }
}
