//! Messages against what strace printed for the very same bytes.

// The captured bytes have the layouts of one architecture.
#![cfg(target_arch = "x86_64")]

use super::*;
use crate::Shown;

/// Written by `ci/capture-netlink`, which describes it.
const CAPTURED: &str = include_str!("../../../../harness/fixtures/netlink.txt");

/// The protocol and the bytes of each message, and what strace printed.
fn captured() -> impl Iterator<Item = (Speaks, Vec<u8>, &'static str)> {
    let mut lines = CAPTURED
        .lines()
        .skip_while(|line| !line.starts_with("message"));
    std::iter::from_fn(move || {
        let message = lines.next()?.strip_prefix("message ")?;
        let strace = lines.next()?.strip_prefix("strace ")?;
        let (protocol, digits) = message.split_once(' ')?;
        let digit = |byte: &u8| char::from(*byte).to_digit(16).expect("hex") as u8;
        let pairs = digits.as_bytes().chunks(2);
        let bytes = pairs.map(|pair| pair.iter().map(digit).fold(0, |all, one| all << 4 | one));
        Some((Speaks(protocol.parse().ok()), bytes.collect(), strace))
    })
}

fn written(speaks: Speaks, bytes: &[u8], length: usize) -> Option<String> {
    let mut out = String::new();
    let beginning = Beginning {
        bytes,
        length,
        broken_at: None,
    };
    messages(&mut out, &mut Shown, speaks, beginning)?;
    Some(out)
}

/// Types of messages whose headers are left to strace, or that strace does not know.
const LEFT: &[&str] = &[
    "ACTION",
    "CACHEREPORT",
    "DCB",
    "MDB",
    "ANYCAST",
    "MULTICAST",
    "GETDEFAULT",
];

/// strace's text with the numbers of all devices but the first, whose names strace alone knows, and
/// without names of counts whose order is another in newer kernels.
fn as_ours(strace: &str) -> String {
    let devices = CAPTURED
        .lines()
        .filter_map(|line| line.strip_prefix("device "));
    let devices = devices
        .filter_map(|line| line.split_once(' '))
        .filter(|(_, name)| *name != "lo");
    let text = devices.fold(strace.to_owned(), |text, (index, name)| {
        text.replace(&format!("if_nametoindex(\"{name}\")"), index)
    });
    let mut counts = text.split("[[IPSTATS_MIB_NUM]=");
    let mut out = counts.next().unwrap_or_default().to_owned();
    for rest in counts {
        let (list, behind) = rest.split_once("]]").expect("the end of the list");
        let numbers = list
            .split(", ")
            .map(|one| one.rsplit('=').next().unwrap_or_default());
        out += &format!("[{}]]{behind}", numbers.collect::<Vec<_>>().join(", "));
    }
    out
}

fn is_left(strace: &str) -> bool {
    let kind = strace
        .split_once("nlmsg_type=")
        .map_or("", |(_, rest)| rest);
    let kind = kind.split(',').next().unwrap_or_default();
    LEFT.iter().any(|left| kind.ends_with(left)) || kind.starts_with("0x")
}

/// Our text, where it is strace's but for names that strace does not know, and comments in which
/// it says what else a number means.
fn is_same(ours: &str, strace: &str) -> bool {
    let (mut ours, mut rest) = (ours, strace);
    while let Some((before, behind)) = rest.split_once(" /* ") {
        let (comment, behind) = behind.split_once(" */").expect("the end of a comment");
        if let Some(left) = ours.strip_prefix(before) {
            ours = left;
        } else {
            let is_of_number = |letter: char| letter.is_ascii_hexdigit() || letter == 'x';
            let before = before.trim_end_matches(is_of_number);
            let Some(left) = ours.strip_prefix(before) else {
                return false;
            };
            let prefix = comment.strip_suffix("???").unwrap_or("(no name)");
            let Some(left) = left.strip_prefix(prefix) else {
                return false;
            };
            ours = left
                .trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        }
        rest = behind;
    }
    ours == rest
}

#[test]
fn messages_are_those_that_strace_printed_for_the_same_bytes() {
    let mut n_equal = 0;
    for (speaks, bytes, strace) in captured().filter(|(.., strace)| !is_left(strace)) {
        let ours = written(speaks, &bytes, bytes.len()).unwrap_or_default();
        let strace = as_ours(strace);
        assert!(is_same(&ours, &strace), "ours:   {ours}\nstrace: {strace}");
        n_equal += 1;
    }
    assert!(n_equal > 700, "{n_equal}");
}

