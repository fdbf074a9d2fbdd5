package summary

import (
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/document"
)

// MarkOf is the mark of a conclusion.
func MarkOf(c runner.Conclusion) document.Mark {
	switch c {
	case runner.AsExpected:
		return document.Good
	case runner.Contradiction:
		return document.Bad
	}
	return document.Open
}

// FactsOf returns facts as a block.
func FactsOf(list []Fact) (facts document.Facts) {
	for _, f := range list {
		facts = append(facts, document.Fact{Name: f.Name, Value: f.Text})
	}
	return facts
}

// FiguresOf returns measurements as a folded block.
func FiguresOf(list []checker.Figure) document.Block {
	var facts document.Facts
	for _, f := range list {
		facts = append(facts, document.Fact{Name: f.Name, Value: strings.Join(f.Parts, ", ")})
	}
	return document.Fold{Summary: "what was measured", Blocks: []document.Block{facts}}
}
