//! Structures that depend on a command or an option, and those of which there are several.

use super::*;
use crate::memory::Behind;

#[test]
fn of_several_messages_each_says_how_much_of_it_was_sent() {
    let mut one = [0; 64];
    one[16..24].copy_from_slice(&0x2000_u64.to_le_bytes());
    one[24] = 1;
    let mut sent = one;
    sent[56] = 41;
    let words = [3, 0x9000, 2, 0, 0, 0];
    let call = made(
        "sendmmsg",
        words,
        (1, &[&one.repeat(2)], &[&sent.repeat(2)]),
    );
    let call = Call {
        outcome: Outcome::Returned {
            time: Nanos(0),
            value: 1,
        },
        ..call
    };
    let header = "msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=0x2000, msg_iovlen=1, \
                  msg_controllen=0, msg_flags=0}";
    assert_eq!(
        shown(&call, 1),
        format!("[{{{header}, msg_len=41}}, {{{header}}}]")
    );
}

#[test]
fn of_several_messages_each_says_what_came() {
    let mut one = [0; 64];
    one[16..24].copy_from_slice(&0x2000_u64.to_le_bytes());
    one[24] = 1;
    one[8] = 16;
    let mut came = one;
    came[56] = 3;
    let words = [3, 0x9000, 3, 0, 0, 0];
    let call = made("recvmmsg", words, (1, &[&one.repeat(3)], &[]));
    let ended = |value, mut call: Call| {
        let vectors = [0x3000_u64, 10].map(u64::to_le_bytes).concat();
        let pieces = [
            (0, Moment::Exit, came.repeat(2)),
            (0x11, Moment::Enter, vectors),
        ];
        for (element, moment, bytes) in pieces {
            call.memory.extend(Memory::new(vec![Piece {
                argument: 1,
                element,
                moment,
                address: 0x10_0000 + u64::from(element) * 0x1000,
                state: State::Whole,
                bytes: bytes.into(),
            }]));
        }
        call.outcome = Outcome::Returned {
            time: Nanos(0),
            value,
        };
        call
    };
    let told = |vectors: &str| {
        format!(
            "{{msg_hdr={{msg_name=NULL, msg_namelen=16, msg_iov={vectors}, msg_iovlen=1, \
             msg_controllen=0, msg_flags=0}}, msg_len=3}}"
        )
    };
    let first = told("[{iov_base=0x3000, iov_len=10}]");
    assert_eq!(
        shown(&ended(2, call.clone()), 1),
        format!("[{first}, {}]", told("0x2000"))
    );
    assert_eq!(shown(&ended(-11, call), 1), "0x9000");
}

#[test]
fn options_that_strace_shows_as_bytes_are_structures() {
    let set = |level: u64, option: u64, words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let length = bytes.len() as u64;
        let words = [3, level, option, 0x9000, length, 0];
        shown(&made("setsockopt", words, (3, &[&bytes], &[])), 3)
    };
    assert_eq!(set(1, 20, &[5, 0, 6, 0]), "{tv_sec=5, tv_usec=6}");
    let group = u32::from_le_bytes([224, 0, 0, 251]);
    assert_eq!(
        set(0, 35, &[group, 0, 1]),
        "{imr_multiaddr=inet_addr(\"224.0.0.251\"), imr_address=inet_addr(\"0.0.0.0\"), \
         imr_ifindex=if_nametoindex(\"lo\")}"
    );
    assert_eq!(
        set(0, 39, &[group, 0, 16_777_343]),
        "{imr_multiaddr=inet_addr(\"224.0.0.251\"), imr_interface=inet_addr(\"0.0.0.0\"), \
         imr_sourceaddr=inet_addr(\"127.0.0.1\")}"
    );
    // Of no bytes there is no address.
    assert_eq!(
        set(263, 1, &[2, 1, 0, 0]),
        "{mr_ifindex=2, mr_type=PACKET_MR_PROMISC, mr_alen=0}"
    );
    assert!(set(263, 13, &[4096, 1, 2048, 2, 1, 2, 3]).ends_with(", tp_feature_req_word=3}"));
    // Too few bytes are none of it.
    assert_eq!(set(1, 20, &[5]), "[5]");
}

#[test]
fn of_what_bpf_is_given_no_more_is_told_than_the_kernel_looks_at() {
    let given = |command: u64, words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let words = [command, 0x9000, bytes.len() as u64, 0, 0, 0];
        shown(&made("bpf", words, (1, &[&bytes], &[])), 1)
    };
    let map = "map_type=BPF_MAP_TYPE_ARRAY, key_size=4, value_size=0, max_entries=0";
    assert_eq!(given(0, &[2, 4]), format!("{{{map}}}"));
    let flags = given(0, &[2, 4, 0, 0, 4, 0, 1]);
    let expected = "map_flags=BPF_F_NUMA_NODE, inner_map_fd=0, numa_node=1";
    assert_eq!(flags, format!("{{{map}, {expected}}}"));
    assert!(!given(0, &[2, 4, 0, 0, 0, 0, 1]).contains("numa_node"));
    assert_eq!(
        given(32, &[0, 7]),
        "{enable_stats={type=BPF_STATS_RUN_TIME}, ...}"
    );
    // Both at once, for which strace has no name.
    let element = given(2, &[3, 0, 0, 0, 0, 0, 6, 0]);
    assert!(
        element.ends_with("flags=BPF_EXIST|BPF_F_LOCK}"),
        "{element}"
    );
    assert_eq!(given(99, &[1]), "0x9000");
    assert_eq!(given(0, &[]), "0x9000");
}

