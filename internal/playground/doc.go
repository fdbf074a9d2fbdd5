// Package playground is what a page asks of the simulator, the locks and the checker: the rows of the
// debate, runs, curves, one run as a page, and the verdicts of a history. Every question and every
// answer is data that fits JSON. The package knows no browser: playground/wasm carries its calls from
// a Web Worker, and tests call it directly.
//
//	answer, err := playground.Call("runs", []byte(`{"scenario": "name: …", "first": "1", "runs": 10}`))
//
// playground/src/api.ts has the same types for the page. It is generated from those of this package:
// make bless.
package playground
