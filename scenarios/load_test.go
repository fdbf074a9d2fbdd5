package scenarios_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// measured is a scenario with two distributions from files: one for the network,
// on line 13, and one for a link, on line 15.
const measured = good + `latency: {samples_from: delays/quiet.txt}
links:
  - latency: {samples_from: busy.txt, min: 0s, max: 1s}
`

// load reads a scenario that lies beside files.
func load(t *testing.T, scenario string, files map[string]string, check func(scenarios.Scenario) error) (scenarios.Scenario, error) {
	t.Helper()
	dir := t.TempDir()
	files["mine.yaml"] = scenario
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		testkit.Write(t, path, text)
	}
	return scenarios.Load(filepath.Join(dir, "mine.yaml"), check)
}

func anything(scenarios.Scenario) error { return nil }

func TestLoadTakesSamplesFromFiles(t *testing.T) {
	s, err := load(t, measured, map[string]string{
		"delays/quiet.txt": "# of a quiet night\n1.2ms\n\n  300us # the quickest\n",
		"busy.txt":         "1s",
	}, anything)
	if err != nil {
		t.Fatal(err)
	}
	if want := []time.Duration{1200 * time.Microsecond, 300 * time.Microsecond}; !slices.Equal(s.Latency.Samples, want) {
		t.Errorf("read %v, want %v", s.Latency.Samples, want)
	}
	if got := s.Links[0].Latency.Samples; !slices.Equal(got, []time.Duration{time.Second}) {
		t.Errorf("read %v for a link", got)
	}
	var stored bytes.Buffer
	if err := s.Print(&stored); err != nil {
		t.Fatal(err)
	}
	if again, err := scenarios.Parse(stored.Bytes()); err != nil || !slices.Equal(again.Latency.Samples, s.Latency.Samples) {
		t.Errorf("what is stored needs its files: %v\n%s", err, stored.String())
	}
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	cases := map[string]struct{ quiet, scenario, want string }{
		"a word":     {"1ms\nsoon\n", measured, `mine.yaml: line 13: latency.samples_from: DIR/delays/quiet.txt:2: "soon" is not a duration`},
		"no unit":    {"\n\n12", measured, `delays/quiet.txt:3: "12" is not a duration: want one a line, as in 1.2ms`},
		"two a line": {"1ms 2ms", measured, `delays/quiet.txt:1: "1ms 2ms" is not a duration`},
		"negative":   {"1ms\n-1ms", measured, "delays/quiet.txt:2: -1ms is negative"},
		"empty":      {"", measured, "line 13: latency.samples_from: DIR/delays/quiet.txt: there are no samples in it"},
		"comments":   {"# nothing\n\n", measured, "there are no samples in it"},
		"too many":   {strings.Repeat("1ms\n", 1_000_001), measured, "delays/quiet.txt:1000001: more than 1000000 samples"},
		"long line":  {"1ms\n" + strings.Repeat("x", 100_000), measured, "delays/quiet.txt:2: bufio.Scanner: token too long"},
		"no file":    {"1ms", strings.Replace(measured, "busy.txt", "absent.txt", 1), "line 15: links[0].latency.samples_from: open DIR/absent.txt: no such file"},
		"both":       {"1ms", strings.Replace(measured, "{samples_from: d", "{samples: [1ms], samples_from: d", 1), "line 13: latency.samples_from: samples and samples_from exclude each other"},
		"outside":    {"1ms", strings.Replace(measured, "max: 1s", "max: -1s", 1), "line 15: links[0].latency.max: -1s is negative"},
	}
	for name, c := range cases {
		_, err := load(t, c.scenario, map[string]string{"delays/quiet.txt": c.quiet, "busy.txt": "1ms"}, anything)
		_, want, rest := strings.Cut(c.want, "DIR")
		if !rest {
			want = c.want
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), strings.Split(c.want, "DIR")[0]) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestLoadLocatesWhatTheCheckFinds(t *testing.T) {
	_, err := load(t, good, map[string]string{}, func(scenarios.Scenario) error {
		return &nemesis.FieldError{Path: "lock.kind", Err: errors.New("no such lock")}
	})
	if err == nil || !strings.HasSuffix(err.Error(), "mine.yaml: line 2: lock.kind: no such lock") {
		t.Errorf("got %v", err)
	}
	if _, err := scenarios.Load(filepath.Join(t.TempDir(), "none.yaml"), anything); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// Text alone cannot say where its files are.
func TestParseReadsNoSamples(t *testing.T) {
	_, err := scenarios.Parse([]byte(measured))
	if err == nil || !strings.HasPrefix(err.Error(), "line 13: latency.samples_from: the samples of delays/quiet.txt have not been read") {
		t.Errorf("got %v", err)
	}
}
