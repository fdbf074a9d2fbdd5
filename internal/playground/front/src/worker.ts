// A Web Worker that runs the Go program: it answers one call at a time.

import "./generated/wasm_exec.js";
import type { Answered, Asked } from "./engine";

declare const Go: new () => { importObject: WebAssembly.Imports; run(instance: WebAssembly.Instance): Promise<void> };
declare global {
  var lockstormCall: (name: string, argument: string, payload: Uint8Array) => { answer?: string; error?: string };
}

const send = (message: Answered) => postMessage(message);

addEventListener("message", async (event: MessageEvent<WebAssembly.Module | Asked>) => {
  if (event.data instanceof WebAssembly.Module) {
    const go = new Go();
    const instance = await WebAssembly.instantiate(event.data, go.importObject);
    void go.run(instance).then(() => send({ died: "the simulator has stopped" }), (error: unknown) => send({ died: String(error) }));
    return send({ ready: true });
  }
  const { id, name, argument, payload } = event.data;
  try {
    send({ id, ...lockstormCall(name, argument, payload ?? new Uint8Array()) });
  } catch (error) {
    send({ died: error instanceof RangeError ? "it is nested too deeply for a browser, or too large" : String(error) });
  }
});
