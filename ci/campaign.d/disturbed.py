"""Commands that write, disturbed: signals at any moment, full disks, read-only folders, folders that vanish."""

import os
import shutil
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from hostile import ended, own_hierarchy
from lab import FAILURE, Lab, Row, Step, needs
from writing import Reference, check_targets, commands, reference

SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSTOP]
STOPPED_S = 0.4
# Some moments are behind the end of what was disturbed.
BEYOND = 1.25
DISK = 32 << 20


def signalled(step: Step) -> None:
    command, number = step.rng.choice(commands()), step.rng.choice(SIGNALS)
    whole = reference(step, command)
    if not whole:
        return
    base = step.folder / "base"
    base.mkdir()
    before = command.lay(step, base)
    step.survivors()
    inside = own_hierarchy(step)
    moment = step.rng.uniform(0, whole.done.wall * BEYOND)
    started = step.start([str(step.lab.harness), *command.words], cwd=base, inside=inside)
    if not started.ends_within(moment):
        started.send(number)
        if number == signal.SIGSTOP:
            time.sleep(step.rng.uniform(0, STOPPED_S))
            started.send(signal.SIGCONT)
    done = started.wait()
    step.log.append(f"{number.name} after {moment * 1000:.1f} ms")
    step.runs += 1
    step.counted[number.name] += 1
    undisturbed = whole.done.status
    if number == signal.SIGSTOP:
        step.sane(done, {undisturbed})
    elif number == signal.SIGKILL:
        step.sane(done, {undisturbed, -number})
    else:
        # One that comes before the harness has begun to heed signals ends it as the kernel does.
        step.sane(done, command.statuses | {-number}, frozenset({128 + number}))
    check_targets(step, command, base, before, done.status == undisturbed and done.status == 0)
    ended(step, inside)


@contextmanager
def disk(step: Step) -> Iterator[Path]:
    """A small file system of its own."""
    base = step.folder / "disk"
    base.mkdir()
    own = step.lab.shared.setdefault("own mounts", set())
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "campaign", base], check=True)
    own.add(str(base))
    try:
        yield base
    finally:
        # What lives on is told before; it must not hold the campaign up.
        subprocess.run(["umount", "--lazy", base], check=True)
        own.discard(str(base))


def fill(base: Path, left: int) -> None:
    """But for so many bytes."""
    with (base / "fill").open("wb", buffering=0) as file:
        chunk = bytes(1 << 16)
        try:
            while True:
                file.write(chunk)
        except OSError:
            pass
        file.truncate(max(0, file.tell() - left))


def vanish(folder: Path) -> None:
    """As where somebody else cleans up."""
    away = folder.with_name("away")
    try:
        os.rename(folder, away)
    except OSError:
        return
    shutil.rmtree(away, ignore_errors=True)


def on_a_bad_disk(step: Step) -> None:
    command = step.rng.choice(commands())
    whole = reference(step, command)
    if not whole:
        return
    what = step.rng.choice(["full", "full", "read-only", "vanishing"])
    where = step.rng.choice(["targets", "TMPDIR", "both"])
    step.log.append(f"{command.name}: {where}: {what}")
    step.counted[f"{what} {where}"] += 1
    with disk(step) as small:
        plain = step.folder / "plain"
        plain.mkdir()
        base = plain / "base" if where == "TMPDIR" else small / "base"
        temporary = plain / "tmp" if where == "targets" else small / "tmp"
        base.mkdir()
        temporary.mkdir()
        before = command.lay(step, base)
        step.survivors()
        disturb(step, command, whole, what, where, (small, base, temporary), before)
        step.survivors()
        if what != "vanishing" and os.listdir(temporary):
            step.trouble("folders", f"left in TMPDIR: {os.listdir(temporary)}")
        step.leavings()


def disturb(step: Step, command, whole: Reference, what: str, where: str, folders: tuple[Path, Path, Path], before: dict) -> None:
    small, base, temporary = folders
    timer = None
    if what == "full":
        need = sum(len(content) for path, content in whole.files.items() if before.get(path) != content)
        fill(small, step.rng.randrange(0, 2 * need + (64 << 10)))
    elif what == "read-only":
        subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    else:
        gone = {"targets": base, "TMPDIR": temporary}.get(where, step.rng.choice([base, temporary]))
        timer = threading.Timer(step.rng.uniform(0, whole.done.wall * BEYOND), vanish, [gone])
    started = step.start([str(step.lab.harness), *command.words], cwd=base, env={"TMPDIR": str(temporary)})
    # A folder that is gone before the command is in it is none that vanishes from under it.
    if timer:
        timer.start()
    done = started.wait()
    step.runs += 1
    if timer:
        timer.cancel()
        timer.join()
        # What a command reads may have vanished as well, which is wrong input.
        step.sane(done, command.statuses | {1, 2})
        return
    step.sane(done, command.statuses | {1})
    if whole.done.status and done.status == 0:
        step.trouble(FAILURE, f"{command.name}: status {whole.done.status} undisturbed, and 0 where {where} is {what}")
    check_targets(step, command, base, before, done.status == 0)


def rows(lab: Lab) -> list[Row]:
    return [
        Row("signals", "SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGSTOP at any moment of what writes", signalled, needs("unshare")),
        Row("disks", "what writes, on disks that are full or read-only, in folders that vanish", on_a_bad_disk, needs("mount")),
    ]
