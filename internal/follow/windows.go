package follow

import (
	"errors"
	"io"
	"iter"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Read opens a history and passes its header to begin and its events to each, until each
// returns false.
func Read(open func() (io.ReadCloser, error), begin func(history.Header), each func(*history.Event) bool) error {
	file, err := open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	r, err := history.NewReader(file)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	begin(r.Header())
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !each(e) {
			return nil
		}
	}
}

// Overdue returns the periods of a section window in which no lease window covers it: the
// client works on past its validity. The leases are those of the same grant, in the order of
// time.
func Overdue(section checker.Window, leases []checker.Window) iter.Seq2[history.Time, history.Time] {
	return func(yield func(from, to history.Time) bool) {
		from := section.From
		for _, l := range leases {
			if l.Empty || l.To <= from {
				continue
			}
			if to := min(l.From, section.To); from < to && !yield(from, to) {
				return
			}
			from = l.To
		}
		if from < section.To {
			yield(from, section.To)
		}
	}
}
