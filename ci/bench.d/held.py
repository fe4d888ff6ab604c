"""What a fault costs the calls that it is not done to: those that the filter lets pass, and those that are held and let go."""

import statistics
import subprocess
from pathlib import Path
from typing import Optional

from measure import Bench, first_line, progress, ratio, table

# Fewer than the largest number that `when` may have: all are held, and none is the one that is meant.
CALLS = 60_000

FLOOR = "floor: held and recorded"


def held(bench: Bench, harness: Optional[Path], rounds: int) -> None:
    """The time of a call of getppid in a tight loop, without the start and the end of the harness.

    The floor is a C program that lets each call go on and does nothing else, by itself and with the events of the floor of tracing.
    """
    title = "A call beside a fault"
    if not harness:
        print(f"\n{title}: not measured: harness is not built")
        return
    progress("held")
    trace = [str(harness), "trace", "-o", "/dev/null", "-e", "mkdir,getppid"]
    took = bench.scratch / "held"
    calls = ["getppid", str(CALLS), str(took)]
    alone = [bench.helper("gate"), str(CALLS), str(took)]
    load = [bench.helper("load"), *calls]
    variants = {
        "native": load,
        "floor: held": alone,
        FLOOR: [bench.helper("floor"), "-o", str(bench.scratch / "floor.json"), "--", *alone],
        "traced, no fault": [*trace, "--", *load],
        "a fault for another call": [*trace, "-e", "inject=mkdir:error=EIO", "--", *load],
        "held and let go": [*trace, "-e", "inject=getppid:error=EIO:when=65535", "--", *load],
    }
    nanos: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(max(rounds, 5)):
        for name, command in variants.items():
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"\n{title}: not measured: {name}: status {done.returncode}: {first_line(done.stderr)}")
                return
            nanos[name].append(int(took.read_text()) / CALLS)
    plain = nanos["traced, no fault"]

    def beside(name: str, of: list[float]) -> float:
        return statistics.median(one / other for one, other in zip(nanos[name], of))

    table(
        f"{title}: {CALLS} calls of getppid, median of {max(rounds, 5)}",
        ["", "ns a call", "ratio to native", "ratio to no fault", "ratio to the floor"],
        [[name, f"{statistics.median(all_nanos):.0f}", ratio(beside(name, nanos["native"])), ratio(beside(name, plain)),
          ratio(beside(name, nanos[FLOOR]))]
         for name, all_nanos in nanos.items()],
        ["Aims: 1.05 times no fault for another call; 1.2 times the floor for one that is held and recorded."],
    )
