// The rows of the debate, by topic.

import type { App, View } from "./app";
import type { Row, Source, Topic } from "./api";
import { button, make } from "./dom";
import { chip } from "./outcome";
import { topics } from "./rows";
import { RunsBox } from "./runner";

// seeds is how many runs a row is asked for.
const seeds = 100;

// questions are what visitors come with, and the view that answers each.
const curve = (sweep: string, name: string, at: string) => "/numbers?" + new URLSearchParams({ sweep, curve: name, at });
const questions = [
  ["Is Redlock safe if a node restarts after 0.9 of the TTL?", curve("restart-delay", "plain, no persistence", "0.9")],
  ["Which drift allowance do I need if the nodes' clocks are 2 % fast and mine is 2 % slow?", curve("drift", "the nodes' clocks are fast and the holder's is slow, by as much, clock error 0.02", "0.012")],
  ["Does a fence help where Redlock fails?", "/beside?" + new URLSearchParams({ trial: "crash", a: "redlock", b: "redlock-fenced", seed: "2" })],
  ["Why did my CI go red?", "/yours"],
] as const;

export const debate: View = {
  path: "/debate", name: "The debate", title: "The debate",
  render(app, place, query, signal) {
    const filter = make("input", { type: "search", placeholder: "restart, pause, fence…", input: () => narrow() });
    const sections = topics.map((topic) => section(app, topic, signal));
    const narrow = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const s of sections) {
        let shown = 0;
        for (const row of s.querySelectorAll<HTMLElement>("article")) {
          row.hidden = !words.every((word) => row.textContent!.toLowerCase().includes(word));
          if (!row.hidden) shown++;
        }
        for (const fold of s.querySelectorAll<HTMLDetailsElement>("details.variants")) {
          fold.hidden = !fold.querySelector("article:not([hidden])");
          fold.open = words.length > 0 && !fold.hidden;
        }
        s.hidden = shown === 0;
      }
    };
    place.append(
      make("p", { class: "lead" }, "In 2016 Martin Kleppmann argued that Redlock, the Redis lock, is unsafe. Its author antirez answered that it is safe under stated assumptions. Choose a row, run it, and open a run to see what happened."),
      make("p", {}, "Or start from a question:"), make("ul", { class: "questions" }, ...questions.map(([text, hash]) => make("li", {}, make("a", { href: "#" + hash }, text)))),
      make("h2", {}, "The rows"), make("p", {}, make("label", { class: "field" }, "rows with ", filter)),
      make("nav", { "aria-label": "topics", class: "topics" }, ...topics.map((t, n) => button(t.name, () => { sections[n]!.scrollIntoView(); sections[n]!.querySelector("h2")!.focus(); }))),
      make("p", { class: "soft" }, legend + "."),
      ...sections,
    );
    const asked = new URLSearchParams(query).get("row");
    if (asked) document.getElementById("row-" + asked)?.scrollIntoView();
  },
};

function section(app: App, topic: Topic, signal: AbortSignal): HTMLElement {
  return make("section", {}, make("h2", { tabindex: -1 }, topic.name), ...topic.rows.filter((r) => !r.variantOf).flatMap((row) => {
    const variants = topic.rows.filter((r) => r.variantOf === row.name).map((r) => article(app, r, signal));
    const fold = make("details", { class: "variants" }, make("summary", {}, `${variants.length === 1 ? "1 variant" : variants.length + " variants"} of ${row.name}`), ...variants);
    return [article(app, row, signal), ...(variants.length ? [fold] : [])];
  }));
}

// legend names the properties.
const legend = [...new Map(topics.flatMap((t) => t.rows.flatMap((r) => r.expected.map((e) => [e.property.code, e.property.title])))).entries()]
  .sort((a, b) => order(a[0]) - order(b[0])).map(([code, title]) => `${code} ${title}`).join(", ");

// order is that of the properties: V, L, C.
function order(code: string): number { return "VLC".indexOf(code[0]!) * 10 + Number(code[1] ?? 0); }

function article(app: App, row: Row, signal: AbortSignal): HTMLElement {
  const runs = new RunsBox(app, seeds, () => row.scenario, signal);
  const use = (view: string) => { app.current = { scenario: row.scenario, seed: 1n }; app.go(view); };
  return make("article", { class: "row", id: "row-" + row.name },
    make("h3", {}, row.summary),
    make("p", { class: "soft" }, row.name + (row.variantOf ? `, a variant of ${row.variantOf}` : "")),
    make("dl", { class: "claims" }, ...row.voices.flatMap((v) => claim(v.name, v.says)), make("dt", {}, "Predicted"), predicted(row)),
    make("p", { class: "sources" }, row.sources.length ? "Sources: " : "This row is ours.", ...row.sources.flatMap((s, n) => [n ? "; " : "", source(s)])),
    ...(row.remark ? [make("p", { class: "remark" }, row.remark)] : []),
    make("p", { class: "tools" }, runs.controls, button("open a run", () => void app.open(row.scenario, 1n)), button("change its numbers", () => use("/numbers")), button("edit", () => use("/edit"))),
    runs.outcome);
}

const claim = (who: string, says: string) => [make("dt", {}, who), make("dd", {}, says || "no claim")];

const source = (s: Source) => (s.url ? make("a", { href: s.url, rel: "noreferrer", target: "_blank" }, s.text) : s.text);

function predicted(row: Row): HTMLElement {
  return make("dd", {}, row.expected.length ? make("ul", { class: "verdict-strip" }, ...row.expected.map(chip)) : "nothing");
}
