package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
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

// priceRuns is how often each price is measured.
const priceRuns = 2

// price measures the scenarios price-N-LOCK and price-outage-LOCK on real servers.
func (c *checkout) price(ctx context.Context, p *text) error {
	p.say("\n## What locks cost on servers of their store\n\nN clients acquire and release locks of their own for %v each: grants per second of all together, and the median and the 99th percentile of the time to acquire. *requests* are messages that a client sends for a grant and its release. *outage* is the longest time without a grant while the first node, the leader of a store, is down for 3 s. *keeps* are the properties that no run of any trial of [the comparison](compare.md) has violated. `lockstorm run price-N-LOCK --backend process` repeats a measurement.", scenarios.PriceTime)
	table := &textfmt.Table{Head: []string{"lock"}}
	for _, n := range scenarios.PriceClients {
		table.Head = append(table.Head, fmt.Sprintf("%s: grants/s", textfmt.Count(n, "client")), "p50", "p99")
	}
	table.Head = append(table.Head, "requests", "outage", "keeps")
	for _, l := range scenarios.Contenders() {
		if l.Store == nil && !slices.Contains([]string{"redlock", "redlock-fenced", "single-node", "failover"}, l.Name) {
			continue
		}
		line, requests := []string{l.Name}, ""
		for _, n := range scenarios.PriceClients {
			m, err := c.priced(ctx, scenarios.Price(l, n))
			if err != nil {
				return err
			}
			var grants, sent int
			var p50, p99 []time.Duration
			for _, one := range m {
				grants, sent = grants+one.Grants, sent+one.Requests
				p50, p99 = append(p50, one.AcquireP50), append(p99, one.AcquireP99)
			}
			line = append(line, fmt.Sprintf("%.0f", float64(grants)/(float64(len(m))*scenarios.PriceTime.Seconds())), textfmt.Duration(slices.Max(p50)), textfmt.Duration(slices.Max(p99)))
			if requests == "" {
				requests = textfmt.Each(sent, grants)
			}
		}
		m, err := c.priced(ctx, scenarios.PriceOfOutage(l))
		if err != nil {
			return err
		}
		var outage time.Duration
		for _, one := range m {
			outage = max(outage, one.LongestOutage)
		}
		table.Add(append(line, requests, textfmt.Duration(outage.Round(time.Millisecond)), keeps(l))...)
	}
	p.table(table)
	return nil
}

// priced runs a scenario on real servers, one run at a time, and returns the measurements of the runs.
func (c *checkout) priced(ctx context.Context, s scenarios.Scenario) (all []checker.Measurements, err error) {
	out, _, err := c.lockstorm(ctx, "run", s.Name, "--backend", "process", "--runs", fmt.Sprint(priceRuns), "--format", "json", "--out", "")
	if err != nil {
		return nil, err
	}
	for lines := json.NewDecoder(bytes.NewReader(out)); lines.More(); {
		var line struct{ Measurements checker.Measurements }
		if err := lines.Decode(&line); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		all = append(all, line.Measurements)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no run", s.Name)
	}
	return all, nil
}

// keeps lists the properties that a lock is expected to keep in all trials.
func keeps(l scenarios.Contender) string {
	var codes []string
	for _, p := range checker.Properties() {
		if l.Expect[p] == checker.Holds {
			codes = append(codes, p.Code())
		}
	}
	return strings.Join(codes, " ")
}
