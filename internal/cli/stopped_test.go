package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
)

// longCommand is a command line, and the same with more work than a test has time for.
type longCommand struct {
	short, long string

	told string // what it prints if it is stopped; empty: stoppedLine
	json bool   // it prints JSON alone

	streams bool // it prints while it works
}

var longCommands = []longCommand{
	{short: "run crash-restart --runs 3 --out runs", long: "run calm --runs 10000000 --out runs", told: "Stopped before the end: "},
	{short: "run crash-restart --runs 3 --out= --report r.html", long: "run calm --runs 10000000 --out= --report r.html", told: "Stopped before the end: "},
	{short: "run calm --runs 3 --format json --out=", long: "run calm --runs 10000000 --format json --out=", json: true, streams: true},
	{short: "debate calm crash-restart --runs 3 --report r.html", long: "debate --runs 10000000 --out saved --report r.html", told: "Nothing is stored in saved: "},
	{short: "compare --trial calm --lock redlock --runs 3 --report r.html", long: "compare --trial calm --runs 10000000 --report r.html"},
	{short: "sweep calm --vary lock.ttl=1s..2s:3 --runs 3 --report r.html", long: "sweep calm --vary lock.ttl=1s..2s:3 --runs 10000000 --report r.html"},
	{short: "tune TUNED --runs 10", long: "tune TUNED --runs 100000000 --report r.html", told: "not validated by runs: stopped"},
	{short: "tune TUNED --runs 10 --format json", long: "tune TUNED --runs 100000000 --format json", json: true},
	{short: "hunt calm --property V4 --runs 50 --out=", long: "hunt calm --property V4 --budget 1h --out= --report r.html"},
	{short: "ci calm --budget 1h --runs 3", long: "ci --suite debate,hunt --budget 1h", told: "interrupted", streams: true},
}

// tuneFacts are facts for tune.
const tuneFacts = "round_trip=1ms..5ms hold=100ms clocks.rate_ppm=500"

// onSignal runs a command that receives SIGINT when the returned function is first called.
func onSignal(t *testing.T, line string, out func(interrupt func()) io.Writer, after time.Duration) (code int, problems string) {
	t.Helper()
	signals := make(chan os.Signal, 1)
	ctx, stop := asked(t.Context(), signals)
	defer stop()
	interrupt := sync.OnceFunc(func() {
		signals <- syscall.SIGINT
		<-ctx.Done()
	})
	if after == 0 {
		interrupt()
	} else if after > 0 {
		defer time.AfterFunc(after, interrupt).Stop()
	}
	var said bytes.Buffer
	code = execute(ctx, strings.Fields(strings.ReplaceAll(line, "TUNED", tuneFacts)), strings.NewReader(""), out(interrupt), &said)
	return code, said.String()
}

// Law: a command that is stopped, at any moment, prints what it knows and that it was
// stopped, writes the page that was asked for, and ends with exit code 3.
func TestEveryCommandCanBeStopped(t *testing.T) {
	for _, c := range longCommands {
		for _, after := range []time.Duration{0, time.Millisecond, 100 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s/%v", c.long, after), func(t *testing.T) {
				elsewhere(t)
				var out bytes.Buffer
				code, problems := onSignal(t, c.long, func(func()) io.Writer { return &out }, after)
				want(t, "exit code", code, exitUndecided)
				told := c.told
				if told == "" {
					told = stoppedLine
				}
				all := out.String() + problems
				switch {
				case strings.Contains(all, "goroutine ") || !c.json && strings.Contains(all, "context canceled"):
					t.Errorf("printed %s", all)
				case !c.json && !strings.Contains(all, told) && problems != "lockstorm: interrupted\n": // nothing is known yet
					t.Errorf("no %q in %s", told, all)
				case problems == "lockstorm: interrupted\n" && out.Len() > 0:
					t.Errorf("printed results and %s", problems)
				}
				if c.json {
					wantJSON(t, out.String())
				}
				_, err := os.Stat("r.html")
				if page := strings.Contains(c.long, "--report") && out.Len() > 0; page != (err == nil) || page != strings.Contains(problems, "report: r.html") {
					t.Errorf("printed %q; the page: %v", problems, err)
				}
				if dirs, _ := filepath.Glob("runs/*"); len(dirs) > 3 { // the first, and what is open of it and of the last
					t.Errorf("stored are %v", dirs)
				}
				if left, _ := filepath.Glob("*.new"); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	}
}

// Law: a command that is stopped when it prints its results, prints all of them, and writes
// its page.
func TestEveryCommandPrintsToTheEnd(t *testing.T) {
	for _, c := range longCommands {
		if c.streams {
			continue
		}
		t.Run(c.short, func(t *testing.T) {
			elsewhere(t)
			var whole, out bytes.Buffer
			wantCode, _ := onSignal(t, c.short, func(func()) io.Writer { return &whole }, -1)
			_ = os.RemoveAll("runs")
			_ = os.Remove("r.html")
			code, problems := onSignal(t, c.short, func(interrupt func()) io.Writer {
				return writerFunc(func(text []byte) (int, error) {
					interrupt()
					return out.Write(text)
				})
			}, -1)
			want(t, "exit code", code, wantCode)
			want(t, "output", masked(out.String()), masked(whole.String()))
			if _, err := os.Stat("r.html"); strings.Contains(c.short, "--report") && err != nil {
				t.Errorf("printed %q: %v", problems, err)
			}
		})
	}
}

// A world that is not opened any more because of Ctrl-C takes nothing away from the runs before.
func TestStoppedWhileAWorldOpens(t *testing.T) {
	elsewhere(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	b, opened := backends[0].Backend, 0
	open := b.Open
	b.Exact = false // one run after another
	b.Open = func(c context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
		if opened++; opened == 7 {
			stop()
			return nil, fmt.Errorf("start redis-server: %w", c.Err())
		}
		return open(c, s, seed, sink)
	}
	e, err := prepare("calm", b)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runOptions{seed: 1, runs: 100, out: "runs"}.run(ctx, e, repetition{name: "calm"}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "runs", r.tally.Runs, 6)
	want(t, "interrupted", r.tally.Interrupted, true)
	want(t, "stored runs", inDir(t, "runs"), "calm-sim-1")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

// took matches figures that differ from run to run.
var took = regexp.MustCompile(`\d+\.\d\d? s\b|[\d,]+ runs/s|"(seconds|took_ns|runs_per_second)":[^,}\n]*`)

func masked(text string) string { return took.ReplaceAllString(text, "TIME") }
