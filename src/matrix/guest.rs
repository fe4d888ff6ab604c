//! Runs one command on one kernel in QEMU, from boot to end.

use super::config::Config;
use super::frame::Frame;
use super::hardware::{self, Accelerator};
use super::initramfs;
use super::job::{Job, Orders, tag};
use super::kernel::Kernel;
use super::kvm::Kvm;
use super::modules::{self, Module, NEEDED, NEEDED_FOR_DISK};
use super::pack::{self, Room};
use super::talk::{feed, listen};
use super::trouble::{Boot, Console, GuestError, Said};
use super::{DISK, PORT, ROOT};
use crate::scenario::{Architecture, Share};
use perf_live::sys::process::{end_with_us, hand};
use perf_live::sys::temporary;
use perf_live::units::ExitKind;
use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Asks guests to end, from any thread.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the running guests, and those that are started from now on.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How often a guest is checked for whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// The hardware of a guest, and the most time that it may take.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its memory, in MiB.
    pub memory: u32,
    /// Its CPUs.
    pub cpus: u32,
    /// The most time from the start of QEMU to the end of the command.
    pub limit: Duration,
    /// Ends the guest before its time.
    pub stop: Stop,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            memory: 2048,
            cpus: 2,
            limit: Duration::from_secs(600),
            stop: Stop::default(),
        }
    }
}

