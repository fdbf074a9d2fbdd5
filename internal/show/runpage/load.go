package runpage

import (
	"fmt"
	"io"
	"os"

	"github.com/lockstorm/lockstorm/internal/packed"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
)

// Load loads the run of a directory.
func Load(dir string) (Shown, error) {
	run, err := results.Load(dir)
	if err != nil {
		return Shown{}, err
	}
	path, err := results.HistoryPath(dir)
	if err != nil {
		return Shown{}, err
	}
	s := Shown{Title: TitleOf(run), Dir: dir, Run: run, History: OpenHistory(path)}
	if run.TraceHash != "" && !run.Cut {
		s.Command = textfmt.Command("replay", dir)
	}
	return s, nil
}

// OpenHistory returns a function that opens the history in a file that may be compressed.
func OpenHistory(path string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		raw, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		text, err := packed.Opened(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return text, nil
	}
}
