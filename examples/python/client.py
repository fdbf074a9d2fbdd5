"""redis-py's Lock as a client of Lockstorm, over the protocol of docs/other-languages.md.

lockstorm test --nodes 1 -- python3 client.py
"""

import json
import sys
import time

import redis
from redis.exceptions import LockError, LockNotOwnedError, RedisError
from redis.lock import Lock


def now():  # the clock of until_ms
    return time.monotonic() * 1000


def say(type, **fields):
    print(json.dumps({"type": type, **fields}), flush=True)


class TimedLock(Lock):
    """Lock does not say how long it is valid: for the TTL, from when its request is sent."""

    def do_acquire(self, token):
        self.until = now() + self.timeout * 1000
        return super().do_acquire(token)


def acquire(m):
    lock = TimedLock(client, m["resource"], timeout=ttl)
    if lock.acquire(blocking_timeout=m["timeout_ms"] / 1000):
        holds[m["id"]] = lock
        return say("granted", id=m["id"], until_ms=lock.until)
    say("refused", id=m["id"], error="another client has it")


def extend(m):
    until = now() + ttl * 1000
    holds[m["id"]].reacquire()
    say("extended", id=m["id"], until_ms=until)


def release(m):
    try:
        holds.pop(m["id"]).release()
        say("released", id=m["id"])
    except LockNotOwnedError as e:
        say("not_held", id=m["id"], error=str(e))


hello = json.loads(sys.stdin.readline())
ttl, holds = hello["ttl_ms"] / 1000, {}
host, port = hello["addresses"][0].split(":")
# Without a timeout redis-py waits for a reply for ever.
limit = None if "--wait-for-ever" in sys.argv else ttl / 4
client = redis.Redis(host, int(port), socket_timeout=limit, socket_connect_timeout=limit)
say("ready", version=1, now_ms=now(), extends=True)

calls = {"acquire": acquire, "extend": extend, "release": release}
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "quit":
        break
    if m["type"] in calls:  # a cancel is ignored: each call ends by itself
        try:
            calls[m["type"]](m)
        except (LockError, RedisError) as e:
            say("refused" if m["type"] == "acquire" else "failed", id=m["id"], error=repr(e))
