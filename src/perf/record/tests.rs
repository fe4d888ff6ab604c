use super::*;
use crate::attr::{ReadFormat, SampleType};

const PAYLOAD: &[u8] = b"raw payload!"; // 12 bytes: with its size word a multiple of 8, as the kernel pads it

/// A sample as perf_output_sample() writes it: the fields of `layout` in its order, each filled
/// with a value that no neighbour has.
fn written(layout: &Layout) -> Vec<u8> {
    let kind = layout.sample_type;
    let mut body: Vec<u8> = Vec::new();
    let word = |body: &mut Vec<u8>, value: u64| body.extend(value.to_ne_bytes());
    let one = |body: &mut Vec<u8>, bit: SampleType, value: u64| {
        if kind.has(bit) {
            body.extend(value.to_ne_bytes());
        }
    };
    one(&mut body, SampleType::IDENTIFIER, 1);
    one(&mut body, SampleType::IP, 2);
    one(&mut body, SampleType::TID, 3 | 4 << 32);
    one(&mut body, SampleType::TIME, 5);
    one(&mut body, SampleType::ADDR, 6);
    one(&mut body, SampleType::ID, 7);
    one(&mut body, SampleType::STREAM_ID, 8);
    one(&mut body, SampleType::CPU, 9);
    one(&mut body, SampleType::PERIOD, 10);
    if kind.has(SampleType::READ) {
        let format = layout.read_format;
        let members = if format.has(ReadFormat::GROUP) { 2 } else { 1 };
        if format.has(ReadFormat::GROUP) {
            word(&mut body, members);
        }
        let times = (format.0 & 3).count_ones() as usize;
        let each = 1 + ((format.0 >> 2) & 1) + ((format.0 >> 4) & 1);
        (0..times as u64 + members * each).for_each(|n| word(&mut body, 100 + n));
    }
    if kind.has(SampleType::CALLCHAIN) {
        [2, 11, 12].iter().for_each(|w| word(&mut body, *w));
    }
    if kind.has(SampleType::RAW) {
        body.extend((PAYLOAD.len() as u32).to_ne_bytes());
        body.extend(PAYLOAD);
    }
    if kind.has(SampleType::BRANCH_STACK) {
        word(&mut body, 2);
        let words =
            6 + u64::from(layout.branch_hardware_index) + 2 * u64::from(layout.branch_counters);
        (0..words).for_each(|n| word(&mut body, 200 + n));
    }
    if kind.has(SampleType::REGS_USER) {
        word(&mut body, 2);
        (0..layout.user_registers).for_each(|n| word(&mut body, 300 + u64::from(n)));
    }
    if kind.has(SampleType::STACK_USER) {
        [16, 400, 401, 8].iter().for_each(|w| word(&mut body, *w));
    }
    one(
        &mut body,
        SampleType::WEIGHT.and(SampleType::WEIGHT_STRUCT),
        13,
    );
    one(&mut body, SampleType::DATA_SRC, 14);
    one(&mut body, SampleType::TRANSACTION, 15);
    if kind.has(SampleType::REGS_INTR) {
        word(&mut body, 2);
        (0..layout.interrupt_registers).for_each(|n| word(&mut body, 500 + u64::from(n)));
    }
    one(&mut body, SampleType::PHYS_ADDR, 16);
    one(&mut body, SampleType::CGROUP, 17);
    one(&mut body, SampleType::DATA_PAGE_SIZE, 18);
    one(&mut body, SampleType::CODE_PAGE_SIZE, 19);
    if kind.has(SampleType::AUX) {
        [8, 20].iter().for_each(|w| word(&mut body, *w));
    }
    record(kind::SAMPLE, 0, &body)
}

fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
    let size = (HEADER_SIZE + body.len()) as u16;
    [
        &kind.to_ne_bytes()[..],
        &misc.to_ne_bytes(),
        &size.to_ne_bytes(),
        body,
    ]
    .concat()
}

