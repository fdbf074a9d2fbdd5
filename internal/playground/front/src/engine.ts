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

interface Waiting extends Asked {
  urgent: boolean;
  resolve: (answer: unknown) => void;
  reject: (error: Error) => void;
  signal?: AbortSignal;
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

  constructor(private module: WebAssembly.Module, private free: () => void) {
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
    call.signal?.addEventListener("abort", this.stop);
    const { id, name, argument, payload } = call;
    this.worker.postMessage({ id, name, argument, payload } satisfies Asked, payload ? [payload.buffer as ArrayBuffer] : []);
  }

  // stop ends the call: Go cannot be interrupted, so its worker is replaced.
  private stop = () => this.restart(new Stopped());

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
    call?.signal?.removeEventListener("abort", this.stop);
    this.call = undefined;
    return call;
  }

  private restart(error: Error) {
    const call = this.end();
    this.worker.terminate();
    this.worker = this.start();
    call?.reject(error);
  }
}

// Engine answers calls, several at a time.
export class Engine {
  private slots: Slot[] = [];
  private queue: Waiting[] = [];
  private next = 1;
  readonly size = Math.max(1, Math.min(navigator.hardwareConcurrency || 2, 8));

  // start loads the program. The first worker is ready early, and the others follow.
  async start() {
    const module = await load("./lockstorm.wasm.gz");
    for (let n = 0; n < this.size; n++) this.slots.push(new Slot(module, () => this.dispatch()));
  }

  // loaded reports whether all workers have the program.
  get loaded() { return this.slots.length === this.size && this.slots.every((s) => s.loaded); }

  // call asks the program.
  call<K extends keyof Calls>(name: K, argument: Calls[K][0], { payload, signal, urgent = true }: CallOptions = {}): Promise<Calls[K][1]> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new Stopped());
      const call: Waiting = { id: this.next++, name, argument: JSON.stringify(argument), payload, signal, urgent, resolve: resolve as (a: unknown) => void, reject };
      this.queue.push(call);
      signal?.addEventListener("abort", () => {
        const at = this.queue.indexOf(call);
        if (at < 0) return;
        this.queue.splice(at, 1);
        reject(new Stopped());
      });
      this.dispatch();
    });
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
