package account

import (
	"slices"
)

// Table is a head and lines of as many cells; a line of one cell begins a section.
type Table struct {
	Head  []string
	Lines [][]string
}

// Add appends a line.
func (t *Table) Add(cells ...string) { t.Lines = append(t.Lines, cells) }

// Section begins a section, unless the one before is of that name.
func (t *Table) Section(name string) {
	for _, l := range slices.Backward(t.Lines) {
		if len(l) == 1 {
			if l[0] == name {
				return
			}
			break
		}
	}
	t.Add(name)
}

// Dash stands for nothing in a cell.
func Dash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}