#[test]
fn an_address_of_many_on_a_link_names_the_loopback_device() {
    let scope = |first: [u8; 2]| {
        let mut bytes = [0; 28];
        bytes[0] = libc::AF_INET6 as u8;
        bytes[8..10].copy_from_slice(&first);
        bytes[24] = 1;
        let text = shown(
            &made("connect", [3, 0x9000, 28, 0, 0, 0], (1, &[&bytes], &[])),
            1,
        );
        let (_, scope) = text.split_once("sin6_scope_id=").expect("a scope");
        scope.to_owned()
    };
    let name = "if_nametoindex(\"lo\")}";
    assert_eq!(scope([0xfe, 0x80]), name);
    assert_eq!(scope([0xff, 0x02]), name);
    assert_eq!(scope([0xff, 0x42]), name);
    assert_eq!(scope([0xff, 0x05]), "1}");
    assert_eq!(scope([0x20, 0x01]), "1}");
}

#[test]
fn the_offset_of_a_registered_descriptor_is_negative_only_where_the_kernel_chooses_it() {
    let told = |offset: u32| {
        let words = [offset, 0, 5, 0];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(4096, 0);
        let call = made(
            "io_uring_register",
            [3, 20, 0x9000, 1, 0, 0],
            (2, &[&bytes], &[]),
        );
        written(&call, 2, ArgKind::Struct(StructKind::Registration))
    };
    assert_eq!(told(u32::MAX), "[{offset=-1, data=5}]");
    assert_eq!(told(0xbb40_e64d), "[{offset=3141592653, data=5}]");
}

#[test]
fn the_working_directory_is_named_only_where_a_path_is_relative_to_it() {
    let told = |name: &'static str, place: usize, words: [u64; 6]| {
        written(&made(name, words, (5, &[], &[])), place, ArgKind::Fd)
    };
    let here = libc::AT_FDCWD as u32 as u64;
    let of_first = [here, 0, 0, 0, 0, 0];
    for name in ["openat", "open_by_handle_at", "move_mount", "statx"] {
        assert_eq!(told(name, 0, of_first), "AT_FDCWD", "{name}");
    }
    for name in ["fsmount", "fsconfig", "readahead", "read", "fchdir"] {
        assert_eq!(told(name, 0, of_first), "-100", "{name}");
    }
    assert_eq!(told("move_mount", 2, [3, 0, here, 0, 0, 0]), "AT_FDCWD");
    assert_eq!(told("fsconfig", 4, [3, 3, 0, 0, here, 0]), "AT_FDCWD");
    assert_eq!(told("fsconfig", 4, [3, 5, 0, 0, here, 0]), "-100");
}

/// What `io_uring_register` is told to have been given, with what its structure leads to.
fn registered(operation: u64, (given, size): (&[u8], u64), behind: &[(Behind, &[u8])]) -> String {
    let words = [3, operation, 0x9000, size, 0, 0];
    let mut given = given.to_vec();
    given.resize(4096, 0);
    let mut call = made("io_uring_register", words, (2, &[&given], &[]));
    let mut pieces: Vec<Piece> = call.memory.pieces_mut().map(|it| it.clone()).collect();
    pieces.extend(behind.iter().map(|(what, bytes)| Piece {
        argument: 2,
        element: what.element(),
        moment: Moment::Enter,
        address: 0x1000,
        state: State::Whole,
        bytes: (*bytes).into(),
    }));
    call.memory = Memory::new(pieces);
    let kind = pointers::by_command("io_uring_register", 2, &words);
    kind.map_or_else(String::new, |kind| written(&call, 2, kind))
}

