//go:build js && wasm

// Wasm is the program of the playground's Web Workers. It offers package playground to JavaScript as
//
//	lockstormCall(name, argument, payload) → { answer } or { error }
//
// where argument and answer are JSON, and payload is a Uint8Array.
package main

import (
	"fmt"
	"runtime/debug"
	"syscall/js"

	"github.com/lockstorm/lockstorm/internal/playground"
)

func main() {
	// A worker has no other threads, so the collector takes its time from the runs.
	debug.SetGCPercent(400)
	js.Global().Set("lockstormCall", js.FuncOf(func(_ js.Value, args []js.Value) any { return answer(args) }))
	select {}
}

// answer answers a call. A panic is a defect of ours, and the page can say so.
func answer(args []js.Value) (result any) {
	defer func() {
		if r := recover(); r != nil {
			result = map[string]any{"error": fmt.Sprintf("a defect of Lockstorm: %v", r)}
		}
	}()
	payload := make([]byte, args[2].Get("length").Int())
	js.CopyBytesToGo(payload, args[2])
	text, err := playground.Call(args[0].String(), []byte(args[1].String()), payload)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"answer": string(text)}
}
