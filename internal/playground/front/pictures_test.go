package front

import (
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/internal/browsertest"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

const pictures = "../../../docs/img"

// picture is a screenshot of a view.
type picture struct {
	file  string
	view  string
	dark  bool
	until string                  // what has to be there
	do    func(*browsertest.Page) // before; may be nil
}

var shots = []picture{
	{"playground-debate.png", "/debate", false, `document.querySelector("#row-short-restart .squares")?.children.length === 100`, func(p *browsertest.Page) {
		click(p, "#row-short-restart", "run 100 seeds")
		browsertest.Eval[any](p, `document.querySelector("#row-short-restart").scrollIntoView()`)
	}},
	{"playground-curve.png", "/numbers?sweep=restart-delay&curve=plain%2C+no+persistence", false, `/done/.test(document.querySelector(".curve").textContent)`, nil},
	{"playground-beside.png", "/beside?trial=crash&a=redlock&b=redlock-quarantine&seed=2", true, `lockstorm.timelines.length === 2`, nil},
}

// TestPlaygroundPictures takes the pictures in the documentation ("make pictures").
func TestPlaygroundPictures(t *testing.T) {
	if !testkit.UpdateGolden() {
		t.Skip("make pictures takes them")
	}
	address := served(t, "")
	for _, s := range shots {
		p := visit(t, address, s.view, browsertest.Screen{Width: 1200, Height: 820, Dark: s.dark})
		if s.do != nil {
			s.do(p)
		}
		p.Until(s.until)
		do(p, `Object.assign(document.documentElement.style, { scrollbarWidth: "none", scrollPaddingTop: "0" })`)
		p.Settle()
		p.Picture(filepath.Join(pictures, s.file))
	}
}
