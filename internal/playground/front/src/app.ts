// What the views share.

import type { Engine } from "./engine";

// App is the page.
export interface App {
  engine: Engine;
  runs: string; // where "lockstorm report --http" lists stored runs; "": the page is on another host
  current: Current;

  // go shows a view, as a link to it does.
  go(hash: string): void;

  // open shows a run.
  open(scenario: string, seed: bigint): Promise<void>;
}

// Current is the scenario that the reader is looking at. All views start from it.
export interface Current {
  scenario: string; // YAML; "": none yet
  seed: bigint;
}

// View is a part of the page. render fills the element. It may be called again with another query.
export interface View {
  path: string; // "/debate"
  name: string; // in the navigation; "": it is not there
  title: string;
  render(app: App, place: HTMLElement, query: string, signal: AbortSignal): Promise<void> | void;
}
