"""A link between two network namespaces that delays, loses and reorders packets, as netem does, which few containers have.

link.py NAME NAME DELAY JITTER LOSS: milliseconds, and a part of 1. The ends are 10.77.0.1 and 10.77.0.2. Says "ready", and goes
on until standard input ends; then says how many packets it has lost, and how many came after later ones. Needs root."""

import fcntl
import heapq
import os
import random
import select
import shutil
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001

if os.getuid() != 0 or not shutil.which("ip") or not os.path.exists("/dev/net/tun"):
    sys.exit(1)  # who started this says what it needs

names = sys.argv[1:3]
delay, jitter, loss = (float(text) for text in sys.argv[3:6])
delay, jitter = delay / 1e3, jitter / 1e3


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def end(number, name):
    """The descriptor of a device, whose other side is in the namespace."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    device = f"vpx{os.getpid() % 1000000}{number}"
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TUN_NO_PI))
    ip("netns", "add", name)
    ip("link", "set", device, "netns", name)
    ip("-n", name, "addr", "add", f"10.77.0.{number}/24", "dev", device)
    ip("-n", name, "link", "set", device, "up")
    return fd


def carry(fds):
    queue = []
    other = {fds[0]: fds[1], fds[1]: fds[0]}
    count = lost = late = 0
    newest = {fd: 0 for fd in fds}
    while True:
        now = time.monotonic()
        while queue and queue[0][0] <= now:
            _, number, fd, packet = heapq.heappop(queue)
            late += number < newest[fd]
            newest[fd] = max(newest[fd], number)
            try:
                os.write(fd, packet)
            except OSError:
                pass  # lost
        wait = max(0, queue[0][0] - now) if queue else None
        ready, _, _ = select.select([*fds, sys.stdin], [], [], wait)
        if sys.stdin in ready:
            return lost, late
        for fd in ready:
            packet = os.read(fd, 65536)
            if random.random() < loss:
                lost += 1
            else:
                count += 1
                at = time.monotonic() + delay + random.random() * jitter
                heapq.heappush(queue, (at, count, other[fd], packet))


try:
    fds = [end(number, name) for number, name in enumerate(names, 1)]
    print("ready", flush=True)
    print(*carry(fds), flush=True)
finally:
    for name in names:
        subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL)
