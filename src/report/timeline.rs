//! A run in the Trace Event Format, which Perfetto and Chrome's `about:tracing` read.
//!
//! A call is a slice of its thread, an event or signal an instant, a span a slice of its own, and
//! the time that a thread is on a CPU a slice of that CPU.
//!
//! # References
//! "Trace Event Format" (catapult project); `json_trace_parser_impl.cc` of Perfetto.

use super::chain::chain_lines;
use super::json::{Exit, Object, arguments, value};
use super::line;
use super::signal::Delivered;
use super::span::Span;
use super::summary::duration;
use crate::trace::TracedEvent;
use perf_live::units::ExitKind;
use perf_records::space::Stack;
use perf_records::units::{Cpu, Nanos};
use std::collections::HashMap;
use syscall_model::signals::signal_name;
use syscall_model::{Actor, Call, Signatures, Values, returns, write_result};

/// The process that the CPUs are shown as: its id is above any of Linux
/// (`PID_MAX_LIMIT`, `include/linux/threads.h`).
const CPUS: u32 = 1 << 22 | 1;

/// A time that a thread was on a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnCpu {
    /// The CPU.
    pub cpu: Cpu,
    /// The thread's id.
    pub tid: u32,
    /// The thread's name.
    pub comm: String,
    /// When it came.
    pub from: Nanos,
    /// When it left.
    pub to: Nanos,
}

/// Writes a run in the Trace Event Format.
#[derive(Debug, Default)]
pub struct Timeline {
    has_begun: bool,
    /// What threads and CPUs were called last.
    named: HashMap<(u32, u32), String>,
    n_spans: u64,
}

impl Timeline {
    /// Appends a call, with the functions that led to it if they are known.
    pub fn call(
        &mut self,
        out: &mut String,
        call: &Call,
        stack: Option<&Stack>,
        signatures: &Signatures<'_>,
        values: &mut impl Values,
    ) {
        self.name(out, &call.actor);
        let mut name = String::new();
        line::name(&mut name, call);
        let phase = match duration(call) {
            Some(_) => "X",
            None => "i",
        };
        self.entry(out, phase, "syscall", &name, |entry| {
            place(entry, &call.actor, call.time());
            match duration(call) {
                Some(duration) => micros(entry, "dur", duration),
                None => entry.put("s", "t"),
            }
            entry.object("args", |args| {
                signatures.with(call.abi, call.number, |signature| {
                    args.object("arguments", |own| {
                        arguments(call, signature, values, |_, name, _, text| {
                            own.put(name, text)
                        });
                    });
                    let mut result = String::new();
                    write_result(&mut result, call, returns(call, signature), values);
                    args.put("result", &result);
                });
                chain(args, stack);
            });
        });
    }

    /// Appends an event, with the functions that led to it if they are known.
    pub fn event(
        &mut self,
        out: &mut String,
        (actor, time, cpu): (&Actor, Nanos, Cpu),
        event: &TracedEvent,
        stack: Option<&Stack>,
    ) {
        self.name(out, actor);
        self.entry(out, "i", "event", &event.name, |entry| {
            place(entry, actor, time);
            entry.put("s", "t");
            entry.object("args", |args| {
                args.put("cpu", cpu.0);
                // Beside our own members a field of the same name would stand twice.
                args.object("fields", |fields| {
                    for (name, it) in &event.fields {
                        fields.member(name, |out| value(out, it));
                    }
                });
                chain(args, stack);
            });
        });
    }

    /// Appends a signal that was delivered.
    pub fn signal(&mut self, out: &mut String, signal: &Delivered) {
        self.name(out, &signal.actor);
        let name = signal_name(signal.signal);
        self.entry(out, "i", "signal", &name, |entry| {
            place(entry, &signal.actor, signal.time);
            entry.put("s", "t");
            entry.object("args", |args| {
                args.put("code", signal.code_text());
                args.put("sender_pid", signal.sender);
                args.put("kills", signal.kills());
            });
        });
    }

