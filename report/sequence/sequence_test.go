package sequence_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/hunt/cases"
	"github.com/lockstorm/lockstorm/report/document"
	"github.com/lockstorm/lockstorm/report/sequence"
	"github.com/lockstorm/lockstorm/storm"
	"github.com/lockstorm/lockstorm/storm/simulated"
	"github.com/lockstorm/lockstorm/trace"
)

func drawn(t *testing.T, c cases.Case) sequence.Diagram {
	t.Helper()
	e, err := storm.Prepare(simulated.Backend(), c.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	heard := trace.New(c.Scenario.Lock.ReadsClock())
	r, err := e.Watched(heard).Run(t.Context(), c.Seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sequence.Of(heard, r.Report.Finding(c.Property))
}

func TestTry(t *testing.T) {
	all, _ := filepath.Glob("../../testdata/cases/*.yaml")
	out := os.Getenv("TRY")
	for _, path := range all {
		c, err := cases.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		d := drawn(t, c)
		os.WriteFile(out+"/"+name+".svg", d.SVG(), 0o644)
		os.WriteFile(out+"/"+name+".txt", []byte(d.String()), 0o644)
		doc := document.Document{Title: name}
		doc.Add("diagram", d.Block())
		f, _ := os.Create(out + "/" + name + ".html")
		if err := doc.Write(f); err != nil {
			t.Error(err)
		}
		f.Close()
	}
}
