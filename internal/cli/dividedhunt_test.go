package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/fuzz"
)

// huntCampaign hunts in a campaign, and returns the directory of its cases and what it prints.
func huntCampaign(t *testing.T, flags, words string) (dir, printed string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "cases")
	args := append([]string{"campaign", "start", "--out", dir}, strings.Fields(flags+" hunt "+words)...)
	code, out, problems := command(t, args...)
	want(t, "exit code", code, exitContradiction)
	want(t, "problems", problems, "")
	return dir, strings.ReplaceAll(out, dir, "DIR")
}

// Law: a campaign of one shard stores and prints the same bytes as hunt, and so does any campaign of a
// hunt without a corpus.
func TestCampaignOfAHuntIsAsOneProcess(t *testing.T) {
	asWorker(t)
	for words, size := range map[string]int{
		"crash-restart --property V1,C --runs 200":                200,
		"crash-restart --property V1,C --runs 200 --guidance aim": 60,
		"--lock check-then-set --property V1 --runs 60":           60,
	} {
		one := filepath.Join(t.TempDir(), "cases")
		_, here, problems := command(t, append([]string{"hunt", "--out", one}, strings.Fields(words)...)...)
		want(t, "problems", problems, "")
		dir, there := huntCampaign(t, fmt.Sprintf("--shard-runs %d", size), words)
		want(t, words, there, strings.ReplaceAll(here, one, "DIR"))
		wantSameTree(t, dir, one)
	}
}

// Law: a campaign of a hunt stores and prints the same bytes, whatever the number of workers; it finds
// what a hunt of so many runs finds.
func TestCampaignOfAHuntAndItsWorkers(t *testing.T) {
	asWorker(t)
	words := "crash-restart --property V1,C --runs 400"
	dir, printed := huntCampaign(t, "--shard-runs 50 --workers 1", words)
	again, same := huntCampaign(t, "--shard-runs 50 --workers 3", words)
	want(t, "printed with more workers", same, printed)
	wantSameTree(t, again, dir)
	wantMatch(t, printed, `(?m)^crash-restart: 1 property violated \(400 runs, `)
	wantMatch(t, printed, `(?m)^V1 +lease exclusion +\d+ runs +run \d+$`)
	wantIn(t, printed, "lockstorm replay DIR/redlock-lease-crash.yaml")
}

// A shard draws from others, and can be repeated from its log.
func TestShardsOfAHuntDraw(t *testing.T) {
	work, err := openDivided(t.Context(), strings.Fields("hunt crash-restart --runs 90 --draw-from 3"), division{40, findAnd})
	if err != nil {
		t.Fatal(err)
	}
	d := work.(*dividedHunt)
	want(t, "others from which a shard draws", d.Draws(), 3)
	first, err := d.Run(t.Context(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantMatch(t, first.Find, `^V\d in run \d+`)
	r, err := d.division.Unseal(0, first.Data)
	if err != nil {
		t.Fatal(err)
	}
	second, err := d.Run(t.Context(), 1, []campaign.Other{{Shard: 0, Data: first.Data}})
	if err != nil {
		t.Fatal(err)
	}
	log, err := d.division.Unseal(1, second.Data)
	if err != nil || len(log.Drawn) == 0 {
		t.Fatal(log.Drawn, err)
	}
	drawn, err := d.division.Redraw(log.Drawn, func(int) ([]fuzz.Entry, error) { return r.Offers, nil })
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.division.Run(t.Context(), 1, drawn)
	if err != nil {
		t.Fatal(err)
	}
	text, err := again.Seal()
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the bytes, repeated from the log", string(text), string(second.Data))
	if _, err := d.Run(t.Context(), 1, []campaign.Other{{Shard: 2, Data: first.Data}}); err == nil || err.Error() != "the result of shard 2: it is of shard 0, and not of 2" {
		t.Error(err)
	}
}

// A hunt whose shards draw from others finds the same again if they are made in the same order.
func TestCampaignOfAHuntThatDraws(t *testing.T) {
	asWorker(t)
	words := "crash-restart --property V1,C --runs 600 --draw-from 4" // the first 300 are mutations of nothing
	dir, printed := huntCampaign(t, "--shard-runs 100 --workers 1", words)
	again, same := huntCampaign(t, "--shard-runs 100 --workers 1", words)
	want(t, "printed again", same, printed)
	wantSameTree(t, again, dir)
	_, alone := huntCampaign(t, "--shard-runs 100 --workers 1", strings.TrimSuffix(words, " --draw-from 4"))
	if alone == printed {
		t.Error("what is drawn changes nothing")
	}
}

func TestCampaignOfAHuntRejectsBadInput(t *testing.T) {
	asWorker(t)
	for words, want := range map[string]string{
		"":                                      "hunt: --runs: want the number of runs of the whole hunt",
		"crash-restart":                         "hunt: --runs: want the number of runs of the whole hunt",
		"crash-restart calm --runs 9":           "hunt: 2 scenarios: want one",
		"--runs 9 --assume mine.yaml":           `hunt: --assume mine.yaml: want "promised"; a campaign brings no file`,
		"--runs 9 --budget 1m":                  "hunt: unknown flag: --budget; flags of a campaign come before",
		"--runs 9 --first":                      "hunt: unknown flag: --first",
		"--runs 0":                              "hunt: --runs 0: want at least 1",
		"--runs 9 --property V9":                `hunt: --property: unknown property "V9"`,
		"calm --faults failover --runs 9":       `hunt: --faults "failover": `,
		"calm --lock redlock --runs 9":          "hunt: --lock: the scenario already names its lock",
		"--lock bluelock --runs 9":              `hunt: --lock: unknown lock "bluelock"`,
		"--guidance luck --runs 9":              `hunt: --guidance: unknown guidance "luck"`,
		"--draw-from 17 --runs 9":               "hunt: --draw-from 17: want 0 to 16",
		"--draw-from 2 --guidance aim --runs 9": "hunt: --draw-from: a hunt with --guidance aim keeps no runs that came close",
		"missing.yaml --runs 9":                 "hunt: open missing.yaml: no such file",
		"--runs 2000000000 crash-restart":       "200,000 shards of up to 10000 runs: want at most 100,000",
	} {
		code, _, problems := command(t, append([]string{"campaign", "start", "--out", t.TempDir(), "hunt"}, strings.Fields(words)...)...)
		if code != exitBadInput || !strings.Contains(problems, want) {
			t.Errorf("%q: exit code %d, want %q, got %s", words, code, want, problems)
		}
	}
}
