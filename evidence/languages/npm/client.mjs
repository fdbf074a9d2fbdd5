// Locks from npm as clients of Lockstorm, over the protocol of docs/other-languages.md:
//
//   lockstorm test --nodes 5 -- node client.mjs redlock-universal
//   lockstorm test --nodes 5 -- node client.mjs redlock-universal using
import { createInterface } from "node:readline";
import Redis from "ioredis";

const now = () => Number(process.hrtime.bigint()) / 1e6; // the clock of until_ms
const say = (type, fields) => process.stdout.write(JSON.stringify({ type, ...fields }) + "\n");
const monotonic = (wall) => now() + (wall - Date.now()); // the libraries count on wall time
const retryDelay = 200;

// Each lock, by the name of its package, is a function of the connected nodes, the TTL, the number of permits, and whether
// the work is handed to the lock (using). It returns acquire, which tries once with the library's defaults and
// returns a hold: until, the end of its validity, and release, which returns false if the lock was not held any more.
// With extends, hold.extend changes until; with tells_lost, lost is called when the library reports a loss.
const locks = {
  async "redlock"(nodes, ttl) {
    const { default: Redlock } = await import("redlock");
    const redlock = new Redlock(nodes);
    redlock.on("clientError", () => {});
    return viaRedlock(ttl, (resource) => redlock.lock(resource, ttl), (lock) => lock.unlock());
  },
  async "redlock-5"(nodes, ttl, _, using) {
    const { default: Redlock } = await import("redlock-5");
    return viaRedlock5(new Redlock(nodes), ttl, using);
  },
  async "@sesamecare-oss/redlock"(nodes, ttl, _, using) {
    const { Redlock } = await import("@sesamecare-oss/redlock");
    return viaRedlock5(new Redlock(nodes), ttl, using);
  },
  async "redlock-universal"(nodes, ttl, _, using) {
    const { createRedlock, IoredisAdapter } = await import("redlock-universal");
    const adapters = nodes.map((node) => new IoredisAdapter(node));
    const make = (resource) => createRedlock({ adapters, key: resource, ttl });
    if (using) return whileRunning((resource, routine) => make(resource).using(routine), false);
    return {
      ready: { extends: true },
      async acquire(resource) {
        const lock = make(resource);
        const handle = await lock.acquire();
        const hold = { until: monotonic(handle.acquiredAt + handle.ttl), release: () => lock.release(handle) };
        hold.extend = async () => {
          const sent = now();
          if (!(await lock.extend(handle, ttl))) throw new Error("not extended");
          hold.until = sent + ttl;
        };
        return hold;
      },
    };
  },
  async "redis-semaphore"(nodes, ttl, capacity) {
    const { Mutex, RedlockMutex, Semaphore } = await import("redis-semaphore");
    if (capacity) return renewed((resource, options) => new Semaphore(nodes[0], resource, capacity, options), ttl, { weight: 1 });
    return renewed((resource, options) => (nodes.length > 1 ? new RedlockMutex(nodes, resource, options) : new Mutex(nodes[0], resource, options)), ttl);
  },
  async "redis-lock"([{ options: { host, port } }], ttl) {
    const { createClient } = await import("redis");
    const client = createClient({ socket: { host, port } });
    client.on("error", () => {});
    await client.connect();
    let sent; // the library does not say when
    const timed = { v4: true, del: (key) => client.del(key), set: (...args) => ((sent = now()), client.set(...args)) };
    const { default: redisLock } = await import("redis-lock");
    const lock = redisLock(timed, retryDelay);
    return {
      // lock tries for ever: what it gets after the timeout is released.
      acquire: (resource, _, timeout) => new Promise((granted, refused) => {
        let late = false;
        setTimeout(() => refused(new Error("not granted in time"), (late = true)), timeout);
        lock(resource, ttl).then((done) => {
          if (late) return done();
          granted({ until: sent + ttl, release: async () => (await done()) === 1 });
        });
      }),
    };
  },
  async "@microfleet/ioredis-lock"([node], ttl) {
    const { createLock, LockReleaseError } = await import("@microfleet/ioredis-lock");
    return {
      ready: { extends: true },
      async acquire(resource) {
        const lock = createLock(node, { timeout: ttl, retries: 0 }); // it does not say which try succeeded
        const hold = { until: now() + ttl, release: () => expired(lock.release(), LockReleaseError) };
        hold.extend = async () => {
          const sent = now();
          await lock.extend(ttl);
          hold.until = sent + ttl;
        };
        await lock.acquire(resource);
        return hold;
      },
    };
  },
};

// expired returns false if a release fails because the lock was not held any more.
const expired = (released, kind) => released.then(() => true, (e) => {
  if (e instanceof kind && e.message.endsWith("had expired")) return false;
  throw e;
});

// viaRedlock is redlock and what derives from it: a lock has its expiration.
function viaRedlock(ttl, acquire, release = (lock) => lock.release()) {
  return {
    ready: { extends: true },
    async acquire(resource) {
      let lock = await acquire(resource);
      const hold = { until: monotonic(lock.expiration), release: () => release(lock).then(() => true) };
      hold.extend = async () => {
        lock = await lock.extend(ttl);
        hold.until = monotonic(lock.expiration);
      };
      return hold;
    },
  };
}

function viaRedlock5(redlock, ttl, using) {
  redlock.on("error", () => {});
  if (using) return whileRunning((resource, routine) => redlock.using([resource], ttl, routine), true);
  return viaRedlock(ttl, (resource) => redlock.acquire([resource], ttl));
}

const unclear = () => Promise.reject(new Error("the library does not say whether the lock was held until then"));

// whileRunning is a lock that is held, and renewed, while a routine runs. It aborts the routine's signal when
// the lock is lost. certain: when it returns, the lock was held until it was released.
function whileRunning(run, certain) {
  return {
    ready: { tells_lost: true },
    acquire: (resource, lost) => new Promise((granted, refused) => {
      const ended = run(resource, (signal) => new Promise((end) => {
        signal.addEventListener("abort", lost);
        granted({ release: () => (end(), ended.then(() => certain || unclear())) });
      }));
      ended.catch(refused);
    }),
  };
}

// renewed is a lock that renews itself and calls onLockLost.
function renewed(make, ttl, fields = {}) {
  return {
    ready: { tells_lost: true },
    async acquire(resource, lost) {
      const lock = make(resource, { lockTimeout: ttl, acquireTimeout: ttl, retryInterval: retryDelay, onLockLost: lost });
      await lock.acquire();
      const release = async () => {
        const known = lock.isAcquired; // otherwise the loss has been reported
        await lock.release();
        return known ? unclear() : false;
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
    lock = await locks[process.argv[2]](nodes, ttl_ms, capacity, process.argv[3] === "using");
    say("ready", { version: 1, now_ms: now(), ...lock.ready });
  },
  async acquire({ id, resource, timeout_ms }) {
    for (const end = now() + timeout_ms; ; await new Promise((done) => setTimeout(done, retryDelay * (0.5 + Math.random())))) {
      try {
        const hold = await lock.acquire(resource, () => holds.has(id) && say("lost", { id }), timeout_ms);
        holds.set(id, hold);
        return say("granted", { id, until_ms: hold.until, weight: hold.weight });
      } catch (e) {
        if (now() > end) return say("refused", { id, ...failed(e) });
      }
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
