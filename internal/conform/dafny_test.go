package conform

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// specified are the files of the specification that this package transcribes.
var specified = []string{"state.dfy", "assumptions.dfy", "machine.dfy", "invariant.dfy", "late.dfy", "fences.dfy"}

// otherNames are the transcriptions that have other names. The guarded resource is not transcribed.
var otherNames = map[string]string{
	"Ends": "ends", "Voted": "vote", "Store": "store", "Elsewhere": "forget", "TokenOf": "tokenOf",
	"Without": "Drop", // the delete of a map
	"Init":    "newMachine", "Next": "step",
	"Config": "machine", "State": "machine", "Key": "key", "Copy": "stored", "Round": "roundState",
	"F2Reads": "", "F2Writes": "",
	"Phase": "phase", "Draw": "drawState", "Fences": "fences", "FencesInit": "newFences", "FencesNext": "fencesStep",
	"LockStep": "replay", "AllDrawn": "BeginDraw", "Seen": "drawState", "Number": "drawState", "Highest": "drawState",
	"CountersInv": "FencesInv", "InTurn": "FencesInv",
	"Fresh": "", "Only": "", // of the proof
}

// definition is one of the specification, with its text.
type definition struct{ file, kind, name, text string }

var begins = regexp.MustCompile(`^(predicate|function|datatype) (\w+)`)

// definitions reads the specification.
func definitions(t *testing.T) (all []definition) {
	t.Helper()
	for _, file := range specified {
		text, err := os.ReadFile(filepath.Join("..", "..", "proof", file))
		if err != nil {
			t.Fatal(err)
		}
		var d *definition
		for line := range strings.Lines(string(text)) {
			m := begins.FindStringSubmatch(line)
			switch {
			case m != nil:
				all = append(all, definition{file, m[1], m[2], line})
				d = &all[len(all)-1]
			case d != nil && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "}")):
				d.text += line
			default:
				d = nil
			}
		}
	}
	return all
}

// declarations reads this package: functions and types by their names.
func declarations(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, file := range []string{"machine.go", "assumptions.go", "invariant.go", "fences.go", "replay.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		of := func(n ast.Node) string {
			return string(text[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				all[d.Name.Name] = of(d)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						all[s.Name.Name] = "type " + of(s)
					}
				}
			}
		}
	}
	return all
}

// transcription returns the name of what transcribes a definition.
func transcription(name string) string {
	if other, ok := otherNames[name]; ok {
		return other
	}
	return name
}

// Each definition of the specification has its transcription, and neither has changed since both were
// compared.
func TestTranscription(t *testing.T) {
	ours := declarations(t)
	var b strings.Builder
	for _, d := range definitions(t) {
		name := transcription(d.name)
		if name == "" {
			continue
		}
		text, ok := ours[name]
		if !ok {
			t.Errorf("%s %s of proof/%s has no transcription %s", d.kind, d.name, d.file, name)
		}
		fmt.Fprintf(&b, "== %s (proof/%s)\n%s-- \n%s\n\n", d.name, d.file, d.text, text)
	}
	const golden = "testdata/guards.txt"
	if testkit.UpdateGolden() { // after both sides were compared
		testkit.Write(t, golden, b.String())
	}
	want := testkit.Read(t, golden)
	old := strings.Split(want, "== ")
	for i, now := range strings.Split(b.String(), "== ") {
		if !slices.Contains(old, now) {
			name, _, _ := strings.Cut(now, "\n")
			t.Errorf("%d: %s has changed in the specification or in its transcription: compare both, then go test ./internal/conform -run Transcription -args -update", i, name)
		}
	}
	if !t.Failed() && b.String() != want {
		t.Errorf("definitions are gone, or in another order: go test ./internal/conform -run Transcription -args -update")
	}
}

// structural are conjuncts of guards that hold of whatever the transcription can express, and the effects of
// steps.
var structural = regexp.MustCompile(`^(t == |var k := |[ih] !in s\.(rounds|token)$|d !?in s\.draws$|i in s\.rounds$|s\.rounds\[i\]\.try in s\.token$)`)

var (
	named   = regexp.MustCompile(`^\(?(?:counts ==> )?(\w+)\(.*\)$`)
	literal = regexp.MustCompile(`guard\{"([^"]*)"`)
	stepOf  = regexp.MustCompile(`:: (\w+)\(`)
)

// Each step of the lock and of fences has the guards that it has in the specification, and no others.
func TestGuards(t *testing.T) {
	ours, all := declarations(t), definitions(t)
	var steps []kind
	for _, d := range all {
		if d.name == "Next" || d.name == "FencesNext" {
			for _, m := range stepOf.FindAllStringSubmatch(d.text, -1) {
				steps = append(steps, kind(m[1]))
			}
		}
	}
	if !slices.Equal(steps, Kinds) {
		t.Errorf("the specification has the steps %q, Kinds %q", steps, Kinds)
	}
	for _, d := range all {
		if !slices.Contains(steps, kind(d.name)) {
			continue
		}
		var want []string
		body := d.text[strings.Index(d.text, "{")+1 : strings.LastIndex(d.text, "}")]
		for part := range strings.SplitSeq(body, "&&") {
			part = strings.TrimSpace(part)
			if structural.MatchString(part) {
				if strings.HasPrefix(part, "var k") || strings.HasPrefix(part, "t ==") {
					break
				}
				continue
			}
			if m := named.FindStringSubmatch(part); m != nil {
				part = m[1]
			}
			want = append(want, part)
		}
		var got []string
		for _, m := range literal.FindAllStringSubmatch(ours[d.name], -1) {
			got = append(got, m[1])
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Errorf("%s has the guards %q, in %s %q", d.name, got, d.file, want)
		}
	}
}