fn layout(sample_type: u64, read_format: u64) -> Layout {
    Layout {
        sample_type: SampleType(sample_type),
        read_format: ReadFormat(read_format),
        user_registers: 2,
        interrupt_registers: 3,
        branch_hardware_index: true,
        branch_counters: true,
        sample_id_all: true,
    }
}

fn sample<'a>(bytes: &'a [u8], layout: &Layout) -> Sample<'a> {
    match parse(bytes, layout) {
        Ok(Record::Sample(sample)) => sample,
        other => panic!("{layout:?}: {other:?}"),
    }
}

#[test]
fn every_sample_type_bit_leaves_the_raw_payload_intact() {
    for bit in 0..25 {
        for read_format in 0..32 {
            let layout = layout(
                1 << bit | SampleType::RAW.0 | SampleType::REGS_USER.0,
                read_format,
            );
            let bytes = written(&layout);
            let sample = sample(&bytes, &layout);
            assert_eq!(
                sample.raw,
                Some(PAYLOAD),
                "bit {bit}, read format {read_format}"
            );
            let registers = sample.user_registers.unwrap();
            assert_eq!(
                (registers.get(0), registers.get(1), registers.get(2)),
                (Some(300), Some(301), None)
            );
        }
    }
}

#[test]
fn all_bits_at_once_are_read_in_the_kernels_order() {
    let layout = layout(SampleType::KNOWN.0, 31);
    let bytes = written(&layout);
    let sample = sample(&bytes, &layout);
    assert_eq!(
        (sample.id, sample.ip, sample.time, sample.address),
        (Some(1), Some(2), Some(Nanos(5)), Some(6))
    );
    assert_eq!(sample.task, Some((Pid(3), Tid(4))));
    assert_eq!(
        (sample.cpu, sample.period, sample.callchain.map(<[u8]>::len)),
        (Some(9), Some(10), Some(16))
    );
    assert_eq!(sample.raw, Some(PAYLOAD));
}

#[test]
fn every_field_behind_the_payload_is_read() {
    let layout = layout(SampleType::KNOWN.0 & !SampleType::WEIGHT_STRUCT.0, 31);
    let bytes = written(&layout);
    let sample = sample(&bytes, &layout);
    let tail = sample.tail(&layout).unwrap();
    assert_eq!(sample.stream_id, Some(8));
    let read = sample.read.unwrap();
    assert_eq!(read.times(), (Some(100), Some(101)));
    let value = |first| ReadValue {
        value: first,
        id: Some(first + 1),
        lost: Some(first + 2),
    };
    assert_eq!(read.iter().collect::<Vec<_>>(), [value(102), value(105)]);
    let branches = tail.branches.unwrap();
    assert_eq!(branches.hardware_index, Some(200));
    let entries: Vec<_> = branches.iter().collect();
    assert_eq!(entries, [[201, 202, 203], [204, 205, 206]]);
    assert_eq!(branches.counters.len(), 16);
    let registers = |of: Option<Registers<'_>>| of.unwrap().iter().collect::<Vec<_>>();
    assert_eq!(registers(tail.user_registers), [300, 301]);
    assert_eq!(registers(tail.interrupt_registers), [500, 501, 502]);
    let used: &[u8] = &400_u64.to_ne_bytes();
    assert_eq!(tail.user_stack, Some(used));
    assert_eq!((tail.weight, tail.data_source), (Some(13), Some(14)));
    assert_eq!(
        (tail.transaction, tail.physical_address),
        (Some(15), Some(16))
    );
    assert_eq!((tail.cgroup, tail.data_page_size), (Some(17), Some(18)));
    assert_eq!(tail.code_page_size, Some(19));
    assert_eq!(tail.aux, Some(&20_u64.to_ne_bytes()[..]));
}

#[test]
fn the_times_of_a_single_counter_stand_behind_its_value() {
    let layout = layout(SampleType::READ.0, 3);
    let bytes = written(&layout);
    let read = sample(&bytes, &layout).read.unwrap();
    assert_eq!(read.times(), (Some(101), Some(102)));
    let value = ReadValue {
        value: 100,
        ..ReadValue::default()
    };
    assert_eq!(read.iter().collect::<Vec<_>>(), [value]);
}

