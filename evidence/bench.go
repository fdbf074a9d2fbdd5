package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// benchmarks are measured with benchstat.
var benchmarks = []struct {
	title, about string
	args         []string // of go test
	units        string   // what benchstat shows
}{
	{
		"Locks on Redis beside each other", "A cycle is an acquire and a release of a resource that no other cycle uses, on five redis-server processes of the same machine. *floor* is bare go-redis, which does the least that a lock on a majority can do. In *silent-node* one of the five nodes receives and answers nothing. All locks wait 50 ms for a node, and send nothing twice.",
		[]string{"-C", "evidence", "test", "./speed", "-run", "^$", "-bench", ".", "-benchtime", "500ms", "-count", "6", "-timeout", "2h"}, "p50-us OR p99-us OR grants/s",
	},
	{
		"The simulator", "A cycle is an acquire and a release over five nodes, with the checker. A world is a run of the row calm.",
		[]string{"test", "-pgo=cmd/lockstorm/default.pgo", "./internal/runner", "-run", "^$", "-bench", "Cycles|Worlds", "-cpu", "1", "-count", "6"}, "sec/op OR allocs/op",
	},
	{
		"The checker", "In *turns* ten clients use one resource one after another; in *traffic* ten clients use 16 resources, with refused tries, losses and dead holders.",
		[]string{"test", "-pgo=cmd/lockstorm/default.pgo", "./checker", "-run", "^$", "-bench", "Lease/.*=1000000$|All", "-cpu", "1", "-count", "6", "-timeout", "1h"}, "sec/op OR allocs/op OR cpu-ns/operation",
	},
}

// measureBench measures speed and price, and writes the page.
func measureBench(ctx context.Context, c *checkout) error {
	p := &text{}
	p.say("# Speed and price\n\nMade by `go -C evidence run . bench` with %s on %d cores. Servers, proxies and clients share the machine: compare the figures, and do not take them for those of a data centre.", runtime.Version(), runtime.NumCPU())
	for i, b := range benchmarks {
		figures, err := c.run(ctx, "go", b.args...)
		if err != nil {
			return err
		}
		file := filepath.Join(c.temp, fmt.Sprintf("bench-%d.txt", i))
		if err := os.WriteFile(file, figures, 0o600); err != nil {
			return err
		}
		table, err := c.run(ctx, "go", "tool", "-modfile=tools/go.mod", "benchstat", "-filter", ".unit:("+b.units+")", file)
		if err != nil {
			return err
		}
		p.say("\n## %s\n\n%s\n\n```\n$ go %s\n%s```", b.title, b.about, strings.Join(b.args, " "), table)
	}
	if err := c.price(ctx, p); err != nil {
		return err
	}
	return os.WriteFile(c.page("bench"), []byte(p.String()), 0o644)
}
