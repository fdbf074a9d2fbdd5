// The verdicts of a history that the reader has.

import type { View } from "./app";
import { make, notice, textOf } from "./dom";
import { present } from "./run";

export const judge: View = {
  path: "/judge", name: "Judge a history", title: "Judge a history",
  render(app, place, _query, signal) {
    const file = make("input", { type: "file", accept: ".jsonl,.json,.gz,.zst", id: "history", change: () => { if (file.files?.[0]) void show(file.files[0]); } });
    const result = make("div", { "aria-live": "polite" });
    let inner = new AbortController();
    const show = async (from: File) => {
      inner.abort();
      inner = new AbortController();
      const now = AbortSignal.any([signal, inner.signal]);
      result.replaceChildren(make("p", { class: "soft" }, `judging ${from.name}…`));
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
    const drop = make("div", { class: "drop" }, make("p", {}, make("label", { for: "history" }, "Drop a history here, or choose a file: "), file), make("p", { class: "soft" }, "JSON lines, as Lockstorm or a program of yours writes them (docs/history-format.md), plain or compressed. The file is judged in this page and is sent nowhere."));
    drop.addEventListener("dragover", (e) => { e.preventDefault(); drop.classList.add("over"); });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (e) => {
      e.preventDefault();
      drop.classList.remove("over");
      const dropped = e.dataTransfer?.files[0];
      if (dropped) void show(dropped);
    });
    place.append(drop, result);
  },
};
