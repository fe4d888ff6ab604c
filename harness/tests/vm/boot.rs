//! Kernels that do not come up, and guests with hardware of their own.

use super::{HARNESS, NEW, can_tell, scenarios, text, unpacked, vm};
use std::path::Path;
use std::process::{Command, Output};

/// A folder with a kernel of no modules beside its configuration, and a list: `bare` is that
/// kernel, `rootless` one whose initramfs is no such thing, `halted` one that cannot switch its
/// machine off, `own` has hardware of its own; the clock of `clockless` begins in 1970, as where a
/// kernel has no driver for one, and that of `slow` when its entry says.
fn folder() -> tempfile::TempDir {
    let folder = scenarios(&[
        (
            "old",
            "expect: { exit: 0, stdout: { matches: \"^5[.]10\" } }",
        ),
        ("any", "expect: { exit: 0 }"),
    ]);
    let copied = Command::new("sh")
        .args(["-ec", "cp \"$1\"/boot/vmlinuz-* \"$2/vmlinuz-own\"; cp \"$1\"/boot/config-* \"$2/config-own\""])
        .arg("sh")
        .args([&unpacked(), folder.path()])
        .status();
    assert!(copied.expect("a shell").success());
    std::fs::write(folder.path().join("junk"), "no archive").expect("a file");
    let list = "\"5.10\": { suite: bullseye }
bare: { image: vmlinuz-own }
\"6.1\": { suite: bookworm }
rootless: { suite: bookworm, qemu: [-initrd, junk] }
halted: { image: vmlinuz-own, append: acpi=off }
own: { suite: bookworm, memory: 512MiB, cpus: 2, qemu: [-device, virtio-rng-pci] }
clockless: { suite: bookworm, qemu: [-rtc, base=1970-01-01] }
slow: { suite: bookworm, qemu: [-rtc, base=2001-02-03] }
";
    std::fs::write(folder.path().join("kernels.yaml"), list).expect("a list");
    folder
}

fn harness(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(HARNESS);
    command.args(words).current_dir(folder);
    command
        .env_remove("HARNESS_KERNEL")
        .env_remove("HARNESS_REQUIRE");
    command.output().expect("the harness runs")
}

#[test]
fn a_kernel_that_does_not_come_up_says_so_by_its_console_and_not_after_a_minute_and_a_half() {
    if !can_tell() {
        return;
    }
    let folder = folder();
    for (kernel, cause, hint) in [
        (
            "bare",
            "there is no port to the host: the kernel lacks CONFIG_VIRTIO_PCI",
            "these are modules, and the list names no `modules`: CONFIG_VIRTIO_PCI, ",
        ),
        // It stays as it is, with its machine on.
        (
            "halted",
            "the kernel lacks CONFIG_VIRTIO_PCI",
            "CONFIG_NET_9P_VIRTIO",
        ),
        // It has all that it needs, so nothing of its configuration is blamed.
        (
            "rootless",
            "Kernel panic - not syncing: VFS: Unable to mount root fs",
            "",
        ),
    ] {
        let output = harness(
            folder.path(),
            &[
                "vm",
                "--kernels",
                "kernels.yaml",
                "--kernel",
                kernel,
                "--",
                "true",
            ],
        );
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{kernel}: {said}");
        let first = said.lines().next().unwrap_or_default();
        assert!(
            first.contains("the kernel did not come up: "),
            "{kernel}: {said}"
        );
        assert!(first.contains(cause), "{kernel}: {said}");
        let last = said.lines().last().unwrap_or_default();
        assert_eq!(
            last.starts_with("hint: "),
            !hint.is_empty(),
            "{kernel}: {said}"
        );
        assert!(last.contains(hint), "{kernel}: {said}");
    }
}

