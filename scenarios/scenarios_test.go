package scenarios_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: what is printed is read, as YAML and as JSON.
func TestRoundTrip(t *testing.T) {
	storm := scenarios.All()[0]
	storm.Generate = &nemesis.Generator{Faults: nemesis.Weights{"all": 1, "kill": 0}, Most: 3, NoSwarm: true}
	for _, s := range append(scenarios.All(), storm) {
		var text bytes.Buffer
		if err := s.Print(&text); err != nil {
			t.Fatal(err)
		}
		got, err := scenarios.Parse(text.Bytes())
		if err != nil {
			t.Errorf("%s: %v\n%s", s.Name, err, text.String())
		} else if !reflect.DeepEqual(got, s) {
			t.Errorf("printed %+v\nread %+v\n%s", s, got, text.String())
		}
		encoded, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var decoded scenarios.Scenario
		if err := json.Unmarshal(encoded, &decoded); err != nil || !reflect.DeepEqual(decoded, s) {
			t.Errorf("%s as JSON: %v\n%s", s.Name, err, encoded)
		}
	}
}

func TestNamedScenariosArePossibleAndComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios.All() {
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if seen[s.Name] || s.Summary == "" {
			t.Errorf("%s: named twice, or without a summary", s.Name)
		}
		seen[s.Name] = true
		for _, p := range checker.Properties() {
			if _, ok := s.Expect[p]; !ok {
				t.Errorf("%s expects nothing of %s", s.Name, p)
			}
		}
	}
}

func TestFind(t *testing.T) {
	if s, err := scenarios.Find("calm"); err != nil || s.Name != "calm" {
		t.Errorf("got %q, %v", s.Name, err)
	}
	if _, err := scenarios.Find("clam"); err == nil || !strings.Contains(err.Error(), `unknown scenario "clam": there is calm, `) {
		t.Errorf("got %v", err)
	}
}

const good = `name: mine
lock: {kind: redlock, ttl: 1s, drift_factor: 0.01, node_timeout: 50ms}
clients:
  - {workload: hold, resource: r, rounds: 1}
nodes: 5
persistence: none
horizon: 5s
plan:
  - crash: {node: 3}
    start: {client: 1, step: granted, plus: 20ms}
    end: {after: 0s}
expect: {lease: violated}
`

func TestErrorsNameTheLine(t *testing.T) {
	if _, err := scenarios.Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ old, new, want string }{
		{"node: 3", "node: 7", "line 9: plan[0].crash.node: there is no node 7: they are numbered 1 to 5"},
		{"after: 0s", "after: -1s", "line 11: plan[0].end.after: the fault would end 1s before it starts"},
		{"step: granted", "step: grunted", `line 10: plan[0].start.step: unknown step "grunted"`},
		{"client: 1, ", "", "line 10: plan[0].start.client: a step needs the client that takes it"},
		{"crash: {node: 3}", "burn: {node: 3}", "line 9: field burn is neither start, end nor a kind of fault: there is [crash"},
		{"horizon: 5s", "horizon: 5", "line 7: cannot unmarshal"},
		{"horizon: 5s", "horizon: 0s", "line 7: horizon: 0s: a run needs time"},
		{"horizon: 5s", "horizon: 1000000h", "line 7: horizon: 1000000h0m0s: want at most 262800h0m0s, which is 30 years"},
		{"drift_factor", "linger: 1000000h, drift_factor", "line 2: lock.linger: 1000000h0m0s: want at most"},
		{"rounds: 1", "rounds: 1, think: {max: 1000000h}", "line 4: clients[0].think.max: 1000000h0m0s: want at most"},
		{"expect:", "bounds: {release: -1000000h}\nexpect:", "line 12: bounds.release: -1000000h0m0s: want at most"},
		{"rounds: 1", "rounds: 0", "line 4: clients[0].rounds: 0: want at least 1"},
		{"persistence: none", "persistence: some", `line 6: persistence: unknown persistence "some"`},
		{"lease: violated", "lease: broken", `line 12: unknown verdict "broken"`},
		{"lease: violated", "leash: violated", `line 12: unknown property "leash"`},
		{"horizon", "guard: stern\nhorizon", `line 7: guard: unknown guard "stern": want plain, fenced-writes, fenced or token`},
		{"name: mine", "", `name: "": want up to 64 lower-case letters`},
		{"name: mine", "name: ../mine", `line 1: name: "../mine": want up to 64`},
		{"expect:", "bounds: {release: -1s}\nexpect:", "line 12: bounds: the bound of release, -1s, is negative"},
		{"drift_factor", "clock: sundial, drift_factor", `line 2: lock.clock: unknown clock "sundial": want [monotonic boottime wall]`},
		{"expect:", "generate: {most: 0}\nexpect:", "line 12: generate.most: 0: want 1 to 99"},
		{"expect:", "generate:\n  most: 2\n  faults: {crash: 1, burn: 1}\nexpect:", `line 14: generate.faults.burn: unknown kind of fault "burn": there is [crash`},
		{"expect:", "generate:\n  most: 2\n  faults:\n    crash: -1\nexpect:", "line 15: generate.faults.crash: weight -1: want 0 to 9"},
		{"expect:", "generate: {most: 2, faults: {crash: 0}}\nexpect:", "line 12: generate.faults: every weight is 0"},
		{"expect:", "generate: {mots: 2}\nexpect:", "line 12: field mots not found"},
		{"name: mine", "name: [", "line 2: did not find expected"},
		{good, "", "the file is empty"},
	}
	for _, c := range cases {
		_, err := scenarios.Parse([]byte(strings.Replace(good, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q for %q: got %v, want %q", c.new, c.old, err, c.want)
		}
	}
	if _, err := scenarios.Parse([]byte(good + "---\n" + good)); err == nil || !strings.Contains(err.Error(), "one scenario") {
		t.Errorf("two documents: %v", err)
	}
}
