#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::*;

fn shown(first: &str, second: &str) -> String {
    let mut out = String::new();
    for row in side_by_side(first, second) {
        let sign = if row.is_same { '=' } else { '!' };
        let cell = |cell: Option<&str>| cell.unwrap_or("-").trim().to_owned();
        out.push_str(&format!(
            "{sign} {} | {}\n",
            cell(row.left),
            cell(row.right)
        ));
    }
    out
}

#[test]
fn a_process_that_only_one_has_stands_alone_and_renumbers_nobody() {
    let first = "# trace 2, level sequence\n\nP1 sh\n  wait4(P2) = P2\n\nP2 cat, child of P1\n  close(3) = 0\n";
    let second = "# trace 2, level sequence\n\nP1 sh\n  wait4(P3) = P3\n\nP2 tool, child of P1\n  brk(NULL) = <addr>\n\n\
P3 cat, child of P1\n  close(3) = 0\n";
    let said = "= # trace 2, level sequence | # trace 2, level sequence\n\
= P1 sh | P1 sh\n\
= wait4(P2) = P2 | wait4(P3) = P3\n\
! - | P2 tool, child of P1\n\
! - | brk(NULL) = <addr>\n\
= P2 cat, child of P1 | P3 cat, child of P1\n\
= close(3) = 0 | close(3) = 0\n";
    assert_eq!(shown(first, second), said);
}

#[test]
fn who_was_waited_for_is_no_renumbering() {
    let first = "P1 sh\n  wait4(P2) = P2\n\nP2 cat, child of P1\n  close(3) = 0\n";
    let second =
        "P1 sh\n  wait4(P2) = P2\n\nP2 tool, child of P1\n\nP3 cat, child of P1\n  close(3) = 0\n";
    assert!(shown(first, second).contains("! wait4(P2) = P2 | wait4(P2) = P2\n"));
}

#[test]
fn of_like_processes_those_belong_together_that_do_the_same() {
    let first =
        "P1 sh\n\nP2 cat, child of P1\n  a() = 0\n\nP3 cat, child of P1\n  b() = 0\n  c() = 0\n";
    let second = "P1 sh\n\nP2 cat, child of P1\n  b() = 0\n  c() = 0\n";
    let said = "= P1 sh | P1 sh\n! P2 cat, child of P1 | -\n! a() = 0 | -\n\
= P3 cat, child of P1 | P2 cat, child of P1\n= b() = 0 | b() = 0\n= c() = 0 | c() = 0\n";
    assert_eq!(shown(first, second), said);
}

#[test]
fn a_call_more_among_calls_of_its_name_is_the_only_difference() {
    let first = "P1 sh\n  openat(\"b\") = 3\n  openat(\"c\") = 3\n";
    let second = "P1 sh\n  openat(\"a\") = 3\n  openat(\"b\") = 3\n  openat(\"c\") = 3\n";
    assert_eq!(shown(first, second).matches('!').count(), 1);
}

#[test]
fn a_program_under_another_name_is_the_same_process() {
    let first = "P1 mawk\n  a() = 0\n  b() = 0\n";
    let second = "P1 gawk\n  a() = 0\n  b() = 0\n";
    let said = "! P1 mawk | P1 gawk\n= a() = 0 | a() = 0\n= b() = 0 | b() = 0\n";
    assert_eq!(shown(first, second), said);
    let changes = aligned(&TraceText::read(first), &TraceText::read(second));
    let said = [
        Change::Gone("P1", "mawk".to_owned(), 2),
        Change::Came("P1", "gawk".to_owned(), 2),
    ];
    assert_eq!(changes, said);
}

#[test]
fn counts_and_sets_are_compared_by_name() {
    let first = "# trace 2, level counts\n\nP1 sh\n  close 3\n  read 4\n\nprogram cat, level set\n  close\n";
    let second = "# trace 2, level counts\n\nP1 sh\n  close 3\n  openat 1\n  read 5\n\nprogram cat, level set\n  close\n  dup\n";
    let differing: Vec<String> = shown(first, second)
        .lines()
        .filter(|line| line.starts_with('!'))
        .map(str::to_owned)
        .collect();
    assert_eq!(
        differing,
        ["! - | openat 1", "! read 4 | read 5", "! - | dup"]
    );
}

/// A source of numbers that is the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 8).unwrap() % end
    }

    fn line(&mut self) -> String {
        let name = ["read", "write", "close", "openat"][self.below(4)];
        format!("  {name}({}) = {}", self.below(6), self.below(3))
    }

    /// Blocks, each with its lines.
    fn trace(&mut self) -> Vec<Vec<String>> {
        let of_block = |(it, number): (&mut Self, usize)| {
            let program = ["sh", "cat", "ls"][it.below(3)];
            let head = match number {
                1 => format!("P1 {program}"),
                _ => format!(
                    "P{number} {program}, child of P{}",
                    it.below(number - 1) + 1
                ),
            };
            let lines = it.below(12);
            std::iter::once(head)
                .chain((0..lines).map(|_| it.line()))
                .collect()
        };
        let blocks = 1 + self.below(5);
        (1..=blocks)
            .map(|number| of_block((self, number)))
            .collect()
    }
}

