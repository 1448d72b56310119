#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps an eye on the registers, stack and spills of every kernel.

  registers.py record -- COMMAND...      runs a compilation with -Xptxas=-v and keeps what ptxas said beside the object
  registers.py check BUILD BUDGETS --nvcc VERSION             compares what was recorded below BUILD with BUDGETS
  registers.py check BUILD BUDGETS --nvcc VERSION --update    writes BUDGETS instead

No device is needed: ptxas says it all. Standard library only.
"""
import argparse
import pathlib
import re
import subprocess
import sys

SKIPPED = 77  # CTest shows this exit code as skipped
FIELDS = ("registers", "stack", "spill", "shared")
PADDING = 16  # up to which an array aligns; ptxas orders what a kernel shares otherwise beside other kernels


def is_ptxas_talk(line):
    return line.startswith("ptxas info") or re.match(r"\s+\d+ bytes stack frame", line)


def record(command):
    """Runs the command; ptxas's lines go to OBJECT.registers, all others where they belong."""
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    lines = done.stderr.splitlines(keepends=True)
    sys.stderr.write("".join(line for line in lines if not is_ptxas_talk(line)))
    if done.returncode == 0 and "-o" in command:
        target = pathlib.Path(command[command.index("-o") + 1])
        if target.suffix == ".o":
            talk = "".join(line for line in lines if is_ptxas_talk(line))
            pathlib.Path(f"{target}.registers").write_text(talk)
    return done.returncode


def padded(size):
    return -(-size // PADDING) * PADDING


def parse(text):
    """Yields (architecture, mangled name, numbers) of every kernel that ptxas reports."""
    name = arch = None
    numbers = {}
    for line in text.splitlines():
        if entry := re.search(r"Compiling entry function '(\S+)' for '(\w+)'", line):
            name, arch = entry.groups()
            numbers = dict.fromkeys(FIELDS, 0)
        elif name and (frame := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)):
            stack, stores, loads = map(int, frame.groups())
            numbers["stack"], numbers["spill"] = stack, stores + loads
        elif name and (used := re.search(r"Used (\d+) registers", line)):
            numbers["registers"] = int(used.group(1))
            if shared := re.search(r"(\d+) bytes smem", line):
                numbers["shared"] = padded(int(shared.group(1)))
            yield arch, name, numbers
            name = None


def without_parameters(name):
    depth = 0
    for at, c in enumerate(name):
        if c == "(" and depth == 0:
            return name[:at]
        depth += (c == "<") - (c == ">")
    return name


def readable(names):
    """Demangled, without the hashes that nvcc gives to names that are local to a file."""
    if not names:
        return {}
    out = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    result, short = {}, {}
    for mangled, plain in zip(names, out.splitlines()):
        plain = re.sub(r"__nv_static_\d+__[0-9a-f]+_\d+_\w+?_cu_[0-9a-f]{8}(_\d+)?_+", "", plain)
        plain = re.sub(r"_GLOBAL__N__\w+", "(anonymous namespace)", plain)
        plain = plain.replace("(anonymous namespace)::", "")
        plain = re.sub(r"^void ", "", plain)
        result[mangled] = plain
        short.setdefault(without_parameters(plain), []).append(mangled)
    for name, owners in short.items():
        if len(owners) == 1:  # template arguments tell kernels apart, and parameters those that they do not
            result[owners[0]] = name
    return result


def recorded(build):
    """{(architecture, kernel): numbers}; of a kernel that several objects hold, the largest numbers."""
    found = []
    for file in sorted(pathlib.Path(build).rglob("*.o.registers")):
        if file.with_suffix("").exists():  # the object is still there
            found += parse(file.read_text())
    names = readable(sorted({name for _, name, _ in found}))
    table = {}
    for arch, name, numbers in found:
        if names[name].startswith("cub::"):  # the toolkit's own
            continue
        old = table.setdefault((arch, names[name]), dict(numbers))
        for field in FIELDS:
            old[field] = max(old[field], numbers[field])
    return table


def load(file):
    table = {}
    for line in pathlib.Path(file).read_text().splitlines():
        if line and not line.startswith("#"):
            arch, *numbers, name = line.split(maxsplit=len(FIELDS) + 1)
            table[arch, name] = dict(zip(FIELDS, map(int, numbers)))
            table[arch, name]["shared"] = padded(table[arch, name]["shared"])
    return table


def nvcc_of(file):
    """The compiler that a file of budgets was written with: another one allots registers otherwise."""
    said = re.search(r"^# nvcc (\S+)$", pathlib.Path(file).read_text(), re.MULTILINE)
    return said.group(1) if said else "unknown"


def save(file, table, nvcc):
    lines = [
        "# SPDX-License-Identifier: BSD-3-Clause",
        f"# nvcc {nvcc}",
        "# What every kernel takes: registers a thread, stack, spilled and shared bytes, as ptxas says it.",
        "# tests/registers.py compares a build with this file; its --update writes it.",
        "# " + " ".join(("architecture",) + FIELDS + ("kernel",)),
    ]
    for (arch, name), numbers in sorted(table.items()):
        lines.append(f"{arch} " + " ".join(f"{numbers[f]:4}" for f in FIELDS) + f" {name}")
    pathlib.Path(file).write_text("\n".join(lines) + "\n")


def check(build, budgets, nvcc, update):
    now = recorded(build)
    if not now:
        print(f"no kernel was recorded below {build}: build the GPU part first")
        return SKIPPED
    built = {arch for arch, _ in now}
    before = load(budgets) if pathlib.Path(budgets).exists() else {}
    if update:
        same = before and nvcc_of(budgets) == nvcc
        kept = {key: value for key, value in before.items() if same and key[0] not in built}
        save(budgets, kept | now, nvcc)
        print(f"{len(now)} kernels for {', '.join(sorted(built))} written to {budgets}")
        return 0
    if before and nvcc_of(budgets) != nvcc:
        print(f"{budgets} was written with nvcc {nvcc_of(budgets)}, and this is {nvcc}")
        return SKIPPED
    known = built & {arch for arch, _ in before}
    if not known:
        print(f"{budgets} knows no kernel for {', '.join(sorted(built))}")
        return SKIPPED
    changes = []
    for key in sorted(set(now) | {k for k in before if k[0] in known}):
        if key[0] not in known or now.get(key) == before.get(key):
            continue
        old, new = before.get(key), now.get(key)
        if old and new:
            what = ", ".join(f"{f} {old[f]} -> {new[f]}" for f in FIELDS if old[f] != new[f])
        else:
            what = "is new: " + ", ".join(f"{f} {new[f]}" for f in FIELDS) if new else "is gone"
        changes.append(f"  {key[0]} {key[1]}\n      {what}")
    if changes:
        print(f"{len(changes)} kernels differ from {budgets}; where that is meant, run")
        print(f"  tests/registers.py check {build} {budgets} --nvcc {nvcc} --update\n" + "\n".join(changes))
        return 1
    print(f"{sum(arch in known for arch, _ in now)} kernels for {', '.join(sorted(known))} are as they were")
    return 0


def main():
    if sys.argv[1:3] == ["record", "--"]:
        return record(sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check"])
    parser.add_argument("build")
    parser.add_argument("budgets")
    parser.add_argument("--nvcc", default="unknown", metavar="VERSION")
    parser.add_argument("--update", action="store_true")
    given = parser.parse_args()
    return check(given.build, given.budgets, given.nvcc, given.update)


if __name__ == "__main__":
    sys.exit(main())
