//! Tests of addresses and permissions: what they can be, and what is refused as no value is so.

use super::*;

/// What is wrong with a test of a field, and the advice; `None` where nothing is.
fn fault(step: &str) -> Option<(String, Option<String>)> {
    let mut kernel = Kernel::captured();
    let captures = [
        include_str!("../../../../harness/fixtures/payloads/syscalls.sys_enter_openat.txt"),
        include_str!("../../../../harness/fixtures/payloads/kmem.mm_page_alloc.txt"),
        include_str!("../../../../harness/fixtures/payloads/workqueue.workqueue_queue_work.txt"),
    ];
    let systems = ["syscalls", "kmem", "workqueue"];
    kernel.0.append(&mut Kernel::of(&systems, &captures).0);
    let text = format!(
        "description: d\nworkload: {{ run: [a] }}\nsnapshot: false\n\
         trace: {{ events: [{{ syscalls: [openat, munmap, umask] }}, 'syscalls:sys_enter_openat', \
         'kmem:mm_page_alloc', 'workqueue:workqueue_queue_work', page-faults] }}\n\
         expect: {{ never: [ {{ {step} }} ] }}\n"
    );
    match resolved_on(&kernel, None, &text) {
        Ok(Resolved::Plan(_)) => None,
        Err(PlanError::Invalid(it)) => Some((it.message, it.help)),
        other => panic!("{step}: {other:?}"),
    }
}

#[track_caller]
fn refused(step: &str, message: &str, help: &str) {
    let (said, advice) = fault(step).expect(step);
    assert_eq!((&*said, advice.as_deref()), (message, Some(help)), "{step}");
}

const ADDRESS: &str = "an address is a number, \"0x1000\"; many of them are a range, \"4096..\"";

#[test]
fn a_text_of_what_is_an_address_in_that_event_is_refused_with_the_call_to_name() {
    let refused = |test: &str, message: &str| {
        let step = format!("'syscalls:sys_enter_openat': {{ filename: {test} }}");
        let message = format!("`filename` of `syscalls:sys_enter_openat` is an address, {message}");
        let help = "what lies there is in the call: name `openat` instead";
        refused(&step, &message, help);
    };
    refused("a", "not `a`");
    refused("'$DIR/a'", "not `$DIR/a`");
    refused("{ not: a }", "not `a`");
    refused("[0, a]", "not `a`");
    refused("{ glob: '*a' }", "which `glob` does not fit");
    refused("{ prefix: /usr }", "which `prefix` does not fit");
    refused("{ regex: 'a$' }", "which `regex` does not fit");
    refused("{ contains: libc.so }", "which `contains` does not fit");
}

#[test]
fn a_text_of_any_other_address_is_refused() {
    refused(
        "page-faults: { addr: heap }",
        "`addr` of `software:page-faults` is an address, not `heap`",
        ADDRESS,
    );
    refused(
        "page-faults: { ip: { contains: main } }",
        "`ip` of `software:page-faults` is an address, which `contains` does not fit",
        ADDRESS,
    );
    refused(
        "munmap: { addr: $DIR/d }",
        "`addr` of `munmap` is an address, not `$DIR/d`",
        ADDRESS,
    );
    refused(
        "'kmem:mm_page_alloc': { gfp_flags: { contains: GFP_KERNEL } }",
        "`gfp_flags` of `kmem:mm_page_alloc` is a number, which `contains` does not fit",
        "a range is written \"1..=4\", \"2..\" or \"..=3\"",
    );
}

#[test]
fn an_address_is_a_number_a_range_or_the_text_that_a_trace_has_for_it() {
    for step in [
        "'syscalls:sys_enter_openat': { filename: 0x1000 }",
        "'syscalls:sys_enter_openat': { filename: '4096..' }",
        "'syscalls:sys_enter_openat': { filename: { prefix: '0x7f' } }",
        "'syscalls:sys_enter_openat': { filename: { not: 'NULL' } }",
        "page-faults: { addr: { range: '1..' }, ip: { range: '4096..=8192' } }",
        "page-faults: { addr: '<addr>' }",
        "munmap: { addr: '<heap>' }",
        "munmap: { addr: { contains: heap } }",
        "'kmem:mm_page_alloc': { gfp_flags: { range: '1..' } }",
        // Its name is known.
        "'workqueue:workqueue_queue_work': { function: vmstat_update }",
        "'workqueue:workqueue_queue_work': { function: { prefix: vmstat } }",
    ] {
        assert_eq!(fault(step), None, "{step}");
    }
}

#[test]
fn how_permissions_are_written_is_said_in_octal_digits_that_there_are() {
    for (step, advice) in [
        ("umask: { returns: 18 }", "18 in octal digits is \"022\""),
        ("umask: { returns: 22 }", "quote it: \"022\""),
        ("openat: { mode: 420 }", "quote it: \"0420\""),
        ("openat: { mode: 8 }", "8 in octal digits is \"010\""),
    ] {
        assert_eq!(fault(step).unwrap().1.as_deref(), Some(advice), "{step}");
    }
    assert_eq!(fault("openat: { mode: -5 }").unwrap().1, None);
    let octal = "permissions are octal digits in quotes, \"0640\"; what else it may be is one \
        more of a list";
    refused(
        "openat: { mode: 'rw-r-----' }",
        "`mode` of `openat` is permissions, not `rw-r-----`",
        octal,
    );
    refused(
        "openat: { mode: { prefix: '06' } }",
        "`mode` of `openat` is permissions, which `prefix` does not fit",
        octal,
    );
}
