#![expect(clippy::unwrap_used, reason = "a test may panic")]

use crate::matrix::{Column, Matrix, Printed, Trouble};
use crate::report::matrix::MatrixReport;
use crate::report::matrix::tests::{column, matrix};

fn page(matrix: &Matrix) -> String {
    let mut out = String::new();
    MatrixReport::of(matrix).html(&mut out);
    out
}

#[test]
fn a_cell_that_differs_leads_to_what_differs_below_its_row() {
    let html = page(&matrix());
    // The second scenario, on the third kernel.
    assert!(
        html.contains("<td class=\"fail\"><a href=\"#s1k2\">fail<small class=\"behaviour\">\u{2260} behaviour</small></a></td>"),
        "{html}"
    );
    let (_, row) = html.split_once("<th scope=\"row\">files/mv</th>").unwrap();
    let (row, _) = row.split_once("</tbody>\n<tbody").unwrap();
    assert_eq!(row.matches("id=\"s1k2\"").count(), 1, "{row}");
    for part in [
        "the trace is another:",
        "6.1 \u{2192} 7.2: pass, then fail</h4>",
        "<code>fchmod</code> returns -1 EIO instead of 0",
        "<th scope=\"col\">6.1 (6.1.0-amd64)</th><th scope=\"col\">7.2 (7.2.0-amd64)</th>",
        "= <del>0</del></td>",
    ] {
        assert!(row.contains(part), "{part}: {row}");
    }
}

#[test]
fn every_link_leads_to_one_place_of_the_page() {
    let html = page(&matrix());
    let links: Vec<&str> = html
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(links.len() >= 8, "{links:?}");
    for link in links {
        let id = link
            .strip_prefix('#')
            .expect("nothing is linked but places of the page");
        assert_eq!(
            html.matches(&format!("id=\"{id}\"")).count(),
            1,
            "{id}: {html}"
        );
    }
}

#[test]
fn what_stands_in_a_trace_is_no_markup() {
    const EVIL: &str = "<script>alert('\u{1b}[2J')</script><img src=x onerror=alert(1)>";
    let evil = format!("  write(1, \"{EVIL}\") = 1\n");
    let old = column("<6.1>", &[(EVIL, "pass", "", "  close(3) = 0\n")]);
    let mut new = column(EVIL, &[(EVIL, "fail", EVIL, &evil)]);
    new.trouble = Some(Trouble {
        printed: Printed::of("it said", EVIL),
        ..Trouble::from(EVIL)
    });
    let html = page(&Matrix::new(vec![old, new], []));
    assert!(
        html.contains("&lt;script&gt;alert(&#39;<i>\\u{1b}</i>[2J&#39;)"),
        "{html}"
    );
    for no in ["<script", "<img", "<6.1>", "\u{1b}", "\0"] {
        assert!(!html.contains(no), "{no:?}: {html}");
    }
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let html = page(&matrix());
    for no in ["http", "url(", "@import", "src=", "<link", "<script"] {
        // The policy that forbids all of it says so in an attribute.
        let text = html.replace("http-equiv", "");
        assert!(!text.contains(no), "{no}");
    }
}

#[test]
fn what_is_equal_is_not_in_the_page() {
    let kernels = |lines: usize| {
        let trace = "  read(3, \"xyz\", 3) = 3\n".repeat(lines);
        let of = |kernel: &str| column(kernel, &[("a", "pass", "", trace.as_str())]);
        page(&Matrix::new(vec![of("6.1"), of("7.2")], []))
    };
    let small = kernels(1);
    assert_eq!(small, kernels(1_000));
    assert!(
        !small.contains("xyz") && !small.contains("<details"),
        "{small}"
    );
}

#[test]
fn a_thousand_scenarios_on_six_kernels_take_some_hundred_bytes_each() {
    let names: Vec<String> = (0..1000)
        .map(|n| format!("folder/scenario-{n:04}"))
        .collect();
    let of = |kernel: &usize| {
        let told: Vec<_> = names
            .iter()
            .map(|name| (name.as_str(), "pass", "", "  close(3) = 0\n"))
            .collect();
        column(&format!("6.{kernel}"), &told)
    };
    let columns: Vec<Column> = [1, 6, 12, 15, 18, 19].iter().map(of).collect();
    let html = page(&Matrix::new(columns, []));
    assert!(html.len() < 300 * 1000, "{}", html.len());
}

