// The numbers of a scenario as sliders, what 200 runs show with them, and curves over one of them.

import type { App, View } from "./app";
import type { Knob, Property, Turned } from "./api";
import { CurveBox, type Line } from "./curves";
import { button, choice, latest, make, notice, textOf } from "./dom";
import { rows } from "./rows";
import { RunsBox } from "./runner";

// runs is how many runs follow a slider.
const runs = 200;

// firstRow is the row to begin with.
const firstRow = "crash-restart";

export const numbers: View = {
  path: "/numbers", name: "Change the numbers", title: "Change the numbers",
  async render(app, place, query, signal) {
    const first = rows.find((r) => r.value === firstRow) ?? rows[0]!;
    if (!app.current.scenario) app.current = { scenario: first.scenario, seed: 1n };
    const panel = make("div"), known = rows.find((r) => r.scenario === app.current.scenario);
    const begin = latest(signal), build = () => void knobPanel(app, panel, begin());
    const options = known ? rows : [{ value: "", text: "the scenario of the editor" }, ...rows];
    const from = choice("start from", options, known?.value ?? "", (name) => {
      const row = rows.find((r) => r.value === name);
      if (!row) return;
      app.current = { scenario: row.scenario, seed: 1n };
      build();
    });
    const asked = new URLSearchParams(query);
    if (asked.has("curve")) return place.append(await sweeps(app, asked, signal), make("p", {}, make("a", { href: "#/numbers" }, "Sliders for the rows of the debate")));
    place.append(make("section", {}, make("p", { class: "lead" }, "Move a slider: the verdicts of 200 runs follow."), make("p", {}, from.element), panel));
    build(); // the curves can wait
    place.append(await sweeps(app, asked, signal));
  },
};

// knobPanel has the sliders of the current scenario, and what follows them.
async function knobPanel(app: App, place: HTMLElement, signal: AbortSignal) {
  const base = app.current.scenario;
  try {
    const { knobs } = await app.engine.call("knobs", { scenario: base });
    if (signal.aborted) return;
    const positions = new Map(knobs.map((k) => [k.path, k.value])), problem = make("div");
    let turned = base;
    const box = new RunsBox(app, runs, () => turned, signal);
    const changed = debounced(async () => {
      const t = await app.engine.call("turn", { scenario: base, settings: settingsOf(positions) });
      if (signal.aborted) return;
      problem.replaceChildren(...problems(t));
      if (!t.scenario) return;
      turned = t.scenario;
      app.current = { scenario: turned, seed: 1n };
      void box.run();
    });
    const reset = () => {
      app.current = { scenario: base, seed: 1n };
      void knobPanel(app, place, signal);
    };
    const plot = await plotter(app, base, knobs, positions, signal);
    place.replaceChildren(make("div", { class: "columns" },
      make("div", {}, ...knobs.map((k) => slider(k, (value) => { positions.set(k.path, value); changed(); })),
        make("p", { class: "tools" }, button("reset", reset), button("edit", () => app.go("/edit")), button("open a run", () => void app.open(turned, 1n)))),
      make("div", {}, problem, make("p", {}, box.controls), box.outcome)), plot);
    void box.run();
  } catch (error) {
    place.replaceChildren(notice(textOf(error), "bad"));
  }
}

const settingsOf = (positions: Map<string, number>) => [...positions].map(([path, value]) => ({ path, value }));

// plotter lets the reader draw the violations of a property over a knob, with the others as they are.
async function plotter(app: App, base: string, knobs: Knob[], positions: Map<string, number>, signal: AbortSignal): Promise<HTMLElement> {
  const properties = await app.engine.call("properties", {}), curve = new CurveBox(app, signal), problem = make("div");
  const property = choice("plot violations of", properties.map((p) => ({ value: p.code, text: `${p.code} ${p.title}` })), "V1", () => {});
  const over = choice("against", knobs.map((k) => ({ value: k.path, text: k.name + unit(k) })), knobs.at(-1)!.path, () => {});
  const draw = async () => {
    problem.replaceChildren();
    try {
      const knob = knobs.find((k) => k.path === over.select.value)!, of = properties.find((p) => p.code === property.select.value)!;
      await curve.run(await lineOver(app, base, knob, of, positions));
    } catch (error) { problem.replaceChildren(notice(textOf(error), "bad")); }
  };
  return make("div", {}, make("p", { class: "tools" }, property.element, over.element, button("draw", () => void draw())), problem, curve.element);
}