/// An event of a running guest.
#[derive(Clone, Copy, Debug)]
pub enum Heard<'a> {
    /// The guest is up: the release of its kernel, and the time that it took.
    Up(&'a str, Duration),
    /// Standard output of the command.
    Out(&'a [u8]),
    /// Its standard error.
    Err(&'a [u8]),
}

/// How long a guest may take to come up. With KVM it takes a second; if KVM does not work, only
/// this shows it.
const UP_WITH_KVM: Duration = Duration::from_secs(8);
const UP: Duration = Duration::from_secs(90);

/// How long a kernel may go on once its console has said that it is over.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs a command in a guest with this kernel.
///
/// Needs no rights: the guest reads the host's files as this user may, and writes none but below
/// [`Job::writes`].
///
/// # Errors
/// If the command's end is not known. The command's own failure is no error.
pub fn run(
    kernel: &Kernel,
    machine: &Machine,
    job: &Job,
    hear: &mut dyn FnMut(Heard<'_>),
) -> Result<ExitKind, GuestError> {
    let here = |what| move |source| GuestError::Here { what, source };
    let modules = match &kernel.modules {
        Some(folder) => {
            let disk = kernel.disk.as_ref().map(|_| NEEDED_FOR_DISK);
            let needed = [NEEDED, disk.unwrap_or_default()].concat();
            modules::in_order(folder, &needed)?
        }
        None => Vec::new(),
    };
    let job = Job {
        command: [kernel.under.as_slice(), &kernel.words(&job.command)].concat(),
        ..job.clone()
    };
    let mut orders = Orders::new(&job, kernel);
    orders.is_packed = is_packed(kernel, &modules);
    if orders.is_packed {
        // All of them would take more memory than all else.
        orders.modules = None;
    }
    let first = initramfs::build(&modules, &orders, kernel)?;
    let room = Room {
        memory: kernel.hardware.memory.unwrap_or(machine.memory),
        beside: first.archive.len() as u64,
    };
    let packed = match orders.is_packed {
        true => Some(pack::files(&job, kernel, room)?),
        false => None,
    };
    // No name of theirs is left behind, however the harness ends.
    let files = || -> std::io::Result<(File, Said)> {
        let initrd = temporary::file()?;
        initrd.write_all_at(&first.archive, 0)?;
        let said = Said::new()?;
        Ok((initrd, said))
    };
    let (initrd, said) = files().map_err(here("write the guest's first files"))?;
    if let Some(packed) = &packed {
        packed.append(&initrd)?;
    }
    let guest = Guest {
        kernel,
        machine,
        writes: &job.writes,
        shares: packed.is_none(),
        has_input: job.has_input,
        said,
        initrd,
        start: first.start,
        up: Cell::new(false),
    };
    let kvm = Kvm::of_machine();
    if kernel.arch == Architecture::OWN && kvm.is_worth_a_try() {
        match guest.run(Accelerator::Kvm, hear) {
            Err(GuestError::NotUp { .. } | GuestError::Died { .. }) if !guest.up.get() => {
                let ended = guest.run(Accelerator::Tcg, hear);
                // A kernel that comes up with neither says nothing of KVM.
                if guest.up.get() {
                    kvm.fails();
                }
                return ended;
            }
            ended => return ended,
        }
    }
    guest.run(Accelerator::Tcg, hear)
}

/// Whether a guest has its files in its memory from its start: as it is to, or as its kernel is
/// known to have no way to the host's.
fn is_packed(kernel: &Kernel, modules: &[Module]) -> bool {
    let lacks = || Config::of(kernel).is_some_and(|config| config.lacks_share(modules));
    match kernel.share {
        Some(share) => share == Share::Initramfs,
        None => kernel.has_files() && lacks(),
    }
}

/// Returns the name and version of QEMU for guests of an architecture.
///
/// # Errors
/// [`GuestError::Qemu`].
pub fn qemu(arch: Architecture) -> Result<String, GuestError> {
    let program = hardware::program(arch);
    let output = Command::new(program).arg("--version").output();
    let said = output
        .map_err(|source| GuestError::Qemu { program, source })?
        .stdout;
    let said = String::from_utf8_lossy(&said).into_owned();
    Ok(format!(
        "{program}: {}",
        said.lines().next().unwrap_or_default()
    ))
}

struct Guest<'a> {
    kernel: &'a Kernel,
    machine: &'a Machine,
    writes: &'a [PathBuf],
    /// Whether it reads the host's files.
    shares: bool,
    has_input: bool,
    said: Said,
    initrd: File,
    start: String,
    /// Whether the guest ever was up.
    up: Cell<bool>,
}

/// A QEMU that is killed when the harness ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Guest<'_> {
    fn run(
        &self,
        accelerator: Accelerator,
        hear: &mut dyn FnMut(Heard<'_>),
    ) -> Result<ExitKind, GuestError> {
        let begun = Instant::now();
        let mut running = Running(self.start(accelerator)?);
        let frames = listen(&mut running.0);
        // Kept open to the end: otherwise QEMU would take the port for closed.
        let input = running
            .0
            .stdin
            .take()
            .map(|input| Arc::new(Mutex::new(input)));
        let mut deadline = begun + self.patience(accelerator).min(self.machine.limit);
        let mut boot = Boot::of(&self.said);
        loop {
            if self.machine.stop.is_asked() {
                return Err(GuestError::Stopped);
            }
            if !self.up.get() && boot.is_over() {
                // It may say more before it ends by itself.
                deadline = deadline.min(Instant::now() + LAST_WORDS);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let frame = match frames.recv_timeout(left.min(LOOK)) {
                Ok(frame) => frame,
                Err(RecvTimeoutError::Timeout) if left > LOOK => continue,
                Err(why) => {
                    let after = begun.elapsed();
                    drop(running);
                    let console = Console::of(&self.said);
                    if let (Some(cause), false) = (boot.cause(), self.up.get()) {
                        return Err(GuestError::NotBooted {
                            cause,
                            after,
                            console,
                        });
                    }
                    return Err(match (why, self.up.get()) {
                        (RecvTimeoutError::Timeout, true) => GuestError::Late { after, console },
                        (RecvTimeoutError::Timeout, false) => GuestError::NotUp { after, console },
                        (RecvTimeoutError::Disconnected, was_up) => {
                            GuestError::Died { was_up, console }
                        }
                    });
                }
            };
            match frame {
                Frame::Up(release) => {
                    deadline = begun + self.machine.limit;
                    self.up.set(true);
                    if let Some(input) = input.as_ref().filter(|_| self.has_input) {
                        feed(input);
                    }
                    hear(Heard::Up(&release, begun.elapsed()));
                }
                Frame::Out(bytes) => hear(Heard::Out(&bytes)),
                Frame::Err(bytes) => hear(Heard::Err(&bytes)),
                Frame::Exit(how) => return Ok(how),
                // A guest never sends this.
                Frame::In(_) => {}
                Frame::Trouble(why) => {
                    let console = Console::of(&self.said);
                    return Err(GuestError::Trouble { why, console });
                }
                Frame::Lack(why) => {
                    let console = Console::of(&self.said);
                    return Err(GuestError::Lack { why, console });
                }
            }
        }
    }

    fn patience(&self, accelerator: Accelerator) -> Duration {
        match accelerator {
            Accelerator::Kvm => UP_WITH_KVM,
            Accelerator::Tcg => UP,
        }
    }

    fn start(&self, accelerator: Accelerator) -> Result<Child, GuestError> {
        let copies = || -> std::io::Result<[File; 3]> {
            self.said.forget()?;
            let files = [&self.initrd, &self.said.console, &self.said.qemu];
            let [initrd, console, said] = files.map(File::try_clone);
            Ok([initrd?, console?, said?])
        };
        let [initrd, console, said] = copies().map_err(|source| GuestError::Here {
            what: "open the guest's files",
            source,
        })?;
        let program = hardware::program(self.kernel.arch);
        let mut qemu = Command::new(program);
        qemu.args(hardware::machine(self.kernel.arch, accelerator));
        qemu.args(["-nodefaults", "-display", "none", "-monitor", "none"]);
        qemu.args(["-no-reboot", "-rtc", "base=utc"]);
        let hardware = &self.kernel.hardware;
        let cpus = hardware.cpus.unwrap_or(self.machine.cpus);
        let memory = hardware.memory.unwrap_or(self.machine.memory);
        qemu.arg("-smp").arg(cpus.to_string());
        qemu.arg("-m").arg(memory.to_string());
        qemu.arg("-kernel").arg(&self.kernel.image);
        let initrd = hand(&mut qemu, initrd.into());
        qemu.arg("-initrd").arg(initrd);
        qemu.arg("-append").arg(self.words(accelerator));
        let console = hand(&mut qemu, console.into());
        qemu.arg("-serial").arg(option("file:", &console));
        qemu.args([
            "-chardev",
            "stdio,id=port,signal=off",
            "-device",
            "virtio-serial-pci",
        ]);
        qemu.args([
            "-device",
            &format!("virtserialport,chardev=port,name={PORT}"),
        ]);
        if self.shares {
            self.share(&mut qemu, ROOT, Path::new("/"), ",readonly=on");
        }
        for (index, folder) in self.writes.iter().enumerate() {
            self.share(&mut qemu, &tag(index), folder, "");
        }
        if let Some(disk) = &self.kernel.disk {
            let words = "if=none,id=files,format=raw,readonly=on,file=";
            qemu.arg("-drive").arg(option(words, disk));
            let device = format!("virtio-blk-pci,drive=files,serial={DISK}");
            qemu.arg("-device").arg(device);
        }
        qemu.args(&hardware.qemu);
        qemu.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(said);
        end_with_us(&mut qemu);
        qemu.spawn()
            .map_err(|source| GuestError::Qemu { program, source })
    }

    fn share(&self, qemu: &mut Command, tag: &str, path: &Path, more: &str) {
        let mut share = option(&format!("local,id={tag},path="), path);
        share.push(",security_model=none,multidevs=remap");
        share.push(more);
        qemu.arg("-fsdev").arg(share);
        qemu.arg("-device")
            .arg(format!("virtio-9p-pci,fsdev={tag},mount_tag={tag}"));
    }

    /// Returns the kernel's command line.
    fn words(&self, accelerator: Accelerator) -> String {
        let machine = hardware::kernel_words(self.kernel.arch, accelerator);
        format!("{machine} {} {}", self.kernel.append, self.start)
    }
}

/// In values of QEMU's options, commas are doubled.
fn option(before: &str, path: &Path) -> std::ffi::OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut bytes = before.as_bytes().to_vec();
    for byte in path.as_os_str().as_bytes() {
        bytes.push(*byte);
        if *byte == b',' {
            bytes.push(b',');
        }
    }
    std::ffi::OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_in_a_path_is_no_end_of_an_option() {
        assert_eq!(option("path=", Path::new("/a,b")), "path=/a,,b");
    }
}
