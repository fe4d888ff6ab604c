"""Programs that mean harm, in harnesses side by side: those of the tests, with the ends that the tests have for them."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Optional

from groups import Group, unified
from lab import FAILURE, ROOT, Lab, Row, Step, needs

TABLE = ROOT / "harness/tests/behaviour/hostile.rs"
ATTACKS = ROOT / "harness/tests/attacks"
HARNESSES = 2
JOBS = 3
PROGRAMS_OF_A_STEP = 12
ATTACKS_OF_A_STEP = 24

# The words of the table in the test, and the verdicts that each allows.
VERDICTS = {
    "Passes": ["pass"], "Leaks": ["leak"], "Hurries": ["leak", "fail"], "TimesOut": ["timeout"], "Strikes": ["fail", "timeout"],
    "Storms": ["fail", "timeout"],
}
ENDLESS = ("TimesOut", "Strikes", "Storms")


def table() -> list[tuple[str, str, str]]:
    """Each program, the word for its end, and its `exit`."""
    programs = TABLE.read_text().split("const PROGRAMS", 1)[1].split("];", 1)[0]
    return [(name, end, status or "0") for name, end, status in re.findall(r'\("([\w-]+)", (\w+)(?:\("([^"]*)"\))?\)', programs)]


def program(lab: Lab) -> Optional[Path]:
    """Where cargo has built it."""
    folders = [lab.harness.parent / "examples", *(ROOT / "target" / profile / "examples" for profile in ("release", "debug"))]
    return next((folder / "hostile" for folder in folders if (folder / "hostile").exists()), None)


def own_hierarchy(step: Step) -> Optional[Group]:
    """For every other step, as a mount that is left in a namespace cannot be seen."""
    if step.number % 2 or not unified() or not shutil.which("unshare"):
        return None
    return Group.of_unified(f"{step.folder.name}")


def ended(step: Step, inside: Optional[Group]) -> None:
    step.survivors()
    step.leavings(inside)
    if inside:
        inside.remove()


def hostile(step: Step) -> None:
    built = program(step.lab)
    assert built
    chosen = [step.rng.sample(table(), PROGRAMS_OF_A_STEP) for _ in range(HARNESSES)]
    shutil.copy(built, step.folder / "hostile")
    ends = {}
    for number, programs in enumerate(chosen):
        for name, end, status in programs:
            ends[name] = end
            timeout = "300ms" if end in ENDLESS else "60s"
            step.write(f"scenarios/{number}/{name}.yaml", (
                f"description: a campaign\nworkload:\n  run: [./hostile, {name}]\n  env: {{ MARK: \"{step.folder}\" }}\n"
                f"  files: {{ hostile: {{ from: ../../hostile, mode: \"0755\" }} }}\n  timeout: {timeout}\n"
                f"trace: {{ events: [{{ syscalls: [exit_group] }}] }}\nsnapshot: false\n"
                f"sandbox: {{ limits: {{ processes: 100 }} }}\nexpect: {{ exit: {status} }}\n"
            ))
    inside = own_hierarchy(step)
    run = [str(step.lab.harness), "run", "--format", "json", "--jobs", str(JOBS)]
    started = [step.start([*run, f"scenarios/{number}"], inside=inside) for number in range(HARNESSES)]
    for done in [harness.wait() for harness in started]:
        step.sane(done, {0, 1})
        for report in step.reports(done):
            end = ends[report["name"].rsplit("/")[-1]]
            if report["verdict"] not in [*VERDICTS[end], "skipped"]:
                step.trouble(FAILURE, f"{report['name']}: {end}, and the verdict is {report['verdict']}: {'; '.join(report['reasons'])}")
    ended(step, inside)


def compiled(lab: Lab) -> Path:
    """The attacks with their programs, as the test lays them out; made once."""
    if "attacks" in lab.shared:
        return lab.shared["attacks"]
    folder = lab.bench.helpers / "attacks"
    for name in ("scenarios/programs", "snapshots"):
        (folder / name).mkdir(parents=True)
    for file in ATTACKS.glob("*.yaml"):
        shutil.copy(file, folder / "scenarios")
    for file in (ATTACKS / "programs").iterdir():
        if file.suffix != ".c":
            shutil.copy(file, folder / "scenarios/programs")
            continue
        to = folder / "scenarios/programs" / file.stem
        of_32_bits = ["-m32", "-nostdlib", "-ffreestanding", "-fno-pic", "-no-pie", "-fno-stack-protector"]
        options = of_32_bits if file.stem.endswith(".i386") else ["-pthread"]
        subprocess.run(["cc", "-O1", "-static", "-o", to, *options, file], check=True)
    lab.shared["attacks"] = folder
    return folder


def attacks(step: Step) -> None:
    """Each ends with a verdict that its first line allows, and never passes."""
    folder = compiled(step.lab)
    for file in ATTACKS.glob("*.snap"):  # one of the attacks is to write it
        shutil.copy(file, folder / "snapshots")
    files = sorted((folder / "scenarios").glob("*.yaml"))
    allowed = {}
    for file in files:
        words = file.read_text().splitlines()[0].removeprefix("# verdict: ").split()
        allowed[file.stem] = [word for word in words if word != "or" and not word.startswith("needs:")]
    chosen = step.rng.sample([file.stem for file in files], ATTACKS_OF_A_STEP)
    inside = own_hierarchy(step)
    exact = [word for name in chosen for word in ("--exact", name)]
    halves = [exact[:ATTACKS_OF_A_STEP], exact[ATTACKS_OF_A_STEP:]]
    run = [str(step.lab.harness), "run", "--format", "json"]
    started = [step.start([*run, *half, "scenarios"], inside=inside, cwd=folder, env={"CI": "1"}) for half in halves]
    for done in [harness.wait() for harness in started]:
        step.sane(done, {1, 77})
        for report in step.reports(done):
            if report["verdict"] not in [*allowed[report["name"]], "skipped"]:
                step.trouble(FAILURE, f"{report['name']}: the verdict is {report['verdict']}: {'; '.join(report['reasons'])}")
    ended(step, inside)


def rows(lab: Lab) -> list[Row]:
    unbuilt = None if program(lab) else "the program is not built: cargo build --package harness-cli --example hostile"
    return [
        Row("hostile", "programs that flood, escape and outlive, in two harnesses", hostile, unbuilt),
        Row("attacks", "attacks on a pass, in two harnesses", attacks, needs("cc")),
    ]
