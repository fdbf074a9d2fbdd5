// Package excerpt writes porcupine's visualisation of the few operations around a violation.
package excerpt

import (
	"bytes"
	"fmt"
	"html"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/internal/files"
)

// Excerpt is the operations around a violation, with the model that they violate.
type Excerpt struct {
	Model      porcupine.Model
	Operations []porcupine.Operation // their ClientId may be any number
}

// searchLimit is the longest that porcupine may search.
const searchLimit = 5 * time.Second

// Write writes the excerpt as an HTML page with one row per client. It replaces an existing file
// only when the page is complete.
func (e Excerpt) Write(path string) error {
	rows := map[int]int{}
	for i := range e.Operations {
		o := &e.Operations[i]
		row, known := rows[o.ClientId]
		if !known {
			row = len(rows)
			rows[o.ClientId] = row
		}
		o.ClientId = row
	}
	// The page shows states as HTML.
	if describe := e.Model.DescribeState; describe != nil {
		e.Model.DescribeState = func(state any) string { return html.EscapeString(describe(state)) }
	} else {
		e.Model.DescribeState = func(state any) string { return html.EscapeString(fmt.Sprint(state)) }
	}
	_, info := porcupine.CheckOperationsVerbose(e.Model, e.Operations, searchLimit)
	var page bytes.Buffer
	if err := porcupine.Visualize(e.Model, info, &page); err != nil {
		return err
	}
	return files.WriteWhole(path, page.Bytes())
}
