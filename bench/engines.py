#!/usr/bin/env python3
"""The traffic engines of `measure` against iperf3, nuttcp, trafgen and DPDK testpmd, taken in turn.

Every program sends over a virtual Ethernet pair of its own between two network namespaces, both ends
on one core, at one priority; the order turns from round to round. Prints medians and ratios.

Beside its own size of reads (128 KiB) linerate runs with reads of the size of the writes, which is what
iperf3 and nuttcp always do, and of 512 KiB: each call that reads may answer with a window update.

  bench/engines.py [--linerate build/linerate] [--rounds 7] [--seconds 0.5] [--only tcp|frames]

Needs root, and of Debian: iperf3 nuttcp netsniff-ng dpdk-dev librte-net-af-packet23 librte-net-af-xdp23.
What is missing is said and left out.
"""
import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = [64, 512, 1448, 8192, 65536, 131072]
FRAMES = [64, 1518]
# Names in the tables and the program that each needs.
PROGRAMS = {"iperf3": "iperf3", "nuttcp": "nuttcp", "trafgen": "trafgen", "testpmd": "dpdk-testpmd"}
NEAR, FAR = f"lrbench{os.getpid()}a", f"lrbench{os.getpid()}b"

EXPERIMENT = """schema_version: 1
name: engine
hosts:
  a: {{profile: ideal, stack: linux-6, cpu: {{cores: 2}}, nics: {{eth0: {{profile: ideal}}}}}}
  b: {{like: a}}
links:
  - {{endpoints: ["a:eth0", "b:eth0"], rate: 100Gbit/s}}
tests:
  - {test}
"""


