//! Captured records, and what a trusted reader printed of them.

use super::Text;
use crate::captured::Captured;

/// What was printed and what we print, for each record.
fn both(file: &str) -> Vec<(String, String)> {
    let captured = Captured::read(file);
    let text = Text::new(&captured.format);
    assert_eq!(text.why_fields(), None, "{}", captured.format.name);
    let printed = file
        .lines()
        .filter_map(|line| line.strip_prefix("printed "));
    let ours = captured.payloads.iter().map(|payload| {
        let mut out = Vec::new();
        text.write(payload, &mut out);
        String::from_utf8(out).expect("text").trim_end().to_owned()
    });
    // The kernel puts the event's name in front.
    let name = format!("{}: ", captured.format.name);
    let text_of = |line: &str| {
        line.strip_prefix(&name)
            .unwrap_or(line)
            .trim_end()
            .to_owned()
    };
    printed.map(text_of).zip(ours).collect()
}

macro_rules! same {
    ($($name:literal),* $(,)?) => {
        $({
            let file = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../harness/fixtures/payloads/", $name, ".txt"));
            let both = both(file);
            assert!(!both.is_empty(), $name);
            for (printed, ours) in both {
                assert_eq!(ours, printed, $name);
            }
        })*
    };
}

#[test]
fn what_a_kernel_has_printed_is_what_is_written() {
    same!("harness_locators.harness_located@6.1",);
}

#[test]
fn what_perf_has_printed_is_what_is_written() {
    same!(
        "exceptions.page_fault_user",
        "io_uring.io_uring_submit_req",
        "irq.softirq_entry",
        "net.net_dev_queue",
        "raw_syscalls.sys_enter",
        "raw_syscalls.sys_exit",
        "sched.sched_process_exec",
        "sched.sched_process_exit",
        "sched.sched_process_fork",
        "sched.sched_switch",
        "signal.signal_generate",
        "sock.inet_sock_set_state",
        "syscalls.sys_enter_clock_nanosleep",
        "syscalls.sys_enter_kill",
        "syscalls.sys_enter_lseek",
        "syscalls.sys_enter_openat",
        "syscalls.sys_exit_openat",
        "task.task_newtask",
    );
}

#[test]
fn the_strings_of_a_probes_array_have_their_locators_in_a_row() {
    let file = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../harness/fixtures/payloads/harness.kprobe@6.1.txt"
    ));
    let (_, ours) = both(file).swap_remove(0);
    // The functions are numbers here, and the kernel has `(fault)` for strings that it could not
    // read.
    assert_eq!(
        ours,
        "(ffffffff96747050) path=\"/greeting\" symbol=0xffffffff96747051 words={0xffffffff9674774a,0x8000} \
         bytes={74,119,116,150} number=-100 bits=7 comm=\"cat\" strings={\"\",\"\"}"
    );
}

#[test]
fn the_bits_of_a_timer_are_those_of_the_mask_in_brackets() {
    let file = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../harness/fixtures/payloads/timer.timer_start.txt"
    ));
    // perf has `flags=D|P|I` for any: it takes `flags & (a | b)` for `flags & a | b`.
    const NAMES: [(u32, &str); 3] = [(0x8_0000, "D"), (0x10_0000, "P"), (0x20_0000, "I")];
    let numbers = file
        .lines()
        .filter_map(|line| line.strip_prefix("integer flags "));
    let both = both(file);
    assert!(!both.is_empty());
    for ((_, ours), flags) in both.into_iter().zip(numbers) {
        let flags: u32 = flags.parse().expect("a number");
        let set = NAMES.iter().filter(|(bit, _)| flags & bit != 0);
        let names: Vec<&str> = set.map(|(_, name)| *name).collect();
        let end = format!("idx={} flags={}", flags >> 22, names.join("|"));
        assert!(ours.ends_with(&end), "{ours}: {end}");
    }
}
