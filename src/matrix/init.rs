//! Runs in a guest as pid 1: mounts the host's files, starts the command, and reports its end, at
//! which the host ends the guest.
//!
//! ```text
//! initramfs: modules -> the root of the guest -> chroot -> the command
//! ```

use super::frame::Frame;
use super::job::{Orders, os, since_1970};
use super::port;
use super::relay::Relays;
use super::root::{InitError, attach, failed, lacking, root};
use super::trouble::OF_INIT;
use super::{MODULES, ORDERS, TIMES};
use nix::mount::MsFlags;
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::time::TimeSpec;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::time::{ClockId, clock_settime};
use nix::unistd::{sethostname, sync};
use perf_live::errors::chain;
use perf_live::host::Host;
use perf_live::sys::process::loopback;
use perf_live::units::ExitKind;
use perf_records::units::shown_path;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The port to the host.
type Port = Arc<Mutex<File>>;

/// How long processes that a command left may go on to print.
const GRACE: Duration = Duration::from_secs(1);

/// Runs the guest to its end. Returns only if the guest cannot be powered off, and then why.
#[must_use]
pub fn init() -> io::Error {
    let port = match devices() {
        Ok(port) => port,
        Err(error) => {
            // Only a reader of the console sees this.
            let text = format!("<0>{OF_INIT}{}\n", chain(&error));
            fs::write("/dev/kmsg", text).ok();
            return off();
        }
    };
    let last = match serve(&port) {
        Ok(how) => Frame::Exit(how),
        Err(error) if error.is_lack => Frame::Lack(chain(&error)),
        Err(error) => Frame::Trouble(chain(&error)),
    };
    sync();
    if tell(&port, &last).is_ok() {
        // The port may still hold it, and goes with the guest: the host ends that when it knows.
        loop {
            std::thread::park();
        }
    }
    off()
}

fn off() -> io::Error {
    match reboot(RebootMode::RB_POWER_OFF) {
        Ok(never) => match never {},
        Err(error) => error.into(),
    }
}

fn tell(port: &Port, frame: &Frame) -> io::Result<()> {
    let mut port = port.lock().unwrap_or_else(PoisonError::into_inner);
    frame.write(&mut *port)
}

/// Mounts procfs and similar file systems, loads the modules, and opens the port.
fn devices() -> Result<Port, InitError> {
    for (kind, at) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        fs::create_dir_all(at).map_err(failed(format!("cannot make {at}")))?;
        attach(kind, kind, at, MsFlags::empty(), "")?;
    }
    let read = failed("cannot read what the initramfs holds");
    let mut names = fs::read_dir(MODULES)
        .and_then(|entries| {
            entries
                .map(|entry| Ok(entry?.path()))
                .collect::<io::Result<Vec<_>>>()
        })
        .map_err(read)?;
    // Their names begin with numbers, which order them.
    names.sort();
    for path in names {
        let what = format!("cannot load the module {}", shown_path(&path));
        let bytes = fs::read(&path).map_err(failed(what.clone()))?;
        match nix::kmod::init_module(&bytes, c"") {
            Ok(()) | Err(nix::errno::Errno::EEXIST) => {}
            Err(error) => return Err(failed(what)(error)),
        }
    }
    let file = port::open().map_err(|(what, error)| failed(what)(error))?;
    Ok(Arc::new(Mutex::new(file)))
}

fn serve(port: &Port) -> Result<ExitKind, InitError> {
    let text = fs::read(ORDERS).map_err(failed("cannot read the orders"))?;
    let orders: Orders = serde_json::from_slice(&text)
        .map_err(io::Error::from)
        .map_err(failed(
            "cannot understand the orders, as where the list's `harness` is another version",
        ))?;
    clock(&orders)?;
    root(&orders)?;
    kernels_own(&orders)?;
    // The standard library starts programs over such a pair.
    UnixStream::pair().map_err(lacking("cannot make sockets: the kernel lacks CONFIG_UNIX"))?;
    loopback().map_err(lacking("cannot bring the loopback interface up"))?;
    sethostname("guest").map_err(failed("cannot set the name of the guest"))?;
    for (resource, soft, hard) in [
        (Resource::RLIMIT_NOFILE, 1024, 524_288),
        (Resource::RLIMIT_CORE, 0, 0),
    ] {
        setrlimit(resource, soft, hard).map_err(failed("cannot set a limit"))?;
    }
    let release = Host::running().kernel_release().unwrap_or_default();
    tell(port, &Frame::Up(release)).map_err(failed("cannot tell the host"))?;
    command(port, orders)
}

/// Sets a clock that began in 1970 with the guest, as where the kernel has no driver for the
/// machine's own. By such a clock all files of the host were changed in the future, and it could
/// not be told which of their names are as old as the run. It is never ahead of the host's.
fn clock(orders: &Orders) -> Result<(), InitError> {
    const MOST: Duration = Duration::from_secs(24 * 60 * 60);
    let what = "cannot set the clock";
    if since_1970() < MOST {
        let up = ClockId::CLOCK_BOOTTIME.now().map_err(failed(what))?;
        let now = TimeSpec::from(orders.given) + up;
        clock_settime(ClockId::CLOCK_REALTIME, now).map_err(failed(what))?;
    }
    Ok(())
}