#[test]
fn an_empty_user_stack_has_no_dynamic_size() {
    let layout = layout(SampleType::STACK_USER.0 | SampleType::DATA_SRC.0, 0);
    let body: Vec<u8> = [0_u64, 14].iter().flat_map(|w| w.to_ne_bytes()).collect();
    sample(&record(kind::SAMPLE, 0, &body), &layout);
}

#[test]
fn a_record_cut_anywhere_names_the_field_it_ends_in() {
    let layout = layout(SampleType::KNOWN.0, 31);
    let whole = written(&layout);
    for cut in 0..whole.len() {
        let mut bytes = whole[..cut].to_vec();
        if cut >= HEADER_SIZE {
            bytes[6..8].copy_from_slice(&(cut as u16).to_ne_bytes());
        }
        assert!(
            matches!(parse(&bytes, &layout), Err(RecordError::Short { .. })),
            "cut at {cut}"
        );
    }
}

#[test]
fn a_length_that_no_record_could_hold_is_an_error() {
    for (bit, words) in [
        (SampleType::CALLCHAIN, vec![u64::MAX]),
        (SampleType::BRANCH_STACK, vec![u64::MAX / 3, 0]),
        (SampleType::STACK_USER, vec![u64::MAX]),
        (SampleType::AUX, vec![u64::MAX]),
        (SampleType::RAW, vec![u64::from(u32::MAX)]),
        (SampleType::READ, vec![u64::MAX]),
    ] {
        let layout = layout(bit.0, ReadFormat::GROUP.0);
        let body: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
        assert!(
            matches!(
                parse(&record(kind::SAMPLE, 0, &body), &layout),
                Err(RecordError::Short { .. })
            ),
            "{bit:?}"
        );
    }
}

#[test]
fn a_size_that_disagrees_with_the_bytes_is_an_error() {
    let mut bytes = record(kind::COMM, 0, &[0; 24]);
    bytes[6] = 200;
    assert_eq!(
        parse(&bytes, &Layout::default()),
        Err(RecordError::Size {
            kind: kind::COMM,
            said: 200,
            there: 32
        })
    );
}

#[test]
fn an_unknown_type_is_a_value_and_an_unknown_bit_an_error() {
    let bytes = record(77, 1, b"12345678");
    let Ok(Record::Unknown { header, body }) = parse(&bytes, &Layout::default()) else {
        panic!()
    };
    assert_eq!((header.kind, header.misc, body), (77, 1, &b"12345678"[..]));
    let future = layout(1 << 40, 0);
    assert_eq!(
        parse(&record(kind::SAMPLE, 0, &[0; 64]), &future),
        Err(RecordError::UnknownBits { bits: 1 << 40 })
    );
}

#[test]
fn side_band_records_carry_their_trailer() {
    let kind_bits =
        SampleType::TID.0 | SampleType::TIME.0 | SampleType::CPU.0 | SampleType::IDENTIFIER.0;
    let layout = layout(kind_bits, 0);
    let trailer: Vec<u8> = [3 | 4 << 32, 5, 9, 1_u64]
        .iter()
        .flat_map(|w| w.to_ne_bytes())
        .collect();
    let comm = record(
        kind::COMM,
        1 << 13,
        &[&[3, 0, 0, 0, 4, 0, 0, 0][..], b"sleep\0\0\0", &trailer].concat(),
    );
    let Ok(Record::Comm(comm, id)) = parse(&comm, &layout) else {
        panic!()
    };
    assert_eq!(
        (comm.name, comm.exec, comm.tid),
        (&b"sleep"[..], true, Tid(4))
    );
    assert_eq!(id.time, Some(Nanos(5)));
    assert_eq!((id.cpu, id.identifier), (Some(9), Some(1)));
    let body: Vec<u8> = [10 | 11 << 32, 12 | 13 << 32, 14_u64]
        .iter()
        .flat_map(|w| w.to_ne_bytes())
        .collect();
    let fork = record(kind::FORK, 0, &[body, trailer].concat());
    let Ok(Record::Fork(task, _)) = parse(&fork, &layout) else {
        panic!()
    };
    assert_eq!(
        (task.pid, task.parent_pid, task.tid, task.parent_tid),
        (Pid(10), Pid(11), Tid(12), Tid(13))
    );
}

