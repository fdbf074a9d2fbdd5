// What many runs have shown: a sentence, a bar for each property, and a square for each run.

import type { Observed, Outcome, Property, RunLine, Verdict } from "./api";
import { make } from "./dom";
import type { Tally } from "./measure";

const signs: Record<string, string> = { holds: "✓", violated: "✗", unknown: "?", "n/a": "–" };

// sign is a verdict in one character.
const sign = (verdict: string) => signs[verdict] ?? "?";

// chip shows the verdict of a property in a few characters, as a report does.
export const chip = ({ property, verdict }: { property: Property; verdict: Verdict }) =>
  make("li", {}, make("span", { class: "code", "aria-hidden": "true" }, property.code),
    make("span", { class: "tile " + (verdict === "n/a" ? "none" : verdict), role: "img", title: `${property.title}: ${verdict}`, "aria-label": `${property.code} ${property.title}: ${verdict}` }, sign(verdict)));

const marks: Record<string, string> = { "as expected": "good", contradiction: "bad", undecided: "open" };

// OutcomeBox shows an outcome, and the runs as squares that open them.
export class OutcomeBox {
  readonly element = make("div", { class: "outcome" });

  constructor(private open: (seed: bigint) => void) {}

  show(outcome: Outcome, tally: Tally) {
    if (!performance.getEntriesByName("first-outcome").length) performance.mark("first-outcome");
    const focus = [...this.element.querySelectorAll(".squares button")].indexOf(document.activeElement!);
    this.element.replaceChildren(
      headline(outcome, tally),
      make("dl", { class: "shares" }, ...outcome.observed.flatMap((o) => this.property(o, outcome, tally))),
      this.squares(tally),
    );
    if (focus >= 0) this.element.querySelectorAll<HTMLElement>(".squares button")[focus]?.focus(); // more runs came
  }

  private property(o: Observed, outcome: Outcome, tally: Tally): HTMLElement[] {
    const wrong = outcome.expects && o.expected !== undefined && o.expected !== o.verdict;
    const verdict = make("span", { class: o.verdict === "violated" ? (o.expected === "violated" ? "known" : "bad") : o.verdict === "unknown" ? "open" : "good" }, `${sign(o.verdict)} ${o.verdict}`);
    const facts = make("dd", {}, verdict);
    if (o.verdict === "violated") {
      const { share } = o;
      facts.append(" ", bar(share.low, share.value, share.high), make("span", { class: "soft" }, ` ${share.count} of ${share.of} runs, ${share.text}`));
      const seed = tally.violating.get(o.property.code);
      if (seed !== undefined) facts.append(" ", make("button", { type: "button", click: () => this.open(seed), "aria-label": `open seed ${seed}, which violates ${o.property.title}` }, `open seed ${seed}`));
    }
    if (wrong) facts.append(make("span", { class: "open" }, ` expected: ${o.expected}`));
    return [make("dt", {}, `${o.property.code} ${o.property.title}`), facts];
  }

  // squares is one stop for the tabulator; the arrow keys go from run to run.
  private squares(tally: Tally): HTMLElement {
    const lines = [...tally.lines].sort((a, b) => (BigInt(a.seed) < BigInt(b.seed) ? -1 : 1)).slice(0, mostSquares);
    const box: HTMLElement = make("div", { class: "squares", role: "toolbar", "aria-label": "the runs: the arrow keys go from one to the next, Enter opens it", keydown: (e) => step(box, e as KeyboardEvent) });
    lines.forEach((line, n) => {
      const { kind, text } = judged(line);
      box.append(make("button", { type: "button", class: kind, tabindex: n ? -1 : 0, title: `seed ${line.seed}: ${text}`, "aria-label": `seed ${line.seed}: ${text}`, click: () => this.open(BigInt(line.seed)) }));
    });
    return box;
  }
}

// mostSquares is how many runs have a square.
const mostSquares = 400;

// step moves the focus within the squares.
function step(box: HTMLElement, e: KeyboardEvent) {
  const by = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[e.key], now = document.activeElement;
  if (by === undefined || !now || now.parentElement !== box) return;
  const all = [...box.children] as HTMLElement[], next = all[Math.min(Math.max(all.indexOf(now as HTMLElement) + by, 0), all.length - 1)]!;
  e.preventDefault();
  (now as HTMLElement).tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function headline(outcome: Outcome, tally: Tally): HTMLElement {
  const runs = tally.runs === 1 ? "1 run" : `${tally.runs} runs`;
  const text = outcome.expects ? `${outcome.conclusion} in ${runs}: ${outcome.text}.` : `${runs}: ${outcome.text}.`;
  return make("p", { class: "notice " + (outcome.expects ? marks[outcome.conclusion] ?? "" : "") , role: "status" }, text);
}

// judged is what a run has shown, for its square.
function judged(line: RunLine): { kind: string; text: string } {
  const of = (verdict: string) => Object.entries(line.verdicts).filter(([, v]) => v === verdict).map(([code]) => code);
  const violated = of("violated"), unknown = of("unknown");
  if (violated.length) return { kind: "violated", text: "violates " + violated.join(", ") };
  if (unknown.length) return { kind: "unknown", text: "undecided: " + unknown.join(", ") };
  return { kind: "holds", text: "violates nothing" };
}

// bar draws a share with its interval.
function bar(low: number, value: number, high: number): HTMLElement {
  return make("span", { class: "bar", "aria-hidden": "true", style: `--low: ${low}; --high: ${high}; --at: ${value}` }, make("i"), make("b"));
}
