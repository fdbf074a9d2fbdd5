package tune

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// write creates files in a directory and returns the path of the first.
func write(t *testing.T, text, samples string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"q.yaml": text, "rtt.txt": samples} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "q.yaml")
}

const asked = `nodes: 5
round_trip: {samples_from: rtt.txt}
clocks: {rate_ppm: 500}
pauses: {every: 1m, length: {max: 1s}}
hold: {min: 10ms, max: 1s}
contention: {clients: 4}
want: {availability: 0.999, acquire_p99: 1s, violations_per_billion: 1}
`

// A question is read with its samples, whose durations may be milliseconds without a unit.
func TestLoad(t *testing.T) {
	q, err := Load(write(t, asked, "0.5\n1.2ms # noon\n\n2e0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Validate(); err != nil {
		t.Fatal(err)
	}
	if s := q.RoundTrip.Samples; len(s) != 3 || s[0] != 500*time.Microsecond || s[1] != 1200*time.Microsecond || s[2] != 2*time.Millisecond {
		t.Errorf("samples %v", s)
	}
	if *q.Want.ViolationsPerBillion != 1 || q.Clocks.RatePPM != 500 || q.Nodes != 5 {
		t.Errorf("%+v", q)
	}
}

// The file that shows every fact and goal is a question.
func TestLoadEveryField(t *testing.T) {
	text, err := os.ReadFile("../../../docs/service-all.yaml")
	if err != nil {
		t.Fatal(err)
	}
	q, err := Load(write(t, string(text), ""))
	if err == nil {
		err = q.Validate()
	}
	if err != nil {
		t.Error(err)
	}
}

// Errors name the file and the line.
func TestLoadTellsTheLine(t *testing.T) {
	for want, of := range map[string][2]string{
		"rtt.txt: there are no samples in it":               {asked, "# nothing\n"},
		"rtt.txt:2: -1ms is negative":                       {asked, "1\n-1\n"},
		`rtt.txt:1: "NaN" is not a duration`:                {asked, "NaN\n"},
		`rtt.txt:1: "+Inf" is not a duration`:               {asked, "+Inf\n"},
		`rtt.txt:3: "12 parsecs" is not a duration`:         {asked, "1\n2\n12 parsecs\n"},
		"q.yaml: line 3: clocks.rate_ppm: -1":               {strings.Replace(asked, "500", "-1", 1), "1\n"},
		"q.yaml: line 3: clocks: unknown field rate":        {strings.Replace(asked, "rate_ppm", "rate", 1), "1\n"},
		"q.yaml: line 7: want.availability: 2: want 0 to 1": {strings.Replace(asked, "0.999", "2", 1), "1\n"},
		"q.yaml: the file is empty":                         {"", ""},
		"q.yaml: line 2: round_trip.samples_from: open":     {strings.Replace(asked, "rtt.txt", "none.txt", 1), ""},
	} {
		_, err := Load(write(t, of[0], of[1]))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Law: an advice is read as it was stored, including the question.
func TestLoadAdvice(t *testing.T) {
	q, err := Load("../../../docs/service.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bound, wished := 50*time.Millisecond, 1.0
	q.Pauses, q.RoundTrip = Pauses{Bound: &bound}, nemesis.Distribution{Samples: []time.Duration{1200 * time.Microsecond, 3 * time.Millisecond}}
	q.Want.ViolationsPerBillion = &wished
	saved := Advice{Question: q, Runs: 7, Seed: 3, Refusal: "too <slow>", Basis: []Basis{}, Rejected: []Rejected{}, Front: []Weighed{}}
	dir := t.TempDir()
	text, err := json.Marshal(saved)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"whole":        {string(text), ""},
		"cut off":      {string(text[:len(text)/2]), "unexpected end of JSON input"},
		"no question":  {`{"refusal":"no"}`, "it does not say what was asked"},
		"no such lock": {strings.Replace(string(text), `"nodes":5`, `"nodes":5,"lock":"x"`, 1), "unknown field lock"},
	} {
		if err := os.WriteFile(filepath.Join(dir, AdviceFile), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		loaded, err := LoadAdvice(dir)
		switch {
		case c.want == "" && (err != nil || !reflect.DeepEqual(loaded, saved)):
			t.Errorf("%s: %v\nsaved  %+v\nloaded %+v", name, err, saved, loaded)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), AdviceFile)):
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
