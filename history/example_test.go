package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/lockstorm/lockstorm/history"
)

// A history is written as it happens, and read as a stream.
func ExampleReader() {
	var file bytes.Buffer
	w := history.NewWriter(&file, history.Header{Format: history.Format, Version: history.Version, Lock: "redlock", Nodes: 5, Clients: 1})
	for _, e := range []history.Event{
		{Time: 0, Kind: history.Acquire, Client: 1, Resource: "stock", Token: "a"},
		{Time: 1_500_000, Kind: history.Granted, Client: 1, Resource: "stock", Token: "a", Until: 986_500_000},
		{Time: 2_000_000, Kind: history.End},
	} {
		w.Record(&e)
	}
	if err := w.Flush(); err != nil {
		panic(err)
	}

	r, err := history.NewReader(&file)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Header().Lock, "on", r.Header().Nodes, "nodes")
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			panic(err)
		}
		fmt.Println(e.Time, e.Kind)
	}
	// Output:
	// redlock on 5 nodes
	// 0s acquire
	// 1.5ms granted
	// 2ms end
}
