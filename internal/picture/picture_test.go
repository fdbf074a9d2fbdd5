package picture_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/picture"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/tune"
)

// texts saves a picture, checks that both files can be read, and returns the texts of the SVG.
func texts(t *testing.T, p picture.Picture, err error) string {
	t.Helper()
	dir := t.TempDir()
	if err == nil {
		err = p.Save(dir, "drawn")
	}
	if err != nil {
		t.Fatal(err)
	}
	bits, err := os.ReadFile(filepath.Join(dir, "drawn.png"))
	if err == nil {
		_, err = png.Decode(bytes.NewReader(bits))
	}
	if err != nil {
		t.Error(err)
	}
	svg, err := os.ReadFile(filepath.Join(dir, "drawn.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
		t.Error("the SVG has a number that is none")
	}
	var found strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			found.Write(text)
			found.WriteString("|")
		}
	}
}

func point(curve string, violated, held int, predicted *float64, at ...float64) sweep.Outcome {
	m := &sweep.Measured{Violated: violated, Held: held, Predicted: predicted}
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
	for name, c := range map[string]struct {
		of         sweep.Results
		has, lacks []string
	}{
		"one point":             {results(point("a", 1, 1, nil, 3, 0)), []string{"What is <made> up|", "|a|", "delay [TTL]", "share of violated runs", "availability", "outage"}, []string{"formula"}},
		"nothing is decided":    {results(point("a", 0, 0, nil, 3, 0)), []string{"share of violated runs"}, nil},
		"nothing":               {results(), []string{"delay [TTL]"}, nil},
		"with a formula":        {results(point("a", 1, 1, &half, 0, 0), point("b", 0, 2, nil, 1, 0)), []string{"and by the formula", "|a|", "|b|"}, []string{"availability"}},
		"families of curves":    {results(many...), []string{"|slow, 1 crash|", "|fast, 4 crash|"}, nil},
		"two parameters change": {results(point("a", 1, 1, &half, 0, 0), point("a", 2, 0, &half, 1, 1)), []string{"the darker", "|a|"}, []string{"share of"}},
		"boundaries":            {results(located("one", 1, &low, &high), located("open", 2, &low, nil)), []string{"measured: one", "rule: T"}, []string{"open"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := picture.Sweep(c.of)
			text := texts(t, p, err)
			for _, part := range c.has {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in %q", part, text)
				}
			}
			for _, part := range c.lacks {
				if strings.Contains(text, part) {
					t.Errorf("%q in %q", part, text)
				}
			}
		})
	}
}

// Settings without a risk are drawn too, and a single one has axes.
func TestFront(t *testing.T) {
	weighed := func(ttl time.Duration, risk float64) tune.Weighed {
		w := tune.Weighed{Setting: tune.Setting{TTL: ttl}}
		w.BlockedByDead, w.Risk.Pauses = ttl, risk
		return w
	}
	safe, risky, worse := weighed(4*time.Second, 0), weighed(time.Second, 1e-9), weighed(5*time.Second, 1e-8)
	for name, c := range map[string]struct {
		front       []tune.Weighed
		recommended *tune.Weighed
		has         string
	}{
		"nothing recommended": {[]tune.Weighed{safe, risky, worse}, nil, "|no other is better in every way|"},
		"recommended":         {[]tune.Weighed{safe, risky, worse}, &safe, "recommended: a TTL of 4s"},
		"the only one":        {nil, &safe, "recommended: a TTL of 4s"},
		"the same costs":      {[]tune.Weighed{safe, safe}, nil, "no other is better"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := picture.Front(tune.Advice{Front: c.front, Recommended: c.recommended})
			if text := texts(t, p, err); !strings.Contains(text, c.has) {
				t.Errorf("no %q in %q", c.has, text)
			}
		})
	}
}
