package explore

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/shard"
	"github.com/lockstorm/lockstorm/scenarios"
)

var judgedHere = []checker.Property{checker.Lease, checker.Contract}

// logged explores a shard with a log in a directory, stops it after so many events, unless that is 0, and
// reports whether it came to its end.
func logged(t *testing.T, dir string, s shard.Shard, events int) bool {
	t.Helper()
	log, err := shard.Open(dir, shard.Work{Kind: "explore"}, s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err = Explore(ctx, crashing(t), narrow, Limits{Workers: 3, Log: log}, judgedHere, func(now Outcome) {
		if events > 0 && now.Events > events {
			stop()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return log.Finished()
}

// shownBy returns an outcome as text, with what repeats its finds.
func shownBy(t *testing.T, o Outcome) string {
	t.Helper()
	all := []any{o.Tally, o.Plans, o.Explored, o.Deviations, o.Complete}
	for _, j := range o.Judged {
		find := ""
		if j.Find != nil {
			find = j.Find.Replay(scenarios.Part{}).String()
		}
		all = append(all, j.Property, j.Verdict, j.Within, j.Held, j.Unknown, find)
		if j.Find != nil {
			all = append(all, j.Find.Events, j.Find.Faults, j.Find.Result.Deviations, j.Find.Result.Report)
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Law: an exploration from the joined logs of any number of shards, one of which is stopped and continued,
// makes no run and has the outcome of one process. A shard that is made again has the same bytes.
func TestShardsShowTheWhole(t *testing.T) {
	whole := explored(t, t.Context(), Limits{})
	for _, n := range []int{1, 4} {
		dir, again := t.TempDir(), t.TempDir()
		for i := range n {
			stop := 0
			if i == 0 {
				stop = whole.Events / (3 * n)
			}
			if whole := logged(t, dir, shard.Shard{I: i + 1, N: n}, stop); whole == (stop > 0) {
				t.Errorf("shard %d/%d is whole: %t", i+1, n, whole)
			}
		}
		first := shard.Shard{I: 1, N: n}
		if logged(t, dir, first, 0); n > 1 {
			logged(t, again, first, 0)
			one, err := os.ReadFile(filepath.Join(dir, shard.FileName(first)))
			two, err2 := os.ReadFile(filepath.Join(again, shard.FileName(first)))
			if err != nil || err2 != nil || !reflect.DeepEqual(one, two) {
				t.Errorf("%v, made again, has other bytes (%v, %v)", first, err, err2)
			}
		}
		log, err := shard.Join([]string{dir}, shard.Work{Kind: "explore"})
		if err != nil {
			t.Fatal(err)
		}
		joined := explored(t, t.Context(), Limits{Log: log})
		if got, want := shownBy(t, joined), shownBy(t, whole); got != want {
			t.Errorf("%d shards show\n%s\nthe whole\n%s", n, got, want)
		}
	}
}

// A find of another program's run is refused.
func TestFindOfAnotherProgram(t *testing.T) {
	find := explored(t, t.Context(), Limits{}).Find().Replay(scenarios.Part{})
	find.Trace++
	f := &Find{Run: find.String()}
	if err := f.repeat(t.Context(), crashing(t)); err == nil {
		t.Error("the run has another trace, and no error")
	}
}