/// Adds what belongs to the guest's kernel and is not among the host's files.
fn kernels_own(orders: &Orders) -> Result<(), InitError> {
    for (kind, at, data) in [
        ("tmpfs", "/run", "mode=755"),
        ("devpts", "/dev/pts", "mode=620,ptmxmode=666"),
        ("tmpfs", "/dev/shm", "mode=1777"),
    ] {
        fs::create_dir_all(at).map_err(failed(format!("cannot make {at}")))?;
        attach(kind, kind, at, MsFlags::empty(), data)?;
    }
    fs::DirBuilder::new().mode(0o1777).create("/run/lock").ok();
    for (to, at) in [
        ("/proc/self/fd", "/dev/fd"),
        ("fd/0", "/dev/stdin"),
        ("fd/1", "/dev/stdout"),
        ("fd/2", "/dev/stderr"),
    ] {
        symlink(to, at).ok();
    }
    // A kernel may lack any of these; a scenario that needs one will say so.
    for (kind, at) in [
        ("tracefs", "/sys/kernel/tracing"),
        ("debugfs", "/sys/kernel/debug"),
        ("securityfs", "/sys/kernel/security"),
        ("cgroup2", "/sys/fs/cgroup"),
        ("bpf", "/sys/fs/bpf"),
    ] {
        attach(kind, kind, at, MsFlags::empty(), "").ok();
    }
    let Ok(release) = Host::running().kernel_release() else {
        return Ok(());
    };
    // A program that looks for these finds the guest's own, or none.
    for (from, folder, name) in [
        (&orders.modules, "/lib/modules", release.clone()),
        (&orders.config, "/boot", format!("config-{release}")),
    ] {
        if let Some(from) = from {
            fs::create_dir_all(folder).ok();
            symlink(os(from.clone()), Path::new(folder).join(name)).ok();
        }
    }
    Ok(())
}

/// Runs the command until its main process ends.
fn command(port: &Port, orders: Orders) -> Result<ExitKind, InitError> {
    let mut words = orders.command.into_iter().map(os);
    let program = words.next().unwrap_or_default();
    let environment = orders.environment.into_iter();
    let started = Command::new(&program)
        .args(words)
        .env_clear()
        .envs(std::env::var_os(TIMES).map(|times| (TIMES, times)))
        .envs(environment.map(|(name, value)| (os(name), os(value))))
        .current_dir(os(orders.directory))
        .stdin(if orders.has_input {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            let code = if error.kind() == io::ErrorKind::NotFound {
                127
            } else {
                126
            };
            let text = format!(
                "harness: cannot run `{}`: {}\n",
                program.to_string_lossy(),
                chain(&error)
            );
            tell(port, &Frame::Err(text.into_bytes())).ok();
            return Ok(ExitKind::Code(code));
        }
    };
    if let Some(input) = child.stdin.take() {
        let own = port.lock().unwrap_or_else(PoisonError::into_inner);
        let own = own.try_clone();
        feed(own.map_err(failed("cannot listen to the host"))?, input);
    }
    let mut relays = Relays::new().map_err(failed("cannot make a pipe"))?;
    if let Some(out) = child.stdout.take() {
        relays.pass_on(out, GRACE, teller(port, Frame::Out));
    }
    if let Some(err) = child.stderr.take() {
        relays.pass_on(err, GRACE, teller(port, Frame::Err));
    }
    let how = reap(child.id())?;
    relays.end();
    Ok(how)
}

/// Passes the host's input on. When the command reads no more, the rest is dropped.
fn feed(mut port: File, input: ChildStdin) {
    std::thread::spawn(move || {
        let mut input = Some(input);
        while let Ok(Some(frame)) = Frame::read(&mut port) {
            let Frame::In(bytes) = frame else {
                continue;
            };
            if bytes.is_empty() {
                break;
            }
            let written = input.as_mut().map(|input| input.write_all(&bytes));
            if !matches!(written, Some(Ok(()))) {
                input = None;
            }
        }
    });
}

fn teller(
    port: &Port,
    frame: fn(Vec<u8>) -> Frame,
) -> impl FnMut(Vec<u8>) -> io::Result<()> + use<> {
    let port = Arc::clone(port);
    move |said| tell(&port, &frame(said))
}

/// Waits for a child, and reaps any orphan that ends meanwhile, as pid 1 must.
fn reap(child: u32) -> Result<ExitKind, InitError> {
    loop {
        let status = waitpid(None, None).map_err(failed("cannot wait for the command"))?;
        let is_it = status
            .pid()
            .is_some_and(|pid| pid.as_raw().unsigned_abs() == child);
        match status {
            WaitStatus::Exited(_, code) if is_it => return Ok(ExitKind::Code(code)),
            WaitStatus::Signaled(_, signal, _) if is_it => {
                return Ok(ExitKind::Signal(signal as i32));
            }
            _ => {}
        }
    }
}
