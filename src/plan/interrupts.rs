//! Events that fire in interrupts, and so belong to no task.

use super::EventsPlan;

// Completions of requests by devices, and timers. The kernel fires these on the CPU that the
// interrupt comes to, whatever task runs there: a task's or a control group's events get only those
// that interrupt a task of theirs.
const IN_INTERRUPTS: [&str; 13] = [
    "ata:ata_qc_complete_done",
    "ata:ata_qc_complete_failed",
    "block:block_bio_complete",
    "block:block_io_done",
    "block:block_rq_complete",
    "block:block_rq_error",
    "dma_fence:dma_fence_signaled",
    "nvme:nvme_complete_rq",
    "scsi:scsi_dispatch_cmd_done",
    "scsi:scsi_dispatch_cmd_timeout",
    "timer:hrtimer_expire_entry",
    "timer:hrtimer_expire_exit",
    "timer:timer_expire_entry",
];

/// Why such an event, as the end of a span, says nothing of a workload.
pub const WHY_OF_NOBODY: &str = "it fires in interrupts, which belong to no task, and only those that interrupt the workload are recorded";

/// Whether an event fires in interrupts, so that it is chance which of them are recorded.
#[must_use]
pub fn is_of_nobody(name: &str) -> bool {
    IN_INTERRUPTS.contains(&name)
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