fn text(trace: &[Vec<String>]) -> String {
    let blocks: Vec<String> = trace.iter().map(|block| block.join("\n")).collect();
    format!("# trace 2, level sequence\n\n{}\n", blocks.join("\n\n"))
}

fn differing(first: &str, second: &str) -> usize {
    let rows = side_by_side(first, second);
    rows.iter().filter(|row| !row.is_same).count()
}

#[test]
fn of_any_trace_and_itself_no_row_differs() {
    let mut chance = Chance(1);
    for _ in 0..500 {
        let trace = text(&chance.trace());
        assert_eq!(differing(&trace, &trace), 0, "{trace}");
    }
}

#[test]
fn no_line_is_lost_and_none_comes_twice() {
    let mut chance = Chance(2);
    for _ in 0..500 {
        let (first, second) = (text(&chance.trace()), text(&chance.trace()));
        let rows = side_by_side(&first, &second);
        let sides: [fn(&Row<'_>) -> Option<String>; 2] = [
            |row| row.left.map(str::to_owned),
            |row| row.right.map(str::to_owned),
        ];
        for (side, text) in sides.into_iter().zip([&first, &second]) {
            let told: Vec<String> = rows.iter().filter_map(side).collect();
            let all: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
            assert_eq!(told, all);
        }
    }
}

#[test]
fn so_many_edits_of_lines_are_at_most_so_many_rows() {
    let mut chance = Chance(3);
    for _ in 0..500 {
        let trace = chance.trace();
        let mut edited = trace.clone();
        let edits = chance.below(5);
        for _ in 0..edits {
            let place = chance.below(edited.len());
            let block = &mut edited[place];
            let at = 1 + chance.below(block.len());
            match chance.below(3) {
                0 => block.insert(at, chance.line()),
                _ if at >= block.len() => {}
                1 => {
                    block.remove(at);
                }
                // The same call with another result.
                _ => block[at].push('7'),
            }
        }
        let (before, after) = (text(&trace), text(&edited));
        let rows = differing(&before, &after);
        assert!(rows <= edits, "{rows} > {edits}:\n{before}\n{after}");
    }
}

#[test]
fn either_way_round_the_same_lines_differ() {
    let mut chance = Chance(4);
    for _ in 0..500 {
        let (first, second) = (text(&chance.trace()), text(&chance.trace()));
        let mut there: Vec<_> = side_by_side(&first, &second)
            .into_iter()
            .filter(|row| !row.is_same)
            .map(|row| (row.left, row.right))
            .collect();
        let mut back: Vec<_> = side_by_side(&second, &first)
            .into_iter()
            .filter(|row| !row.is_same)
            .map(|row| (row.right, row.left))
            .collect();
        there.sort_unstable();
        back.sort_unstable();
        assert_eq!(there, back, "{first}\n{second}");
    }
}

#[test]
fn long_traces_that_differ_in_all_lines_are_compared_without_much_memory() {
    let lines = |from: usize| -> String {
        let line = |number: usize| format!("  read({number}) = 0\n");
        format!(
            "P1 sh\n{}",
            (from..from + 20_000).map(line).collect::<String>()
        )
    };
    // Half of the lines are common to both.
    let rows = side_by_side(&lines(0), &lines(10_000)).len();
    assert!((30_001..=40_001).contains(&rows), "{rows}");
}

#[test]
fn a_process_of_another_parent_differs_and_one_whose_parent_has_another_number_does_not() {
    let text = |parent: &str| {
        format!(
            "P1 sh\n  fsync(3) = 0\n\nP2 sh, child of P1\n  sync() = 0\n\n\
             P3 cow, child of {parent}\n  sync() = 0\n"
        )
    };
    let differing = |a: &str, b: &str| -> Vec<(Option<String>, Option<String>)> {
        let owned = |line: Option<&str>| line.map(str::to_owned);
        let rows = side_by_side(a, b).into_iter().filter(|row| !row.is_same);
        rows.map(|row| (owned(row.left), owned(row.right)))
            .collect()
    };
    let (first, second) = (text("P1"), text("P2"));
    let head = |parent: &str| Some(format!("P3 cow, child of {parent}"));
    assert_eq!(differing(&first, &second), [(head("P1"), head("P2"))]);
    assert_eq!(differing(&first, &first), []);
    // With a process before it the same parent has another number.
    let more = second
        .replace("P3", "P4")
        .replace("P2", "P3")
        .replace("\nP3 sh", "\nP2 new, child of P1\n  a() = 0\n\nP3 sh");
    let came = |line: &str| (None, Some(line.to_owned()));
    let expected = [came("P2 new, child of P1"), came("  a() = 0")];
    assert_eq!(differing(&second, &more), expected);
    // A parent that is not shown may be any.
    assert_eq!(differing(&text("P8"), &text("P9")), []);
}
