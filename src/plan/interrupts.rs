//! Events that fire in interrupts, in nobody's name.

use super::EventsPlan;

// What a device has done with a request, and what a timer does when its time has come. The kernel
// hits these where the interrupt came, whoever runs there: a task's events and a control group's
// see only those that came to interrupt them.
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

/// Why an event with which something ends in an interrupt says nothing of a workload.
pub const WHY_OF_NOBODY: &str = "it fires in an interrupt, in the name of whoever runs there, and of those only what interrupts the workload is recorded";

/// Whether an event fires in an interrupt, so that what is recorded of it is chance.
#[must_use]
pub fn is_of_nobody(name: &str) -> bool {
    IN_INTERRUPTS.contains(&name)
}

impl EventsPlan {
    /// What is to be said of events that are of nobody.
    #[must_use]
    pub fn of_nobody(&self) -> Option<String> {
        let names = self.named.iter().map(|planned| planned.name.as_ref());
        let names: Vec<&str> = names.filter(|name| is_of_nobody(name)).collect();
        let all = names.join("`, `");
        (!names.is_empty()).then(|| format!("of `{all}` little is seen: {WHY_OF_NOBODY}"))
    }
}
