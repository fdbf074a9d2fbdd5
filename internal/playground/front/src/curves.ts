// Curves that draw themselves as runs come in.

import type { App } from "./app";
import type { Property } from "./api";
import { answer, Chart, type ChartPoint } from "./chart";
import { button, make, notice, textOf } from "./dom";
import { measure, Tally } from "./measure";

// Line is the points of a curve and their scenarios.
export interface Line {
  axis: string;
  property: Property;
  points: { x: number; predicted?: number; scenario: string }[];
  at?: number; // the value that the reader has asked for
}

// Each point is measured in rounds, so that the whole curve is there early and sharpens.
const rounds = [10, 20, 30, 40, 100];

// apart is how far the seeds of one point are from those of the next.
const apart = 1_000_000;

// CurveBox draws a curve when it is asked to.
export class CurveBox {
  readonly element = make("div", { class: "curve" });
  private stopper?: AbortController;

  constructor(private app: App, private signal: AbortSignal) {}

  // run draws a curve. An earlier one is stopped.
  async run(line: Line) {
    this.stopper?.abort();
    const stopper = (this.stopper = new AbortController()), signal = AbortSignal.any([stopper.signal, this.signal]);
    const chart = new Chart(line.axis, `${line.property.code} ${line.property.title} violated`, line.at), status = make("output", { class: "soft" }), said = make("p", { class: "notice", role: "status", hidden: true });
    const halt = button("stop", () => stopper.abort());
    const points: ChartPoint[] = line.points.map(({ x, predicted }) => ({ x, predicted })), tallies = line.points.map(() => new Tally());
    this.element.replaceChildren(make("p", { class: "tools" }, halt, status), said, chart.element);
    chart.show(points, 0);
    try {
      let made = 0;
      for (const round of rounds) {
        for (const [n, point] of line.points.entries()) {
          const first = BigInt(1 + n * apart + made); // other seeds at each point, so that chance does not bend the curve
          const more = await measure(this.app.engine, point.scenario, first, round, signal, () => {});
          if (signal.aborted) break;
          for (const l of more.lines) tallies[n]!.add(l);
          const [share] = await this.app.engine.call("shares", { counts: [{ count: tallies[n]!.violations(line.property.code), of: tallies[n]!.judged(line.property.code) }] });
          points[n]!.share = share;
          const seed = tallies[n]!.violating.get(line.property.code);
          if (seed !== undefined) points[n]!.open = { seed, run: () => void this.app.open(point.scenario, seed) };
          chart.show(points, made + round);
          status.textContent = ` ${made + round} runs at each point, point ${n + 1} of ${points.length}`;
        }
        if (signal.aborted) break;
        made += round;
        said.textContent = answer(points, line.axis, `${line.property.code} ${line.property.title}`, line.at);
        said.hidden = said.textContent === "";
      }
      status.textContent = signal.aborted ? " stopped" : ` done: ${made} runs at each of ${points.length} points`;
    } catch (error) {
      if (!signal.aborted) this.element.prepend(notice(textOf(error), "bad"));
    }
    halt.hidden = true;
  }
}
