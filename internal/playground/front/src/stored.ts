// The runs that "lockstorm report --http" finds on this machine. A run that goes on grows while it is looked at.

import type { App, View } from "./app";
import { button, latest, make, notice, textOf } from "./dom";
import { present, type Opened } from "./run";

// StoredRun is a run of the list, as the server sends it.
export interface StoredRun {
  name: string; // of its directory
  scenario: string;
  backend: string;
  seed: string;
  live: boolean; // it goes on
  violated: string[]; // codes of properties
  changed: string; // RFC 3339
}

// pause is how long to wait until a list or a live run is read again, in milliseconds.
const pause = 1000;

export const stored: View = {
  path: "/runs", name: "Stored runs", title: "Stored runs",
  render(app, place, query, signal) {
    const name = new URLSearchParams(query).get("name");
    if (name) return void one(app, place, name, signal);
    const list = make("tbody"), empty = make("p", { class: "soft" });
    place.append(make("p", { class: "lead" }, "The runs in the directories of lockstorm report --http."), empty, make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...["run", "scenario", "backend", "seed", "violates", "changed"].map((t) => make("th", { scope: "col" }, t)))), list)));
    let shown = "";
    void repeatedly(signal, async () => {
      try {
        const runs = await get<StoredRun[]>(app, "", signal), now = JSON.stringify(runs);
        if (now === shown) return true; // so that the focus stays where it is
        shown = now;
        empty.textContent = runs.length ? "" : "No runs yet. lockstorm run stores one.";
        list.replaceChildren(...runs.map((r) => make("tr", {}, make("td", {}, make("a", { href: "#/runs?" + new URLSearchParams({ name: r.name }) }, r.name)), ...[r.scenario, r.backend, r.seed, r.live ? "live" : r.violated.join(" ") || "nothing", new Date(r.changed).toLocaleString()].map((t) => make("td", {}, t)))));
      } catch (error) {
        if (!signal.aborted) empty.textContent = textOf(error);
      }
      return true;
    });
  },
};

// repeatedly calls a function again and again, until it returns false.
async function repeatedly(signal: AbortSignal, f: () => Promise<boolean>) {
  while (!signal.aborted && (await f())) await wait(pause, signal);
}

async function get<T>(app: App, path: string, signal: AbortSignal): Promise<T> {
  const response = await fetch(app.runs + path, { signal });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as T;
}

// wait waits so long, or until the signal says that it is in vain.
const wait = (ms: number, signal: AbortSignal) => new Promise<void>((done) => {
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    done();
  };
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end);
});

// one shows a run, and again when it has grown.
function one(app: App, place: HTMLElement, name: string, signal: AbortSignal) {
  const status = make("output", { class: "soft" }), body = make("div");
  place.append(make("p", { class: "tools" }, button("all runs", () => app.go("/runs")), status), make("h2", {}, name), body);
  const begin = latest(signal);
  let size = -1, opened: Opened | undefined;
  return repeatedly(signal, async () => {
    try {
      const response = await fetch(`${app.runs}/${encodeURIComponent(name)}/history`, { signal });
      if (!response.ok) throw new Error(await response.text());
      const live = response.headers.get("x-lockstorm-live") === "true", payload = new Uint8Array(await response.arrayBuffer());
      status.textContent = live ? "The run is still going on. These are the verdicts so far." : "";
      if (payload.length !== size) {
        size = payload.length;
        const shown = await app.engine.call("judge", { name, live }, { payload, signal });
        body.style.minHeight = body.offsetHeight + "px"; // so that the page does not jump
        opened = again(opened, () => present(body, shown, begin())[0]);
      }
      return live;
    } catch (error) {
      if (!signal.aborted && size < 0) body.replaceChildren(notice(textOf(error), "bad"));
      return true;
    }
  });
}

// again draws a timeline anew. If a part of it was in sight, that stays in sight.
function again(before: Opened | undefined, draw: () => Opened | undefined): Opened | undefined {
  const [from, to] = before?.range() ?? [0, 0], whole = before?.end() ?? 0, opened = draw();
  if (to - from < whole) opened?.show(from, to);
  return opened;
}
