#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reading Matrix Market files: Furrow beside scipy.io.mmread, in one run, on the same files, with the same threads.

  python3 bench/read_matrix.py --furrow-bench BUILD/bench/read_bench [--repeat 7] [--rounds 3] [-o FILE.json] FILE.mtx...

Furrow's result is sorted, with duplicates summed, ready to become CSR; SciPy's is the unsorted triplets of the file. The
two take turns, round by round, each round in processes of its own; a time is the median of all readings. `core_seconds`
is what the cores spent together, which other work on the machine disturbs less than the clock.
"""
import argparse, json, os, platform, statistics, subprocess, sys

RIVAL = """
import json, sys, time, resource, scipy, scipy.io
from scipy.io import _fast_matrix_market as reader
reader.PARALLELISM = int(sys.argv[2])
out = dict(seconds=[], core_seconds=[], version=scipy.__version__)
for _ in range(int(sys.argv[3])):
    a = None
    c, t = time.process_time(), time.perf_counter()
    a = scipy.io.mmread(sys.argv[1])
    out['seconds'].append(time.perf_counter() - t); out['core_seconds'].append(time.process_time() - c)
out['entries'] = int(a.nnz); out['peak_bytes'] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps(out))
"""


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def cpu_name():
    with open('/proc/cpuinfo') as f:
        for line in f:
            if line.startswith('model name'):
                return line.split(':', 1)[1].strip()
    return platform.processor()


def commit():
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(['git', '-C', here, 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True)
    return done.stdout.strip() or 'unknown'


def measure(bench, path, threads, repeat, rounds):
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(run([bench, path, '--threads', str(threads), '--repeat', str(repeat)]))
        theirs.append(run([sys.executable, '-c', RIVAL, path, str(threads), str(repeat)]))
    assert ours[0]['entries'] <= theirs[0]['entries']
    once = run([bench, path, '--threads', str(threads)])  # one reading in a process: the peak that counts
    median = lambda runs, key: statistics.median(s for r in runs for s in r[key])
    size, csr = os.path.getsize(path), 12 * once['entries'] + 4 * once['rows']
    out = {
        'file': os.path.basename(path), 'bytes': size, 'threads': threads, 'rows': once['rows'], 'entries': once['entries'],
        'furrow': {'seconds': median(ours, 'seconds'), 'core_seconds': median(ours, 'core_seconds'),
                   'peak_bytes': once['peak_bytes'], 'peak_over_csr': once['peak_bytes'] / csr},
        'scipy': {'seconds': median(theirs, 'seconds'), 'core_seconds': median(theirs, 'core_seconds')},
    }
    for one in (out['furrow'], out['scipy']):
        one['gbps'] = size / one['seconds'] / 1e9
        one['gbps_per_core'] = size / one['core_seconds'] / 1e9
    out['times_scipy'] = out['scipy']['seconds'] / out['furrow']['seconds']
    out['times_scipy_core_seconds'] = out['scipy']['core_seconds'] / out['furrow']['core_seconds']
    return out, theirs[0]['version']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--furrow-bench', required=True)
    parser.add_argument('--repeat', type=int, default=7)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--threads', type=int, action='append')
    parser.add_argument('-o', '--output')
    parser.add_argument('files', nargs='+')
    args = parser.parse_args()
    results, version = [], ''
    cores = len(os.sched_getaffinity(0))
    for path in args.files:
        for threads in args.threads or sorted({1, cores}):
            result, version = measure(args.furrow_bench, path, threads, args.repeat, args.rounds)
            results.append(result)
            f, s = result['furrow'], result['scipy']
            print(f"{result['file']:24} {threads:3} threads  furrow {f['gbps']:.2f} GB/s ({f['gbps_per_core']:.2f} a core)  "
                  f"scipy {s['gbps']:.2f} ({s['gbps_per_core']:.2f})  {result['times_scipy']:.2f} times, "
                  f"{result['times_scipy_core_seconds']:.2f} by core seconds, peak {f['peak_over_csr']:.2f} of CSR")
    out = {'benchmark': 'read_matrix', 'cpu': cpu_name(), 'cores': cores, 'load_before': os.getloadavg()[0], 'commit': commit(),
           'python': platform.python_version(), 'scipy': version, 'results': results}
    if args.output:
        os.makedirs(os.path.dirname(os.path.abspath(args.output)), exist_ok=True)
        with open(args.output, 'w') as f:
            json.dump(out, f, indent=1)
            f.write('\n')


if __name__ == '__main__':
    main()
