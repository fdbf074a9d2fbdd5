package scenarios_test

import (
	"encoding/json"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: the JSON of a scenario says what a reader takes its YAML for, with the members
// of every object sorted.
func TestJSONIsTheYAML(t *testing.T) {
	strange := scenarios.All()[0]
	strange.Summary = "yes: <no> & \"null\" # 1e3\n\ttrue, 2024-01-01"
	strange.Lock.Kind, strange.Lock.Tokens = "0x10", "~"
	strange.Clients = []scenarios.Client{{Workload: "off", Resource: "12", Rounds: 3}, {Workload: "null", Resource: "1.5"}}
	strange.Expect = scenarios.Expectations{checker.Fence: checker.Holds, checker.Lease: checker.NotApplicable}
	strange.Generate = &nemesis.Generator{Faults: nemesis.Weights{"all": 1, "kill": 0}, Most: 3}
	strange.Latency = nemesis.Distribution{Pareto: &nemesis.Pareto{Scale: time.Millisecond, Alpha: 1e-7}, Samples: []time.Duration{1, 2e9}}
	strange.Lock.DriftFactor = 1e21
	for _, s := range append(scenarios.Every(), strange, scenarios.Scenario{}) {
		text, err := yaml.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var plain any
		if err := yaml.Unmarshal(text, &plain); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(plain)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(s); err != nil || string(got) != string(want) {
			t.Errorf("%s, %v: got\n%s\nwant\n%s", s.Name, err, got, want)
		}
	}
}
