package scenarios_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

func TestWith(t *testing.T) {
	s, err := scenarios.Find("delayed-restart")
	if err != nil {
		t.Fatal(err)
	}
	for path, check := range map[string]struct {
		value string
		ok    func(scenarios.Scenario) bool
	}{
		"lock.ttl":              {"2s", func(s scenarios.Scenario) bool { return s.Lock.TTL == 2*time.Second }},
		"lock.watchdog.every":   {"200ms", func(s scenarios.Scenario) bool { return s.Lock.Watchdog.Every == 200*time.Millisecond }},
		"plan[1].end.after":     {"700ms", func(s scenarios.Scenario) bool { return *s.Plan[1].End.After == 700*time.Millisecond }},
		"plan[1].crash.node":    {"2", func(s scenarios.Scenario) bool { return s.Plan[1].Action.(*nemesis.Crash).Node == 2 }},
		"clients[0].work":       {"{min: 1ms, max: 2ms}", func(s scenarios.Scenario) bool { return s.Clients[0].Work.Max == 2*time.Millisecond }},
		"bounds.tries":          {"3", func(s scenarios.Scenario) bool { return s.Bounds.Tries == 3 }},
		"lock.drift_factor":     {"0.02", func(s scenarios.Scenario) bool { return s.Lock.DriftFactor == 0.02 }},
		"plan[0].partition.way": {"requests", func(s scenarios.Scenario) bool { return s.Plan[0].Action.(*nemesis.Partition).Way == nemesis.Requests }},
	} {
		got, err := s.With(path, check.value)
		if err != nil || !check.ok(got) {
			t.Errorf("%s=%s: %v", path, check.value, err)
		}
	}
	for _, wrong := range []struct{ path, value, want string }{
		{"lock.ttll", "1s", "lock.ttll=1s: lock: unknown field ttll; the nearest of "},
		{"lock.ttl", "soon", "lock.ttl=soon: lock.ttl: \"soon\" is not a duration"},
		{"lock.ttl", "1us", "lock.ttl=1us: lock.ttl: 1µs: want at least 1ms"},
		{"plan[7].end.after", "1s", "plan[7].end.after=1s: plan has 2 entries: plan[0], plan[1]"},
		{"lock[0]", "1s", "lock[0]=1s: [0]: not a list"},
		{"name.x", "1s", "name.x=1s: x: its parent has no fields"},
		{"lock..ttl", "1s", "lock..ttl=1s: want the path of a field, such as lock.ttl"},
		{"lock.ttl", "{", "lock.ttl={: the value is not YAML"},
		{"nodes", "2", "nodes=2: "},
	} {
		if _, err := s.With(wrong.path, wrong.value); err == nil || !strings.HasPrefix(err.Error(), wrong.want) {
			t.Errorf("got %v, want %s…", err, wrong.want)
		}
	}
}

// Of several fields only the result has to be valid: latency.min alone would be above latency.max.
func TestWithAll(t *testing.T) {
	s, err := scenarios.Find("delayed-restart")
	if err != nil {
		t.Fatal(err)
	}
	above := scenarios.FieldValue{Path: "latency.min", Value: "5ms"}
	if _, err := s.WithAll(above); err == nil {
		t.Error("a smallest latency above the largest was accepted")
	}
	got, err := s.WithAll(above, scenarios.FieldValue{Path: "latency.max", Value: "6ms"})
	if err != nil || got.Latency.Min != 5*time.Millisecond || got.Latency.Max != 6*time.Millisecond {
		t.Errorf("%v, %v", got.Latency, err)
	}
	if _, err := s.WithAll(above, scenarios.FieldValue{Path: "latency.max", Value: "1ms"}); err == nil || !strings.HasPrefix(err.Error(), "latency.min=5ms latency.max=1ms: ") {
		t.Errorf("the error is %v", err)
	}
}
