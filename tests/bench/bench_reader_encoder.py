#!/usr/bin/env python3
"""The inference encoder beside ONNX Runtime on the same sizes, in turns, with the ratio of their best times.

  bench_reader_encoder.py --bench build/release/tests/bench/bench_reader_encoder --graphs DIR --modules DIR
                          [--rounds 5] [--threads 1,2] [--cases f32:384,int8:384,int8:128]

--graphs holds minilm.onnx and minilm_q.onnx (dynamically quantised): 6 layers, hidden 384, input x (1, tokens,
384). --modules is a node_modules folder with onnxruntime-node (ONNXRUNTIME_NODE_INSTALL=skip npm install
onnxruntime-node). Each round runs both once for every case, 40 passes each; times are the least of all passes
of all rounds, on the wall clock and in CPU time of the process. On a machine that does other work, compare
the CPU times, and those of one thread only.
"""
import argparse
import json
import os
import subprocess

TIMER = """
const ort = require('onnxruntime-node');
(async () => {
  const [path, threads, tokens] = process.argv.slice(1);
  const session = await ort.InferenceSession.create(path, {intraOpNumThreads: +threads, interOpNumThreads: 1,
    graphOptimizationLevel: 'all', executionMode: 'sequential', logSeverityLevel: 3});
  const data = new Float32Array(tokens * 384).map((_, i) => Math.sin(i * 12.9898) * 1.5);
  const x = new ort.Tensor('float32', data, [1, +tokens, 384]);
  let least = Infinity, cpu = Infinity;
  for (let i = 0; i < 43; i++) {
    const start = process.hrtime.bigint(), used = process.cpuUsage();
    await session.run({x});
    const spent = process.cpuUsage(used);
    if (i < 3) continue;
    least = Math.min(least, Number(process.hrtime.bigint() - start) / 1e6);
    cpu = Math.min(cpu, (spent.user + spent.system) / 1e3);
  }
  console.log(JSON.stringify({min_ms: least, cpu_ms: cpu}));
})();
"""


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=True, **options)
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--graphs", required=True)
    parser.add_argument("--modules", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--cases", default="f32:384,int8:384,int8:128")
    arguments = parser.parse_args()
    cases = [
        (*case.split(":"), threads) for threads in arguments.threads.split(",") for case in arguments.cases.split(",")
    ]
    best = {}
    environment = {**os.environ, "NODE_PATH": os.path.abspath(arguments.modules)}
    for _ in range(arguments.rounds):
        for numbers, tokens, threads in cases:
            graph = os.path.join(arguments.graphs, "minilm.onnx" if numbers == "f32" else "minilm_q.onnx")
            both = {
                "onnxruntime": run(["node", "-e", TIMER, graph, threads, tokens], env=environment),
                "askbase": run([arguments.bench, f"{numbers}:{threads}:{tokens}"]),
            }
            for name, times in both.items():
                for clock in ("min_ms", "cpu_ms"):
                    key = (numbers, tokens, threads, name, clock)
                    best[key] = min(best.get(key, float("inf")), times[clock])
    print("numbers tokens threads | ONNX Runtime ms  askbase ms  ratio | CPU: ONNX Runtime ms  askbase ms  ratio")
    for case in cases:
        row = []
        for clock in ("min_ms", "cpu_ms"):
            peer, own = best[(*case, "onnxruntime", clock)], best[(*case, "askbase", clock)]
            row.append(f"{peer:9.2f} {own:9.2f} {peer / own:6.2f}")
        print(f"{case[0]:7} {case[1]:>6} {case[2]:>7} | " + " | ".join(row))


if __name__ == "__main__":
    main()
