use super::*;

fn attr(source: Source) -> Attr {
    Attr {
        source,
        sampling: Sampling::Period(1),
        sample_type: SampleType::IDENTIFIER
            .and(SampleType::TID)
            .and(SampleType::TIME)
            .and(SampleType::RAW),
        user_registers: 0b1_0010,
        read_format: ReadFormat::LOST,
        inherit: true,
        enable_on_exec: true,
        side_band: false,
        maps: Maps::No,
        namespaces: false,
        switches: false,
        exclude_kernel: false,
        modes: Modes::default(),
        wakeup_bytes: 4096,
        write_backward: false,
        max_stack: 0,
        chain: Chain::default(),
    }
}

#[test]
fn the_kernels_form_says_what_the_value_says() {
    let raw = attr(Source::Tracepoint(365)).raw();
    assert_eq!((raw.type_, raw.config), (2, 365));
    assert_eq!(
        (
            raw.disabled(),
            raw.inherit(),
            raw.enable_on_exec(),
            raw.task()
        ),
        (1, 1, 1, 0)
    );
    assert_eq!(raw.sample_regs_user, 0b1_0010);
    let raw = Attr {
        side_band: true,
        ..attr(Source::DUMMY)
    }
    .raw();
    assert_eq!(
        (
            raw.type_,
            raw.config,
            raw.comm(),
            raw.comm_exec(),
            raw.task()
        ),
        (1, 9, 1, 1, 1)
    );
}

#[test]
fn the_time_is_found_without_parsing_the_record() {
    let layout = attr(Source::DUMMY).layout();
    assert_eq!(layout.sample_time_offset(), Some(24));
    assert_eq!(layout.trailer_time_offset(), Some(16));
    assert_eq!(layout.user_registers, 2);
    assert_eq!(Layout::default().sample_time_offset(), None);
}

#[test]
fn what_a_file_says_is_what_the_kernel_was_given() {
    let attr = Attr {
        sampling: Sampling::Frequency(4000),
        maps: Maps::Files,
        namespaces: true,
        switches: false,
        side_band: true,
        ..attr(Source::Software(2))
    };
    let stored = attr.stored();
    assert_eq!(stored.layout(), attr.layout());
    assert_eq!(
        (stored.kind, stored.config, stored.period_or_frequency),
        (1, 2, 4000)
    );
    assert_eq!(
        (stored.user_registers, stored.wakeup, stored.clock),
        (0b1_0010, 4096, libc::CLOCK_MONOTONIC)
    );
    for flag in [
        AttrFlags::DISABLED,
        AttrFlags::INHERIT,
        AttrFlags::FREQ,
        AttrFlags::MMAP2,
        AttrFlags::NAMESPACES,
        AttrFlags::TASK,
        AttrFlags::SAMPLE_ID_ALL,
        AttrFlags::USE_CLOCKID,
    ] {
        assert!(stored.flags.has(flag), "{flag:?}");
    }
    assert!(!stored.flags.has(AttrFlags::EXCLUDE_KERNEL));
}

#[test]
fn every_source_is_in_the_words_that_the_kernel_reads() {
    let numbers = Source::Numbers {
        kind: 9,
        config: [1, 2, 3, 4],
    };
    let raw = attr(numbers).raw();
    let stored = attr(numbers).stored();
    assert_eq!((raw.type_, raw.config, raw.config3), (9, 1, 4));
    assert_eq!((stored.kind, stored.config), (9, 1));
    assert_eq!((stored.config1, stored.config2), (2, 3));
    let raw = attr(Source::Breakpoint {
        address: 0x40_4010,
        length: 8,
        access: Access::Write,
    })
    .raw();
    assert_eq!((raw.type_, raw.config, raw.bp_type), (5, 0, 2));
    let raw = Attr {
        modes: Modes {
            exclude_user: true,
            exclude_kernel: false,
            exclude_hypervisor: true,
            precise: 2,
        },
        ..attr(Source::hardware(0))
    }
    .raw();
    assert_eq!(
        (
            raw.exclude_user(),
            raw.exclude_kernel(),
            raw.exclude_hv(),
            raw.precise_ip()
        ),
        (1, 0, 1, 2)
    );
}
