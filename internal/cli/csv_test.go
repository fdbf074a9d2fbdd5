package cli

import (
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/scenarios"
)

// table reads CSV: for each line, its cells by the names of the columns.
func table(t *testing.T, text string) (lines []map[string]string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		line := map[string]string{}
		for i, name := range rows[0] {
			line[name] = r[i]
		}
		lines = append(lines, line)
	}
	return lines
}

// Law: run prints the same in CSV as in JSON.
func TestRunCSV(t *testing.T) {
	args := []string{"run", "crash-restart", "--faults", "pause", "--runs", "5", "--out", ""}
	_, text, _ := command(t, append(args, "--format", "csv")...)
	_, objects, _ := command(t, append(args, "--format", "json")...)
	lines := table(t, text)
	want(t, "lines", len(lines), 5)
	for i, object := range strings.Split(strings.TrimSpace(objects), "\n") {
		var run jsonLine
		if err := json.Unmarshal([]byte(object), &run); err != nil {
			t.Fatal(err)
		}
		l := lines[i]
		for _, c := range []struct{ column, value string }{
			{"scenario", run.Scenario}, {"backend", run.Backend}, {"seed", strconv.FormatUint(run.Seed, 10)},
			{"as_expected", strconv.FormatBool(run.AsExpected)}, {"trace_hash", run.TraceHash}, {"replay", run.Replay},
			{"acquire_p99", strconv.FormatInt(int64(run.Measurements.AcquireP99), 10)},
			{"grants", strconv.Itoa(run.Measurements.Grants)},
		} {
			want(t, c.column, l[c.column], c.value)
		}
		for p, v := range run.Verdicts {
			want(t, p.String(), l[p.String()], v.String())
		}
		availability, err := strconv.ParseFloat(l["availability"], 64)
		if err != nil || availability != run.Measurements.Availability {
			t.Errorf("availability %s, %v", l["availability"], run.Measurements.Availability)
		}
	}
}

// Law: a line of CSV says by itself what it is about: a row of the debate, a point of a series with
// its x, or a lock in a trial.
func TestLinesOfADebateAreSelfContained(t *testing.T) {
	lines := map[string]map[string]string{}
	for _, name := range []string{"debate", "compare"} {
		_, text, _ := command(t, name, "--from", reference, "--format", "csv")
		for _, l := range table(t, text) {
			if l["code"] == "V1" {
				lines[l["scenario"]] = l
			}
		}
	}
	for scenario, columns := range map[string]map[string]string{
		"crash-restart":                  {"series": "", "x": "", "expected": "violated", "backend": "sim"},
		"clock-drift-at-5500ppm":         {"series": "clock-drift", "parameter": "rate error of either side", "point": "5500 ppm", "x": "5500", "x_unit": "ppm", "runs": "50", "last_seed": "50"},
		"delayed-restart-extended-700ms": {"series": "delayed-restart-extended", "parameter": "restart delay", "point": "0.70 TTL", "x": "0.7", "x_unit": "TTL"},
		"ttl-too-short-900ms":            {"series": "ttl-too-short", "parameter": "TTL", "point": "900ms", "x": "0.9", "x_unit": "s"},
		"compare-storm-redlock":          {"series": "storm", "parameter": "lock", "point": "redlock", "x": "", "expected": ""},
	} {
		l, found := lines[scenario]
		if !found {
			t.Errorf("no line is of %s", scenario)
		}
		for name, value := range columns {
			want(t, scenario+", "+name, l[name], value)
		}
	}
	// Every point of a series is found.
	for _, s := range scenarios.AllSeries() {
		for _, p := range s.Points {
			want(t, p.Name, lines[p.Name]["series"], s.Name)
			want(t, p.Name, lines[p.Name]["point"], p.Value)
		}
	}
}