def run(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def alike(command):
    """The priority linerate gives its own processes, also within a scheduling group."""
    script = 'echo -10 > /proc/self/autogroup 2>/dev/null; exec nice -n -10 "$@"'
    return ["setsid", "-w", "sh", "-c", script, "sh"] + command


def inside(namespace, command):
    return ["ip", "netns", "exec", namespace] + command


def make_pair():
    for namespace in (NEAR, FAR):
        run(["ip", "netns", "add", namespace])
    run(["ip", "link", "add", "v0", "netns", NEAR, "type", "veth", "peer", "name", "v1", "netns", FAR])
    for namespace, device, address in ((NEAR, "v0", "198.19.255.1"), (FAR, "v1", "198.19.255.2")):
        run(["ip", "-n", namespace, "address", "add", f"{address}/24", "dev", device])
        run(["ip", "-n", namespace, "link", "set", device, "up"])
        run(["ip", "-n", namespace, "link", "set", "lo", "up"])
        # A lab is new for every run: what one connection learnt must not help the next here either.
        run(inside(namespace, ["sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno",
                               "net.ipv4.tcp_no_metrics_save=1"]))
    time.sleep(0.5)


def remove_pair():
    for namespace in (NEAR, FAR):
        subprocess.run(["ip", "netns", "delete", namespace], capture_output=True)


def linerate(options, test):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(EXPERIMENT.format(test=test))
        file.flush()
        # A link that no lab can hold to its rate makes the result inconclusive: exit code 5.
        done = subprocess.run([options.linerate, "measure", file.name, "--json", "--quiet"],
                              capture_output=True, text=True)
    if done.returncode not in (0, 5):
        sys.exit(f"linerate measure: {done.stderr}")
    figures = json.loads(done.stdout)["tests"][0]["figures"]
    return {name: figure["median"] for name, figure in figures.items()}


def tcp_linerate(options, size, read=131072):
    test = (f"{{name: t, type: tcp-stream, from: a, to: b, write: {size}B, read: {read}B, congestion: reno, "
            f"cpu: {{core: 0}}, duration: {options.seconds}s, repeats: 1}}")
    return linerate(options, test)["goodput"]


def tcp_linerate_alike(options, size):
    return tcp_linerate(options, size, size)


def tcp_linerate_large(options, size):
    return tcp_linerate(options, size, 524288)


def beside(server, client):
    """Output of `client` while `server` runs, which is ended by its own process group."""
    process = subprocess.Popen(server, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        return run(client)
    finally:
        process.terminate()
        process.wait()


def tcp_iperf3(options, size):
    text = beside(alike(inside(FAR, ["taskset", "-c", "0", "iperf3", "-s", "-1"])),
                  alike(inside(NEAR, ["taskset", "-c", "0", "iperf3", "-c", "198.19.255.2", "-J", "-l",
                                      str(size), "-C", "reno", "-t", str(max(1, round(options.seconds)))])))
    return json.loads(text)["end"]["sum_received"]["bits_per_second"]


def tcp_nuttcp(options, size):
    text = beside(alike(inside(FAR, ["taskset", "-c", "0", "nuttcp", "-S", "--nofork", "-1"])),
                  alike(inside(NEAR, ["taskset", "-c", "0", "nuttcp", f"-l{size}", "-fparse",
                                      f"-T{max(1, round(options.seconds))}", "198.19.255.2"])))
    return float(re.search(r"rate_Mbps=([0-9.]+)", text).group(1)) * 1e6


def frames_linerate(options, size):
    test = (f"{{name: t, type: raw-frames, from: a, to: b, frame_size: {size}B, "
            f"duration: {options.seconds}s, repeats: 1}}")
    return linerate(options, test)["frame_rate"]


def frames_trafgen(options, size):
    count = 200_000
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
        file.write("{ fill(0xff, 6), 0x02, fill(0x00, 5), 0x88, 0xb5, fill(0x42, %d) }\n" % (size - 18))
        file.flush()
        sink = alike(inside(FAR, ["netsniff-ng", "--in", "v1", "--out", "/dev/null", "--silent"]))
        text = beside(sink, alike(inside(NEAR, ["trafgen", "--dev", "v0", "--conf", file.name, "--cpus", "1",
                                                "--num", str(count)])))
    seconds, micro = re.search(r"(\d+) sec, (\d+) usec", text).groups()
    return count / (int(seconds) + int(micro) * 1e-6)


def arrived():
    return int(run(inside(FAR, ["cat", "/sys/class/net/v1/statistics/rx_packets"])))


def frames_testpmd(options, size, device):
    """Frames a second that reach the other end while testpmd sends as fast as it can."""
    sink = alike(inside(FAR, ["netsniff-ng", "--in", "v1", "--out", "/dev/null", "--silent"]))
    # No hugepages and no PCI are asked for; sizes are without the FCS.
    source = alike(inside(NEAR, [
        "timeout", "-s", "INT", str(round(options.seconds) + 20), "dpdk-testpmd", "--no-huge", "-m", "256", "--no-pci",
        "--no-telemetry", "--no-shconf", "-l", "0,1", f"--vdev={device},iface=v0", "--", "--forward-mode=txonly",
        f"--txpkts={size - 4}", "--total-num-mbufs=4096", "--no-mlockall", "--stats-period", "1"]))
    receiver = subprocess.Popen(sink, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sender = subprocess.Popen(source, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
    try:
        started = time.monotonic()
        before = arrived()
        while arrived() < before + 10_000:
            if sender.poll() is not None or time.monotonic() > started + 15:
                sys.exit(f"dpdk-testpmd with {device} sends nothing: {sender.stderr.read()[-2000:]}")
            time.sleep(0.1)
        time.sleep(0.3)
        first, begin = arrived(), time.monotonic()
        time.sleep(options.seconds)
        last, end = arrived(), time.monotonic()
        return (last - first) / (end - begin)
    finally:
        for process in (sender, receiver):
            end_group(process)


def end_group(process):
    """Ends what `setsid` runs: only its own children, by their numbers."""
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True)
    for number in [*children.stdout.split(), str(process.pid)]:
        try:
            os.kill(int(number), signal.SIGINT)
        except ProcessLookupError:
            pass
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def testpmd_packet(options, size):
    return frames_testpmd(options, size, "net_af_packet0,qdisc_bypass=1")


def testpmd_xdp(options, size):
    return frames_testpmd(options, size, "net_af_xdp0")


def compare(options, what, sizes, programs):
    programs = {name: call for name, call in programs.items()
                if shutil.which(PROGRAMS.get(name.split()[0], "sh"))}
    print(f"{what}: median of {options.rounds} rounds [least .. most], and linerate over each")
    for size in sizes:
        values = {name: [] for name in programs}
        for turn in range(options.rounds):
            names = list(programs)
            for name in names[turn % len(names):] + names[:turn % len(names)]:
                values[name].append(programs[name](options, size))
        scale, unit = (1e9, "Gbit/s") if what == "tcp" else (1e3, "kframes/s")
        cells = [f"{size:7d} B"]
        for name, list_ in values.items():
            middle = statistics.median(list_)
            cells.append(f"{name} {middle / scale:.3f} {unit} [{min(list_) / scale:.3f} .. {max(list_) / scale:.3f}]")
            if not name.startswith("linerate"):
                ratios = [statistics.median(a / b for a, b in zip(ours, list_))
                          for our_name, ours in values.items() if our_name.startswith("linerate")]
                cells.append("ratio " + ", ".join(f"{ratio:.2f}" for ratio in ratios))
        print("  ".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--linerate", default="build/linerate")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--only", choices=["tcp", "frames"])
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="of writes")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench/engines.py: needs root to make network namespaces")
    for name, package in (("iperf3", "iperf3"), ("nuttcp", "nuttcp"), ("trafgen", "netsniff-ng"),
                          ("dpdk-testpmd", "dpdk-dev librte-net-af-packet23 librte-net-af-xdp23")):
        if not shutil.which(name):
            print(f"{name} is left out: apt-get install {package}", file=sys.stderr)
    try:
        make_pair()
        if options.only != "frames":
            compare(options, "tcp", options.sizes,
                    {"linerate": tcp_linerate, "linerate (reads as writes)": tcp_linerate_alike,
                     "linerate (reads of 512 KiB)": tcp_linerate_large,
                     "iperf3": tcp_iperf3, "nuttcp": tcp_nuttcp})
        if options.only != "tcp":
            compare(options, "frames", FRAMES,
                    {"linerate": frames_linerate, "trafgen": frames_trafgen,
                     "testpmd af_packet": testpmd_packet, "testpmd af_xdp": testpmd_xdp})
    finally:
        remove_pair()


main()
