package jepsen

import (
	"context"
	"fmt"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
)

// dying is a context that ends after it has been asked so often.
type dying struct {
	context.Context
	asks int
}

func (d *dying) Err() error {
	if d.asks--; d.asks < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// sided draws histories in which configs abound: compare-and-sets of unknown
// outcome lead from value to value.
func sided(t *rapid.T) []line {
	words := func(t *rapid.T) (f, asked, answered string) {
		value := rapid.SampledFrom([]string{"0", "1", "2"})
		if rapid.IntRange(0, 2).Draw(t, "f") == 0 {
			return "read", "nil", value.Draw(t, "value")
		}
		v := fmt.Sprintf("[%s %s]", value.Draw(t, "old"), value.Draw(t, "new"))
		return "cas", v, v
	}
	lines := []line{{"invoke", "write", "0", 1000}, {"ok", "write", "0", 1000}}
	for p := range rapid.IntRange(3, 8).Draw(t, "unknown") {
		_, asked, _ := words(t)
		if asked == "nil" {
			asked = "[0 1]"
		}
		lines = append(lines, line{"invoke", "cas", asked, 2000 + p})
	}
	return append(lines, drawUncertain(t, words, rapid.IntRange(3, 8).Draw(t, "operations"), 1)...)
}

// Law: an order that a hasty sweep finds is one; where a lenient one finds none there is
// none; and what is decided when the time runs out is right. All of them with as few
// configs as can be.
func TestLawSides(t *testing.T) {
	hasty, lenient, cut := 0, 0, 0
	manyTimes(t, func(t *rapid.T) {
		lines := sided(t)
		steps := stepsOf(t, register, lines)
		m := register.model(Options{})
		legal := porcupine.CheckOperations(m, forPorcupine(steps))
		for most := 1; most <= 2; most++ {
			w := newSweep(m, steps, reduction{most: most, beam: most})
			if verdict, _ := w.run(context.Background()); verdict == checker.Holds && !legal {
				t.Fatalf("a hasty sweep finds an order of what has none\n%s", text(lines))
			} else if w.rough && verdict == checker.Violated && legal {
				hasty++
			}
			w = newSweep(m, steps, reduction{lenient: true, most: most})
			if verdict, _ := w.run(context.Background()); verdict == checker.Violated && legal {
				t.Fatalf("a lenient sweep finds no order of what has one\n%s", text(lines))
			} else if w.rough {
				lenient++
			}
		}
		for asks := range 5 {
			_, verdict, _ := decide(&dying{context.Background(), asks}, m, steps, 1)
			if verdict == checker.Violated && legal || verdict == checker.Holds && !legal {
				t.Fatalf("after %d looks at the time it is %s, and legal: %v\n%s", asks, verdict, legal, text(lines))
			}
			if verdict == checker.Unknown {
				cut++
			}
		}
	})
	if hasty == 0 || lenient == 0 || cut == 0 {
		t.Errorf("%d hasty sweeps missed an order, %d lenient ones gave something away, %d were stopped: too few to show anything", hasty, lenient, cut)
	}
}

// byways makes a history in which operations of unknown outcome lead from 0 to 9 by each of
// some values, and one of them was the way: each of the others can still be read.
func byways(values, way int) []line {
	lines := []line{{"invoke", "write", "0", 0}, {"ok", "write", "0", 0}}
	for v := 1; v <= values; v++ {
		lines = append(lines,
			line{"invoke", "cas", fmt.Sprintf("[0 %d]", v), 10 + v},
			line{"invoke", "cas", fmt.Sprintf("[%d 9]", v), 20 + v})
	}
	lines = append(lines, line{"invoke", "read", "nil", 0}, line{"ok", "read", "9", 0})
	for v := 1; v <= values; v++ {
		if v != way {
			lines = append(lines,
				line{"invoke", "write", "0", 0}, line{"ok", "write", "0", 0},
				line{"invoke", "read", "nil", 0}, line{"ok", "read", fmt.Sprint(v), 0})
		}
	}
	return lines
}

// Law: a lenient sweep takes from nobody what only one way has used, whichever it found
// first.
func TestLawLenient(t *testing.T) {
	rough := 0
	for values := 2; values <= 5; values++ {
		for way := 1; way <= values; way++ {
			steps := stepsOf(t, register, byways(values, way))
			for most := 1; most <= 3; most++ {
				w := newSweep(register.model(Options{}), steps, reduction{lenient: true, most: most})
				if verdict, stuck := w.run(context.Background()); verdict != checker.Holds {
					t.Errorf("by %d of %d values, with %d told apart: %s at %d", way, values, most, verdict, stuck)
				}
				if w.rough {
					rough++
				}
			}
		}
	}
	if rough == 0 {
		t.Error("no sweep gave anything away")
	}
}
