//! Snapshots that show nothing.

use super::*;

#[test]
fn a_snapshot_whose_levels_show_no_event_of_any_process_is_refused() {
    let with = |levels: &str| {
        format!(
            "description: d\nworkload: {{ run: [a] }}\nsnapshot: {{ levels: {{ {levels} }} }}\n\
             trace: {{ events: [{{ syscalls: [openat, close] }}] }}\n"
        )
    };
    let all = "{ hide: [openat, close] }";
    for of in ["*", "**", "P*", "P* *"] {
        let (line, _, message) = complaint(&with(&format!("'{of}': {all}")));
        let refused = "the snapshot shows no event of this scenario";
        assert_eq!((line, &*message), (3, refused), "{of}");
    }
    for levels in [
        format!("cat: {all}"),
        format!("cat: {{ hide: [close] }}, '*': {all}"),
        "'*': { hide: [close] }".to_owned(),
    ] {
        let resolved = resolved_on(&Kernel::with_io_uring(), None, &with(&levels));
        assert!(matches!(resolved, Ok(Resolved::Plan(_))), "{levels}");
    }
}
