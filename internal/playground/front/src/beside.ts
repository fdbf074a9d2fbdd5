// Two locks side by side in the same trial, with the same seed: the same faults at the same instants.

import type { App, View } from "./app";
import type { Found } from "./api";
import { button, choice, latest, make, notice, seedField, textOf } from "./dom";
import { present, type Opened } from "./run";

interface Chosen { trial: string; locks: [string, string]; seed: bigint }

export const beside: View = {
  path: "/beside", name: "Two locks", title: "Two locks side by side",
  async render(app, place, query, signal) {
    const { trials, locks } = await app.engine.call("compared", {}), asked = new URLSearchParams(query);
    const chosen: Chosen = { trial: asked.get("trial") ?? "crash", locks: [asked.get("a") ?? "redlock", asked.get("b") ?? "redlock-quarantine"], seed: BigInt(/^\d+$/.test(asked.get("seed") ?? "") ? asked.get("seed")! : 1) };
    const panels = [make("div"), make("div")] as const, about = make("p", { class: "soft" }), said = make("p", { class: "notice", role: "status" });
    const begin = latest(signal);
    const show = () => {
      history.replaceState(null, "", "#/beside?" + new URLSearchParams({ trial: chosen.trial, a: chosen.locks[0], b: chosen.locks[1], seed: String(chosen.seed) }));
      about.textContent = trials.find((t) => t.name === chosen.trial)?.summary ?? "";
      void both(app, chosen, panels, said, begin());
    };
    const trial = choice("trial", trials.map((t) => ({ value: t.name, text: t.name })), chosen.trial, (v) => { chosen.trial = v; show(); });
    const lock = (n: 0 | 1, label: string) => choice(label, locks.map((l) => ({ value: l.name, text: l.name, group: l.group })), chosen.locks[n], (v) => { chosen.locks[n] = v; show(); });
    const seed = seedField(chosen.seed, (v) => { chosen.seed = v; show(); });
    place.append(
      make("p", { class: "lead" }, "Two locks go through the same trial with the same seed. Play one timeline, and the other follows."),
      make("p", { class: "tools" }, trial.element, lock(0, "left").element, lock(1, "right").element, seed.element, button("next seed", () => { seed.set(++chosen.seed); show(); })),
      about, said, make("div", { class: "beside" }, ...panels));
    show();
  },
};

// both shows two runs whose timelines are played together.
async function both(app: App, { trial, locks, seed }: Chosen, panels: readonly [HTMLElement, HTMLElement], said: HTMLElement, signal: AbortSignal) {
  said.textContent = "";
  for (const p of panels) p.replaceChildren(make("p", { class: "soft" }, "running…"));
  const founds: [Found[], Found[]] = [[], []];
  const opened = await Promise.all(panels.map(async (panel, n) => {
    try {
      const { scenario } = await app.engine.call("enter", { trial, lock: locks[n]! });
      const shown = await app.engine.call("show", { scenario, seed: String(seed), replay: "", anchor: n ? "right-" : "left-" }, { signal });
      if (signal.aborted) return [];
      founds[n] = shown.found;
      const body = make("div");
      panel.replaceChildren(make("h2", {}, locks[n]!), make("p", { class: "tools" }, button("open alone", () => void app.open(scenario, seed))), body);
      return present(body, shown, signal);
    } catch (error) {
      if (!signal.aborted) panel.replaceChildren(notice(textOf(error), "bad"));
      return [];
    }
  }));
  if (signal.aborted) return;
  said.textContent = compared(locks, founds);
  together(panels, opened, signal);
}

// compared says in words what the two runs differ in.
function compared(locks: [string, string], [left, right]: [Found[], Found[]]): string {
  const violated = (found: Found[]) => found.filter((f) => f.verdict === "violated").map((f) => `${f.property.code} ${f.property.title}`);
  const [a, b] = [violated(left), violated(right)], both = a.filter((p) => b.includes(p));
  const only = (lock: string, own: string[], other: string[]) => { const rest = own.filter((p) => !other.includes(p)); return rest.length ? `Only ${lock} violates ${rest.join(", ")}.` : ""; };
  const texts = [both.length ? `Both violate ${both.join(", ")}.` : "", only(locks[0], a, b), only(locks[1], b, a)].filter(Boolean);
  return texts.length ? texts.join(" ") : "Neither violates anything.";
}

// together makes each timeline follow the other.
function together(panels: readonly HTMLElement[], opened: Opened[][], signal: AbortSignal) {
  let following = false;
  panels.forEach((panel, n) => panel.addEventListener("lockstorm:time", (e) => {
    if (following) return;
    following = true;
    for (const other of opened[1 - n] ?? []) other.go((e as CustomEvent<{ at: number }>).detail.at);
    following = false;
  }, { signal }));
}