const problems = (t: Turned) => t.problems.map((p) => notice("Invalid combination: " + p.text, "open"));

const unit = (k: Knob) => (k.unit ? ` (${k.unit})` : "");

// slider is a range and a field for the same number.
function slider(k: Knob, changed: (value: number) => void): HTMLElement {
  const range = make("input", { type: "range", min: k.min, max: k.max, step: k.step, value: k.value, "aria-label": k.name + unit(k), title: k.help });
  const field = make("input", { type: "number", min: k.min, max: k.max, step: "any", value: k.value, "aria-label": `${k.name}${unit(k)} as a number` });
  const set = (from: HTMLInputElement, to: HTMLInputElement) => {
    if (!from.checkValidity() || from.value === "") return;
    to.value = from.value;
    changed(Number(from.value));
  };
  range.addEventListener("input", () => set(range, field));
  field.addEventListener("change", () => set(field, range));
  return make("div", { class: "knob" }, make("span", { class: "name", title: k.help }, k.name + unit(k)), range, field);
}

// lineOver returns a curve over a knob, from one end to the other.
async function lineOver(app: App, base: string, knob: Knob, property: Property, positions: Map<string, number>): Promise<Line> {
  const points: Line["points"] = [], count = 20;
  for (let n = 0; n <= count; n++) {
    const steps = Math.round((knob.max - knob.min) * n / count / knob.step), x = knob.min + steps * knob.step;
    if (points.at(-1)?.x === x) continue;
    const t = await app.engine.call("turn", { scenario: base, settings: settingsOf(new Map(positions).set(knob.path, x)) });
    if (t.scenario) points.push({ x, scenario: t.scenario });
  }
  if (!points.length) throw new Error(`no value of ${knob.name} goes together with the other numbers`);
  return { axis: knob.name + unit(knob), property, points };
}

// sweeps lets the reader draw a curve of a sweep, with its formula. The address may name one.
async function sweeps(app: App, query: URLSearchParams, signal: AbortSignal): Promise<HTMLElement> {
  const curves = await app.engine.call("curves", {}), box = new CurveBox(app, signal);
  const asked = curves.findIndex((c) => c.sweep === query.get("sweep") && c.name === query.get("curve"));
  const chosen = choice("curve", curves.map((c, n) => ({ value: String(n), text: c.name, group: c.sweep })), String(Math.max(asked, 0)), () => {});
  const begin = async () => {
    const c = curves[Number(chosen.select.value)]!, { points } = await app.engine.call("points", c);
    history.replaceState(null, "", "#/numbers?" + new URLSearchParams({ sweep: c.sweep, curve: c.name }));
    about.textContent = `${c.name}: ${c.summary}${c.axis.startsWith("allowance") ? ". The allowance of Redlock is the TTL times its drift factor, and 2 ms" : ""}.`;
    const at = query.has("at") ? { at: Number(query.get("at")) } : {};
    await box.run({ axis: c.axis, property: c.property, points, ...at });
    query.delete("at"); // it was asked of this curve only
  };
  const about = make("p", { class: "soft" }), element = make("section", {}, make("h2", {}, "Curves with their formulas"), make("p", { class: "tools" }, chosen.element, button("draw", () => void begin())), about, box.element);
  if (asked >= 0) void begin();
  return element;
}

// debounced calls a function when it was not called for a moment.
function debounced(f: () => Promise<void>) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void f(), 120);
  };
}
