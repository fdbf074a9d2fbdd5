package verdicts

import (
	"fmt"
	"math"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// shareHead is the head of the column of shares.
const shareHead = "runs that violate any property"

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

// Trend is how often a property was violated at each value of a series.
type Trend struct {
	Text   string // the result in a few words
	Link   string // anchor of the series; may be empty
	Points []Point
}

// Point is a value of a series.
type Point struct {
	Value string
	Rate  runner.Rate
}

// Label is the trend in words.
func (t Trend) Label() string {
	parts := make([]string, len(t.Points))
	for i, p := range t.Points {
		parts[i] = fmt.Sprintf("%s at %s", p.Rate.Percent(), p.Value)
	}
	return "runs that violate: " + strings.Join(parts, ", ")
}

// At is the share for the style, from 0 to 1.
func (p Point) At() float64 { return rounded(p.Rate.Share()) }
