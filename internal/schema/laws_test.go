package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/scenarios"
)

// compiled is the schema that the types make.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := format(t).JSON()
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("scenario.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("scenario.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// usable is a file with nearly every field that the format has.
const usable = `
name: usable
summary: text
lock:
  kind: redlock
  ttl: 1s
  drift_factor: 0.01
  clock: boottime
  node_timeout: 50ms
  linger: 200ms
  margin: 50ms
  retry: {min: 20ms, max: 80ms}
  tries: 3
  watchdog: {every: 300ms, limit: 5}
  quarantine: 2s
  fence: quorum
  sequential: true
  tokens: time
clients:
  - {workload: section, resource: r, rounds: 1}
  - {workload: section, resource: r, rounds: 1}
  - {workload: hold, resource: r, resources: 3, start: {min: 1ms, max: 2ms}, work: {max: 1ms}, think: {max: 1ms}, rounds: 2, extend_every: 1s, extend_ttl: {min: 1ms, max: 2s}, fence: true}
nodes: 5
persistence: aof-everysec
sync: {min: 1ms, max: 2ms, log_normal: {median: 1ms, sigma: 0.5}}
replication: {min: 1ms, max: 2ms, pareto: {scale: 1ms, alpha: 1.2}}
store: {election: {max: 1s}, commit: {max: 1ms}, asynchronous: true}
latency: {samples: [1ms, 2ms]}
links:
  - {clients: [1], nodes: [2, 3], way: replies, latency: {max: 1ms}}
connections: {limit: 3}
guard_latency: {max: 1ms}
guard: fenced
horizon: 5s
plan:
  - pause: {client: 1, first: timers}
    start: {client: 1, step: reply, k: 2, count: 2, plus: 1ms}
    end: {after: 1s}
  - clock-rate: {node: 2, ppm: -500, heal: slew, heal_ppm: 500}
    start: {at: 1ms}
    end: {at: 2ms}
generate: {faults: {all: 1, kill: 0}, most: 4, no_swarm: true}
bounds: {acquire: 1s, extend: 1s, release: 1s, tries: 3, grant: 1s, cleanup: 1s}
expect: {lease: violated, section: unknown, effect: n/a, fence: holds, deadlock_freedom: holds, fault_tolerance: holds, cleanup: holds, contract: holds}
debate:
  variant_of: calm
  claims: [{by: somebody, when: 2026, says: unsafe, source: an article}]
  remark: a remark
  cures: [{what: no crash, without: [crash], also: [{pause: {client: 1}, start: {at: 1s}}], set: {horizon: 9s}}]
  damages: [{what: a crash, breaks: lease, without: [pause], also: [{crash: {node: 1}, start: {at: 1s}}], set: {horizon: 9s}}]
  differences: [{backends: [process], property: lease, reason: a reason}]
`

func mapping(t *testing.T, text string) map[string]any {
	t.Helper()
	var value map[string]any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// ofEveryKind are plans of one fault, of each kind, as docs/faults.md has them.
func ofEveryKind(t *testing.T) (plans [][]any) {
	t.Helper()
	page := testkit.Read(t, root+"/docs/faults.md")
	for _, block := range regexp.MustCompile("(?s)```yaml\n(- .*?)```").FindAllStringSubmatch(page, -1) {
		var plan []any
		if err := yaml.Unmarshal([]byte(block[1]), &plan); err != nil {
			t.Fatal(err)
		}
		plans = append(plans, plan)
	}
	return plans
}

// corpus are the scenarios that there are, and the usable one.
func corpus(t *testing.T) map[string]any {
	t.Helper()
	all := map[string]any{}
	add := func(s scenarios.Scenario) {
		var text bytes.Buffer
		if err := s.Print(&text); err != nil {
			t.Fatal(err)
		}
		var value any
		if err := yaml.Unmarshal(text.Bytes(), &value); err != nil {
			t.Fatal(err)
		}
		all[s.Name] = value
	}
	for _, s := range scenarios.Every() {
		add(s)
	}
	all["usable"] = mapping(t, usable)
	return all
}

// Law: what is printed fits the schema, as YAML and as JSON.
func TestEveryScenarioFitsTheSchema(t *testing.T) {
	schema := compiled(t)
	for name, value := range corpus(t) {
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, s := range scenarios.All() {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s as JSON: %v", s.Name, err)
		}
	}
}

// wrongs are values that fit in few places.
var wrongs = []any{
	nil, true, 0, -1, 65, 1_000_000, 2.5, -0.5, "", "text", "all", "0s", "-5ms", "5 ms",
	[]any{}, []any{"1ms"}, []any{-1}, map[string]any{}, map[string]any{"unknown": 1},
}

// spoil calls try with a value in which one thing has been changed, for each
// thing and each wrong value.
func spoil(value any, try func(what string, spoilt any)) {
	for _, w := range wrongs {
		try(fmt.Sprintf(" = %T (%#v)", w, w), w)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			without := maps.Clone(value)
			delete(without, name)
			try(" without "+name, without)
			spoil(value[name], func(what string, spoilt any) {
				with := maps.Clone(value)
				with[name] = spoilt
				try("."+name+what, with)
			})
		}
		with := maps.Clone(value)
		with["unheard"] = 1
		try(" with an unknown field", with)
	case []any:
		for i := range value {
			spoil(value[i], func(what string, spoilt any) {
				with := slices.Clone(value)
				with[i] = spoilt
				try(fmt.Sprintf("[%d]%s", i, what), with)
			})
		}
	}
}

// Law: what the schema refuses the reader refuses, and what the reader refuses
// for its form the schema refuses. The one exception is an empty word, which the
// reader takes for one that is not there.
func TestSchemaAndReaderAgree(t *testing.T) {
	schema := compiled(t)
	all := corpus(t)
	if _, err := read(usable); err != nil {
		t.Fatal(err)
	}
	refused := 0
	try := func(what string, spoilt any) {
		if strings.Contains(what, ".set.") || strings.Contains(what, ".set with") || strings.Contains(what, `.set = map[string]interface {} (map[string]interface {}{"unknown"`) {
			return // the schema allows any fields there, because those of lock, for one, need not be complete
		}
		text, err := yaml.Marshal(spoilt)
		if err != nil {
			t.Fatal(err)
		}
		_, byReader := read(string(text))
		bySchema := schema.Validate(spoilt)
		var form form.Mistakes
		switch {
		case bySchema != nil && byReader == nil && !strings.HasSuffix(what, `("")`):
			t.Errorf("%s: only the schema refuses it: %v", what, bySchema)
		case bySchema == nil && errors.As(byReader, &form):
			t.Errorf("%s: only the reader refuses it: %v", what, byReader)
		case bySchema != nil:
			refused++
		}
	}
	spoil(all["usable"], func(what string, spoilt any) { try("usable"+what, spoilt) })
	within := func(file map[string]any, field string) {
		file = maps.Clone(file)
		spoil(file[field], func(what string, spoilt any) {
			file[field] = spoilt
			try(field+what, file)
		})
	}
	for _, plan := range ofEveryKind(t) {
		file := maps.Clone(all["crash-restart"].(map[string]any))
		for _, field := range []string{"clients", "persistence", "replication"} {
			file[field] = all["usable"].(map[string]any)[field]
		}
		for _, field := range []string{"summary", "bounds", "expect"} {
			delete(file, field)
		}
		file["plan"] = plan
		if err := schema.Validate(file); err != nil {
			t.Fatal(err)
		}
		within(file, "plan")
	}
	if refused < 3000 {
		t.Errorf("only %d were refused: the law has been tried on too little", refused)
	}
}

// Only the reader rejects mistakes that the schema cannot express, with their line.
func TestWhatOnlyTheReaderRefuses(t *testing.T) {
	schema := compiled(t)
	for old, mistake := range map[string]string{
		"horizon: 5s": "horizon: 999999h", "ttl: 1s": "ttl: 1.5ms", "margin: 50ms": "margin: 2s", "pause: {client: 1": "pause: {client: 9",
		"min: 20ms, max: 80ms": "min: 200ms, max: 80ms", "end: {at: 2ms}": "end: {at: 0s}", "tokens: time": "tokens: time\n  grace: 1s",
	} {
		text := strings.Replace(usable, old, mistake, 1)
		if text == usable {
			t.Fatalf("nothing to change: %q", old)
		}
		if _, err := read(text); err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%q: the reader says %v", mistake, err)
		}
		if err := schema.Validate(mapping(t, text)); err != nil {
			t.Errorf("%q: the schema says %v", mistake, err)
		}
	}
}
