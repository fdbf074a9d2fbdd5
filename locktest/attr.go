package locktest

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/external"
)

// setAttr sets the attribute "locktest" of a test, for programs that read go test -json.
func setAttr(t *testing.T, r external.Record) {
	if text, err := json.Marshal(r); err == nil {
		t.Attr("locktest", string(text))
	}
}

// testFile returns the name of the file with the user's test, which is the innermost one with tests on
// the stack.
func testFile() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.File, "_test.go") || !more {
			return filepath.Base(frame.File)
		}
	}
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}
