package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results/cases"
)

// Law: a hunt of so many runs prints the same whenever it is repeated, and with any number of runs at a time. What it
// finds is kept as cases that are read again.
func TestHuntIsRepeatable(t *testing.T) {
	var said []string
	for _, parallel := range []string{"1", "4"} {
		elsewhere(t)
		code, out, problems := command(t, "hunt", "crash-restart", "--property", "V1,L1", "--runs", "60", "--parallel", parallel)
		want(t, "exit code", code, exitContradiction)
		want(t, "on stderr", problems, "")
		said = append(said, out)
		files, err := filepath.Glob("cases/*")
		if err != nil || len(files) == 0 {
			t.Fatalf("%v, %v: want a case for each find", files, err)
		}
		for _, f := range files {
			c, err := cases.Load(f)
			if err != nil {
				t.Fatal(err)
			}
			want(t, "what the case shows", c.Shows, checker.Violated)
			wantIn(t, out, "lockstorm replay "+f)
			sentences := strings.Split(strings.ReplaceAll(c.Story, ". ", "; "), "; ") // each is printed on a line of its own
			wantIn(t, strings.Join(strings.Fields(out), " "), sentences...)
		}
	}
	want(t, "the second time", said[1], said[0])
}

// caught hunts a little around crash-restart.
func caught(t *testing.T) (huntOptions, search, haul) {
	t.Helper()
	o := huntOptions{lock: "redlock", properties: []string{"V1"}, faults: "all", most: 6, runs: 50, seed: 1}
	q, err := o.search([]string{"crash-restart"})
	if err != nil {
		t.Fatal(err)
	}
	h, err := q.run(t.Context(), newHuntLine(io.Discard, ""))
	if err != nil || len(h.First) == 0 {
		t.Fatalf("%v, %v: want something found", h.First, err)
	}
	return o, q, h
}

// A find is printed even if its case cannot be stored: the hunt may have taken an hour.
func TestHuntTellsWhatItCannotKeep(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	o, q, h := caught(t)
	o.out = filepath.Join(file, "below") // what writable has seen is gone
	finds, err := o.take(t.Context(), q, h, io.Discard)
	want(t, "finds", len(finds), len(h.First))
	if err == nil || !strings.HasPrefix(err.Error(), "--out: store the case of ") {
		t.Errorf("%v: want to be told that a case is not kept", err)
	}
}

// Finds from before the hunt was stopped are shrunk. A second Ctrl-C skips that and prints them
// unshrunk.
func TestStoppedHuntShrinks(t *testing.T) {
	for _, impatient := range []bool{false, true} {
		last, end := context.WithCancel(t.Context())
		ctx, stop := context.WithCancel(context.WithValue(t.Context(), patientKey{}, last))
		if impatient {
			end()
		}
		o := huntOptions{lock: "redlock", properties: []string{"V1", "V4"}, faults: "all", most: 6, budget: time.Hour, seed: 1}
		q, err := o.search([]string{"crash-restart"})
		if err != nil {
			t.Fatal(err)
		}
		var opened atomic.Int32
		open := q.Backend.Open
		q.Backend.Open = func(c context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
			if opened.Add(1) == 100 { // by then something is found
				stop()
			}
			return open(c, s, seed, sink)
		}
		cmd := newHunt()
		var out strings.Builder
		cmd.SetContext(ctx)
		cmd.SetOut(&out)
		if err := o.once(cmd, q); !errors.Is(err, verdictError(exitContradiction)) {
			t.Errorf("%v: want what was found to be a violation", err)
		}
		wantIn(t, out.String(), stoppedLine)
		if shrunk := strings.Contains(out.String(), "\nshrunk from "); shrunk == impatient || strings.Contains(out.String(), "because the hunt was stopped") != impatient {
			t.Errorf("impatient: %t\n%s", impatient, out.String())
		}
		end()
	}
}
