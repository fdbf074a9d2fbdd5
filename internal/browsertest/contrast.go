package browsertest

import (
	_ "embed" // for the script
	"fmt"
)

//go:embed contrast.js
var contrast string

// LowContrast returns the visible texts within an element whose contrast with what is behind them is
// less than least, by the computed colours and the formula of WCAG 2: the first ten, each with its
// contrast.
func (p *Page) LowContrast(selector string, least float64) []string {
	p.t.Helper()
	return Eval[[]string](p, fmt.Sprintf(`(%s)(%q, %v)`, contrast, selector, least))
}
