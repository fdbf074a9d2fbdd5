// What the reader has of a run: a history, a replay string, a case, or a link.

import type { View } from "./app";
import { button, latest, make, notice, textOf } from "./dom";
import { present } from "./run";

export const yours: View = {
  path: "/yours", name: "Open yours", title: "Open a run of yours",
  render(app, place, _query, signal) {
    const file = make("input", { type: "file", accept: ".jsonl,.json,.gz,.zst", id: "history", change: () => { if (file.files?.[0]) void show(file.files[0]); } });
    const result = make("div", { "aria-live": "polite" });
    const begin = latest(signal);
    const show = async (from: File) => {
      const now = begin();
      result.replaceChildren(make("p", { class: "soft" }, `checking ${from.name}…`));
      try {
        const payload = new Uint8Array(await from.arrayBuffer());
        const shown = await app.engine.call("judge", { name: from.name, live: false }, { payload, signal: now });
        const body = make("div");
        result.replaceChildren(make("h2", {}, shown.title), body);
        present(body, shown, now);
      } catch (error) {
        if (!now.aborted) result.replaceChildren(notice(textOf(error), "bad"));
      }
    };
    const drop = make("div", { class: "drop" }, make("p", {}, make("label", { for: "history" }, "Drop a history here, or choose a file: "), file), make("p", { class: "soft" }, "JSON lines as in docs/history-format.md, plain or compressed. The file is checked in this page and not sent anywhere."));
    drop.addEventListener("dragover", (e) => { e.preventDefault(); drop.classList.add("over"); });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (e) => {
      e.preventDefault();
      drop.classList.remove("over");
      const dropped = e.dataTransfer?.files[0];
      if (dropped) void show(dropped);
    });
    const pasted = make("textarea", { rows: 3, id: "pasted", spellcheck: "false", placeholder: "v1.crash-restart.1.…" });
    const open = async () => {
      try {
        const run = await app.engine.call("openPasted", { text: pasted.value });
        app.go((await app.engine.call("link", run)).text);
      } catch (error) {
        result.replaceChildren(notice(textOf(error), "bad"));
      }
    };
    place.append(
      make("p", { class: "lead" }, "Your CI went red? Paste the replay string or the case file that it printed, and see what happened. Or check a history."),
      make("p", {}, make("label", { for: "pasted" }, "A replay string, a case (YAML), or a link:")), pasted, make("p", { class: "tools" }, button("open the run", () => void open(), { class: "primary" })),
      make("h3", {}, "A history"), drop, result);
  },
};