#[test]
fn each_option_that_doctor_prints_for_a_kernel_is_one_that_debians_kernel_has() {
    if !can_tell() {
        return;
    }
    let script = "cat /boot/config-$(uname -r)";
    let output = vm(NEW, &[], &["sh", "-c", script]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let config = text(&output.stdout);
    let printed = Command::new(HARNESS)
        .args(["doctor", "--kernel-config", "amd64"])
        .output()
        .expect("the harness runs");
    assert_eq!(printed.status.code(), Some(0), "{}", text(&printed.stderr));
    let printed = text(&printed.stdout);
    let options = printed.lines().filter(|line| !line.starts_with('#'));
    let options: Vec<&str> = options
        .map(|line| line.strip_suffix("=y").expect("an option that is set"))
        .collect();
    assert!(options.contains(&"CONFIG_FTRACE_SYSCALLS"), "{printed}");
    for option in options {
        let is_set = |line: &str| {
            ["=y", "=m"]
                .iter()
                .any(|it| line == format!("{option}{it}"))
        };
        assert!(config.lines().any(is_set), "{option}");
    }
}

#[test]
fn a_guest_has_the_hardware_that_its_entry_says() {
    if !can_tell() {
        return;
    }
    let script =
        "nproc; sed -n 's/MemTotal: *//p' /proc/meminfo; cat /sys/bus/virtio/devices/*/device";
    let words = [
        "vm",
        "--kernels",
        "kernels.yaml",
        "-k",
        "own",
        "--",
        "sh",
        "-c",
        script,
    ];
    let output = harness(folder().path(), &words);
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "2", "{out}");
    let memory = lines[1].strip_suffix(" kB").expect("a size");
    let memory: u32 = memory.parse().expect("a number");
    assert!((400 << 10..=512 << 10).contains(&memory), "{out}");
    // VIRTIO_ID_RNG.
    assert!(lines[2..].contains(&"0x0004"), "{out}");
}

#[test]
fn a_guest_without_a_clock_has_the_hosts_time_and_one_that_was_given_another_keeps_it() {
    if !can_tell() {
        return;
    }
    let folder = folder();
    let seconds = |text: &str| text.trim().parse::<u64>().expect("seconds");
    let here = || {
        let output = Command::new("date").arg("+%s").output();
        seconds(&text(&output.expect("the time").stdout))
    };
    let there = |kernel: &str| {
        let words = [
            "vm",
            "--kernels",
            "kernels.yaml",
            "-k",
            kernel,
            "--",
            "date",
            "+%s",
        ];
        let output = harness(folder.path(), &words);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        seconds(&text(&output.stdout))
    };
    let before = here();
    let clockless = there("clockless");
    // Never ahead: what changed since the run began is not to look older than it.
    assert!((before..=here()).contains(&clockless), "{clockless}");
    const THEN: u64 = 981_158_400;
    assert!((THEN..THEN + 24 * 60 * 60).contains(&there("slow")));
}

#[test]
fn a_kernel_that_does_not_boot_is_passed_over_by_a_bisect_and_named() {
    if !can_tell() {
        return;
    }
    let folder = folder();
    let words = ["matrix", "--kernels", "kernels.yaml", "--format", "json"];
    let bisect = ["--bisect", "5.10..6.1", "scenarios"];
    let output = harness(folder.path(), &[&words[..], &bisect].concat());
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{out}{said}");
    let lines = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let lines: Vec<serde_json::Value> = lines.collect();
    let tried = lines.iter().filter(|line| line["type"] == "tried");
    let tried: Vec<&serde_json::Value> = tried.collect();
    let signs: Vec<String> = tried
        .iter()
        .map(|line| format!("{} {}", line["kernel"], line["sign"]))
        .collect();
    assert_eq!(
        signs,
        [
            "\"5.10\" \"good\"",
            "\"6.1\" \"bad\"",
            "\"bare\" \"unclear\""
        ]
    );
    assert!(
        tried[2]["why"].to_string().contains("CONFIG_VIRTIO_PCI"),
        "{out}"
    );
    let last = lines.last().expect("a line");
    assert_eq!(last["left"], serde_json::json!(["bare", "6.1"]));
    assert_eq!(last["first_bad"], serde_json::Value::Null);
    assert_eq!(last["scenarios"], serde_json::json!(["old"]));
}
