use super::fields::{Choice, Field, FieldError, Fields};
use super::tasks::{Name, Tasks};
use super::*;
use crate::attr::Layout;
use crate::record::{Comm, Map, Task};
use crate::space::{KERNEL, Maps, USER};

fn map<'a>(pid: u32, address: u64, length: u64, offset: u64, name: &'a [u8]) -> Map<'a> {
    Map {
        pid: Pid(pid),
        tid: Tid(pid),
        address,
        length,
        offset,
        name,
        is_data: false,
        more: None,
    }
}

fn fork(child: u32, parent: u32) -> Task {
    Task {
        pid: Pid(child),
        parent_pid: Pid(parent),
        tid: Tid(child),
        parent_tid: Tid(parent),
        time: Nanos(0),
    }
}

fn at(maps: &Maps, pid: u32, address: u64) -> Option<(String, u64)> {
    let place = maps.find(Pid(pid), USER, address)?;
    let name = String::from_utf8_lossy(place.name).into_owned();
    Some((name, place.offset))
}

#[test]
fn a_mapping_over_another_leaves_both_ends_of_it() {
    let mut maps = Maps::default();
    maps.map(&map(7, 0x1000, 0x5000, 0x100, b"/old"), USER);
    maps.map(&map(7, 0x2000, 0x1000, 0, b"/new"), USER);
    let found = |address| at(&maps, 7, address);
    assert_eq!(found(0xfff), None);
    assert_eq!(found(0x1fff), Some(("/old".into(), 0x10ff)));
    assert_eq!(found(0x2000), Some(("/new".into(), 0)));
    assert_eq!(found(0x3000), Some(("/old".into(), 0x2100)));
    assert_eq!(found(0x6000), None);
}

#[test]
fn mappings_of_several_others_give_way_to_one_over_all_of_them() {
    let mut maps = Maps::default();
    for start in [0x1000, 0x3000, 0x5000] {
        maps.map(&map(7, start, 0x1000, 0, b"/old"), USER);
    }
    maps.map(&map(7, 0x1800, 0x4000, 0, b"/new"), USER);
    let found = |address| at(&maps, 7, address).map(|(name, _)| name);
    assert_eq!(found(0x17ff).as_deref(), Some("/old"));
    assert_eq!(found(0x3000).as_deref(), Some("/new"));
    assert_eq!(found(0x5800).as_deref(), Some("/old"));
}

#[test]
fn a_child_keeps_its_parents_mappings_and_changes_only_its_own() {
    let mut maps = Maps::default();
    maps.map(&map(7, 0x1000, 0x1000, 0, b"/parent"), USER);
    maps.fork(&fork(8, 7));
    maps.map(&map(8, 0x1000, 0x1000, 0, b"/child"), USER);
    assert_eq!(at(&maps, 7, 0x1000), Some(("/parent".into(), 0)));
    assert_eq!(at(&maps, 8, 0x1000), Some(("/child".into(), 0)));
    maps.executed(Pid(7));
    assert_eq!(at(&maps, 7, 0x1000), None);
}

#[test]
fn the_kernel_and_its_modules_have_perfs_names() {
    let mut maps = Maps::default();
    let kernel = map(u32::MAX, 0x1000, 0x1000, 0x1000, b"[kernel.kallsyms]_text");
    let module = b"/lib/modules/6.1.0/kernel/fs/nls-ascii.ko";
    maps.map(&kernel, KERNEL);
    maps.map(&map(u32::MAX, 0x9000, 0x1000, 0, module), KERNEL);
    let name = |address| maps.find(Pid(1), KERNEL, address).map(|place| place.name);
    assert_eq!(name(0x1000), Some(&b"[kernel.kallsyms]"[..]));
    assert_eq!(name(0x9000), Some(&b"[nls_ascii]"[..]));
    assert_eq!(maps.find(Pid(1), USER, 0x1000), None);
}

#[test]
fn a_name_passes_to_children_and_is_kept_for_what_comes_behind_the_end() {
    let mut tasks = Tasks::default();
    assert_eq!(tasks.name(Some(Tid(0))), Name::Known(b"swapper"));
    assert_eq!(tasks.name(Some(Tid(7))), Name::Id(7));
    tasks.comm(&Comm {
        pid: Pid(7),
        tid: Tid(7),
        name: b"sh",
        exec: true,
    });
    tasks.fork(&fork(8, 7));
    assert_eq!(tasks.exit(Tid(8)), None);
    assert_eq!(tasks.name(Some(Tid(8))), Name::Known(b"sh"));
}

#[test]
fn of_a_million_tasks_that_ended_only_the_last_are_remembered() {
    let mut tasks = Tasks::default();
    let mut n_forgotten = 0_u32;
    for tid in 1..=1_000_000 {
        tasks.fork(&fork(tid, 0));
        n_forgotten += u32::from(tasks.exit(Tid(tid)).is_some());
    }
    assert_eq!(n_forgotten, 1_000_000 - 4096);
    assert_eq!(tasks.name(Some(Tid(1))), Name::Id(1));
    assert_eq!(tasks.name(Some(Tid(1_000_000))), Name::Known(b"swapper"));
}

#[test]
fn a_new_task_with_the_id_of_one_that_ended_is_not_forgotten_with_it() {
    let mut tasks = Tasks::default();
    tasks.fork(&fork(7, 0));
    tasks.exit(Tid(7));
    tasks.fork(&fork(7, 0));
    for tid in 100..10_000 {
        tasks.fork(&fork(tid, 0));
        tasks.exit(Tid(tid));
    }
    assert_eq!(tasks.name(Some(Tid(7))), Name::Known(b"swapper"));
}

