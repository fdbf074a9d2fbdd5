// redlock as a client of Lockstorm, over the protocol of docs/other-languages.md.
//
//   npm ci
//   lockstorm test --nodes 5 -- node client.js
import { createInterface } from "node:readline";
import Redis from "ioredis";
import Redlock, { ExecutionError, ResourceLockedError } from "redlock";

const now = () => Number(process.hrtime.bigint()) / 1e6; // the clock of until_ms
const say = (type, fields) => process.stdout.write(JSON.stringify({ type, ...fields }) + "\n");
const untilOf = (lock) => now() + (lock.expiration - Date.now()); // expiration is wall time

let redlock, ttl;
const outside = process.argv.includes("--retry-outside");
const holds = new Map();

const calls = {
  hello(m) {
    ttl = m.ttl_ms;
    const nodes = m.addresses.map((address) => {
      const [host, port] = address.split(":");
      // Without a time limit ioredis waits for a reply for ever.
      const node = new Redis({ host, port: Number(port), commandTimeout: ttl / 4, connectTimeout: ttl / 4 });
      return node.on("error", () => {}); // it connects again by itself
    });
    redlock = new Redlock(nodes);
    redlock.on("error", () => {}); // one for each node that does not vote for us
    say("ready", { version: 1, now_ms: now(), extends: true });
  },
  async acquire({ id, resource, timeout_ms }) {
    try {
      const lock = await (outside ? retried(resource, timeout_ms) : redlock.acquire([resource], ttl));
      holds.set(id, lock);
      say("granted", { id, until_ms: untilOf(lock) });
    } catch (e) {
      say("refused", { id, error: String(e) });
    }
  },
  async extend({ id }) {
    try {
      const lock = await holds.get(id).extend(ttl);
      holds.set(id, lock);
      say("extended", { id, until_ms: untilOf(lock) });
    } catch (e) {
      say("failed", { id, error: String(e) });
    }
  },
  async release({ id }) {
    try {
      await holds.get(id).release();
      say("released", { id });
    } catch (e) {
      say((await denied(e)) ? "not_held" : "failed", { id, error: String(e) });
    }
    holds.delete(id);
  },
  quit() {
    process.exit(0);
  },
};

// redlock's own retries count the validity from before the first try. These count it from the last.
async function retried(resource, timeout) {
  for (const end = now() + timeout; ; await new Promise((done) => setTimeout(done, 100 + 200 * Math.random()))) {
    try {
      return await redlock.acquire([resource], ttl, { retryCount: 0 });
    } catch (e) {
      if (now() > end) throw e;
    }
  }
}

// Reports whether a majority of the nodes has said that the lock is not there. Nodes that have not
// answered count as votes against, too, so the reasons matter.
async function denied(e) {
  if (!(e instanceof ExecutionError)) return false;
  const last = await e.attempts.at(-1);
  const no = [...last.votesAgainst.values()].filter((why) => why instanceof ResourceLockedError);
  return no.length >= last.quorumSize;
}

for await (const line of createInterface({ input: process.stdin })) {
  const m = JSON.parse(line);
  calls[m.type]?.(m); // a cancel is ignored: each call ends by itself
}
