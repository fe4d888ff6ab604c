//! What `harness trace` says, compared with witnesses that know better: the workload itself,
//! strace, perf.
//!
//! One test program instead of several, so that the witnesses are compiled once and none of them is
//! dead code.

mod support;

mod header_values;
mod oracle_arguments;
mod oracle_chains;
mod oracle_cold;
mod oracle_counters;
mod oracle_dump;
mod oracle_events;
mod oracle_faulted;
mod oracle_faults;
mod oracle_flight;
mod oracle_inject;
mod oracle_mappings;
mod oracle_modes;
mod oracle_pages;
mod oracle_perf;
mod oracle_print;
mod oracle_probes;
mod oracle_record;
mod oracle_refusals;
mod oracle_sched;
mod oracle_script;
mod oracle_spans;
mod oracle_stat;
mod oracle_strace;
mod oracle_user;
mod strace_memory;
mod strace_messages;
mod strace_sweep;
mod strace_words;
mod trace_truth;
