import "./style.css";
import type { App, View } from "./app";
import { beside } from "./beside";
import { debate } from "./debate";
import { make, notice, textOf } from "./dom";
import { edit } from "./edit";
import { Engine } from "./engine";
import { measure } from "./measure";
import { numbers } from "./numbers";
import { hashOf, run } from "./run";
import { stored } from "./stored";
import { yours } from "./yours";

const place = document.getElementById("main")!, status = document.getElementById("engine")!;
const runs = document.querySelector<HTMLMetaElement>("meta[name='stored-runs']")?.content ?? "";
const views: View[] = [debate, numbers, beside, edit, yours, ...(runs ? [stored] : []), run];

const app: App = {
  engine: new Engine(), runs, current: { scenario: "", seed: 1n },
  go(hash) { location.hash = "#" + hash; },
  async open(scenario, seed) { this.go(await hashOf(this, scenario, seed)); },
};

// For tests, and for the browser's console.
declare global {
  interface Window {
    playground: App & {
      measured(scenario: string, runs: number): Promise<number>; // how many milliseconds so many runs take
    };
  }
}
window.playground = Object.assign(app, {
  async measured(scenario: string, runs: number) {
    const begin = performance.now();
    await measure(app.engine, scenario, 1n, runs, new AbortController().signal, () => {});
    return performance.now() - begin;
  },
});

let leaving = new AbortController();

// show shows the view that the address names. An anchor within a view is none of these.
async function show() {
  const hash = location.hash.slice(1);
  if (hash && !hash.startsWith("/")) return;
  const [path, ...query] = (hash || debate.path).split("?"), view = views.find((v) => v.path === path) ?? debate;
  leaving.abort();
  const { signal } = (leaving = new AbortController()), body = make("div", { class: "view" });
  place.replaceChildren(...(view.name ? [make("h2", { class: "title" }, view.title)] : []), body);
  document.title = view.title + " – Lockstorm playground";
  for (const link of document.querySelectorAll("#views a")) {
    if (link.getAttribute("href") === "#" + view.path) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  try {
    await view.render(app, body, query.join("?"), signal);
  } catch (error) {
    if (!signal.aborted) body.append(notice(textOf(error), "bad"));
  }
  if (signal.aborted) return;
  document.documentElement.dataset.shown = view.path;
  if (moved) focusTitle();
  moved = true;
}

// Whoever goes from view to view by keyboard, or hears them, begins at the title of the new one.
let moved = false;
function focusTitle() {
  const title = place.querySelector<HTMLElement>("h2.title");
  if (!title) return;
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
}

// The link to the content moves the focus and not the address, which names the view.
document.querySelector(".skip")!.addEventListener("click", (e) => {
  e.preventDefault();
  place.focus();
});

document.getElementById("views")!.append(...views.filter((v) => v.name).map((v) => make("li", {}, make("a", { href: "#" + v.path }, v.name))));
addEventListener("hashchange", () => void show());
status.textContent = "loading the simulator…";
void show();
app.engine.start().then(() => { status.textContent = ""; }, (error: unknown) => {
  status.textContent = "";
  place.prepend(notice("The simulator does not start: " + textOf(error), "bad"));
});