#[test]
fn records_of_two_events_are_told_apart_by_their_identifier() {
    let with = |bits: u64| {
        layout(
            bits | SampleType::IDENTIFIER.0 | SampleType::TID.0 | SampleType::TIME.0,
            0,
        )
    };
    let (first, second) = (with(0), with(SampleType::RAW.0));
    let table = LayoutTable::new([(1, second, 'b'), (900, first, 'a')]).unwrap();
    let bytes = written(&second);
    assert_eq!(table.resolve(&bytes).map(|(_, event)| event), Some('b'));
    assert_eq!(table.time(&bytes), Some(Nanos(5)));
    let stranger = record(kind::LOST, 0, &5_u64.to_ne_bytes());
    assert!(table.resolve(&stranger).is_none());
    assert_eq!(
        LayoutTable::new([(1, layout(0, 0), 'a'), (2, first, 'b')]).unwrap_err(),
        TableError::IdPlace
    );
}

#[test]
fn the_id_is_found_at_the_place_that_all_layouts_agree_on_and_the_time_at_each_ones_own() {
    let with = |bits: u64| layout(bits | SampleType::ID.0 | SampleType::TIME.0, 0);
    let (bare, timed) = (
        with(SampleType::TID.0),
        with(SampleType::PERIOD.0 | SampleType::ADDR.0),
    );
    assert_eq!(
        LayoutTable::new([
            (1, bare, 'a'),
            (7, with(SampleType::IP.0 | SampleType::TID.0), 'b')
        ])
        .unwrap_err(),
        TableError::IdPlace
    );
    // TID and TIME in front of the one's id, TIME and ADDR in front of the other's.
    let table =
        LayoutTable::of_events([(vec![1, 3], bare, 'a'), (vec![6, 7], timed, 'b')]).unwrap();
    let bytes = written(&timed);
    assert_eq!(table.id(&bytes), Some(7));
    assert_eq!(table.resolve(&bytes).map(|(_, event)| event), Some('b'));
    assert_eq!(table.time(&bytes), Some(Nanos(5)));
}

#[test]
fn one_event_needs_no_ids_and_what_is_synthesized_is_the_first_ones() {
    let plain = layout(SampleType::TID.0, 0);
    let table = LayoutTable::of_events([(Vec::new(), plain, 'a')]).unwrap();
    assert!(table.resolve(&written(&plain)).is_some());
    let with = layout(SampleType::IDENTIFIER.0, 0);
    let table = LayoutTable::new([(7, with, 'a'), (8, with, 'b')]).unwrap();
    let synthesized = record(kind::LOST, 0, &0_u64.to_ne_bytes());
    assert_eq!(
        table.resolve(&synthesized).map(|(_, event)| event),
        Some('a')
    );
}

#[test]
fn no_bytes_make_it_panic() {
    // xorshift64: the same bytes on every machine.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..20_000 {
        let layout = layout(random() & SampleType::KNOWN.0, random() & 31);
        let length = (random() % 300) as usize;
        let mut bytes: Vec<u8> = (0..length)
            .map(|_| random() as u8 >> (random() % 8))
            .collect();
        if length >= HEADER_SIZE {
            bytes[..4].copy_from_slice(&((random() % 24) as u32).to_ne_bytes());
            bytes[6..8].copy_from_slice(&(length as u16).to_ne_bytes());
        }
        // Whatever comes, it comes from within the bytes.
        if let Ok(Record::Sample(sample)) = parse(&bytes, &layout) {
            assert!(sample.raw.is_none_or(|raw| raw.len() <= length));
        }
    }
}
