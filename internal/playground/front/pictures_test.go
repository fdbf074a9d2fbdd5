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

// TestPlaygroundPictures checks the pictures in the documentation, or takes them again ("make
// pictures").
func TestPlaygroundPictures(t *testing.T) {
	const width, height = 1200, 820
	for _, s := range shots {
		path := filepath.Join(pictures, s.file)
		if testkit.UpdateGolden() {
			p := visit(t, served(t, ""), s.view, browsertest.Screen{Width: width, Height: height, Dark: s.dark})
			if s.do != nil {
				s.do(p)
			}
			p.Until(s.until)
			browsertest.Eval[any](p, `Object.assign(document.documentElement.style, { scrollbarWidth: "none", scrollPaddingTop: "0" })`)
			p.Settle()
			p.Picture(path)
		}
		browsertest.CheckPicture(t, path, width)
	}
}
