package plots

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"testing"
)

// Law: lines of a PDF are joined round. A circle whose ends are rounded apart has no spike there.
func TestLinesOfPDFAreJoinedRound(t *testing.T) {
	_, rest, _ := bytes.Cut(saved(t, delays(400, 31), PDF, Screen, made), []byte("stream\n"))
	page, err := zlib.NewReader(bytes.NewReader(rest))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(page)
	if err != nil {
		t.Fatal(err)
	}
	before, _, stroked := bytes.Cut(content, []byte("\nS\n"))
	if joined := regexp.MustCompile(`(?m)^\d j$`).FindAll(before, -1); !stroked || len(joined) == 0 || string(joined[len(joined)-1]) != "1 j" {
		t.Errorf("before the first line (%v) the joins are %q", stroked, joined)
	}
}
