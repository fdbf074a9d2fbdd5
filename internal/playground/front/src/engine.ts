// The engine: Web Workers that run the Go program, and a queue of calls.

import type { Calls } from "./api";

// Asked is a call on its way to a worker.
export interface Asked {
  id: number;
  name: string;
  argument: string; // JSON
  payload?: Uint8Array;
}

// Answered is what a worker sends.
export interface Answered {
  id?: number;
  answer?: string; // JSON
  error?: string;
  ready?: boolean;
  died?: string; // why the worker is of no more use
}

// Options of a call.
export interface CallOptions {
  payload?: Uint8Array;
  signal?: AbortSignal; // ends the call
  urgent?: boolean; // goes before those that are not
}

// Waiting is a call that has no answer yet.
interface Waiting extends Asked {
  urgent: boolean;
  resolve: (answer: unknown) => void;
  reject: (error: Error) => void;
  stop: () => void; // when its signal says so; changes with where the call is
}

// patience is how long a call may take, in milliseconds.
const patience = 120_000;

// Stopped is the error of a call that was ended by its signal.
export class Stopped extends Error {
  constructor() { super("stopped"); }
}

// Slot is a worker and its call.
class Slot {
  private worker: Worker;
  private ready = false;
  private call?: Waiting;
  private timer = 0;

  // free is called when the slot can take a call, broken when its worker does not start.
  constructor(private module: WebAssembly.Module, private free: () => void, private broken: (error: Error) => void) {
    this.worker = this.start();
  }

  get loaded() { return this.ready; }
  get idle() { return this.ready && !this.call; }

  private start(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.ready = false;
    worker.onmessage = (e: MessageEvent<Answered>) => this.hear(e.data);
    worker.onerror = (e) => this.restart(new Error(e.message || "the simulator did not start"));
    worker.postMessage(this.module);
    return worker;
  }

  run(call: Waiting) {
    this.call = call;
    this.timer = window.setTimeout(() => this.restart(new Error(`${call.name} took longer than ${patience / 1000} s, and was ended`)), patience);
    call.stop = () => this.restart(new Stopped()); // Go cannot be interrupted, so its worker is replaced
    const { id, name, argument, payload } = call;
    this.worker.postMessage({ id, name, argument, payload } satisfies Asked, payload ? [payload.buffer as ArrayBuffer] : []);
  }

  private hear({ answer, error, ready, died }: Answered) {
    if (died !== undefined) return this.restart(new Error(died));
    if (ready) {
      this.ready = true;
      return this.free();
    }
    const call = this.end();
    if (!call) return;
    if (error !== undefined) call.reject(new Error(error)); else call.resolve(JSON.parse(answer!));
    this.free();
  }

  private end() {
    const { call } = this;
    clearTimeout(this.timer);
    this.call = undefined;
    return call;
  }

  // restart replaces a worker that is of no more use. One that has not even started would not do so
  // the next time.
  private restart(error: Error) {
    const call = this.end(), { ready } = this;
    this.worker.terminate();
    call?.reject(error);
    if (ready) this.worker = this.start(); else this.broken(error);
  }
}

// Engine answers calls, several at a time.
export class Engine {
  private slots: Slot[] = [];
  private queue: Waiting[] = [];
  private next = 1;
  private failed?: Error;
  readonly size = Math.max(1, Math.min(navigator.hardwareConcurrency || 2, 8));

  // start loads the program. It ends when the first worker has it.
  async start() {
    try {
      const module = await load("./lockstorm.wasm.gz");
      await new Promise<void>((loaded, broken) => {
        for (let n = 0; n < this.size; n++) this.slots.push(new Slot(module, () => { loaded(); this.dispatch(); }, broken));
      });
    } catch (error) {
      this.failed = error as Error;
      for (const call of this.queue.splice(0)) call.reject(this.failed);
      throw error;
    }
  }

  // loaded reports whether all workers have the program.
  get loaded() { return this.slots.length === this.size && this.slots.every((s) => s.loaded); }

  // call asks the program.
  call<K extends keyof Calls>(name: K, argument: Calls[K][0], { payload, signal, urgent = true }: CallOptions = {}): Promise<Calls[K][1]> {
    let aborted = () => {};
    return new Promise<Calls[K][1]>((resolve, reject) => {
      if (signal?.aborted) return reject(new Stopped());
      if (this.failed) return reject(this.failed);
      const call: Waiting = { id: this.next++, name, argument: JSON.stringify(argument), payload, urgent, resolve: resolve as (a: unknown) => void, reject, stop: () => this.drop(call) };
      aborted = () => call.stop();
      signal?.addEventListener("abort", aborted);
      this.queue.push(call);
      this.dispatch();
    }).finally(() => signal?.removeEventListener("abort", aborted));
  }

  // drop ends a call that has not begun.
  private drop(call: Waiting) {
    this.queue.splice(this.queue.indexOf(call), 1);
    call.reject(new Stopped());
  }

  private dispatch() {
    for (const slot of this.slots) {
      if (!slot.idle) continue;
      const urgent = this.queue.findIndex((call) => call.urgent), [call] = this.queue.splice(Math.max(urgent, 0), 1);
      if (!call) return;
      slot.run(call);
    }
  }
}

// load compiles the program. A host may have unpacked it already.
async function load(address: string): Promise<WebAssembly.Module> {
  const response = await fetch(address);
  if (!response.ok || !response.body) throw new Error(`${address}: ${response.status} ${response.statusText}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return WebAssembly.compile(bytes);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(plain, { headers: { "content-type": "application/wasm" } }));
}
