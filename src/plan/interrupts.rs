//! Events that fire in interrupts or in tasks of the kernel, and so belong to no task of a run.

use super::EventsPlan;
use perf_records::glob::glob;

// Completions of requests by devices, packets that come in, timers, and what tasks of the kernel do
// for others later. The kernel fires these on the CPU that the interrupt comes to, whatever task
// runs there, or in a task of its own: a task's or a control group's events get only those that
// fire while a task of theirs runs.
const OF_NOBODY: [&str; 66] = [
    "alarmtimer:*",
    "ata:ata_qc_complete_done",
    "ata:ata_qc_complete_failed",
    "block:block_bio_complete",
    "block:block_io_done",
    "block:block_rq_complete",
    "block:block_rq_error",
    "block:block_rq_insert",
    "block:block_rq_issue",
    "compaction:*kcompactd*",
    "csd:*",
    "damon:*",
    "dma_fence:dma_fence_signaled",
    "error_report:*",
    "icmp:*",
    "iocost:*",
    "ipi:*",
    "irq:*",
    "irq_matrix:*",
    "irq_vectors:*",
    "jbd2:jbd2_checkpoint*",
    "jbd2:jbd2_commit_*",
    "jbd2:jbd2_end_commit",
    "jbd2:jbd2_run_stats",
    "jbd2:jbd2_start_commit",
    "kyber:*",
    "mptcp:*",
    "msr:*",
    "napi:*",
    "neigh:*",
    "net:napi_*",
    "net:net_dev_*",
    "net:netif_*",
    "nmi:*",
    "nvme:nvme_complete_rq",
    "page_pool:*",
    "power:*",
    "qdisc:*",
    "rcu:*",
    "sched:sched_process_free",
    "scsi:scsi_dispatch_cmd_done",
    "scsi:scsi_dispatch_cmd_timeout",
    "skb:consume_skb",
    "skb:kfree_skb",
    "sock:inet_sock_set_state",
    "tcp:tcp_ca_event",
    "tcp:tcp_cong_state_set",
    "tcp:tcp_destroy_sock",
    "tcp:tcp_probe",
    "tcp:tcp_receive_reset",
    "tcp:tcp_retransmit_*",
    "tcp:tcp_send_reset",
    "thermal:*",
    "timer:hrtimer_expire_*",
    "timer:itimer_expire",
    "timer:tick_stop",
    "timer:timer_expire_*",
    "timer_migration:*",
    "tlb:tlb_flush",
    "udp:udp_fail_queue_rcv_skb",
    "vmscan:mm_vmscan_kswapd_*",
    "watchdog:*",
    "wbt:*",
    "workqueue:workqueue_execute_*",
    "writeback:*",
    "xdp:*",
];

/// Why such an event, as the end of a span, says nothing of a workload.
pub const WHY_OF_NOBODY: &str = "it fires in interrupts or in tasks of the kernel, and only what comes while a task of the workload runs is recorded";

/// Whether an event fires in interrupts or in tasks of the kernel, so that it is chance which of
/// them are recorded.
#[must_use]
pub fn is_of_nobody(name: &str) -> bool {
    OF_NOBODY.iter().any(|pattern| glob(pattern, name))
}

impl EventsPlan {
    /// Returns a warning about planned events that belong to no task.
    #[must_use]
    pub fn of_nobody(&self) -> Option<String> {
        let names = self.named.iter().map(|planned| planned.name.as_ref());
        let names: Vec<&str> = names.filter(|name| is_of_nobody(name)).collect();
        let all = names.join("`, `");
        (!names.is_empty()).then(|| format!("of `{all}` little is seen: {WHY_OF_NOBODY}"))
    }
}