    /// Appends a span: of one without its begin only the end, and the other way round.
    pub fn span(&mut self, out: &mut String, span: &Span) {
        self.n_spans += 1;
        let id = self.n_spans;
        let begin = span.begin.as_ref().map(|end| (end, "b", end.from));
        let end = span.end.as_ref().map(|end| (end, "e", end.to));
        let ends = [begin, end];
        // One without the other end is an instant.
        let is_whole = ends.iter().all(Option::is_some);
        for (end, phase, time) in ends.into_iter().flatten() {
            self.name(out, &end.actor);
            let phase = if is_whole { phase } else { "n" };
            self.entry(out, phase, "span", &span.name, |entry| {
                place(entry, &end.actor, time);
                entry.put("id", id);
                entry.object("args", |args| {
                    for (name, it) in span.key.iter().chain(&end.fields) {
                        args.member(name, |out| value(out, it));
                    }
                });
            });
        }
    }

    /// Appends the time that a thread was on a CPU.
    pub fn on_cpu(&mut self, out: &mut String, of: &OnCpu) {
        let cpu = of.cpu.0;
        self.is_called(out, (CPUS, cpu), "CPUs", &format!("CPU {cpu}"));
        self.entry(out, "X", "sched", &of.comm, |entry| {
            entry.put("pid", CPUS);
            entry.put("tid", cpu);
            micros(entry, "ts", of.from.0);
            micros(entry, "dur", of.to.0.saturating_sub(of.from.0));
            entry.object("args", |args| args.put("tid", of.tid));
        });
    }

    /// Appends the end: whether the trace is complete, and how the command ended.
    pub fn end(
        &mut self,
        out: &mut String,
        (events, lost): (u64, u64),
        complete: bool,
        exit: Option<ExitKind>,
    ) {
        if !self.has_begun {
            begin(out);
        }
        out.push_str("\n],\"otherData\":");
        Object::write(out, |data| {
            data.put("events", events);
            data.put("lost", lost);
            data.put("complete", complete);
            data.put("exit", exit.map(Exit::from));
        });
        out.push_str("}\n");
    }

    /// Says what a thread and its process are called, unless that has been said.
    fn name(&mut self, out: &mut String, actor: &Actor) {
        let name = String::from_utf8_lossy(actor.comm.as_bytes());
        self.is_called(out, (actor.pid.0, actor.tid.0), &name, &name);
    }

    fn is_called(&mut self, out: &mut String, (pid, tid): (u32, u32), of: &str, name: &str) {
        if self.named.get(&(pid, tid)).is_some_and(|said| said == name) {
            return;
        }
        self.named.insert((pid, tid), name.to_owned());
        let is_leader = pid == tid || pid == CPUS;
        let names = [("process_name", of, is_leader), ("thread_name", name, true)];
        for (kind, name, _) in names.into_iter().filter(|(.., is_said)| *is_said) {
            self.entry(out, "M", "__metadata", kind, |entry| {
                entry.put("pid", pid);
                entry.put("tid", tid);
                entry.object("args", |args| args.put("name", name));
            });
        }
    }

    fn entry(
        &mut self,
        out: &mut String,
        phase: &str,
        category: &str,
        name: &str,
        members: impl FnOnce(&mut Object<'_>),
    ) {
        match std::mem::replace(&mut self.has_begun, true) {
            true => out.push_str(",\n"),
            false => begin(out),
        }
        Object::write(out, |entry| {
            entry.put("ph", phase);
            entry.put("cat", category);
            entry.put("name", name);
            members(entry);
        });
    }
}

fn begin(out: &mut String) {
    out.push_str("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
}

fn place(entry: &mut Object<'_>, actor: &Actor, time: Nanos) {
    entry.put("pid", actor.pid.0);
    entry.put("tid", actor.tid.0);
    micros(entry, "ts", time.0);
}

/// A time, which the format has in microseconds.
fn micros(entry: &mut Object<'_>, name: &str, nanos: u64) {
    entry.member(name, |out| {
        out.push_str(&format!("{}.{:03}", nanos / 1_000, nanos % 1_000));
    });
}

fn chain(args: &mut Object<'_>, stack: Option<&Stack>) {
    if let Some(stack) = stack {
        let mut lines = String::new();
        chain_lines(&mut lines, stack);
        let frames: Vec<&str> = lines.lines().map(str::trim).collect();
        args.put("callchain", frames);
    }
}
