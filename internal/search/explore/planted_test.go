package explore

import (
	"encoding/json"
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

var plantThem = flag.Bool("planted", false, "also plant defects into the reductions, of which the law has to catch each (a minute each)")

// planted are defects of the reductions: a replacement in a file. Keys, clocks, pauses and the
// time follow from the history and from the messages under way, so to forget them alone is none.
var planted = []struct{ name, file, old, new string }{
	{"the order of requests at a node is no choice", "../../sim/choice.go", "w.machine(&due[i]) == w.machine(&due[0])", "due[i] == due[0]"},
	{"the state forgets messages", "../../sim/state.go", "case requestArrives, replyArrives:", "case requestArrives, replyArrives:\n\t\t\t\tcontinue"},
	{"the state forgets when messages arrive", "../../sim/state.go", "one.add(uint64(e.at))\n", ""},
	{"the state forgets what clients have seen, and so their timers", "../../sim/state.go", "d.mix(c.observed)", "d.add(2)"},
	{"the state forgets the history", "../../sim/state.go", "d := w.few.recorded", "var d digest"},
	{"a fault at a step of one client is no matter for another", "bounds.go", " && !f.OfOneClient()", " && false"},
}

// The law of the reductions catches every planted defect.
func TestPlantedReductions(t *testing.T) {
	if !*plantThem {
		t.Skip("left out, for it takes minutes: go test ./internal/search/explore -run Planted -args -planted")
	}
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			source, err := filepath.Abs(p.file)
			if err != nil {
				t.Fatal(err)
			}
			text := testkit.Read(t, source)
			if n := strings.Count(text, p.old); n != 1 {
				t.Fatalf("%q occurs %d times in %s", p.old, n, p.file)
			}
			changed := filepath.Join(t.TempDir(), filepath.Base(p.file))
			testkit.Write(t, changed, strings.Replace(text, p.old, p.new, 1))
			overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "overlay.json")
			testkit.Write(t, file, string(overlay))
			out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-pgo=off", "-overlay", file, ".", "-run", "TestReductionsKeep", "-count=1", "-args", "-worlds=300").CombinedOutput()
			if err == nil {
				t.Errorf("not caught:\n%s", out)
			} else if !strings.Contains(string(out), "that are left") {
				t.Errorf("not by the law:\n%s", out)
			}
		})
	}
}
