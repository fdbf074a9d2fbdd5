package scenarios_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: what is printed is read, as YAML and as JSON.
func TestWhatIsPrintedIsRead(t *testing.T) {
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
	if _, err := scenarios.Find("clam"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`unknown scenario "clam"; the nearest of %d: calm`, len(scenarios.All())+len(scenarios.Published()))) {
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
		{"after: 0s", "after: -1s", "line 11: plan[0].end.after: -1s is negative"},
		{"step: granted", "step: grunted", `line 10: plan[0].start.step: unknown step "grunted": want one of [acquire before-send `},
		{"client: 1, ", "", "line 10: plan[0].start.client: a step needs the client that takes it"},
		{"crash: {node: 3}", "burn: {node: 3}", "line 9: plan[0]: unknown field burn; none of "},
		{"horizon: 5s", "horizon: 5", "line 7: horizon: 5 is not a duration: want a number with its unit, as in 20ms or 1.5s; the largest unit is h, as in 24h"},
		{"horizon: 5s", "horizon: 5 s", `line 7: horizon: "5 s" is not a duration`},
		{"horizon: 5s", "horizon: 99999999999h", `line 7: horizon: "99999999999h" is too large`},
		{"horizon: 5s", "horizon:", "line 7: horizon: there is no value: want a duration"},
		{"plan:\n  - crash: {node: 3}\n    start: {client: 1, step: granted, plus: 20ms}\n    end: {after: 0s}", "plan:", "line 8: plan: there is no value: want a list; [] is an empty one"},
		{"horizon: 5s", "horizon: 5s\nhorizon: 6s", "line 8: horizon stands on line 7 already"},
		{"horizon: 5s", "horizon: *long", "line 7: unknown anchor 'long' referenced"},
		{"horizon: 5s", "\thorizon: 5s", "line 7: indented with a tab, where YAML wants spaces"},
		{"horizon: 5s", "horizon: 5s\n---\nname: other", "line 9: a second document: a file holds one scenario"},
		{"horizon: 5s", "horizon: 5s\nsummary: \x01", "line 8: control characters are not allowed"},
		{"horizon: 5s", "horizon: 5s\nsummary: \xff", "line 8: invalid leading UTF-8 octet"},
		{"nodes: 5", "nodes: five", `line 5: nodes: "five" is not a whole number`},
		{"nodes: 5", "nodes: 4.7", "line 5: nodes: 4.7 is not a whole number"},
		{"nodes: 5", "nodes: 99999999999999999999", "line 5: nodes: 99999999999999999999 is too large"},
		{"nodes: 5", "nodes: 65", "line 5: nodes: 65: want 1 to 64"},
		{"nodes: 5", "nodes: [5]", "line 5: nodes: there is a list: want a whole number"},
		{"node: 3", "node: every", `line 9: plan[0].crash.node: "every" is neither a whole number nor all`},
		{"node: 3", "node: 0", "line 9: plan[0].crash.node: 0: want at least 1, or all"},
		{"node: 3", "node: -2147483648", "line 9: plan[0].crash.node: -2147483648: want at least 1, or all"},
		{"crash: {node: 3}", "clock-jump: {client: all, by: 1s}", `line 9: plan[0].clock-jump.client: "all" is not a whole number`},
		{"crash: {node: 3}", "clock-jump: {node: all, client: 1, by: 1s}", "line 9: plan[0].clock-jump.client: a node and a client exclude each other"},
		{"{node: 3}", "{nodes: 3}", "line 9: plan[0].crash: unknown field nodes: want node, restart_delay"},
		{"crash: {node: 3}", "crash: [3]", "line 9: plan[0].crash: there is a list: want a mapping"},
		{"crash: {node: 3}\n    ", "", "line 9: plan[0]: a fault names exactly one kind"},
		{"crash: {node: 3}", "crash: {node: 3}\n    kill: {client: 1}", "line 9: plan[0]: a fault names exactly one kind"},
		{"plus: 20ms", "minus: 20ms", "line 10: plan[0].start: unknown field minus: want at, client, step"},
		{"{after: 0s}", "0s", "line 11: plan[0].end: there is text: want a mapping"},
		{"lock: {", "lock: {tttl: 1s, ", "line 2: lock: unknown field tttl; the nearest of 19: ttl"},
		{"lock: {", "lock: {sequential: yes, ", `line 2: lock.sequential: "yes" is not true or false`},
		{"lock: {", "lock: {linger: -1s, ", "line 2: lock.linger: -1s is negative"},
		{"lock: {", "lock: {retry: {min: 2s, max: 1s}, ", "line 2: lock.retry.max: 1s is below min, 2s"},
		{"lock: {", "lock: {watchdog: {limit: -1}, ", "line 2: lock.watchdog.limit: -1 is negative"},
		{"lock: {", "lock: {tokens: blessed, ", `line 2: lock.tokens: unknown value "blessed": want random or time`},
		{"0.01", "1.5", "line 2: lock.drift_factor: 1.5: want 0 to 1"},
		{"0.01", ".nan", "line 2: lock.drift_factor: NaN: want 0 to 1"},
		{"resource: r", "resource: 7", "line 4: clients[0].resource: 7 is not text: want it in quotes"},
		{"expect:", "drift_factor: 0.1\nexpect:", "line 12: unknown field drift_factor: it belongs in lock"},
		{"expect:", "variant_of: calm\nexpect:", "line 12: unknown field variant_of: it belongs in debate"},
		{"rounds: 1", "round: 1", "line 4: clients[0]: unknown field round; the nearest of 11: rounds"},
		{"rounds: 1", "rounds: 1, work: 1.7s", "line 4: clients[0].work: there is text: want a mapping, as in {min: …, max: …}"},
		{"rounds: 1", "rounds: true", "line 4: clients[0].rounds: true is not a whole number"},
		{"  - {workload: hold, resource: r, rounds: 1}", "  first: {workload: hold}", "line 4: clients: there is a mapping: want a list"},
		{"\n  - {workload: hold, resource: r, rounds: 1}", " []", "line 3: clients: none in the list: want at least 1"},
		{"expect: {lease: violated}", "expect: [lease]", "line 12: expect: there is a list: want a mapping"},
		{good, "- " + "name", "line 1: there is a list: want a mapping"},
		{good, "# nothing\n", "the file is empty"},
		{"horizon: 5s", "horizon: 0s", "line 7: horizon: 0s: want more than 0s"},
		{"horizon: 5s", "", "line 1: horizon: missing: want more than 0s"},
		{"horizon: 5s", "horizon: 1000000h", "line 7: horizon: 1000000h0m0s: want at most 262800h0m0s, which is 30 years"},
		{"drift_factor", "linger: 1000000h, drift_factor", "line 2: lock.linger: 1000000h0m0s: want at most"},
		{"rounds: 1", "rounds: 1, think: {max: 1000000h}", "line 4: clients[0].think.max: 1000000h0m0s: want at most"},
		{"expect:", "bounds: {release: 1000000h}\nexpect:", "line 12: bounds.release: 1000000h0m0s: want at most"},
		{"rounds: 1", "rounds: 0", "line 4: clients[0].rounds: 0: want at least 1"},
		{", rounds: 1", "", "line 4: clients[0].rounds: missing: want at least 1"},
		{"persistence: none", "persistence: some", `line 6: persistence: unknown value "some"`},
		{"lease: violated", "lease: broken", `line 12: expect.lease: unknown verdict "broken"`},
		{"lease: violated", "leash: violated", `line 12: expect: unknown property "leash": want one of backing, `},
		{"horizon", "guard: stern\nhorizon", `line 7: guard: unknown value "stern": want plain, fenced-writes, fenced or token`},
		{"name: mine", "", `name: "": want up to 64 lower-case letters`},
		{"name: mine", "name: ../mine", `line 1: name: "../mine": want up to 64`},
		{"expect:", "bounds: {release: -1s}\nexpect:", "line 12: bounds.release: -1s is negative"},
		{"drift_factor", "clock: sundial, drift_factor", `line 2: lock.clock: unknown value "sundial": want monotonic, boottime or wall`},
		{"expect:", "generate: {most: 0}\nexpect:", "line 12: generate.most: 0: want 1 to 99"},
		{"expect:", "generate:\n  most: 2\n  faults: {crash: 1, burn: 1}\nexpect:", `line 14: generate.faults.burn: unknown kind of fault "burn"; none of 33 resembles it`},
		{"expect:", "generate:\n  most: 2\n  faults:\n    crash: -1\nexpect:", "line 15: generate.faults.crash: weight -1: want 0 to 9"},
		{"expect:", "generate: {most: 2, faults: {crash: 0}}\nexpect:", "line 12: generate.faults: every weight is 0"},
		{"expect:", "generate: {mots: 2}\nexpect:", "line 12: generate: unknown field mots: want faults, most, no_swarm"},
		{"name: mine", "name: [", "line 2: did not find expected"},
		{good, "", "the file is empty"},
	}
	for _, c := range cases {
		_, err := scenarios.Parse([]byte(strings.Replace(good, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q for %q: got %v, want %q", c.new, c.old, err, c.want)
		}
	}
}

// All mistakes in the form of a text are reported at once, in the order of lines.
func TestAllMistakesOfForm(t *testing.T) {
	text := strings.NewReplacer("ttl: 1s", "ttl: 1", "nodes: 5", "nodes: many", "horizon", "hurizon", "lease", "leash").Replace(good)
	_, err := scenarios.Parse([]byte(text))
	var all form.Mistakes
	if !errors.As(err, &all) {
		t.Fatalf("got %v", err)
	}
	for i, want := range []string{"line 2: lock.ttl: ", "line 5: nodes: ", "line 7: unknown field hurizon", "line 12: expect: "} {
		if i >= len(all) || !strings.HasPrefix(all[i].Error(), want) {
			t.Errorf("mistake %d of %v: want %q", i+1, err, want)
		}
	}
}

// Anchors, aliases and merge keys work, and an alias cannot make a text endless.
func TestAliases(t *testing.T) {
	text := strings.Replace(good, "  - {workload: hold, resource: r, rounds: 1}", "  - &one {workload: hold, resource: r, rounds: 1}\n  - *one\n  - {<<: *one, rounds: 2}", 1)
	s, err := scenarios.Parse([]byte(text))
	if err != nil || len(s.Clients) != 3 || s.Clients[1].Rounds != 1 || s.Clients[2] != (scenarios.Client{Workload: "hold", Resource: "r", Rounds: 2}) {
		t.Errorf("got %+v, %v", s.Clients, err)
	}
	_, err = scenarios.Parse([]byte(strings.Replace(text, "{<<: *one, rounds: 2}", "{<<: {rownds: 2}}", 1)))
	if err == nil || err.Error() != "line 6: clients[2]: unknown field rownds; the nearest of 11: rounds" {
		t.Errorf("got %v", err)
	}
	many := func(what string) string { return "[" + strings.Repeat(what+",", 400) + what + "]" }
	bomb := "plan:\n  - split: {groups: " + "[&g {nodes: &n " + many("1") + "}," + strings.Repeat("*g,", 400) + "*g]}\n"
	bomb = strings.Replace(bomb, "- split", "- &f\n    split", 1) + strings.Repeat("  - *f\n", 400)
	if _, err = scenarios.Parse([]byte(bomb)); err == nil || !strings.Contains(err.Error(), "more than 2000000 values") {
		t.Errorf("got %v", err)
	}
}

// A text that is too long to be a scenario is refused before it is parsed.
func TestNoScenarioIsAsLong(t *testing.T) {
	_, err := scenarios.Parse(bytes.Repeat([]byte("# much\n"), 5<<20))
	if err == nil || err.Error() != "longer than 32 MiB: that is no scenario" {
		t.Errorf("got %v", err)
	}
}
