package timeline

import (
	"html/template"

	"github.com/lockstorm/lockstorm/report/document"
)

// Block is the timeline as a piece of a page.
func (m Model) Block() document.Active { return block{m} }

type block struct{ m Model }

// HTML returns the place in which the script draws, the model beside it, and the same as text.
func (b block) HTML() (template.HTML, error) { panic("to be written") }

// Assets returns the script that draws timelines.
func (b block) Assets() []document.Assets { panic("to be written") }
