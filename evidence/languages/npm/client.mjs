// Locks from npm as clients of Lockstorm, over the protocol of docs/other-languages.md:
//
//   lockstorm test --nodes 5 -- node client.mjs redlock-universal
import { createInterface } from "node:readline";
import Redis from "ioredis";

const now = () => Number(process.hrtime.bigint()) / 1e6; // the clock of until_ms
const say = (type, fields) => process.stdout.write(JSON.stringify({ type, ...fields }) + "\n");
const monotonic = (wall) => now() + (wall - Date.now()); // the libraries count on wall time
const retryDelay = 200;

// Each lock, by the name of its package, is a function of the connected nodes, the TTL and the number of permits. It returns acquire, which
// returns a hold: until, the end of its validity, and release, which returns false if the lock was not held any more.
// With extends, hold.extend changes until; with tells_lost, lost is called when the library reports a loss.
const locks = {
  async "redlock"(nodes, ttl) {
    const { default: Redlock } = await import("redlock");
    return { ready: { extends: true }, ...viaRedlock(nodes, ttl, (timeout) => {
      const redlock = new Redlock(nodes, { retryCount: Math.ceil(timeout / retryDelay), retryDelay });
      redlock.on("clientError", () => {});
      return (resource) => redlock.lock(resource, ttl);
    }, (lock) => lock.unlock()) };
  },
  async "@sesamecare-oss/redlock"(nodes, ttl) {
    const { Redlock } = await import("@sesamecare-oss/redlock");
    const redlock = new Redlock(nodes);
    return { ready: { extends: true }, ...viaRedlock(nodes, ttl, (timeout) => (resource) => redlock.acquire([resource], ttl, { retryCount: Math.ceil(timeout / retryDelay) }), (lock) => lock.release()) };
  },
  async "redlock-universal"(nodes, ttl) {
    const { createRedlock, IoredisAdapter } = await import("redlock-universal");
    const adapters = nodes.map((node) => new IoredisAdapter(node));
    return {
      async acquire(resource, timeout) {
        const lock = createRedlock({ adapters, key: resource, ttl, retryAttempts: Math.ceil(timeout / retryDelay), retryDelay });
        const handle = await lock.acquire();
        return { until: monotonic(handle.acquiredAt + handle.ttl), release: () => lock.release(handle) };
      },
    };
  },
  async "redis-semaphore"(nodes, ttl, capacity) {
    const { Mutex, RedlockMutex, Semaphore } = await import("redis-semaphore");
    if (capacity) return renewed((resource, options) => new Semaphore(nodes[0], resource, capacity, options), ttl, { weight: 1 });
    return renewed((resource, options) => (nodes.length > 1 ? new RedlockMutex(nodes, resource, options) : new Mutex(nodes[0], resource, options)), ttl);
  },
  async "@microfleet/ioredis-lock"([node], ttl) {
    const { createLock, LockReleaseError } = await import("@microfleet/ioredis-lock");
    return {
      ready: { extends: true },
      // It does not say when the try was sent that succeeded, so the caller tries again, and knows.
      async acquire(resource, timeout) {
        for (const end = now() + timeout; ; await new Promise((done) => setTimeout(done, retryDelay * (0.5 + Math.random())))) {
          const lock = createLock(node, { timeout: ttl, retries: 0 });
          const hold = { until: now() + ttl, release: () => expired(lock.release(), LockReleaseError) };
          hold.extend = async () => {
            const sent = now();
            await lock.extend(ttl);
            hold.until = sent + ttl;
          };
          try {
            await lock.acquire(resource);
            return hold;
          } catch (e) {
            if (now() > end) throw e;
          }
        }
      },
    };
  },
};

// expired returns false if a release fails because the lock was not held any more.
const expired = (released, kind) => released.then(() => true, (e) => {
  if (e instanceof kind && e.message.endsWith("had expired")) return false;
  throw e;
});

// viaRedlock is redlock and what is derived from it: a lock has its expiration.
function viaRedlock(nodes, ttl, acquirer, unlock) {
  return {
    async acquire(resource, timeout) {
      let lock = await acquirer(timeout)(resource);
      const hold = { until: monotonic(lock.expiration) };
      hold.extend = async () => {
        lock = await lock.extend(ttl);
        hold.until = monotonic(lock.expiration);
      };
      hold.release = () => unlock(lock).then(() => true);
      return hold;
    },
  };
}

// renewed is a lock that renews itself and calls onLockLost.
function renewed(make, ttl, fields = {}) {
  return {
    ready: { tells_lost: true },
    async acquire(resource, timeout, lost) {
      const lock = make(resource, { lockTimeout: ttl, acquireTimeout: timeout, retryInterval: retryDelay, onLockLost: lost });
      await lock.acquire();
      const release = async () => {
        if (!lock.isAcquired) return lock.release().then(() => false);
        await lock.release();
        throw new Error("redis-semaphore does not say whether the lock was held until then");
      };
      return { ...fields, release };
    },
  };
}

// A renewal that gets no reply is rejected, and redis-semaphore handles that nowhere: without this the process ends.
process.on("unhandledRejection", (e) => console.error(e));

const failed = (e) => ({ error: String(e).slice(0, 200) });
const holds = new Map();
let lock;

const calls = {
  async hello({ addresses, ttl_ms, capacity }) {
    const nodes = addresses.map((address) => {
      const [host, port] = address.split(":");
      const node = new Redis({ host, port: Number(port), commandTimeout: ttl_ms / 4, connectTimeout: ttl_ms / 4, maxRetriesPerRequest: 1 });
      return node.on("error", () => {}); // it connects again by itself
    });
    lock = await locks[process.argv[2]](nodes, ttl_ms, capacity);
    say("ready", { version: 1, now_ms: now(), ...lock.ready });
  },
  async acquire({ id, resource, timeout_ms }) {
    try {
      const hold = await lock.acquire(resource, timeout_ms, () => holds.has(id) && say("lost", { id }));
      holds.set(id, hold);
      say("granted", { id, until_ms: hold.until, weight: hold.weight });
    } catch (e) {
      say("refused", { id, ...failed(e) });
    }
  },
  async extend({ id }) {
    try {
      await holds.get(id).extend();
      say("extended", { id, until_ms: holds.get(id).until });
    } catch (e) {
      say("failed", { id, ...failed(e) });
    }
  },
  async release({ id }) {
    try {
      say((await holds.get(id).release()) ? "released" : "not_held", { id });
    } catch (e) {
      say("failed", { id, ...failed(e) });
    }
    holds.delete(id);
  },
  quit() {
    process.exit(0);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const m = JSON.parse(line);
  calls[m.type]?.(m); // a cancel is ignored: each call ends by itself
}
