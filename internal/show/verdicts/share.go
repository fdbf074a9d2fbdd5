package verdicts

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/internal/show/summary"
)

// shareHead is the head of the column of shares.
const shareHead = "runs that violate any property"

// Trend is how often a property was violated at each value of a series.
type Trend struct {
	Text   string // the result in a few words
	Link   string // anchor of the series; may be empty
	Points []Point
}

// Point is a value of a series.
type Point struct {
	Value string
	summary.Share
}

// Label is the trend in words.
func (t Trend) Label() string {
	parts := make([]string, len(t.Points))
	for i, p := range t.Points {
		parts[i] = fmt.Sprintf("%s at %s", p.Rate.Percent(), p.Value)
	}
	return "runs that violate: " + strings.Join(parts, ", ")
}