#[test]
fn a_guest_that_died_shows_the_end_of_its_console() {
    let mut died = Column::of("6.1");
    died.trouble = Some(Trouble {
        printed: Printed::of("the end of its console", "Kernel panic"),
        ..Trouble::from("the guest ended")
    });
    let fine = column("7.2", &[("a", "pass", "", "")]);
    let html = page(&Matrix::new(vec![died, fine], []));
    assert!(
        html.contains("<summary>6.1: the guest ended</summary><pre>the end of its console:\n    Kernel panic\n</pre>"),
        "{html}"
    );
    // It is said there, and not below each scenario.
    assert!(
        html.contains("<td class=\"broken\"><a href=\"#k0\">broken</a></td>"),
        "{html}"
    );
    assert!(!html.contains("class=\"more\""), "{html}");
}

#[test]
fn what_was_interrupted_is_no_broken_scenario() {
    let told = [("a", "pass", "", ""), ("b", "pass", "", "")];
    let mut interrupted = column("6.1", &told[..1]);
    interrupted.interrupt();
    let html = page(&Matrix::new(vec![column("5.10", &told), interrupted], []));
    for it in [
        "<span class=\"broken\">1 interrupted</span>",
        "<th scope=\"col\" class=\"n\">pass</th><th scope=\"col\" class=\"n\">interrupted</th>",
        "<td class=\"n broken\" data-word=\"interrupted\">1</td>",
        "<td class=\"broken\"><a href=\"#k1\">interrupted</a></td>",
    ] {
        assert!(html.contains(it), "{it}: {html}");
    }
    for no in ["broken</", "id=\"any-broken\""] {
        assert!(!html.contains(no), "{no}: {html}");
    }
}

#[test]
fn what_an_upgrade_says_of_a_skip_is_said_once() {
    let html = page(&matrix());
    let (_, row) = html.split_once("<th scope=\"row\">new</th>").unwrap();
    assert_eq!(row.matches("needs the tracepoint").count(), 1, "{row}");
    // The kernel that skipped it leads there as well.
    assert!(
        row.contains("<h4><span id=\"s3k0\"></span><span id=\"s3k1\"></span>5.10"),
        "{row}"
    );
}

#[test]
fn the_whole_trace_is_folded_once_for_all_kernels_that_have_it() {
    let html = page(&matrix());
    let (_, row) = html.split_once("<th scope=\"row\">files/mv</th>").unwrap();
    let (row, _) = row.split_once("</tbody>\n<tbody").unwrap();
    let folds: Vec<&str> = row.split("<details class=\"whole\">").skip(1).collect();
    let mut kernels = Vec::new();
    for fold in &folds {
        let (head, rest) = fold.split_once("</summary><pre>").unwrap();
        let named = head.strip_prefix("<summary>The trace on ").unwrap();
        let (named, count) = named.split_once(": ").unwrap();
        kernels.extend(named.split(", "));
        let (trace, _) = rest.split_once("</pre>").unwrap();
        let lines = trace.lines().count();
        assert!(count.starts_with(&format!("{lines} line")), "{head}");
    }
    kernels.sort_unstable();
    assert_eq!((folds.len(), kernels), (2, vec!["5.10", "6.1", "7.2"]));
}

#[test]
fn the_page_says_when_it_was_made_if_it_is_told() {
    let matrix = matrix();
    assert!(!page(&matrix).contains("<time"));
    let when = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_709_251_199);
    let mut out = String::new();
    MatrixReport::of(&matrix).made(when).html(&mut out);
    let time = "<time datetime=\"2024-02-29T23:59:59Z\">2024-02-29 23:59:59 UTC</time>";
    assert!(out.contains(time), "{out}");
}
