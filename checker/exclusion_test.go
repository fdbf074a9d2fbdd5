package checker_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

var histories = flag.Int("histories", 5_000, "random histories of the laws of exclusion")

// repeat checks a property on so many random cases.
func repeat(t *testing.T, cases int, property func(*rapid.T)) {
	t.Helper()
	testkit.Checks(t, cases)
	rapid.Check(t, property)
}

// TestSweepAgreesWithPorcupine: one sort and sweep, porcupine on the model of a lease
// lock, and the stream judge agree on every history; and the judge finds neither more nor
// fewer breaches than the sweep, and names one of them. Pauses change nothing of it.
func TestSweepAgreesWithPorcupine(t *testing.T) {
	broken := 0
	repeat(t, *histories, func(t *rapid.T) {
		scripts := drawScripts(t)
		header, events := write(scripts, rapid.Uint64().Draw(t, "order of ties"), pauseEvents(drawPauses(t, scripts))...)
		r := judge(header, events, checker.Lease, checker.Section)
		if err := disagreement(scripts, r); err != nil {
			t.Fatal(err)
		}
		if r.Finding(checker.Lease).Verdict == checker.Violated {
			broken++
		}
	})
	if !t.Failed() && (broken*10 < *histories || broken*10 > 9**histories) {
		t.Errorf("%d of %d histories break lease exclusion: want at least a tenth, and as many that do not", broken, *histories)
	}
}

// disagreement returns in what a judge's findings in a history of the scripts are not what
// the sweep and porcupine find, or nil.
func disagreement(scripts []script, r checker.Report) error {
	for property, of := range exclusionRules {
		windows := windowsOf(scripts, of)
		if err := differs(r.Finding(property), sweep(windows), windows); err != nil {
			return err
		}
	}
	return nil
}

func differs(f checker.Finding, breaches []breach, windows []referenceWindow) error {
	if legal := legal(windows); legal != (len(breaches) == 0) {
		return fmt.Errorf("%v: the sweep finds %d breaches, but porcupine finds legal = %v in %+v", f.Property, len(breaches), legal, windows)
	}
	if f.Count != len(breaches) || (f.Verdict == checker.Violated) != (f.Count > 0) {
		return fmt.Errorf("%v: %v, %d violations (%s), but the sweep finds %d in %+v", f.Property, f.Verdict, f.Count, f.Story(), len(breaches), windows)
	}
	if f.Count > 0 && !slices.ContainsFunc(breaches, func(b breach) bool { return b.isFirst(f.First, breaches) }) {
		return fmt.Errorf("%v: the first violation is %+v (%s), but the sweep finds none such in %+v", f.Property, f.First, f.Story(), windows)
	}
	return nil
}

// isFirst reports whether the pair is the breach, and no other of the resource came before.
func (b breach) isFirst(p *checker.Pair, all []breach) bool {
	return b.is(p) && !slices.ContainsFunc(all, func(c breach) bool {
		return c.second.resource == b.second.resource && c.at() < b.at()
	})
}

// is reports whether the pair is the breach. If an empty window lies in several others, any of
// those that contain its return is right.
func (b breach) is(p *checker.Pair) bool {
	if b.between != nil {
		last := min(longest(b.between).end, b.second.from)
		return p.First.Token == token(b.second.hold) && slices.ContainsFunc(b.between, func(v referenceWindow) bool {
			return min(v.end, b.second.from) == last && p.Second.Token == token(v.hold) && p.Second.Resource == v.resource &&
				int(p.From) == max(v.from, b.second.over) && int(p.To) == last && !p.Open
		})
	}
	open := b.to() >= never
	return (b.second.empty() || p.First.Token == token(b.first.hold)) &&
		p.Second.Token == token(b.second.hold) && p.Second.Resource == b.second.resource &&
		int(p.From) == b.at() && p.Open == open && (open || int(p.To) == b.to())
}
