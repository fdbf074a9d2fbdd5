package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/scenarios"
)

// debated are the claims of 2016 and after, by their ids: each is a row, a series,
// or both, and may have variants.
var debated = []string{
	"pause-then-write", "check-then-write", "delayed-write", "fenced-write", "fence-from-redlock", "token-check-and-set",
	"node-clock-jump", "node-clock-back", "client-wall-step", "clock-drift", "clock-slew", "leap-second", "frozen-clock", "client-suspend",
	"crash-restart", "delayed-restart", "short-restart", "delayed-restart-jump", "evicted-key", "rdb-restart", "node-pause",
	"aof-everysec", "aof-always", "clean-shutdown", "majority-crash",
	"pause-before-step-3", "slow-acquire", "pause-after-step-3", "failover", "split-vote",
	"partition-after-acquire", "minority-partition", "majority-partition",
	"ttl-too-short", "endless-extension", "single-vs-redlock",
}

// compared are the locks of the literature.
var compared = []string{
	"check-then-set", "setnx-then-expire", "setnx-del", "get-then-del", "single-node", "failover",
	"redlock", "redlock-sequential", "redlock-watchdog", "redlock-quarantine", "redlock-time-tokens",
	"database-row", "database-row-asynchronous", "expiring-key", "kubernetes-lease", "zookeeper", "etcd", "chubby", "fenced",
}

func TestNothingOfTheDebateIsMissing(t *testing.T) {
	var rows []string
	for _, s := range scenarios.All() {
		rows = append(rows, s.Name)
	}
	for _, s := range scenarios.AllSeries() {
		rows = append(rows, s.Name)
	}
	for _, id := range debated {
		if !slices.ContainsFunc(rows, func(row string) bool { return row == id || strings.HasPrefix(row, id+"-") }) {
			t.Errorf("there is no row %s", id)
		}
	}
	var locks []string
	for _, c := range scenarios.Contenders() {
		locks = append(locks, c.Name)
	}
	for _, name := range compared {
		if !slices.Contains(locks, name) {
			t.Errorf("%s is not compared", name)
		}
	}
}

// Law: nothing is put into the storm in vain: every row and every contender says
// what is expected of it.
func TestEveryRowExpectsSomething(t *testing.T) {
	for _, s := range scenarios.All() {
		if len(s.Expect) == 0 || s.Summary == "" {
			t.Errorf("%s expects nothing, or says nothing of itself", s.Name)
		}
	}
	for _, c := range scenarios.Contenders() {
		if len(c.Expect) == 0 || c.Summary == "" {
			t.Errorf("%s: nothing is expected, or it says nothing of itself", c.Name)
		}
	}
}

// A variant is one of a row before it in its topic.
func TestVariantsAreOfRowsBeforeThem(t *testing.T) {
	for _, topic := range scenarios.Topics() {
		for i, r := range topic.Rows {
			if r.VariantOf == "" {
				continue
			}
			of := slices.IndexFunc(topic.Rows[:i], func(b scenarios.File) bool { return b.Name == r.VariantOf })
			if of < 0 || topic.Rows[of].VariantOf != "" {
				t.Errorf("%s is a variant of %q, which is no row before it in %q, or itself a variant", r.Name, r.VariantOf, topic.Name)
			}
		}
	}
}
