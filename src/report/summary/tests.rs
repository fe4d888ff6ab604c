use super::*;
use perf_records::units::{Nanos, Pid, Tid};
use syscall_model::{ShortName, names};

/// A call of thread `thread` of process 10 that was entered at 1 µs and took so long.
fn call(thread: u32, name: &str, time: u64, value: i64) -> Call {
    let number = names::number(Abi::native(), name).expect("a name of a call");
    Call {
        actor: Actor {
            thread: ThreadId(thread),
            pid: Pid(10),
            tid: Tid(10 + thread),
            comm: ShortName::new(b"prog"),
        },
        abi: Abi::native(),
        number: number as i32,
        entry: Entry::Seen {
            time: Nanos(1000),
            args: [0; 6],
        },
        outcome: Outcome::Returned {
            time: Nanos(1000 + time),
            value,
        },
        memory: Default::default(),
        files: Default::default(),
        places: Default::default(),
        injected: Default::default(),
    }
}

fn without_end(thread: u32, name: &str) -> Call {
    Call {
        outcome: Outcome::NeverReturned,
        ..call(thread, name, 0, 0)
    }
}

fn sum(by_thread: bool) -> Summary {
    let mut summary = Summary::new(by_thread);
    for call in [
        call(0, "openat", 3_000_000, 3),
        call(0, "openat", 1_000_000, -2),
        call(1, "openat", 1_000, -2),
        call(0, "close", 500, -9),
        call(0, "getpid", 250, 10),
        call(0, "getpid", 250, 10),
        call(0, "getpid", 250, 10),
        without_end(0, "exit_group"),
    ] {
        summary.call(&call);
    }
    summary
}

fn text(summary: &Summary, order: SummaryOrder) -> String {
    let mut out = String::new();
    summary.text(&mut out, order, None);
    out
}

/// The calls of the first table, from above.
fn order(order: SummaryOrder) -> Vec<String> {
    let text = text(&sum(false), order);
    let rows = text
        .lines()
        .skip(2)
        .take_while(|line| !line.starts_with('-'));
    rows.filter_map(|row| row.split_whitespace().next_back())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_tables_add_up_what_was_called() {
    let expected = "\
% time     total ms      min us      avg us      max us     calls    errors  call
------ ------------ ----------- ----------- ----------- --------- ---------  ----------------
 99.97        4.001       1.000    1333.666    3000.000         3         2  openat
  0.02        0.001       0.250       0.250       0.250         3            getpid
  0.01        0.001       0.500       0.500       0.500         1         1  close
  0.00        0.000           -           -           -         1            exit_group
------ ------------ ----------- ----------- ----------- --------- ---------  ----------------
100.00        4.002       0.250     571.750    3000.000         8         3  total

   errors  error             call
---------  ----------------  ----------------
        2  ENOENT            openat
        1  EBADF             close
";
    assert_eq!(text(&sum(false), SummaryOrder::Time), expected);
}

#[test]
fn the_order_is_the_one_that_was_asked_for() {
    let names = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    for (by, expected) in [
        (SummaryOrder::Time, "openat getpid close exit_group"),
        (SummaryOrder::Calls, "getpid openat close exit_group"),
        (SummaryOrder::Errors, "openat close exit_group getpid"),
        (SummaryOrder::Name, "close exit_group getpid openat"),
    ] {
        assert_eq!(order(by), names(expected), "{by:?}");
    }
}

#[test]
fn each_thread_has_its_tables_where_they_are_asked_for() {
    let text = text(&sum(true), SummaryOrder::Time);
    let headings: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("process") || line.starts_with("thread"))
        .collect();
    assert_eq!(
        headings,
        ["process 10 prog", "thread 11 prog of process 10"]
    );
    let totals: Vec<u64> = text
        .lines()
        .filter(|line| line.ends_with("total"))
        .filter_map(|line| line.split_whitespace().nth(5)?.parse().ok())
        .collect();
    assert_eq!(totals, [7, 1]);
}

#[test]
fn what_is_not_complete_says_so_before_anything_else() {
    let mut out = String::new();
    let complaints = ["`e`: 500 counted, 73 records, 427 lost".to_owned()];
    sum(false).text(&mut out, SummaryOrder::Time, Some((427, &complaints)));
    let expected = "INCOMPLETE: 427 records lost; there was more than these tables count\n  \
                    `e`: 500 counted, 73 records, 427 lost\n\n% time";
    assert!(out.starts_with(expected), "{out}");
}

#[test]
fn a_call_without_an_end_or_a_beginning_is_counted_and_has_no_time() {
    let mut summary = Summary::default();
    let uncorking = Call {
        entry: Entry::Uncorking,
        ..call(0, "execve", 5, 0)
    };
    let no_beginning = Call {
        entry: Entry::Missing,
        ..call(0, "execve", 5, -38)
    };
    let no_end = Call {
        outcome: Outcome::Missing,
        ..call(0, "execve", 5, 0)
    };
    for call in [
        uncorking,
        no_beginning,
        no_end,
        call(0, "execve", 70, -2),
        without_end(0, "execve"),
    ] {
        summary.call(&call);
    }
    let mut out = String::new();
    summary.json(&mut out, SummaryOrder::Time);
    assert_eq!(
        out,
        "{\"type\":\"summary_row\",\"name\":\"execve\",\"calls\":5,\"errors\":2,\"timed\":1,\"total_ns\":70,\"min_ns\":70,\
         \"avg_ns\":70,\"max_ns\":70,\"errnos\":{\"ENOENT\":1,\"ENOSYS\":1}}\n"
    );
}

#[test]
fn an_interruption_is_an_error_as_it_is_to_strace() {
    let mut summary = Summary::default();
    summary.call(&Call {
        outcome: Outcome::Interrupted {
            time: Nanos(3000),
            errno: 512,
        },
        ..call(0, "read", 0, 0)
    });
    let text = text(&summary, SummaryOrder::Time);
    assert!(
        text.ends_with("        1  ERESTARTSYS       read\n"),
        "{text}"
    );
}

#[test]
fn events_and_calls_of_other_conventions_have_rows_of_their_own() {
    let mut summary = Summary::new(true);
    let native = call(0, "getpid", 250, 10);
    let foreign = Call {
        abi: Abi::native().compat().expect("a 32-bit convention"),
        number: 20,
        ..native.clone()
    };
    summary.call(&native);
    summary.call(&foreign);
    let tracepoint: Arc<str> = "sched:sched_switch".into();
    summary.event(&native.actor, &tracepoint);
    summary.event(&native.actor, &tracepoint);
    let mut out = String::new();
    summary.json(&mut out, SummaryOrder::Name);
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 3, "{out}");
    assert!(lines.iter().all(|line| line["tid"] == 10));
    assert!(lines.iter().any(|line| line["abi"].is_string()));
    assert_eq!(
        (&lines[2]["type"], &lines[2]["name"], &lines[2]["count"]),
        (
            &"summary_event".into(),
            &"sched:sched_switch".into(),
            &2.into()
        )
    );
    let text = text(&summary, SummaryOrder::Name);
    assert!(
        text.ends_with("\n        2  sched:sched_switch\n"),
        "{text}"
    );
}
