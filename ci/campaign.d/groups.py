"""Control groups, of either version: what limits a step, holds all of it, and says whether anything is left."""

import os
import signal
import time
from pathlib import Path
from typing import Optional


def mounts(kind: str) -> list[tuple[Path, str]]:
    """Where hierarchies of that type are mounted, and with which options."""
    lines = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [(Path(line[1]), line[3]) for line in lines if line[2] == kind]


def unified() -> Optional[Path]:
    """Where the hierarchy of version 2 is, in which the harness makes its groups."""
    return next((point for point, _ in mounts("cgroup2")), None)


def hierarchy(controller: str) -> Optional[Path]:
    for point, options in mounts("cgroup"):
        if controller in options.split(","):
            return point
    point = unified()
    enabled = point / "cgroup.subtree_control" if point else None
    if enabled and enabled.exists() and controller in enabled.read_text().split():
        return point
    return None


class Group:
    """A new group, removed with all that is in it."""

    def __init__(self, parent: Path, name: str):
        self.folder = parent / name
        self.folder.mkdir()

    @staticmethod
    def of(controller: str, name: str) -> Optional["Group"]:
        """None where the machine has no such controller, or does not let it be used."""
        parent = hierarchy(controller)
        try:
            return Group(parent, f"campaign-{os.getpid()}-{name}") if parent else None
        except OSError:
            return None

    @staticmethod
    def of_unified(name: str) -> Optional["Group"]:
        """One of version 2, which stands for the whole hierarchy in a mount namespace."""
        parent = unified()
        return Group(parent, f"campaign-{os.getpid()}-{name}") if parent else None

    def set(self, values: dict[str, str]) -> None:
        """Writes those of the files that there are: the two versions have other names."""
        known = {name: value for name, value in values.items() if (self.folder / name).exists()}
        if not known:
            raise OSError(f"{self.folder} has none of {', '.join(values)}")
        for name, value in known.items():
            (self.folder / name).write_text(value)

    def number(self, file: str, key: str) -> int:
        """A number of a file with a key in each line; 0 where there is none."""
        try:
            lines = [line.split() for line in (self.folder / file).read_text().splitlines()]
        except OSError:
            return 0
        return next((int(line[1]) for line in lines if len(line) == 2 and line[0] == key), 0)

    def enter(self) -> None:
        """Called in a child, before it executes its program."""
        (self.folder / "cgroup.procs").write_text("0")

    def members(self) -> list[int]:
        files = [Path(folder) / "cgroup.procs" for folder, _, _ in os.walk(self.folder)]
        found = []
        for file in files:
            try:
                found += [int(line) for line in file.read_text().split()]
            except OSError:
                continue  # it has gone
        return found

    def children(self) -> list[str]:
        return sorted(entry.name for entry in self.folder.iterdir() if entry.is_dir())

    def remove(self) -> None:
        end = time.monotonic() + 20
        while self.folder.exists():
            for pid in self.members():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            try:
                for folder, _, _ in os.walk(self.folder, topdown=False):
                    os.rmdir(folder)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)


def remove_own() -> None:
    """What a campaign that was interrupted in a step has not removed."""
    parents = {unified(), *(hierarchy(name) for name in ("cpu", "memory"))} - {None}
    for group in [group for parent in parents for group in parent.glob(f"campaign-{os.getpid()}-*")]:
        left = Group.__new__(Group)
        left.folder = group
        left.remove()
