package tune

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// write creates a file and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "q.yaml")
	testkit.Write(t, path, text)
	return path
}

const asked = `nodes: 5
round_trip: {samples: [500us, 1.2ms]}
clocks: {rate_ppm: 500}
pauses: [{every: 1m, length: {p50: 1ms, p99: 9ms, max: 1s}}, {every: 24h, length: 2s}]
hold: 10ms..1s
contention: {clients: 4}
want: {availability: 0.999, acquire_p99: 1s, violations_per_billion: 1}
`

// A question is read in all forms of its lengths, and its JSON is the same question.
func TestRead(t *testing.T) {
	q := Usual()
	if err := q.Read(write(t, asked)); err != nil {
		t.Fatal(err)
	}
	if err := q.Validate(); err != nil {
		t.Fatal(err)
	}
	if len(q.RoundTrip.Samples) != 2 || q.Hold.Min != 10*ms || q.Hold.Max != time.Second || *q.Want.ViolationsPerBillion != 1 ||
		q.Pauses[0].Length.Percentiles["p99"] != 9*ms || q.Pauses[1].Length.Min != 2*time.Second {
		t.Errorf("%+v", q)
	}
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	again := Usual()
	if err := again.Read(write(t, string(text))); err != nil || !reflect.DeepEqual(again, q) {
		t.Errorf("%v: %s is read as %+v", err, text, again)
	}
}

// Both examples of the documentation are questions.
func TestReadExamples(t *testing.T) {
	for _, name := range []string{"service.yaml", "service-all.yaml"} {
		q := Usual()
		err := q.Read("../../../docs/" + name)
		if err == nil {
			err = q.Validate()
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// Zones replace a round trip that was stated before, and a round trip replaces zones. Without a number of nodes
// there are as many as in the zones.
func TestZonesReplaceTheRoundTrip(t *testing.T) {
	q := Usual()
	for _, step := range []struct{ path, value string }{
		{"nodes", "7"}, {"round_trip", "1ms"}, {"hold", "20ms"}, {"zones", "[{nodes: 2, round_trip: 1ms}, {nodes: 1, round_trip: 30ms}]"},
	} {
		if err := q.Set(step.path, step.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Validate(); err != nil || q.Nodes != 3 || !q.RoundTrip.isZero() {
		t.Errorf("%v: %+v", err, q)
	}
	if err := q.Set("round_trip", "{p50: 1ms, p99: 2ms, max: 9ms}"); err != nil || q.Validate() != nil || len(q.Zones) != 0 || q.Nodes != 3 {
		t.Errorf("%v: %+v", err, q)
	}
}

// A file or field that replaces what was stated of the servers is named with both, and one that states something
// for the first time, or the same again, is not.
func TestReplacedFactsAreNamed(t *testing.T) {
	const three, zones = "nodes: 3\nround_trip: 1ms", "zones: [{nodes: 3, round_trip: 1ms}, {nodes: 2, round_trip: 9ms}]"
	const none, always = "crashes: {persistence: none}", "crashes: {persistence: aof-always}"
	for _, c := range []struct {
		files []string
		want  string // of the last
	}{
		{[]string{zones, three}, "zones (5 nodes) by round_trip (3 nodes)"},
		{[]string{three, zones}, "3 nodes by zones (5 nodes)"},
		{[]string{"nodes: 1", three}, "1 node by 3 nodes"},
		{[]string{none, always}, "persistence none by aof-always"},
		{[]string{"hold: 1ms", three}, ""}, // 5 is the default
		{[]string{three, "nodes: 3\nround_trip: 2ms\nhold: 1ms"}, ""},
		{[]string{"hold: 1ms", always}, ""},
	} {
		q, last := Usual(), ""
		for _, text := range c.files {
			last = write(t, text)
			if err := q.Read(last); err != nil {
				t.Fatal(err)
			}
		}
		want := []string(nil)
		if c.want != "" {
			want = []string{last + " replaces " + c.want}
		}
		if got := q.Replaced(); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", c.files, got, want)
		}
	}
	q := Usual()
	for _, field := range []struct{ path, value string }{
		{"crashes.persistence", "none"}, {"crashes.persistence", "aof-always"}, {"zones", "[{nodes: 3, round_trip: 1ms}]"}, {"round_trip", "2ms"},
	} {
		if err := q.Set(field.path, field.value); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"crashes.persistence=aof-always replaces persistence none by aof-always", "round_trip=2ms replaces zones (3 nodes) by round_trip (3 nodes)"}
	if got := q.Replaced(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Errors name the file, the line and the field.
func TestReadNamesTheLine(t *testing.T) {
	for want, text := range map[string]string{
		"q.yaml: line 3: clocks.rate_ppm: -1":                                strings.Replace(asked, "500}", "-1}", 1),
		"q.yaml: line 3: clocks: unknown field rate":                         strings.Replace(asked, "rate_ppm", "rate", 1),
		"q.yaml: line 7: want.availability: 2: want 0 to 1":                  strings.Replace(asked, "0.999", "2", 1),
		"q.yaml: line 4: pauses[0].length.p99: 9ms is below p50, 1s":         strings.Replace(asked, "p50: 1ms", "p50: 1s", 1),
		`q.yaml: line 4: pauses[0].length.p50: "1 parsec" is not a duration`: strings.Replace(asked, "p50: 1ms", "p50: 1 parsec", 1),
		`q.yaml: line 5: hold: "10ms..1 parsec" is no time`:                  strings.Replace(asked, "10ms..1s", "10ms..1 parsec", 1),
		"q.yaml: line 4: pauses[1].every: 0s: want more than 0s":             strings.Replace(asked, "24h", "0s", 1),
		"q.yaml: line 2: zones[1].nodes: missing: want 1 to 64":              strings.Replace(asked, "round_trip: {samples: [500us, 1.2ms]}", "zones: [{nodes: 5, round_trip: 1ms}, {round_trip: 2ms}]", 1),
		"q.yaml: the file is empty":                                          "",
	} {
		q := Usual()
		if err := q.Read(write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
