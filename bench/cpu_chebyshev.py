#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Chebyshev series on the CPU: Furrow beside numpy.polynomial.chebyshev, in one run.

  python3 bench/cpu_chebyshev.py --furrow-bench BUILD/bench/cpu_chebyshev [--rounds 9] [-o FILE.json]

The two take turns, round by round; a turn of Furrow is a process of its own with as many threads as stand there. A time is
the median of the turns' medians: by the clock, and of what the cores spent together, which other work on the machine
disturbs less. numpy has one thread; its products are its own sums; Furrow's are transforms, with errors that are small
beside the product's norm, and `multiply` is the call without a plan.
"""
import argparse, json, os, statistics, subprocess, time

os.environ['OPENBLAS_NUM_THREADS'] = '1'  # read by the next line; numpy's products are of dot products
import numpy
from numpy.polynomial import chebyshev

from read_matrix import commit, cpu_name


def series(size, step):
    return numpy.sin(step * numpy.arange(1, size + 1))


def rival(call):
    c, t = time.process_time(), time.perf_counter()
    call()
    return {'seconds': time.perf_counter() - t, 'core_seconds': time.process_time() - c}


def turn(bench, what, threads, repeat):
    done = subprocess.run([bench, what, '--threads', str(threads), '--repeat', str(repeat)], check=True, capture_output=True)
    return {key: statistics.median(each) for key, each in json.loads(done.stdout).items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--furrow-bench', required=True)
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('-o', '--output')
    args = parser.parse_args()
    a, b, long, points = series(10000, 0.7), series(10000, 0.3), series(1001, 0.7), series(1000000, 0.3)
    product = ('chebmul, 10000 by 10000', lambda: chebyshev.chebmul(a, b))
    values = ('chebval, degree 1000, 1e6 points', lambda: chebyshev.chebval(points, long))
    cores = len(os.sched_getaffinity(0))
    results = []
    for (name, call), ways in ((product, (('product', 'plan', 1, 400), ('call', 'multiply', 1, 400))),
                               (values, (('values', 'evaluate', cores, 20),))):
        theirs, ours = [], {way[0]: [] for way in ways}
        for _ in range(args.rounds):
            theirs.append(rival(call))
            for what, _, threads, repeat in ways:
                ours[what].append(turn(args.furrow_bench, what, threads, repeat))
        median = lambda turns: {key: statistics.median(t[key] for t in turns) for key in ('seconds', 'core_seconds')}
        for what, way, threads, _ in ways:
            f, n = median(ours[what]), median(theirs)
            ratios = [t['seconds'] / f['seconds'] for t, f in zip(theirs, ours[what])]
            results.append({'numpy': name, 'furrow': way, 'threads': threads, 'furrow_times': f, 'numpy_times': n,
                            'times_numpy': n['seconds'] / f['seconds'], 'each_round': ratios,
                            'times_numpy_core_seconds': n['core_seconds'] / f['core_seconds']})
            r = results[-1]
            print(f"{way:9} {threads} threads {1e6 * f['seconds']:9.0f} us, {name} {1e3 * n['seconds']:8.1f} ms: "
                  f"{r['times_numpy']:.0f} times (rounds {min(ratios):.0f} to {max(ratios):.0f}), "
                  f"{r['times_numpy_core_seconds']:.0f} by core seconds")
    out = {'benchmark': 'cpu_chebyshev', 'cpu': cpu_name(), 'cores': cores, 'commit': commit(), 'numpy': numpy.__version__,
           'results': results}
    if args.output:
        with open(args.output, 'w') as f:
            json.dump(out, f, indent=1)
            f.write('\n')


if __name__ == '__main__':
    main()
