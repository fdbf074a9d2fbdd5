//go:build browser

package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/internal/browsertest"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

const pictures = "../../../docs/img"

// shown is a screenshot of a page.
type shown struct {
	file   string
	page   string // of the page
	at     string // CSS selector of the element at the top
	width  int64
	height int64
	dark   bool
}

var shots = []shown{
	{"timeline.png", "run", "body", 1200, 890, false},
	{"timeline-dark.png", "run", "body", 1200, 890, true},
	{"inevitable.png", "decided", ".timeline ~ h3", 1200, 420, false},
	{"sequence.png", "case", "details[open] h3", 1400, 1000, false},
	{"scoreboard.png", "debate", "#s-scoreboard", 1400, 860, false},
	{"sweep.png", "sweep", "figure", 1200, 820, false},
}

// TestPictures takes the pictures in the documentation ("make pictures").
func TestPictures(t *testing.T) {
	if !testkit.UpdateGolden() {
		t.Skip("make pictures takes them")
	}
	if err := os.MkdirAll(pictures, 0o755); err != nil {
		t.Fatal(err)
	}
	decided, _ := decidedFile(t, 100)
	pages := map[string]string{
		"decided": decided,
		"run":     pageFile(t, crashRestart(t)),
		"case":    pageFile(t, "../../../testdata/cases/redlock-lease-crash-restart.yaml"),
		"debate":  pageFile(t, storedDebate(t, "sim", nil)),
		"sweep":   pageFile(t, filepath.Join(reference, "restart-delay")),
	}
	for _, s := range shots {
		p := browsertest.Open(t, pages[s.page], browsertest.Screen{Width: s.width, Height: s.height, Dark: s.dark})
		browsertest.Eval[any](p, `Object.assign(document.documentElement.style, { scrollbarWidth: "none", scrollPaddingTop: "0" })`)
		p.Settle()
		browsertest.Eval[any](p, `document.querySelector("`+s.at+`").scrollIntoView()`)
		if s.page == "debate" { // its rows on restarts
			browsertest.Eval[any](p, `((box) => { box.value = "restart"; box.dispatchEvent(new Event("input")); })(document.querySelector(".filter input"))`)
		}
		p.Settle()
		path := filepath.Join(pictures, s.file)
		p.Picture(path)
	}
}
