use super::*;
use crate::captured_sources::{AARCH64, X86_64, machine};
use perf_records::attr::Access;

/// What a word names on a captured machine, or why nothing.
fn named(captured: &str, word: &str) -> Result<(Source, Modes, String), (String, Option<String>)> {
    let (_root, host) = machine(captured);
    match read(word, "", &host) {
        Ok(word) => Ok((
            word.source.expect("a source").source,
            word.modes,
            word.shown,
        )),
        Err(Unreadable::Terms(error)) => Err((error.to_string(), error.hint())),
        Err(Unreadable::NoSource { name, nearest, .. }) => Err((name, nearest)),
    }
}

fn numbers(kind: u32, config: [u64; 4]) -> Source {
    Source::Numbers { kind, config }
}

/// What a captured file says.
fn content<'a>(captured: &'a str, file: &str) -> &'a str {
    let mut lines = captured.lines().filter_map(|line| line.split_once('='));
    let found = lines.find_map(|(name, content)| (name == file).then_some(content));
    found.unwrap_or_else(|| panic!("no `{file}` was captured"))
}

#[test]
fn an_event_of_a_source_is_its_numbers() {
    let kind = content(X86_64, "msr/type").parse().expect("a number");
    let time = content(X86_64, "msr/events/tsc").strip_prefix("event=0x");
    let time = u64::from_str_radix(time.expect("a number"), 16).expect("a number");
    for (machine, word, source) in [
        (X86_64, "msr/tsc/", numbers(kind, [time, 0, 0, 0])),
        (X86_64, "msr/event=0x3/", numbers(kind, [3, 0, 0, 0])),
        (X86_64, "software/config=2/", Source::Software(2)),
        (X86_64, "tracepoint/config=365/", Source::Tracepoint(365)),
        (
            AARCH64,
            "armv8_pmuv3/cpu_cycles/",
            numbers(8, [0x11, 0, 0, 0]),
        ),
        (
            AARCH64,
            "armv8_pmuv3/event=8,long/",
            numbers(8, [8, 1, 0, 0]),
        ),
        (
            AARCH64,
            "armv8_pmuv3/cpu_cycles,rdpmc=1,long=1/",
            numbers(8, [0x11, 3, 0, 0]),
        ),
        (
            AARCH64,
            "armv8_pmuv3/config2=7,event=1/",
            numbers(8, [1, 0, 7, 0]),
        ),
    ] {
        let (found, _, shown) = named(machine, word).expect(word);
        assert_eq!((found, shown.as_str()), (source, word));
    }
}

#[test]
fn the_same_name_is_another_number_on_another_machine() {
    let hardware = numbers(0, [0; 4]);
    for machine in [X86_64, AARCH64] {
        assert_eq!(named(machine, "cycles").expect("an event").0, hardware);
    }
    assert_eq!(
        named(X86_64, "armv8_pmuv3/cpu_cycles/"),
        Err(("armv8_pmuv3".to_owned(), None))
    );
    assert_eq!(
        named(X86_64, "mst/tsc/"),
        Err(("mst".to_owned(), Some("msr".to_owned())))
    );
}

#[test]
fn a_number_without_room_is_refused_with_the_greatest() {
    let too_large = |word| named(AARCH64, word).expect_err(word).0;
    assert_eq!(
        too_large("armv8_pmuv3/event=0x10000/"),
        "at character 13: `event` is 0xffff at most"
    );
    assert_eq!(
        too_large("armv8_pmuv3/event=1,long=2/"),
        "at character 21: `long` is 0x1 at most"
    );
    assert_eq!(
        too_large("armv8_pmuv3/event=-1/"),
        "at character 13: `event` takes a number, decimal or after 0x"
    );
}

#[test]
fn what_a_source_has_not_is_refused_with_what_it_has() {
    for (machine, word, said, hint) in [
        (
            X86_64,
            "msr/tcs/",
            "at character 5: there is no term `tcs`",
            "did you mean `tsc`?",
        ),
        (
            AARCH64,
            "armv8_pmuv3/period=5,whatever/",
            "at character 22: there is no term `whatever`",
            "`armv8_pmuv3` has the events cpu_cycles, stall, stall_backend, stall_frontend and the terms event, long, rdpmc",
        ),
        (
            X86_64,
            "msr/tsc/x",
            "at character 9: the modifier `x` cannot be here",
            "modifiers are u (user mode), k (kernel mode), h (hypervisor), and p, pp, ppp (a more precise address)",
        ),
    ] {
        let refused = named(machine, word).expect_err(word);
        assert_eq!(refused, (said.to_owned(), Some(hint.to_owned())), "{word}");
    }
    let elsewhere = named(X86_64, "uprobe/retprobe/").expect_err("a probe");
    assert_eq!(
        elsewhere.0,
        "at character 1: `uprobe` cannot be here: a probe is `uprobe:PATH:SYMBOL`"
    );
}

#[test]
fn modifiers_stand_behind_a_colon_or_the_slash() {
    let user = Modes {
        exclude_kernel: true,
        exclude_hypervisor: true,
        ..Modes::default()
    };
    for word in [
        "cycles:u",
        "armv8_pmuv3/cpu_cycles/u",
        "armv8_pmuv3/cpu_cycles/:u",
        "page-faults:u",
        "page-faults//u",
        "mem:0x10/8:w:u",
        "r11:u",
    ] {
        assert_eq!(named(AARCH64, word).expect(word).1, user, "{word}");
    }
    let group = machine(X86_64);
    let member = read("page-faults", "u", &group.1).expect("a member");
    assert_eq!(member.modes, user);
}

#[test]
fn modifiers_that_mean_nothing_are_refused() {
    for (word, said) in [
        (
            "cs:u",
            "at character 4: `u` cannot be here: it happens in the kernel alone",
        ),
        (
            "dummy:k",
            "at character 7: `k` cannot be here: it never happens by itself",
        ),
        (
            "page-faults:pp",
            "at character 13: `pp` cannot be here: only a counter of the processor has an address more precise than another",
        ),
        (
            "sched:sched_switch:p",
            "at character 20: `p` cannot be here: only a counter of the processor has an address more precise than another",
        ),
        (
            "page-faults:uG",
            "at character 14: the modifier `G` cannot be here: guests of this machine are not told from it",
        ),
    ] {
        assert_eq!(named(X86_64, word).expect_err(word).0, said, "{word}");
    }
    let (_root, host) = machine(X86_64);
    assert!(read("openat", "u", &host).is_err());
    assert!(read("sched:sched_switch:u", "", &host).is_ok());
    assert!(read("cs:k", "", &host).is_ok());
}

#[test]
fn a_call_is_no_raw_number_and_a_place_of_memory_no_tracepoint() {
    let (_root, host) = machine(X86_64);
    let source = |word| {
        read(word, "", &host)
            .expect(word)
            .source
            .map(|named| named.source)
    };
    assert_eq!(source("read"), None);
    assert_eq!(source("rename"), None);
    assert_eq!(source("sched:sched_switch"), None);
    assert_eq!(source("r0xead"), Some(Source::raw(0xead)));
    assert_eq!(
        source("mem:0x404010/8:w"),
        Some(Source::Breakpoint {
            address: 0x40_4010,
            length: 8,
            access: Access::Write
        })
    );
}
