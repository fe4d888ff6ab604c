//! Texts of records that are made here; what perf makes of real formats is in
//! `harness/tests/oracles`.

use super::{Symbols, Text, symbols};
use crate::format::{Format, parse};
use std::fmt::Write as _;

/// Declaration, offset, size, signed.
type Declared = (&'static str, usize, usize, u8);

/// A format with these fields (declaration, offset, size, signed) and this text.
fn format(fields: &[Declared], print_fmt: &str) -> Format {
    let mut text = "name: made\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n".to_owned();
    for (declaration, offset, size, signed) in fields {
        writeln!(
            text,
            "\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};"
        )
        .expect("a string");
    }
    writeln!(text, "\nprint fmt: {print_fmt}").expect("a string");
    parse(&text).expect("a format")
}

/// Fields of every kind, and a record of them.
fn record() -> (Vec<Declared>, Vec<u8>) {
    let fields = vec![
        ("int number", 8, 4, 1),
        ("unsigned int mask", 12, 4, 0),
        ("u64 wide", 16, 8, 0),
        ("char comm[8]", 24, 8, 0),
        ("u8 bytes[16]", 32, 16, 0),
        ("__data_loc char[] text", 48, 4, 0),
        ("__data_loc u32[] list", 52, 4, 0),
        ("__rel_loc char[] late", 56, 4, 0),
        ("s8 tiny", 60, 1, 1),
        ("__data_loc cpumask_t cpus", 64, 4, 0),
        ("__data_loc u8[] socket", 68, 4, 0),
    ];
    let mut payload = vec![0_u8; 72];
    let mut put = |at: usize, bytes: &[u8]| {
        if payload.len() < at + bytes.len() {
            payload.resize(at + bytes.len(), 0);
        }
        payload
            .get_mut(at..at + bytes.len())
            .expect("room")
            .copy_from_slice(bytes);
    };
    put(8, &(-5_i32).to_le_bytes());
    put(12, &6_u32.to_le_bytes());
    put(16, &0xffff_8000_1234_5678_u64.to_le_bytes());
    put(24, b"bash\0old");
    put(
        32,
        &[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    );
    put(48, &((6 << 16) | 72_u32).to_le_bytes());
    put(52, &((8 << 16) | 80_u32).to_le_bytes());
    put(56, &((5 << 16) | (88 - 60_u32)).to_le_bytes());
    put(60, &[0xfe]);
    put(64, &((8 << 16) | 96_u32).to_le_bytes());
    put(68, &((16 << 16) | 104_u32).to_le_bytes());
    put(72, b"hello\0");
    put(80, &[1, 0, 0, 0, 0xff, 0, 0, 0]);
    put(88, b"late\0");
    put(96, &[0b1101, 0, 0, 0, 1, 0, 0, 0]);
    put(104, &[2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    (fields, payload)
}

fn written(print_fmt: &str) -> String {
    let (fields, payload) = record();
    let text = Text::new(&format(&fields, print_fmt));
    assert_eq!(text.why_fields(), None, "{print_fmt}");
    let mut out = Vec::new();
    text.write(&payload, &mut out);
    String::from_utf8(out).expect("text")
}

fn check(print_fmt: &str, expected: &str) {
    assert_eq!(written(print_fmt), expected, "{print_fmt}");
}

/// The value of an expression, as a `%d` of 64 bits.
fn value(expression: &str, expected: i64) {
    check(&format!("\"%lld\", {expression}"), &expected.to_string());
}

#[test]
fn numbers_are_written_as_printf_does() {
    check(
        r#""%d %u %x %X %o %i%%", REC->number, REC->number, REC->mask, 255, 8, REC->number"#,
        "-5 4294967291 6 FF 10 -5%",
    );
    check(
        r#""%5d|%-5d|%05d|%+d|% d|%.3d", 7, 7, 7, 7, 7, 7"#,
        "    7|7    |00007|+7| 7|007",
    );
    check(
        r#""%05d|%-05d|%5.3d", REC->number, REC->number, REC->number"#,
        "-0005|-5   | -005",
    );
    check(
        r#""%#x %#X %#o %#010x", 255, 255, 8, 255"#,
        "0xff 0XFF 010 0x000000ff",
    );
    check(
        r#""%hhd %hu %lx %llx %zu %Lu %jd", -1, -1, REC->wide, REC->wide, REC->wide, 1, -1"#,
        "-1 65535 ffff800012345678 ffff800012345678 18446603336526616184 1 -1",
    );
    check(
        r#""%*d|%-*d|%.*s", 4, 7, 4, 7, 2, REC->comm"#,
        "   7|7   |ba",
    );
}

#[test]
fn a_zero_has_its_prefix_as_in_the_kernel() {
    check(r#""%#x %#lx %#o", 0, 0, 0"#, "0x0 0x0 0");
}

#[test]
fn an_int_is_extended_where_the_conversion_is_wider() {
    check(
        r#""%lx %x", REC->number, REC->tiny"#,
        "fffffffffffffffb fffffffe",
    );
}

#[test]
fn texts_end_at_their_nul_and_take_width_and_precision() {
    check(
        r#""%s %s %s|%8s|%-8s|%.2s|%8.2s|", REC->comm, __get_str(text), __get_rel_str(late), REC->comm, REC->comm, REC->comm, REC->comm"#,
        "bash hello late|    bash|bash    |ba|      ba|",
    );
    check(r#""%c%c" "%s", 'a', 98, "lit" "eral""#, "abliteral");
    check(r#""a\tb\"c\n%s", "\x41\101""#, "a\tb\"c\nAA");
}

#[test]
fn expressions_are_computed_as_in_c() {
    value("1 + 2 * 3", 7);
    value("(1 + 2) * 3", 9);
    value("10 - 4 - 3", 3);
    value("1 << 4 | 1 << 2 & 7", 20);
    value("-7 / 2", -3);
    value("-7 % 4", -3);
    value("REC->number >> 1", -3);
    value("REC->number < 0", 1);
    value("REC->number < 0U", 0);
    value("(u8)REC->number", 251);
    value("(signed char)0xff", -1);
    value("(unsigned long)-1 > 0", 1);
    value("~0", -1);
    value("~0U", 4_294_967_295);
    value("!5 || !0 && 1", 1);
    value("1 == 2 ? 3 : 4 == 4 ? 5 : 6", 5);
    value("REC->mask & 2 ? 10 : 20", 10);
    value("REC->mask & 2 ?: 20", 2);
    value("REC->mask & 1 ?: 20", 20);
    value("REC->mask & (1 | 8)", 0);
    value("0x7fffffff + 1", -2_147_483_648);
    value("4294967296 + 1", 4_294_967_297);
    value("1 / 0", 0);
    value("017", 15);
    value(
        "sizeof(u64) + sizeof(unsigned int) + sizeof(REC->comm) + sizeof(struct page *)",
        28,
    );
    value("__builtin_expect(!!(REC->mask), 0)", 1);
    value("REC->bytes[3]", 0xb8);
    value("__get_str(text)[0] == 'h'", 1);
    value("((u32 *)__get_dynamic_array(list))[1]", 255);
    value("*(u16 *)REC->bytes", 0x120);
    value("__get_dynamic_array_len(list) / sizeof(u32)", 2);
    value("__print_ns_to_secs(5000000007)", 5);
    value("__print_ns_without_secs(5000000007)", 7);
    value("(REC->tiny)", -2);
}

#[test]
fn what_is_not_taken_is_not_computed() {
    check(r#""%s", REC->mask ? "some" : __get_str(text)"#, "some");
    check(
        r#""%s", REC->mask == 6 && REC->number ? REC->number < 0 ? "less" : "more" : "none""#,
        "less",
    );
}

#[test]
fn bits_have_names_and_what_has_none_is_hexadecimal() {
    let flags = r#"{ 1, "A" }, { 2, "B" }, {4,"C"}, { 1 | 2, "AB" }"#;
    check(
        &format!(r#""%s", __print_flags(REC->mask, "|", {flags})"#),
        "B|C",
    );
    check(
        &format!(r#""%s", __print_flags(8 | 1, " | ", {flags})"#),
        "A | 0x8",
    );
    check(&format!(r#""[%s]", __print_flags(0, "|", {flags})"#), "[]");
    check(
        &format!(r#""%s", __print_flags(-1, "", {flags})"#),
        "ABC0xfffffffffffffff8",
    );
    check(
        &format!(r#""%-4s|", __print_flags(1, "|", {flags})"#),
        "A   |",
    );
}

#[test]
fn the_name_of_no_bit_is_shown_beside_others_as_the_kernel_does() {
    check(
        r#""[%s] [%s]", __print_flags(1, "|", { 0, "none" }, { 1, "A" }), __print_flags(0, "|", { 0, "none" })"#,
        "[none|A] []",
    );
}

#[test]
fn numbers_have_names() {
    let names = r#"{ 6, "six" }, { -5, "less" }, { UNKNOWN, "unknown" }"#;
    check(
        &format!(
            r#""%s %s %s", __print_symbolic(REC->mask, {names}), __print_symbolic(REC->number, {names}), __print_symbolic(7, {names})"#
        ),
        "six less 0x7",
    );
}

#[test]
fn arrays_and_sets_are_written_as_the_kernel_writes_them() {
    check(
        r#""%s", __print_array(__get_dynamic_array(list), __get_dynamic_array_len(list) / 4, 4)"#,
        "{0x1,0xff}",
    );
    check(
        r#""%s", __print_dynamic_array(list, sizeof(u32))"#,
        "{0x1,0xff}",
    );
    check(
        r#""%s %s", __print_hex(REC->bytes, 4), __print_hex_str(REC->bytes, 4)"#,
        "20 01 0d b8 20010db8",
    );
    check(
        r#""%*ph %*phC %*phN", 3, REC->bytes, 3, REC->bytes, 3, REC->bytes"#,
        "20 01 0d 20:01:0d 20010d",
    );
    check(
        r#""%s %s", __get_cpumask(cpus), __get_bitmask(cpus)"#,
        "00000001,0000000d 00000001,0000000d",
    );
    check(
        r#""%*pbl %*pb", 64, __get_dynamic_array(cpus), 12, __get_dynamic_array(cpus)"#,
        "0,2-3,32 00d",
    );
}

#[test]
fn a_length_that_is_too_large_ends_with_the_record() {
    check(
        r#""%s|%s", __print_hex_str(__get_dynamic_array(list), 1000), __print_hex_str(REC->bytes, -1)"#,
        "01000000ff000000|",
    );
}

#[test]
fn addresses_are_written_by_their_kind() {
    check(
        r#""%pI6 %pi6", REC->bytes, REC->bytes"#,
        "2001:0db8:0000:0000:0000:0000:0000:0001 20010db8000000000000000000000001",
    );
    check(
        r#""%pI6c %pI4 %pi4", REC->bytes, REC->bytes, REC->bytes"#,
        "2001:db8::1 32.1.13.184 032.001.013.184",
    );
    check(r#""%pI4 %pI4l", &REC->mask, &REC->mask"#, "6.0.0.0 0.0.0.6");
    check(
        r#""%pM %pm %pMR %pMF", REC->bytes, REC->bytes, REC->bytes, REC->bytes"#,
        "20:01:0d:b8:00:00 20010db80000 00:00:b8:0d:01:20 20-01-0d-b8-00-00",
    );
    check(
        r#""%pU", REC->bytes"#,
        "20010db8-0000-0000-0000-000000000001",
    );
    check(
        r#""%pUL", REC->bytes"#,
        "B80D0120-0000-0000-0000-000000000001",
    );
    check(r#""%pISpc", __get_sockaddr(socket)"#, "127.0.0.1:80");
    check(r#""%pISpc", REC->bytes"#, "(einval)");
    check(r#""%p %p", REC->wide, 0"#, "0xffff800012345678 (nil)");
}

#[test]
fn a_function_is_named_where_somebody_knows_it() {
    let (fields, payload) = record();
    let text = Text::new(&format(
        &fields,
        r#""%pS %ps %pS", REC->wide, REC->wide, REC->mask"#,
    ));
    let known = |address: u64| (address > 100).then_some(("vfs_read".into(), address & 0xff));
    let mut out = Vec::new();
    text.write_with(&payload, &known, &mut out);
    assert_eq!(out, b"vfs_read+0x78 vfs_read 0x6");
}

#[test]
fn what_cannot_be_evaluated_is_said_and_printed_by_fields() {
    let fields = [("int number", 8, 4, 1), ("char comm[4]", 12, 4, 0)];
    let payload = [7, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, b'a', 0, 0, 0];
    for (print_fmt, why) in [
        (
            r#""%d", some_function(REC->number)"#,
            "a call of `some_function`",
        ),
        (r#""%d", REC->absent"#, "the event has no field `absent`"),
        (r#""%d", jiffies"#, "the name `jiffies`"),
        (r#""%d", ({ int a = 1; a; })"#, "statements"),
        (r#""%d", REC->number.member"#, "a member of a structure"),
        (
            r#""%d %d", REC->number"#,
            "fewer arguments than conversions",
        ),
        (r#""%d", REC->comm"#, "a number of what is none"),
        (r#""%d", (1"#, "a bracket that does not end"),
        (r#""%d"#, "a string that does not end"),
        (r#""%y", 1"#, "the conversion `%y`"),
        ("", "no format string"),
    ] {
        let text = Text::new(&format(&fields, print_fmt));
        assert_eq!(text.why_fields(), Some(why), "{print_fmt}");
        let mut out = Vec::new();
        text.write(&payload, &mut out);
        assert_eq!(out, b"number=-1 comm=\"a\"", "{print_fmt}");
    }
}

#[test]
fn a_record_cut_anywhere_has_a_text() {
    let (fields, payload) = record();
    let text = Text::new(&format(
        &fields,
        r#""%d %s %s %s", REC->number, REC->comm, __get_str(text), __print_array(__get_dynamic_array(list), 2, 4)"#,
    ));
    for end in 0..payload.len() {
        let mut out = b"before ".to_vec();
        text.write(payload.get(..end).expect("a beginning"), &mut out);
        let out = String::from_utf8(out).expect("text");
        let is_whole = out == "before -5 bash hello {0x1,0xff}";
        assert!(
            is_whole || out.starts_with("before number="),
            "{end}: {out}"
        );
        assert_eq!(is_whole, end >= 88, "{end}: {out}");
    }
}

#[test]
fn the_names_of_a_field_are_found_wherever_they_are() {
    let fields = [("int state", 8, 4, 1), ("int other", 12, 4, 1)];
    let found = |print_fmt: &str| symbols(&format(&fields, print_fmt), "state");
    let table = |are_flags, mask| {
        let entries = vec![(1, "one".to_owned()), (2, "two".to_owned())];
        Some(Symbols {
            are_flags,
            mask,
            entries,
        })
    };
    let names = r#"{ 1, "one" }, { 2, "two" }"#;
    assert_eq!(
        found(&format!(
            r#""%d %s", REC->other, __print_symbolic(REC->state, {names})"#
        )),
        table(false, u64::MAX)
    );
    assert_eq!(
        found(&format!(
            r#""%s", (REC->state & 3) ? __print_flags(REC->state & 3, "|", {names}) : "R""#
        )),
        table(true, 3)
    );
    assert_eq!(
        found(&format!(
            r#""%s", __print_symbolic((u8)REC->state, {names})"#
        )),
        table(false, 0xff)
    );
    assert_eq!(
        found(&format!(r#""%s", __print_symbolic(REC->other, {names})"#)),
        None
    );
    let flags = table(true, 7).expect("a table");
    assert_eq!(flags.flags(0xff), (vec!["one", "two"], 4));
    assert_eq!(
        (flags.name(1), table(false, 3).expect("a table").name(5)),
        (None, Some("one"))
    );
}

#[test]
fn brackets_are_read_to_a_depth_and_chains_to_a_length() {
    let fields = [("int number", 8, 4, 1)];
    let why = |expression: String| {
        Text::new(&format(&fields, &format!("\"%d\", {expression}")))
            .why_fields()
            .map(str::to_owned)
    };
    assert_eq!(why(format!("{}1{}", "(".repeat(40), ")".repeat(40))), None);
    for open in ["(", "-", "!", "1 ? ", "*", "(u8)", "REC->number + ("] {
        assert!(why(open.repeat(100_000)).is_some(), "{open}");
    }
    assert_eq!(
        why("1 + ".repeat(10_000) + "1"),
        None,
        "what is constant is computed at once"
    );
    assert_eq!(
        why("REC->number + ".repeat(10_000) + "1").as_deref(),
        Some("too many operators")
    );
    assert!(why(format!("REC->number{}", "[0]".repeat(10_000))).is_some());
}

#[test]
fn no_text_panics_and_no_record_does() {
    const SEED: &str = r#""a %-*.*s %#08llx %pI6c %*pbl %s %s %d", 3, 2, REC->comm, REC->wide, REC->bytes, 8, REC->bytes, __print_flags(REC->mask & (1 << 2), "|", { 1, "A" }, { (2), "B" }), REC->number < 0 ? __get_str(text) : "x", sizeof(u64) * ((u8 *)REC->bytes)[2]"#;
    const PIECES: [&str; 24] = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\"",
        "%",
        "REC->",
        "number",
        "__print_symbolic(",
        "?",
        ":",
        "<<",
        "-",
        "1",
        "0x",
        "*",
        "&",
        "sizeof(",
        "'",
        "\\",
        "%*p",
    ];
    let (fields, payload) = record();
    let mut state = 1_u64;
    let mut roll = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state).expect("64 bits") % below
    };
    let mut whole = 0;
    for _ in 0..20_000 {
        let mut print_fmt = SEED.to_owned();
        for _ in 0..=roll(3) {
            let at = roll(print_fmt.len());
            let piece = PIECES.get(roll(PIECES.len())).expect("a piece");
            match roll(3) {
                0 => print_fmt.insert_str(at, piece),
                1 => print_fmt.replace_range(at..=at, piece),
                _ => print_fmt.truncate(at.max(1)),
            }
        }
        let text = Text::new(&format(&fields, &print_fmt));
        whole += usize::from(text.why_fields().is_none());
        let mut out = Vec::new();
        let mut noise = payload.clone();
        let at = roll(noise.len());
        if let Some(byte) = noise.get_mut(at) {
            *byte = roll(256) as u8;
        }
        text.write(&noise, &mut out);
        assert!(out.len() < 10_000, "{print_fmt}");
    }
    assert!(whole > 500, "{whole} of them can be evaluated");
}
