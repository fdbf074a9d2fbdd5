package locks

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/results"
)

var (
	write = flag.Bool("write", false, "store the results of all locks and the witnesses anew")
	every = flag.Bool("all", false, "try all locks on Redis")
	kept  = flag.Bool("stores", false, "try the locks that are kept in stores, whose servers have to be installed, in place of those on Redis")
	runs  = flag.Int("runs", 3, "with -write: run each storm so `many` times")
	again = flag.Int("again", 100, "with -write: run each witness again so `many` times")
)

const (
	most     = 15 // runs of a storm, until all is seen that is expected
	few      = 3  // of those in which time is real, without those for which the machine was too slow
	patience = 15 // runs in which time is real, with those
	many     = 50 // with -write, until there is a witness of what is seldom seen
)

// Law: what each lock violates in each storm is what the findings say. A change of a library
// that mends something, or breaks it, turns this red.
//
// With -write all storms are run many times, and the results stored: go -C evidence run . scoreboard. With
// -stores the locks are those in stores. Without -write, -all and a witness only two locks are tried.
func TestScoreboard(t *testing.T) {
	b := &Board{Subjects: Subjects(), Page: RedisPage}
	witnesses := "testdata/witnesses"
	if *kept {
		b = &Board{Subjects: InStores(), Page: StorePage}
		witnesses = "testdata/witnesses-stores"
	}
	again := flag.Lookup("locktest.witness")
	if !*write && !*kept && !*every && (again == nil || again.Value.String() == "") {
		b.Subjects = slices.DeleteFunc(b.Subjects, func(s Subject) bool { return s.Name != "redsync-setnx" && s.Name != "rueidislock-cached" })
	}
	if *write {
		if err := os.RemoveAll(witnesses); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // behind all subtests
		if *write {
			if err := b.Store(b.Page.File, versions(t, b.Subjects)); err != nil {
				t.Error(err)
			}
		}
	})
	for _, s := range b.Subjects {
		t.Run(s.Name, func(t *testing.T) {
			for _, series := range s.Series() {
				t.Run(series.Name, func(t *testing.T) { b.survey(t, s, series, witnesses) })
			}
		})
	}
}

// versions are those of the libraries, by their paths.
func versions(t *testing.T, subjects []Subject) map[string]string {
	command := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Version}}", goRedis)
	for _, s := range subjects {
		if s.Library != "" && !slices.Contains(command.Args, s.Library) {
			command.Args = append(command.Args, s.Library)
		}
	}
	said, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for line := range strings.Lines(string(said)) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		list[path] = version
	}
	return list
}

// survey tries a lock in the storms of a series.
func (b *Board) survey(t *testing.T, s Subject, series Series, witnesses string) {
	trials := map[string]*Trial{}
	for _, in := range series.Storms {
		trials[in.Name] = b.Add(s, series.Name, in)
	}
	series.Runs = max(most, *runs, many)
	least := 1
	if *write {
		least = *runs
	}
	enough := most
	if s.Backend == locktest.Process {
		series.Runs, least, enough = patience, min(least, few), few
	}
	locktest.Survey(t, series.Config, s.Open, func(t *testing.T, seen locktest.Seen) bool {
		trial := trials[seen.Scenario.Name]
		trial.See(seen)
		b.explain(t, trial, seen, witnesses)
		n := trial.Decided()
		rare := *write && n < many && s.Backend == locktest.Memory && b.Unseen(trial)
		return n < least || n < enough && len(trial.Missing()) > 0 || rare
	})
	for _, in := range series.Storms {
		trial := trials[in.Name]
		missing := trial.Missing()
		switch {
		case trial.Tally.Runs == 0 || len(missing) == 0:
		case trial.Decided() < enough:
			t.Logf("%s: whether %v is still violated is not known: of %s the machine was fast enough for %d", in.Name, missing, textfmt.Count(trial.Tally.Runs, "run"), trial.Decided())
		default:
			t.Errorf("%s: %v is violated no more, in %s: take it from the findings", in.Name, missing, textfmt.Count(trial.Decided(), "run"))
		}
	}
}

// explain fails the test for what no finding is about, and keeps the first run of each finding, by
// somebody else's lock.
func (b *Board) explain(t *testing.T, trial *Trial, seen locktest.Seen, witnesses string) {
	shows := map[*Finding][]checker.Property{}
	for _, p := range judged {
		found := seen.Report.Finding(p)
		if found.Verdict != checker.Violated || seen.Slipped() {
			continue
		}
		if f, _ := Known(trial.Subject.Name, trial.Storm.Name, p); f != nil {
			shows[f] = append(shows[f], p)
		} else {
			t.Errorf("seed %d: %s is violated, and no finding says why: %s", seen.Seed, p.Code(), found.Story())
		}
	}
	for f, properties := range shows {
		if !*write || trial.Subject.Library == "" { // that ours shows it too stands in the tables
			continue
		}
		if w := b.Claim(f); w != nil {
			w.Trial, w.Shows, w.Report = trial, properties, seen.Report
			keep(t, w, seen, witnesses)
		}
	}
}

// keep stores a run, and runs it again.
func keep(t *testing.T, w *Witness, seen locktest.Seen, witnesses string) {
	var err error
	if w.Dir, err = seen.Keep(witnesses, w.Finding.Name); err == nil {
		err = compress(filepath.Join(w.Dir, results.HistoryFile))
	}
	if err != nil {
		t.Fatal(err)
	}
	times := *again
	if w.Trial.Subject.Backend == locktest.Process {
		times = min(times, few)
	}
	if w.Again, err = seen.Rerun(times); err != nil {
		t.Fatal(err)
	}
}

// compress puts a file's gzip in its place.
func compress(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	if err := files.WriteWhole(path+".gz", packed.Bytes()); err != nil {
		return err
	}
	return os.Remove(path)
}
