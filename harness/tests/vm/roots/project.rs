//! Projects whose guests have files of their own.

use crate::{HARNESS, text, unpacked};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A project with a root of few programs, and with a cache that has the kernels of the usual one.
pub(super) struct Project {
    folder: tempfile::TempDir,
}

pub(super) fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}: {output:?}");
    output.stdout
}

impl Project {
    pub(super) fn new(list: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let project = Self { folder };
        for path in ["cache", "work/scenarios", "root/etc", "root/tmp"] {
            std::fs::create_dir_all(project.at(path)).expect("a folder");
        }
        let kernels = unpacked().join("../..").canonicalize().expect("kernels");
        std::os::unix::fs::symlink(kernels, project.at("cache/kernels")).expect("a link");
        for name in ["sh", "cat", "uname"] {
            project.install(Path::new("/usr/bin").join(name).as_path());
        }
        // The harness itself is lent to the guest, and its libraries are not.
        project.libraries(Path::new(HARNESS));
        project.write("root/etc/mark", "of the root\n");
        project.write("work/kernels.yaml", list);
        project
    }

    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(super) fn write(&self, path: &str, contents: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, contents).expect("a file");
    }

    pub(super) fn install(&self, program: &Path) {
        self.copy(program);
        self.libraries(program);
    }

    pub(super) fn libraries(&self, program: &Path) {
        let output = Command::new("ldd").arg(program).output().expect("ldd");
        let told = text(&output.stdout);
        let words = told.split_whitespace();
        for library in words.filter(|word| word.starts_with('/')) {
            self.copy(Path::new(library));
        }
    }

    pub(super) fn copy(&self, path: &Path) {
        let to = self
            .at("root")
            .join(path.strip_prefix("/").expect("a path"));
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        std::fs::copy(path, to).expect("a copy");
    }

    pub(super) fn tar(&self, folder: &str, to: &str) {
        let to = self.at(to);
        let mut tar = Command::new("tar");
        tar.args(["--create", "--sort=name", "--directory"]);
        run(tar.arg(self.at(folder)).arg("--file").arg(to).arg("."));
    }

    pub(super) fn harness(&self, words: &[&str]) -> Output {
        let mut command = Command::new(HARNESS);
        command.args(words).current_dir(self.at("work"));
        command.env("HARNESS_CACHE", self.at("cache"));
        command
            .env_remove("HARNESS_KERNEL")
            .env_remove("HARNESS_REQUIRE");
        command.output().expect("the harness runs")
    }

    /// Runs scenarios on the kernels of the list, or on those that more words choose.
    pub(super) fn matrix(&self, words: &[&str]) -> Output {
        let matrix = ["matrix", "--kernels", "kernels.yaml", "--format", "json"];
        self.harness(&[&matrix[..], words].concat())
    }

    pub(super) fn vm(&self, kernel: &str, script: &str) -> (Option<i32>, String, String) {
        let words = ["vm", "--kernels", "kernels.yaml", "-k", kernel, "--"];
        let output = self.harness(&[&words[..], &["sh", "-c", script]].concat());
        let [out, said] = [&output.stdout, &output.stderr].map(|bytes| text(bytes));
        (output.status.code(), out, said)
    }

    /// Adds a file of an image, and returns its digest.
    pub(super) fn blob(&self, file: &str) -> String {
        let file = self.at(file);
        let told = text(&run(Command::new("sha256sum").arg(&file)));
        let digest = told.split(' ').next().expect("a digest").to_owned();
        let blobs = self.at("work/image/blobs/sha256");
        std::fs::create_dir_all(&blobs).expect("a folder");
        std::fs::copy(file, blobs.join(&digest)).expect("a copy");
        digest
    }

    /// Makes an image of the root and a layer above it.
    pub(super) fn image(&self) {
        self.tar("root", "lower.tar");
        self.write("upper/etc/mark", "of the image\n");
        self.write("upper/usr/bin/.wh.uname", "");
        self.tar("upper", "upper.tar");
        let layers = ["lower.tar", "upper.tar"]
            .map(|layer| format!("{{\"digest\":\"sha256:{}\"}}", self.blob(layer)));
        let arch = match cfg!(target_arch = "aarch64") {
            true => "arm64",
            false => "amd64",
        };
        self.write(
            "config",
            &format!("{{\"architecture\":\"{arch}\",\"os\":\"linux\"}}"),
        );
        let config = self.blob("config");
        let manifest = format!(
            "{{\"config\":{{\"digest\":\"sha256:{config}\"}},\"layers\":[{}]}}",
            layers.join(",")
        );
        self.write("manifest", &manifest);
        let manifest = self.blob("manifest");
        let index = format!("{{\"manifests\":[{{\"digest\":\"sha256:{manifest}\"}}]}}");
        self.write("work/image/index.json", &index);
        self.write(
            "work/image/oci-layout",
            "{\"imageLayoutVersion\":\"1.0.0\"}",
        );
    }
}

/// Scenarios of which each needs something of the host, and one that fails.
pub(super) fn with_scenarios(list: &str) -> Project {
    let project = Project::new(list);
    let plain = "description: a test
workload: { run: [uname, -r] }
trace: { events: [{ syscalls: [uname] }] }
expect: { exit: 0, sequence: [{ uname: {} }] }
snapshot: false
";
    project.write("work/scenarios/plain.yaml", plain);
    let from = "description: a file beside the scenario
workload: { run: [cat, data], files: { data: { from: ../data } } }
expect: { exit: 0, stdout: \"of the host\\n\" }
snapshot: false
";
    project.write("work/scenarios/from.yaml", from);
    project.write("work/data", "of the host\n");
    let fails = "description: what fails
workload: { run: [cat, /etc/mark] }
expect: { exit: 0, stdout: \"of the host\\n\" }
snapshot: false
";
    project.write("work/scenarios/fails.yaml", fails);
    project
}

pub(super) fn verdicts(output: &Output) -> Vec<String> {
    let lines = text(&output.stdout);
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let lines: Vec<serde_json::Value> = lines.collect();
    let cells = lines.iter().filter(|line| line["type"] == "cell");
    let cell =
        |it: &serde_json::Value| format!("{} {} {}", it["scenario"], it["kernel"], it["verdict"]);
    cells.map(cell).map(|it| it.replace('"', "")).collect()
}
