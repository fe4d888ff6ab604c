//! Ways of changing a file that no opened descriptor and no path shows.

use super::confined::word;
use crate::scenario::Confined;

fn no_writes() -> Confined {
    Confined {
        writes: Some(Vec::new()),
        ..Confined::default()
    }
}

#[test]
fn input_that_is_faked_into_a_terminal_is_written() {
    for (line, said) in [
        // TIOCSTI, TIOCCONS, KDSKBSENT; TIOCLINUX does one of many things.
        ("cmd=21522) = 0", "not /dev/tty1"),
        ("cmd=21533) = 0", "not /dev/tty1"),
        ("cmd=19273) = 0", "not /dev/tty1"),
        ("cmd=21532) = 0", "unknown"),
        ("cmd=21522) = EIO", "allowed"),
        // TIOCGWINSZ, TCSETS.
        ("cmd=21523) = 0", "allowed"),
        ("cmd=21506) = 0", "allowed"),
    ] {
        let call = format!("P1 ioctl(fd=<0 /dev/tty1 #1>, {line}");
        assert_eq!(word(&no_writes(), &call), said, "{line}");
    }
}

#[test]
fn what_the_name_services_cache_gives_is_of_the_run_by_the_preset_alone() {
    let lines = "P1 connect(fd=<3 unix:1 #1>, family=1, unix=p\"/run/nscd/socket\") = 0\n\
                 P1 recvmsg(fd=<3 unix:1 #1>, descriptors=1) = 8";
    for (has_system, said) in [(true, "allowed"), (false, "unknown")] {
        let rules = Confined {
            has_system,
            ..no_writes()
        };
        assert_eq!(word(&rules, lines), said, "{has_system}");
    }
}

#[test]
fn a_device_that_is_open_for_reading_is_changed_by_requests() {
    for (request, said) in [
        // BLKDISCARD, LOOP_SET_FD, LOOP_CTL_ADD, RTC_SET_TIME.
        (0x1277_u32, "not /dev/it"),
        (0x4c00, "not /dev/it"),
        (0x4c80, "not /dev/it"),
        (0x4024_700a, "not /dev/it"),
        // SG_IO, NVME_IOCTL_ADMIN_CMD.
        (0x2285, "unknown"),
        (0xc048_4e41, "unknown"),
        // BLKGETSIZE64, LOOP_GET_STATUS64, RTC_RD_TIME.
        (0x8008_1272, "allowed"),
        (0x4c05, "allowed"),
        (0x8024_7009, "allowed"),
    ] {
        let call = format!("P1 ioctl(fd=<3 /dev/it #1>, cmd={request}) = 0");
        assert_eq!(word(&no_writes(), &call), said, "{request:x}");
    }
}

#[test]
fn what_the_kernel_executes_in_the_place_of_a_program_takes_a_rule_or_is_not_known() {
    let rules = |has_system| Confined {
        programs: Some(vec!["/x".to_owned(), "/bin/sh".to_owned()]),
        has_system,
        ..Confined::default()
    };
    for (beside, has_system, said) in [
        ("interpreter=p\"/bin/sh\"", true, "allowed"),
        ("interpreter=p\"/bin/dash\"", true, "not /bin/dash"),
        ("interpreter=p\"/lib/ld.so\"", true, "not /lib/ld.so"),
        ("loader=p\"/lib/ld.so\"", true, "allowed"),
        ("loader=p\"/lib/ld.so\"", false, "not /lib/ld.so"),
        ("loader=p\"/x/ld.so\"", true, "not /x/ld.so"),
        ("interpreter=<unread>", true, "unknown"),
    ] {
        let call = format!("P1 execve(filename:path=p\"/x\", {beside}) = 0");
        assert_eq!(word(&rules(has_system), &call), said, "{beside}");
    }
}
