package history_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
)

// noneLeft waits until there are no more of them than before.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	for range 120_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Fatalf("goroutines are left:\n%s", stacks[:runtime.Stack(stacks, true)])
}

// long is longer than what is read ahead.
func long(t *testing.T, grants int) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := historytest.Grants(&file, grants); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// Law: however a reading stops, no goroutine is left.
func TestNoGoroutineIsLeft(t *testing.T) {
	text := long(t, 10_000)
	failing := errors.New("the tape is torn")
	for name, c := range map[string]struct {
		from  io.Reader
		stop  int // after so many events
		close bool
		want  error
	}{
		"at the end":           {bytes.NewReader(text), -1, false, io.EOF},
		"closed at the end":    {bytes.NewReader(text), -1, true, io.EOF},
		"truncated":            {bytes.NewReader(text[:len(text)/2]), -1, false, nil},
		"a line that is wrong": {io.MultiReader(bytes.NewReader(text[:len(text)/2]), strings.NewReader("\nx\n"), bytes.NewReader(text)), -1, false, nil},
		"the source fails":     {io.MultiReader(bytes.NewReader(text), iotest.ErrReader(failing)), -1, false, failing},
		"closed after none":    {bytes.NewReader(text), 0, true, nil},
		"closed after one":     {bytes.NewReader(text), 1, true, nil},
		"closed after many":    {bytes.NewReader(text), 5000, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			r, err := history.NewReader(c.from)
			for n := 0; err == nil && n != c.stop; n++ {
				_, err = r.Next()
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if c.close {
				if err := r.Close(); err != nil {
					t.Error(err)
				}
				if _, err := r.Next(); err == nil {
					t.Error("an event after Close")
				}
			}
			noneLeft(t, before)
		})
	}
}

// Law: how the source hands its bytes over changes nothing.
func TestReadsMayBeOfAnySize(t *testing.T) {
	text := string(long(t, 2000))
	want, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]io.Reader{
		"one byte":       iotest.OneByteReader(strings.NewReader(text)),
		"half":           iotest.HalfReader(strings.NewReader(text)),
		"error and data": iotest.DataErrReader(strings.NewReader(text)),
	} {
		r, err := history.NewReader(from)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			e, err := r.Next()
			if err != nil || *e != want[i] || r.Line() != i+2 {
				t.Fatalf("%s: event %d on line %d: got %v, %v; want %v", name, i, r.Line(), e, err, want[i])
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: got %v at the end", name, err)
		}
	}
}

// An error names the line at which it came, however far has been read ahead; so does
// the source's own.
func TestErrorsNameTheirLine(t *testing.T) {
	text := long(t, 10_000)
	lines := bytes.SplitAfter(text, []byte{'\n'})
	head := bytes.Join(lines[:20_000], nil)
	for _, c := range []struct {
		from io.Reader
		line int
	}{
		{io.MultiReader(bytes.NewReader(head), strings.NewReader("x\n"), bytes.NewReader(text)), 20_001},
		{io.MultiReader(bytes.NewReader(head), iotest.ErrReader(errors.New("torn"))), 20_001},
		{io.MultiReader(bytes.NewReader(head), strings.NewReader(strings.Repeat("x", 2*history.MaxLine))), 20_001},
	} {
		r, err := history.NewReader(c.from)
		n := 0
		for ; err == nil; n++ {
			_, err = r.Next()
		}
		var of *history.LineError
		if !errors.As(err, &of) || of.Line != c.line || r.Line() != c.line || n != c.line-1 {
			t.Errorf("got %v on line %d after %d events, want line %d", err, r.Line(), n, c.line)
		}
	}
}

func TestASourceThatGivesNothingIsNotWaitedForForever(t *testing.T) {
	if _, err := history.NewReader(silent{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }
