package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// priceRuns is how often each price is measured.
const priceRuns = 2

// pricedLocks are those of the comparison that run on real servers, without variants that cost the same.
func pricedLocks() []scenarios.Contender {
	names := strings.Fields("redlock redlock-fenced single-node failover database-row database-row-asynchronous advisory redis-sentinel redis-cluster kubernetes-lease zookeeper etcd")
	return slices.DeleteFunc(slices.Clone(scenarios.Contenders()), func(l scenarios.Contender) bool { return !slices.Contains(names, l.Name) })
}

// priceClients lists the numbers of clients, and priceTime is how long a measurement takes.
var priceClients = []int{1, 8, 64}

const priceTime = 5 * time.Second

// priceScenario has n clients that acquire and release, again and again and without work, each a lock of its
// own. Nothing goes wrong. Times are long, because a busy machine is no fault of the lock.
func priceScenario(l scenarios.Contender, n int) scenarios.Scenario {
	s := scenarios.Trials()[0].Enter(l) // for the lock and its deployment
	s.Name = fmt.Sprintf("price-%d-%s", n, l.Name)
	s.Clients, s.Bounds = nil, scenarios.Scenario{}.Bounds
	for client := range n {
		s.Clients = append(s.Clients, scenarios.Client{Workload: "hold", Resource: fmt.Sprintf("of-client-%d", client+1), Rounds: math.MaxInt32})
	}
	s.Lock.NodeTimeout, s.Lock.TTL = time.Second, 20*time.Second
	if s.Lock.Heartbeat > 0 {
		s.Lock.Heartbeat = s.Lock.TTL / 4
	}
	s.Horizon, s.SlipMargin = priceTime, priceTime
	return s
}

// outageScenario has one client that acquires and releases, while node 1, which leads a store at first, is
// down for 3 s.
func outageScenario(l scenarios.Contender) scenarios.Scenario {
	s := priceScenario(l, 1)
	s.Name = "price-outage-" + l.Name
	s.Lock.NodeTimeout, s.Lock.TTL, s.Lock.Heartbeat = l.Lock.NodeTimeout, l.Lock.TTL, l.Lock.Heartbeat
	var down nemesis.Action = &nemesis.Crash{Node: 1}
	if l.Replication != nil {
		down = &nemesis.Failover{Node: 1}
	}
	s.Plan = nemesis.Plan{{Action: down, Start: nemesis.At(time.Second), End: nemesis.After(3 * time.Second)}}
	return s
}

// price measures what locks cost on real servers.
func (c *checkout) price(ctx context.Context, p *text) error {
	p.say("\n## What locks cost on servers of their store\n\nN clients acquire and release locks of their own for %v each: grants per second of all together, and the median and the 99th percentile of the time to acquire. *requests* are messages that a client sends for a grant and its release. *outage* is the longest time without a grant while the first node, the leader of a store, is down for 3 s. Keys are watched meanwhile, as in every run, which costs redlock a sixth of its grants. *keeps* are the properties that no run of any trial of [the comparison](compare.md) has violated.", priceTime)
	table := &textfmt.Table{Head: []string{"lock"}}
	for _, n := range priceClients {
		table.Head = append(table.Head, fmt.Sprintf("%s: grants/s", textfmt.Count(n, "client")), "p50", "p99")
	}
	table.Head = append(table.Head, "requests", "outage", "keeps")
	for _, l := range pricedLocks() {
		line, requests := []string{l.Name}, ""
		for _, n := range priceClients {
			m, err := c.priced(ctx, priceScenario(l, n))
			if err != nil {
				return err
			}
			var grants, sent int
			var p50, p99 []time.Duration
			for _, one := range m {
				grants, sent = grants+one.Grants, sent+one.Requests
				p50, p99 = append(p50, one.AcquireP50), append(p99, one.AcquireP99)
			}
			line = append(line, fmt.Sprintf("%.0f", float64(grants)/(float64(len(m))*priceTime.Seconds())), textfmt.Duration(slices.Max(p50)), textfmt.Duration(slices.Max(p99)))
			if requests == "" {
				requests = textfmt.Each(sent, grants)
			}
		}
		m, err := c.priced(ctx, outageScenario(l))
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
	file := filepath.Join(c.temp, s.Name+".yaml")
	var yaml bytes.Buffer
	if err := s.Print(&yaml); err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, yaml.Bytes(), 0o600); err != nil {
		return nil, err
	}
	out, _, err := c.lockstorm(ctx, "run", file, "--backend", "process", "--runs", fmt.Sprint(priceRuns), "--format", "json", "--out", "")
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