#[test]
fn fields_are_chosen_added_and_taken_away() {
    let there = Fields::there(SampleType::KNOWN, Class::Tracepoint);
    let mut choice = Choice::default();
    let set = choice.fields(Class::Tracepoint, there);
    assert!(set.has(Field::Trace) && set.has(Field::Callchain) && !set.has(Field::Pid));
    choice.add("trace:+pid,-trace").unwrap();
    let set = choice.fields(Class::Tracepoint, there);
    assert!(set.has(Field::Pid) && !set.has(Field::Trace));
    let software = Fields::there(SampleType::KNOWN, Class::Software);
    assert!(!choice.fields(Class::Software, software).has(Field::Pid));
    choice.add("comm,time").unwrap();
    let only = Fields::of(&[Field::Comm, Field::Time]);
    assert_eq!(choice.fields(Class::Tracepoint, there), only);
}

#[test]
fn a_list_that_means_nothing_is_refused() {
    let refused = |list: &str| Choice::default().add(list).unwrap_err();
    assert_eq!(refused("comm,when"), FieldError::Unknown("when".into()));
    assert_eq!(refused("nic:comm"), FieldError::Class("nic".into()));
    assert_eq!(refused("comm,+cpu"), FieldError::Mixed("comm,+cpu".into()));
    let mut choice = Choice::default();
    choice.add("cpu").unwrap();
    let without = Fields::there(SampleType::TID, Class::Software);
    let events = [(Class::Software, without)];
    assert_eq!(
        choice.check(events.into_iter()),
        Err(FieldError::Absent("cpu"))
    );
}

#[test]
fn times_are_read_to_the_nanosecond() {
    let span = |from: Option<u64>, to: Option<u64>| {
        Some(Span {
            from: from.map(Nanos),
            to: to.map(Nanos),
        })
    };
    assert_eq!(
        Span::parse("1.5,2"),
        span(Some(1_500_000_000), Some(2_000_000_000))
    );
    assert_eq!(Span::parse(",0.000000001"), span(None, Some(1)));
    assert_eq!(Span::parse("3,"), span(Some(3_000_000_000), None));
    for wrong in ["x", "1.5,2,3", "1.0000000001,2", "-1,2"] {
        assert_eq!(Span::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn events_are_chosen_by_name_or_pattern() {
    let wants = |pattern: &str, name: &str| {
        let filter = Filter {
            events: vec![pattern.into()],
            ..Filter::default()
        };
        filter.wants_event(name)
    };
    assert!(wants("sched:sched_switch", "sched:sched_switch"));
    assert!(wants("sched:*", "sched:sched_switch"));
    assert!(wants("*_sw*ch", "sched:sched_switch"));
    assert!(!wants("sched", "sched:sched_switch"));
    assert!(!wants("a*a", "a"));
}

#[test]
fn numbers_and_strings_are_written_as_they_are_read() {
    let text = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    };
    assert_eq!(text(&|out| put::hex(out, u64::MAX, 4)), "ffffffffffffffff");
    assert_eq!(text(&|out| put::hex(out, 0, 3)), "  0");
    assert_eq!(text(&|out| put::zeros(out, 7, 3)), "007");
    assert_eq!(text(&|out| put::left(out, 7, 3)), "7  ");
    let strange = b"a\"\\\n\x01\xff\xc3\xa4";
    let quoted = text(&|out| put::string(out, strange));
    assert_eq!(quoted, "\"a\\\"\\\\\\n\\u0001\u{fffd}\u{e4}\"");
}

/// Records as the kernel wrote them, and what perf says of each.
const RECORDS: &str = include_str!("../../../harness/fixtures/perfdata/records.txt");

fn captured() -> impl Iterator<Item = (Layout, Vec<u8>, String)> {
    RECORDS.lines().map(|line| {
        let mut words = line.splitn(3, ' ');
        let mut next = || words.next().unwrap();
        let layout = Layout {
            sample_type: SampleType(u64::from_str_radix(next(), 16).unwrap()),
            sample_id_all: true,
            ..Layout::default()
        };
        let hex = next();
        let (pairs, _) = hex.as_bytes().as_chunks::<2>();
        let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
        let bytes = pairs.iter().map(|pair| byte(pair).unwrap()).collect();
        let said = next().replace("\\n", "\n").replace("\\t", "\t");
        (layout, bytes, said)
    })
}

#[test]
fn records_of_the_kernel_read_as_perf_reads_them() {
    assert_eq!(captured().count(), 15);
    for (layout, bytes, said) in captured() {
        let record = record::parse(&bytes, &layout).unwrap();
        let about = side::about(&record).unwrap();
        let mut out = Vec::new();
        side::text(&mut out, &record, &about);
        assert_eq!(String::from_utf8_lossy(&out).trim_end(), said.trim_end());
        let task = about.id.task.map(|(pid, tid)| (pid.0, tid.0));
        assert!(about.id.time.is_some() && task.is_some(), "{said}");
    }
}

#[test]
fn a_record_of_the_kernel_cut_anywhere_is_an_error_or_what_is_left_of_its_name() {
    for (layout, bytes, said) in captured() {
        for length in 8..bytes.len() {
            let mut cut = bytes.get(..length).unwrap().to_vec();
            let size = u16::try_from(length).unwrap().to_ne_bytes();
            cut.get_mut(6..8).unwrap().copy_from_slice(&size);
            // Whatever comes, it is told of without a panic.
            let Ok(record) = record::parse(&cut, &layout) else {
                continue;
            };
            let about = side::about(&record).unwrap();
            let mut out = Vec::new();
            side_json::write(&mut out, &record, &about, &Name::Id(1));
            assert!(out.ends_with(b"}\n"), "{said} cut at {length}");
        }
    }
}
