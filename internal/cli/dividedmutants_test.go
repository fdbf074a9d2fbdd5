//go:build linux

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/mutants"
	"github.com/lockstorm/lockstorm/internal/mutants/shards"
)

// untimed removes the times from what mutants prints as JSON.
func untimed(text string) string {
	return regexp.MustCompile(`"(build_)?seconds":[0-9.e+-]+`).ReplaceAllString(text, `"${1}seconds":0`)
}

// Law: a campaign of planted defects stores what one process prints, but for the times.
func TestCampaignOfMutantsIsAsOneProcess(t *testing.T) {
	asWorker(t)
	words := "1 0 --runs 300 --control 40"
	_, here, problems := command(t, append([]string{"mutants", "--json"}, strings.Fields(words)...)...)
	want(t, "problems", problems, "")
	dir := filepath.Join(t.TempDir(), "found")
	code, printed, problems := command(t, append([]string{"campaign", "start", "--out", dir, "--shard-runs", "40", "mutants"}, strings.Fields(words)...)...)
	want(t, "exit code", code, exitAsExpected)
	want(t, "problems", problems, "")
	text, err := os.ReadFile(filepath.Join(dir, mutantsFile))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the results", string(text), untimed(here))
	wantIn(t, printed, "1 of 1 caught", "0 false alarms in 120 runs")
}

// The runs of a lock without a defect are divided; what a shard cannot have found is rejected.
func TestShardsOfMutants(t *testing.T) {
	work, err := openDivided(t.Context(), strings.Fields("mutants 1 0 --runs 200 --control 100 --seed 3"), division{60, findAnd})
	if err != nil {
		t.Fatal(err)
	}
	d := work.(*dividedMutants)
	want(t, "shards", d.Shards(), 7) // two for each kind of lock, one for the defect
	made, err := d.Run(t.Context(), 6, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantMatch(t, made.Find, `^mutant 1: V1 in run \d+$`)
	_, effort := d.shard(6)
	r, err := shards.Unseal(made.Data, effort)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Run(t.Context(), 6, nil)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the bytes, made again", string(again.Data), string(made.Data))
	for problem, change := range map[string]func(*mutants.Report){
		"it is of the seed 4, and not of 3":  func(r *mutants.Report) { r.Seed = 4 },
		"201 runs: want 0 to 200":            func(r *mutants.Report) { r.Runs = 201 },
		"find 1: run 201: want 1 to 200":     func(r *mutants.Report) { r.Finds[0].Run = 201 },
		"contract was found before":          func(r *mutants.Report) { r.Finds = append(r.Finds[:1:1], r.Finds[0]) },
		"find 1: line 1: unknown field rain": func(r *mutants.Report) { r.Finds[0].Scenario = json.RawMessage(`{"rain":1}`) },
		"find 1: line 1: name":               func(r *mutants.Report) { r.Finds[0].Scenario = json.RawMessage(`{}`) },
	} {
		other := r
		other.Finds = append([]mutants.Find(nil), r.Finds...)
		change(&other)
		text, err := shards.Seal(other)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := shards.Unseal(text, effort); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("want %q, got %v", problem, err)
		}
	}
}

func TestCampaignOfMutantsRejectsBadInput(t *testing.T) {
	asWorker(t)
	for words, want := range map[string]string{
		"99":                     `mutants: unknown mutant "99": there are 0, 1,`,
		"--runs 0":               "mutants: --runs 0: want at least 1",
		"--runs -1":              "mutants: --runs -1: want at least 0",
		"1 --control 5":          "mutants: --control needs mutant 0",
		"--budget 5s":            "mutants: unknown flag: --budget; flags of a campaign come before",
		"0 --control 2000000000": "shards of up to 10000 runs: want at most 100,000",
	} {
		code, _, problems := command(t, append([]string{"campaign", "start", "--out", t.TempDir(), "mutants"}, strings.Fields(words)...)...)
		if code != exitBadInput || !strings.Contains(problems, want) {
			t.Errorf("%q: exit code %d, want %q, got %s", words, code, want, problems)
		}
	}
}
