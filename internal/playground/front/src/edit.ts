// A scenario as YAML: with completion, errors at their lines, runs, and a link.

import { autocompletion } from "@codemirror/autocomplete";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, linter, type Diagnostic } from "@codemirror/lint";
import { tags } from "@lezer/highlight";
import { basicSetup, EditorView } from "codemirror";
import type { App, View } from "./app";
import { complete } from "./complete";
import { button, choice, make, notice, seedField, textOf } from "./dom";
import { rows } from "./rows";
import { hashOf } from "./run";
import { RunsBox } from "./runner";

// seeds is how many runs the button makes.
const seeds = 100;

export const edit: View = {
  path: "/edit", name: "Write your own", title: "Write your own",
  render(app, place, _query, signal) {
    if (!app.current.scenario) app.current = { scenario: rows[0]!.scenario, seed: 1n };
    const problems = make("ul", { class: "problems", "aria-live": "polite" });
    const editor = new EditorView({
      doc: app.current.scenario, parent: make("div"),
      extensions: [
        basicSetup, yaml(), syntaxHighlighting(colours), lintGutter(), theme, EditorView.contentAttributes.of({ "aria-label": "the scenario" }),
        autocompletion({ override: [complete] }),
        linter((view) => diagnose(app, view, problems), { delay: 250 }),
        EditorView.updateListener.of((u) => { if (u.docChanged) app.current = { ...app.current, scenario: u.state.doc.toString() }; }),
      ],
    });
    signal.addEventListener("abort", () => editor.destroy());
    const text = () => editor.state.doc.toString(), runs = new RunsBox(app, seeds, text, signal);
    const from = choice("start from", rows, rows.find((r) => r.scenario === app.current.scenario)?.value ?? rows[0]!.value, (name) => {
      const row = rows.find((r) => r.value === name)!;
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: row.scenario } });
    });
    const seed = seedField(app.current.seed);
    const open = () => app.open(text(), seed.value).catch((e: unknown) => runs.outcome.replaceChildren(notice(textOf(e), "bad")));
    const said = make("output", { class: "soft" });
    const copy = async () => {
      try {
        const link = location.href.replace(/#.*/, "") + "#" + (await hashOf(app, text(), seed.value));
        await navigator.clipboard.writeText(link).catch(() => history.replaceState(null, "", link));
        said.textContent = "the link to the run of this seed is copied";
      } catch (error) { said.textContent = textOf(error); }
    };
    place.append(
      make("p", { class: "tools" }, from.element, runs.controls, seed.element, button("open the run", () => void open(), {}), button("copy the link", () => void copy()), button("change its numbers", () => app.go("/numbers")), said),
      editor.dom, problems, runs.outcome);
  },
};

// diagnose reads the scenario, and lists its mistakes for those who do not see the marks.
async function diagnose(app: App, view: EditorView, list: HTMLElement): Promise<Diagnostic[]> {
  const { doc } = view.state, checked = await app.engine.call("check", { scenario: doc.toString() });
  list.replaceChildren(...checked.problems.map((p) => make("li", {}, p.line ? `line ${p.line}: ${p.text}` : p.text)));
  return checked.problems.map((p) => {
    const line = doc.line(Math.min(Math.max(p.line, 1), doc.lines));
    return { from: line.from + line.text.search(/\S|$/), to: line.to, severity: "error", message: p.text };
  });
}

const theme = EditorView.theme({
  "&": { border: "1px solid var(--line)", borderRadius: ".4rem", backgroundColor: "var(--ground)", color: "var(--ink)" },
  ".cm-scroller": { minHeight: "12rem", maxHeight: "65vh", overflow: "auto", fontFamily: "ui-monospace, 'Liberation Mono', Consolas, monospace" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 10%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent) !important" },
  ".cm-tooltip": { backgroundColor: "var(--ground)", color: "var(--ink)", border: "1px solid var(--soft)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--ground)" },
  ".cm-completionInfo": { maxWidth: "22rem" },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.content, tags.number, tags.bool], color: "var(--ink)" },
  { tag: [tags.comment, tags.punctuation, tags.separator], color: "var(--soft)" },
]);
