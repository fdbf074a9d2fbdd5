// redlock-universal as a client of Lockstorm, over the protocol of docs/other-languages.md.
import { createInterface } from "node:readline";
import Redis from "ioredis";
import { createRedlock, IoredisAdapter } from "redlock-universal";

const now = () => Number(process.hrtime.bigint()) / 1e6; // the clock of until_ms
const say = (type, fields) => process.stdout.write(JSON.stringify({ type, ...fields }) + "\n");
const untilOf = (handle) => now() + (handle.acquiredAt + handle.ttl - Date.now()); // acquiredAt is wall time

let adapters, ttl;
const retryDelay = 200;
const holds = new Map();

const calls = {
  hello(m) {
    ttl = m.ttl_ms;
    adapters = m.addresses.map((address) => {
      const [host, port] = address.split(":");
      const node = new Redis({ host, port: Number(port), commandTimeout: ttl / 4, connectTimeout: ttl / 4, maxRetriesPerRequest: 1 });
      node.on("error", () => {}); // it connects again by itself
      return new IoredisAdapter(node);
    });
    say("ready", { version: 1, now_ms: now() });
  },
  async acquire({ id, resource, timeout_ms }) {
    try {
      const lock = createRedlock({ adapters, key: resource, ttl, retryAttempts: Math.ceil(timeout_ms / retryDelay), retryDelay });
      const handle = await lock.acquire();
      holds.set(id, { lock, handle });
      say("granted", { id, until_ms: untilOf(handle) });
    } catch (e) {
      say("refused", { id, error: String(e).slice(0, 200) });
    }
  },
  async release({ id }) {
    const { lock, handle } = holds.get(id);
    holds.delete(id);
    try {
      say((await lock.release(handle)) ? "released" : "not_held", { id });
    } catch (e) {
      say("failed", { id, error: String(e).slice(0, 200) });
    }
  },
  quit() {
    process.exit(0);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const m = JSON.parse(line);
  calls[m.type]?.(m); // a cancel is ignored: each call ends by itself
}
