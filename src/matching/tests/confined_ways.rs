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
        // SG_IO.
        ("cmd=8837) = 0", "not /dev/tty1"),
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