#[test]
fn files_buffers_and_tags_of_a_ring_are_told_where_the_structure_leads() {
    let words = |all: &[u64]| -> Vec<u8> { all.iter().flat_map(|it| it.to_le_bytes()).collect() };
    let files: Vec<u8> = [4_i32, -1, -2].map(i32::to_le_bytes).concat();
    let tags = words(&[7, 0, 1 << 40]);
    let of = words(&[3, 0, 0x1000, 0x2000]);
    let behind: &[(Behind, &[u8])] = &[
        (Behind::REGISTERED, &files),
        (Behind::REGISTERED_TAGS, &tags),
        (Behind::UPDATED, &[9; 12]),
        (Behind::UPDATED_TAGS, &[9; 24]),
    ];
    let told = "{nr=3, flags=0, data=[4, -1, -2], tags=[0x7, 0, 0x10000000000]";
    assert_eq!(registered(13, (&of, 32), behind), format!("{told}}}"));
    // What stands behind what is known is not left out; what is too short is no structure.
    let more = [&of[..], &[1, 0, 0, 0, 0, 0, 0, 0]].concat();
    let rest = r#", /* bytes 32..39 */ "\x01\x00\x00\x00\x00\x00\x00\x00""#;
    assert_eq!(
        registered(13, (&more, 40), behind),
        format!("{told}{rest}}}")
    );
    assert_eq!(registered(13, (&of, 31), behind), "0x9000");
    // What could not be read is an address, and nothing is an empty list.
    assert_eq!(
        registered(13, (&of, 32), &[]),
        "{nr=3, flags=0, data=0x1000, tags=0x2000}"
    );
    let none = words(&[1 << 32, 0, 0x1000, 0]);
    assert_eq!(
        registered(13, (&none, 32), &[]),
        "{nr=0, flags=IORING_RSRC_REGISTER_SPARSE, data=[], tags=NULL}"
    );
    let of = words(&[1, 0x1000, 0x2000, 2]);
    let behind: &[(Behind, &[u8])] = &[
        (Behind::REGISTERED, &[9; 12]),
        (Behind::REGISTERED_TAGS, &[9; 24]),
        (Behind::UPDATED, &files[4..]),
        (Behind::UPDATED_TAGS, &tags[..16]),
    ];
    assert_eq!(
        registered(14, (&of, 32), behind),
        "{offset=1, data=[-1, IORING_REGISTER_FILES_SKIP], tags=[0x7, 0], nr=2}"
    );
    let vectors = words(&[0x3000, 6, 0, 0]);
    let behind: &[(Behind, &[u8])] = &[(Behind::UPDATED, &vectors), (Behind::UPDATED_TAGS, &tags)];
    assert_eq!(
        registered(16, (&of, 32), behind),
        "{offset=1, data=[{iov_base=0x3000, iov_len=6}, {iov_base=NULL, iov_len=0}], \
         tags=[0x7, 0], nr=2}"
    );
}

#[test]
fn restrictions_of_a_ring_are_told_by_what_they_restrict() {
    let given = [[0, 0, 2], [1, 0, 22], [2, 0, 4], [3, 0, 0], [9, 0, 239]];
    let given = given.map(|one| [&one[..], &[0; 13]].concat()).concat();
    assert_eq!(
        registered(11, (&given, 5), &[]),
        "[{opcode=IORING_RESTRICTION_REGISTER_OP, register_op=IORING_REGISTER_FILES}, \
         {opcode=IORING_RESTRICTION_SQE_OP, sqe_op=IORING_OP_READ}, \
         {opcode=IORING_RESTRICTION_SQE_FLAGS_ALLOWED, sqe_flags=IOSQE_IO_LINK}, \
         {opcode=IORING_RESTRICTION_SQE_FLAGS_REQUIRED, sqe_flags=0}, \
         {opcode=0x9, register_op=0xef}]"
    );
}

#[test]
fn what_breaks_off_at_the_last_address_of_all_is_told_as_far_as_it_goes() {
    let words = [3, 11, u64::MAX - 7, 3, 0, 0];
    let mut call = made("io_uring_register", words, (2, &[&[0; 4096]], &[]));
    for piece in call.memory.pieces_mut() {
        (piece.state, piece.bytes) = (State::Part, [0; 16].into());
    }
    let told = written(&call, 2, ArgKind::Struct(StructKind::Registration));
    let broken = "register_op=IORING_REGISTER_BUFFERS}, ... /* 0x8 */]";
    assert!(told.ends_with(broken), "{told}");
}

#[test]
fn buffers_of_a_32_bit_ring_are_an_address_as_their_vectors_are_shorter() {
    for (operation, size) in [(0, 1), (15, 32)] {
        let words = [3, operation, 0x9000, size, 0, 0];
        let given: Vec<u8> = [1_u64, 0, 0x1000, 0]
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        let given = [&given[..], &[0; 4064]].concat();
        let mut call = made("io_uring_register", words, (2, &[&given], &[]));
        call.memory = Memory::new(
            call.memory
                .pieces_mut()
                .map(|it| it.clone())
                .chain([Piece {
                    argument: 2,
                    element: Behind::REGISTERED.element(),
                    moment: Moment::Enter,
                    address: 0x1000,
                    state: State::Whole,
                    bytes: [1; 16].into(),
                }])
                .collect(),
        );
        (call.abi, call.number) = (Abi::native().compat().expect("32-bit calls"), 427);
        let told = written(&call, 2, ArgKind::Struct(StructKind::Registration));
        let expected = match operation {
            0 => "0x9000",
            _ => "{nr=1, flags=0, data=0x1000, tags=NULL}",
        };
        assert_eq!(told, expected);
    }
}
