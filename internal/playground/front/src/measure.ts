// Many runs of a scenario, spread over the workers.

import type { Counts, Outcome, RunLine } from "./api";
import { Stopped, type Engine } from "./engine";

// slice is how many runs a call makes at most, and for how many milliseconds.
const slice = { runs: 50, millis: 80 };

// mostLines is how many runs are kept one by one.
const mostLines = 1000;

// Tally counts runs.
export class Tally {
  runs = 0;
  shown = 0;
  against = 0;
  seen: Counts["seen"] = {};
  violating = new Map<string, bigint>(); // the least seed that violates a property, by its code
  lines: RunLine[] = []; // the first that came

  add(line: RunLine) {
    this.runs++;
    if (this.lines.length < mostLines) this.lines.push(line);
    if (line.shown) this.shown++;
    if (line.against) this.against++;
    for (const [code, verdict] of Object.entries(line.verdicts)) {
      const counts = (this.seen[code] ??= {});
      counts[verdict] = (counts[verdict] ?? 0) + 1;
      const seed = BigInt(line.seed), least = this.violating.get(code);
      if (verdict === "violated" && (least === undefined || seed < least)) this.violating.set(code, seed);
    }
  }

  counts = (scenario: string): Counts => ({ scenario, runs: this.runs, shown: this.shown, against: this.against, seen: this.seen });

  // violations and judged are of a property, by its code.
  violations = (code: string) => this.seen[code]?.violated ?? 0;
  judged = (code: string) => this.violations(code) + (this.seen[code]?.holds ?? 0);
}

// measure makes runs, from a seed on, and calls changed after some of them. It ends early with what
// there is if the signal says so.
export async function measure(engine: Engine, scenario: string, first: bigint, runs: number, signal: AbortSignal, changed: (tally: Tally) => void): Promise<Tally> {
  const tally = new Tally(), rest: { first: bigint; runs: number }[] = [];
  for (let n = 0; n < runs; n += slice.runs) rest.push({ first: first + BigInt(n), runs: Math.min(slice.runs, runs - n) });
  const work = async () => {
    for (let part = rest.shift(); part && !signal.aborted; part = rest.shift()) {
      const answer = await engine.call("runs", { scenario, first: String(part.first), runs: part.runs, millis: slice.millis }, { signal, urgent: false });
      for (const line of answer.runs) tally.add(line);
      const made = answer.runs.length;
      if (made < part.runs) rest.unshift({ first: part.first + BigInt(made), runs: part.runs - made });
      changed(tally);
    }
  };
  try {
    await Promise.all(Array.from({ length: engine.size }, work));
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
  return tally;
}

// Concluding asks what the runs so far have shown, at most one question at a time, and passes the
// answers on.
export class Concluding {
  private busy = false;
  private waiting?: Tally;

  constructor(private engine: Engine, private scenario: string, private show: (outcome: Outcome, tally: Tally) => void) {}

  async add(tally: Tally) {
    this.waiting = tally;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.waiting) {
        const now = this.waiting;
        this.waiting = undefined;
        if (now.runs > 0) this.show(await this.engine.call("conclude", now.counts(this.scenario)), now);
      }
    } finally {
      this.busy = false;
    }
  }
}
