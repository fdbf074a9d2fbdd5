// One run: what happened, the timeline, the messages, the verdicts. The same Go code renders it, and
// the same script draws it, as in a report.

import type { App, View } from "./app";
import type { Linked, Shown } from "./api";
import { button, make, mostSeed, notice, save, seedField, textOf } from "./dom";

// Opened is a timeline of the page, as the report's script offers it.
export interface Opened {
  at(): number | null;
  range(): [number, number];
  end(): number;
  show(from: number, to: number): void;
  go(at: number): void;
  step(n: number): void;
  close(): void;
}

declare global {
  interface Window { lockstorm: { mount(root: Element): Opened[]; enhance(root: Element): void; timelines: Opened[] } }
}

// present puts a run into an element, and returns its timelines.
export function present(place: HTMLElement, shown: Shown, signal: AbortSignal): Opened[] {
  place.innerHTML = shown.html; // rendered by html/template: all texts are escaped
  window.lockstorm.enhance(place);
  const timelines = window.lockstorm.mount(place);
  signal.addEventListener("abort", () => timelines.forEach((t) => t.close()));
  return timelines;
}

// hashOf returns the fragment of a run that was not made yet.
export const hashOf = async (app: App, scenario: string, seed: bigint) =>
  (await app.engine.call("link", { scenario, seed: String(seed), trace: "", replay: "" })).text;

export const run: View = {
  path: "/run", name: "", title: "A run",
  async render(app, place, query, signal) {
    const body = make("div", { class: "run" }), status = make("output", { class: "soft" });
    const heard = make("div", { class: "tl-live", role: "status" }); // what happened, for screen readers
    try {
      const linked = await app.engine.call("followLink", { text: "/run?" + query });
      app.current = { scenario: linked.scenario, seed: BigInt(linked.seed) };
      const shown = await app.engine.call("show", { ...linked, anchor: "" }, { signal });
      const link = await app.engine.call("link", { ...linked, trace: shown.trace });
      if (signal.aborted) return;
      history.replaceState(null, "", "#" + link.text);
      place.append(make("h2", { class: "title" }, shown.title), tools(app, linked, shown.command, status), ...differs(linked.trace, shown), body, madeBy(shown), heard);
      present(body, shown, signal);
      heard.textContent = shown.sentence;
    } catch (error) {
      if (!signal.aborted) place.append(notice(textOf(error), "bad"));
    }
  },
};

// differs says that the run is not the one that the link was made of.
function differs(trace: string, shown: Shown): HTMLElement[] {
  if (!trace || shown.trace.startsWith(trace)) return [];
  return [notice(`This is not the run of the link: its trace hash is ${shown.trace.slice(0, 8)}, and was ${trace}. The program or the scenario has changed.`, "open")];
}

function madeBy(shown: Shown): HTMLElement {
  return make("p", { class: "soft" }, `The trace hash of this run is ${shown.trace}. To repeat it: ` + (shown.command || `lockstorm replay with the link of this page.`));
}

function tools(app: App, run: Linked, command: string, status: HTMLElement): HTMLElement {
  const say = (text: string) => { status.textContent = text; };
  const exported = async (kind: string) => {
    try {
      const file = await app.engine.call("export", { ...run, kind });
      save(file.name, file.type, file.text);
      say(`${file.name} is saved`);
    } catch (error) { say(textOf(error)); }
  };
  const copy = (what: string, text: string) => navigator.clipboard.writeText(text).then(() => say(`the ${what} is copied`), () => say(text));
  return make("div", { class: "tools" }, ...(run.replay ? [] : [seeds(app, run)]), button("copy the link", () => void copy("link", location.href)), button("copy the command", () => void copy("command", command || `lockstorm replay '${location.href}'`)),
    ...[["scenario", "scenario"], ["history", "history"], ["report", "report"], ["Go test", "test"]].map(([text, kind]) => button("save " + text, () => void exported(kind!))),
    button("change its numbers", () => app.go("/numbers")), button("edit", () => app.go("/edit")), status);
}

// seeds goes to the runs of other seeds.
function seeds(app: App, run: Linked): HTMLElement {
  const seed = BigInt(run.seed), to = (next: bigint) => { if (next >= 0n && next <= mostSeed) void app.open(run.scenario, next); };
  return make("span", {}, button("◀", () => to(seed - 1n), { "aria-label": "previous seed" }), " ", seedField(seed, to).element, " ", button("▶", () => to(seed + 1n), { "aria-label": "next seed" }));
}
