package picture_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/show/picture"
)

// wantReadable saves a picture, and checks that both files can be read and have no number that is none.
func wantReadable(t *testing.T, name string, p picture.Picture, err error) {
	t.Helper()
	dir := t.TempDir()
	if err == nil {
		err = p.Save(dir, "drawn")
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	bits, err := os.ReadFile(filepath.Join(dir, "drawn.png"))
	if err == nil {
		_, err = png.Decode(bytes.NewReader(bits))
	}
	svg, err2 := os.ReadFile(filepath.Join(dir, "drawn.svg"))
	if err2 == nil {
		err2 = xml.Unmarshal(svg, new(struct{}))
	}
	if err != nil || err2 != nil || bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
		t.Errorf("%s: %v, %v:\n%s", name, err, err2, svg)
	}
}

func point(curve string, violated, held int, predicted *float64, at ...float64) sweep.Outcome {
	m := &sweep.PointResult{Violated: violated, Held: held, Predicted: predicted}
	m.Measurements.Wanted, m.Measurements.Availability = time.Second, 0.5
	return sweep.Outcome{Curve: curve, At: at, Point: m}
}

func results(all ...sweep.Outcome) sweep.Results {
	return sweep.Results{Head: sweep.Head{
		Sweep: "made-up", Summary: "what is <made> up", Property: checker.Lease,
		Params: []sweep.Param{{Name: "delay", Unit: "TTL"}, {Name: "error"}},
	}, Outcomes: all}
}

func TestSweep(t *testing.T) {
	half, low, high := 0.5, 0.9, 1.1
	located := func(curve string, formula float64, low, high *float64) sweep.Outcome {
		return sweep.Outcome{Curve: curve, At: []float64{0}, Boundary: &sweep.Located{
			LastViolated: low, FirstHolding: high, Formula: sweep.Trial{X: formula}, Rules: []sweep.Rule{{Name: "T", Trial: sweep.Trial{X: 1}}},
		}}
	}
	var many []sweep.Outcome
	for n := range 4 {
		for _, kind := range []string{"slow", "fast"} {
			many = append(many, point(fmt.Sprintf("%s, %d crash", kind, n+1), 1, 9, &half, 0, 1), point(fmt.Sprintf("%s, %d crash", kind, n+1), 0, 10, &half, 1, 1))
		}
	}
	for name, of := range map[string]sweep.Results{
		"one point":             results(point("a", 1, 1, nil, 3, 0)),
		"nothing is decided":    results(point("a", 0, 0, nil, 3, 0)),
		"nothing":               results(),
		"with a formula":        results(point("a", 1, 1, &half, 0, 0), point("b", 0, 2, nil, 1, 0)),
		"families of curves":    results(many...),
		"two parameters change": results(point("a", 1, 1, &half, 0, 0), point("a", 2, 0, &half, 1, 1)),
		"boundaries":            results(located("one", 1, &low, &high), located("open", 2, &low, nil)),
	} {
		p, err := picture.Sweep(of)
		wantReadable(t, name, p, err)
	}
}
