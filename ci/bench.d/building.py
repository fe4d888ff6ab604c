"""What a new user and a developer wait for: builds from nothing, beside that of a program that many people install from source."""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from measure import Failed, first_line, progress, ratio, table

# Any line that the compiler has to look at.
EDIT = "\nconst _: () = assert!(size_of::<u8>() == 1);\n"
EDITED = "src/run/once.rs"


def timed(said: str, command: list[str], cwd: Path) -> float:
    progress(f"build: {said}")
    start = time.monotonic()
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: status {done.returncode}: {first_line(done.stderr)}")
    return time.monotonic() - start


def building(root: Path) -> None:
    """In a copy of what git knows, with the packages' sources there already; it takes as long as four builds from nothing."""
    with tempfile.TemporaryDirectory(prefix="bench-build-") as scratch:
        copy, target = Path(scratch) / "copy", Path(scratch) / "target"
        files = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
        for name in filter(None, files.stdout.split("\0")):
            to = copy / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to, follow_symlinks=False)
        into = ["--locked", "--target-dir", str(target)]
        try:
            timed("packages", ["cargo", "fetch", "--locked"], copy)
            # Once to have its sources here; `--force` builds it again from nothing.
            other = ["cargo", "install", "ripgrep", "--locked", "--force", "--root", str(Path(scratch) / "other")]
            timed("ripgrep's packages", other, copy)
            ripgrep = timed("ripgrep", other, copy)
            first = timed("the release program", ["cargo", "build", "--release", "--timings", *into], copy)
            tests = timed("the tests", ["cargo", "test", "--no-run", *into], copy)
            with (copy / EDITED).open("a") as source:
                source.write(EDIT)
            of_run = ["cargo", "test", *into, "--lib", "--", "--exact", "run::none"]
            timed_edit = timed("one edited line", of_run, copy)
        except Failed as failed:
            print(f"\nBuilds: not measured: {failed}")
            return
        size = (target / "release" / "harness").stat().st_size / (1 << 20)
        kept = root / "target" / "cargo-timings"
        shutil.copytree(target / "cargo-timings", kept, dirs_exist_ok=True)
        rows = [
            ["ripgrep, released", ripgrep, ""],
            ["the program, released", first, "2"],
            ["all tests", tests, "4"],
            [f"one edited line in {EDITED} to its running test", timed_edit, ""],
        ]
        table(
            "Builds, from nothing",
            ["", "s", "ratio to ripgrep", "aim"],
            [[name, f"{wall:.1f}", ratio(wall / ripgrep), aim] for name, wall, aim in rows],
            [f"The program has {size:.1f} MiB (aim: 16). One edited line: aim 15 s. Timings of the crates: {kept}."],
        )
