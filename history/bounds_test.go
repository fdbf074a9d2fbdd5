package history_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/packed"
)

// endless gives one text again and again, up to most bytes, and counts them.
type endless struct {
	text string
	most int64
	read int64
}

func (r *endless) Read(p []byte) (int, error) {
	if r.read >= r.most {
		return 0, io.EOF
	}
	for len(r.text) < 1<<12 {
		r.text += r.text
	}
	for n := 0; n < len(p); {
		n += copy(p[n:], r.text[(r.read+int64(n))%int64(len(r.text)):])
	}
	r.read += int64(len(p))
	return len(p), nil
}

const goodHeader = `{"format":"lockstorm-history","version":1,"nodes":5,"clients":3}` + "\n"

// Law: what is no history is refused on the line where it stops to be one, without
// reading far beyond it and without memory for it.
func TestGarbageIsRefusedAtOnce(t *testing.T) {
	const gigabyte = 1 << 30
	for _, c := range []struct{ head, garbage, want string }{
		{"", "\x00", "line 1: longer than 1 MiB"},
		{"", "x", "line 1: longer than 1 MiB"},
		{"", "[", "line 1: longer than 1 MiB"},
		{"", "\n", "line 1: not a history"},
		{"", "garbage\n", "line 1: not a history"},
		{`{"format":"lockstorm-history","version":1,"votes":[`, "1,", "line 1: longer than 1 MiB"},
		{goodHeader, "\x00", "line 2: longer than 1 MiB"},
		{goodHeader, "\x00\n", "line 2: malformed"},
		{goodHeader, `{"t":`, "line 2: longer than 1 MiB"},
		{goodHeader, "{}\n", "line 2: an event without a kind"},
		{goodHeader + `{"t":1,"kind":"step"}` + "\n", "\n", "line 3: malformed: an empty line"},
		{goodHeader + `{"t":1,"kind":"step","detail":"`, `\u0041`, "line 2: longer than 1 MiB"},
	} {
		source := &endless{text: c.garbage, most: gigabyte}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := history.NewReader(io.MultiReader(strings.NewReader(c.head), source))
		for err == nil {
			_, err = r.Next()
		}
		if r != nil {
			_ = r.Close()
		}
		runtime.ReadMemStats(&after)
		name := fmt.Sprintf("%.60q and %q", c.head, c.garbage)
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %.200v, want %q", name, err, c.want)
		}
		if len(err.Error()) > 300 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
		if source.read > 4*history.MaxLine {
			t.Errorf("%s: %d bytes were read", name, source.read)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 16*history.MaxLine {
			t.Errorf("%s: %d bytes were allocated", name, allocated)
		}
	}
}

// Law: what a small compressed file expands to is bounded as if it were not compressed.
func TestABombIsRefusedAtOnce(t *testing.T) {
	for _, p := range historytest.Packings[1:] {
		var file bytes.Buffer
		if err := p.Write(&file, func(w io.Writer) error {
			_, err := io.Copy(w, &endless{text: "\x00", most: 1 << 26})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plain, err := packed.Reader(&file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = history.NewReader(plain)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "line 1: longer than 1 MiB") {
			t.Errorf("%s: got %v", p.Name, err)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 32*history.MaxLine {
			t.Errorf("%s: %d bytes were allocated", p.Name, allocated)
		}
		_ = plain.Close()
	}
}

// Law: memory does not grow with the length of a history, even if every token is new,
// or every line as long as can be.
func TestMemoryIsFlat(t *testing.T) {
	long := `{"t":1,"kind":"step","detail":"` + strings.Repeat("x", history.MaxLine-40) + "\"}\n"
	for name, from := range map[string]io.Reader{
		"new tokens": newTokens(200_000),
		"long lines": io.MultiReader(strings.NewReader(goodHeader), &endless{text: long, most: int64(60 * len(long))}),
	} {
		r, err := history.NewReader(from)
		highest := uint64(0)
		for n := 0; err == nil; n++ {
			if _, err = r.Next(); n%10_000 == 50 {
				highest = max(highest, live())
			}
		}
		if r.Line() < 60 {
			t.Errorf("%s: line %d: %v", name, r.Line(), err)
		}
		if highest > 32*history.MaxLine {
			t.Errorf("%s: %d bytes are live", name, highest)
		}
	}
}

func newTokens(n int) io.Reader {
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(historytest.Grants(w, n/historytest.EventsPerGrant)) }()
	return r
}

// live is what is reachable now.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
