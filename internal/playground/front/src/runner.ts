// A button that makes many runs of a scenario, with progress, a stop button, and what they have shown.

import type { App } from "./app";
import { button, make, notice, textOf } from "./dom";
import { Concluding, measure, type Tally } from "./measure";
import { OutcomeBox } from "./outcome";

export class RunsBox {
  readonly box: OutcomeBox;
  readonly outcome: HTMLElement;
  readonly controls: HTMLElement;
  private go: HTMLButtonElement;
  private halt: HTMLButtonElement;
  private bar = make("progress", { max: 1, value: 0, hidden: true, "aria-label": "runs made" });
  private count = make("span", { class: "soft" });
  private stopper?: AbortController;

  // scenario returns what to run.
  constructor(private app: App, private runs: number, private scenario: () => string, private signal: AbortSignal) {
    this.box = new OutcomeBox((seed) => void app.open(this.scenario(), seed));
    this.outcome = this.box.element;
    this.go = button(`run ${runs} seeds`, () => void this.run(), { class: "primary" });
    this.halt = button("stop", () => this.stop(), { hidden: true });
    this.controls = make("span", { class: "runs" }, this.go, this.halt, this.bar, this.count);
  }

  stop() { this.stopper?.abort(); }

  // run makes the runs. Those of an earlier call are stopped.
  async run(): Promise<Tally | undefined> {
    this.stop();
    const stopper = (this.stopper = new AbortController()), scenario = this.scenario(), begin = performance.now();
    const signal = AbortSignal.any([stopper.signal, this.signal]);
    const concluding = new Concluding(this.app.engine, scenario, (outcome, tally) => !this.signal.aborted && this.stopper === stopper && this.box.show(outcome, tally));
    this.during(true);
    try {
      const tally = await measure(this.app.engine, scenario, 1n, this.runs, signal, (now) => {
        if (this.stopper !== stopper) return;
        this.bar.value = now.runs / this.runs;
        this.count.textContent = ` ${now.runs} of ${this.runs}`;
        void concluding.add(now);
      });
      if (this.stopper === stopper) this.count.textContent = stopped(tally, this.runs, performance.now() - begin);
      return tally;
    } catch (error) {
      if (this.stopper === stopper) this.outcome.replaceChildren(notice(textOf(error), "bad"));
      return undefined;
    } finally {
      if (this.stopper === stopper) this.during(false);
    }
  }

  private during(now: boolean) {
    [this.halt.hidden, this.bar.hidden] = [!now, !now];
    this.go.disabled = now;
  }
}

const stopped = (tally: Tally, wanted: number, ms: number) =>
  tally.runs < wanted ? ` stopped after ${tally.runs} of ${wanted} runs` : ` ${wanted} runs in ${(ms / 1000).toFixed(1)} s`;