/// Whether each bracket that was opened is closed, outside of strings.
fn is_balanced(text: &str) -> bool {
    let (mut open, mut is_string, mut is_escaped) = (Vec::new(), false, false);
    for letter in text.chars() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_string = !is_string,
            _ if is_string => {}
            '[' | '{' | '(' => open.push(letter),
            ']' | '}' | ')' => {
                let opened = open.pop();
                let is_pair = matches!(
                    (opened, letter),
                    (Some('['), ']') | (Some('{'), '}') | (Some('('), ')')
                );
                if !is_pair {
                    return false;
                }
            }
            _ => {}
        }
    }
    open.is_empty() && !is_string
}

#[test]
fn a_beginning_is_written_as_far_as_it_goes_and_dots_stand_for_the_rest() {
    for (speaks, bytes, _) in captured().filter(|(_, bytes, _)| bytes.len() < 700) {
        let whole = written(speaks, &bytes, bytes.len()).unwrap_or_default();
        for length in 0..bytes.len() {
            let Some(cut) = written(speaks, &bytes[..length], bytes.len()) else {
                assert!(length < HEAD, "{whole}");
                continue;
            };
            // What is no part of a structure may be missing.
            if cut == whole {
                continue;
            }
            assert!(is_balanced(&cut), "{cut}");
            let (told, _) = cut.split_once("...").unwrap_or_else(|| panic!("{cut}"));
            // A string ends where it was cut.
            let told = told.strip_suffix('"').unwrap_or(told);
            assert!(whole.starts_with(told), "{cut}\n{whole}");
        }
    }
}

#[test]
fn what_of_a_message_cannot_be_read_is_its_address() {
    // RTM_GETLINK: of a device, with an attribute of eight bytes.
    let header = [56, 0, 0, 0, 18, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0];
    let device = [1, 0, 4, 3, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    let attributes = [12, 0, 3, 0, 97, 98, 99, 100, 101, 102, 103, 0, 8, 0, 1, 0];
    let bytes = [&header[..], &device, &attributes].concat();
    let there = |length| {
        let beginning = Beginning {
            bytes: &bytes[..length],
            length: 56,
            broken_at: Some(0x1000),
        };
        let mut out = String::new();
        let speaks = Speaks(Some(libc::NETLINK_ROUTE));
        messages(&mut out, &mut Shown, speaks, beginning)?;
        let (_, behind) = out.split_once("nlmsg_pid=0}, ")?;
        Some(behind.to_owned())
    };
    let device = "{ifi_family=AF_UNIX, ifi_type=ARPHRD_LOOPBACK, \
                  ifi_index=if_nametoindex(\"lo\"), ifi_flags=IFF_UP, ifi_change=0}";
    let name = "[{nla_len=12, nla_type=IFLA_IFNAME}";
    for (length, told) in [
        (15, None),
        (16, Some("0x1010]".to_owned())),
        (20, Some("{ifi_family=AF_UNIX, 0x1011}]".to_owned())),
        (32, Some(format!("{device}, 0x1020]"))),
        (
            38,
            Some(format!("{device}, [{name}, 0x1024], ... /* 0x102c */]]")),
        ),
        (
            44,
            Some(format!(
                "{device}, [{name}, \"abcdefg\"], ... /* 0x102c */]]"
            )),
        ),
    ] {
        assert_eq!(there(length), told, "{length}");
    }
}

#[test]
fn bytes_that_are_no_messages_are_written_too() {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    for n in 0..4000 {
        let mut bytes: Vec<u8> = (0..HEAD + n % 90).map(|_| random()).collect();
        // Of a type that is told apart, and of a length that leaves something.
        bytes[..6].copy_from_slice(&[40 + random() % 64, 0, 0, 0, 16 + random() % 80, 0]);
        for protocol in [libc::NETLINK_ROUTE, libc::NETLINK_SOCK_DIAG] {
            let text = written(Speaks(Some(protocol)), &bytes, bytes.len());
            assert!(is_balanced(&text.expect("a header is there")));
        }
    }
}

#[test]
fn a_protocol_that_is_not_known_leaves_the_names_of_types_out() {
    let (_, bytes, _) = captured().next().expect("a message");
    assert_eq!(
        written(Speaks(None), &bytes, bytes.len()).as_deref(),
        Some(
            "[{nlmsg_len=20, nlmsg_type=0x10, nlmsg_flags=0xf00, nlmsg_seq=7, nlmsg_pid=0}, \
             \"\\x02\\x01\\x02\\x03\"]"
        )
    );
    assert_eq!(
        written(
            Speaks(Some(libc::NETLINK_KOBJECT_UEVENT)),
            &bytes,
            bytes.len()
        ),
        None
    );
}
