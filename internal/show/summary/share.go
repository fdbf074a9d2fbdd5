package summary

import (
	"fmt"
	"math"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// Share is how often some properties were violated.
type Share struct {
	Codes []string // of the properties; empty: the signs tell
	Rate  runner.Rate
}

// Text is the share with its interval in percent, as in "94.0 % [87.5, 97.2]".
func (s Share) Text() string { return s.Rate.Percent() + " " + s.Rate.Interval() }

// Label is the share in words.
func (s Share) Label() string {
	low, high := s.Rate.Wilson()
	text := fmt.Sprintf("%d of %d runs, %s, 95 %% interval %.1f to %.1f %%", s.Rate.K, s.Rate.N, s.Rate.Percent(), 100*low, 100*high)
	if len(s.Codes) > 0 {
		text = strings.Join(s.Codes, ", ") + ": " + text
	}
	return text
}

// At is the share for the style, from 0 to 1.
func (s Share) At() float64 { return rounded(s.Rate.Share()) }

// Low is the lower end of its interval.
func (s Share) Low() float64 { low, _ := s.Rate.Wilson(); return rounded(low) }

// High is the upper end of its interval.
func (s Share) High() float64 { _, high := s.Rate.Wilson(); return rounded(high) }

func rounded(v float64) float64 { return math.Round(v*1e4) / 1e4 }
