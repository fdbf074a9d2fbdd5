"""A lock that stores when it ends by the wall clock of its client, and takes over what has ended by its own (the SETNX
pattern of the Redis documentation)."""

import json
import socket
import sys
import time


def now():
    return time.monotonic() * 1000


def say(type, **fields):
    print(json.dumps({"type": type, **fields}), flush=True)


def redis(*words):
    connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in map(str.encode, words)))
    line = replies.readline().rstrip()
    if line[:1] == b"$" and line != b"$-1":
        return replies.readline().rstrip().decode()
    return None if line == b"$-1" else line[1:].decode()


def acquire(m):
    end = now() + m["timeout_ms"]
    while now() < end:
        until, mine = now() + ttl, f"{time.time() * 1000 + ttl:.3f}:{hello['client']}.{m['id']}"
        if redis("SETNX", "lock", mine) == "1":
            return grant(m, until, mine)
        there = redis("GET", "lock")
        if there and float(there.split(":")[0]) < time.time() * 1000 and redis("GETSET", "lock", mine) == there:
            return grant(m, until, mine)
        time.sleep(0.01)
    say("refused", id=m["id"])


def grant(m, until, mine):
    holds[m["id"]] = mine
    say("granted", id=m["id"], until_ms=until)


def release(m):
    held = redis("GET", "lock") == holds.pop(m["id"])
    if held:
        redis("DEL", "lock")
    say("released" if held else "not_held", id=m["id"])


hello = json.loads(sys.stdin.readline())
ttl, holds = hello["ttl_ms"], {}
host, port = hello["addresses"][0].split(":")
connection = socket.create_connection((host, int(port)))
replies = connection.makefile("rb")
say("ready", version=1, now_ms=now())
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "quit":
        break
    {"acquire": acquire, "release": release}.get(m["type"], lambda m: None)(m)
