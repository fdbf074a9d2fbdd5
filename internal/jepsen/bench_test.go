package jepsen

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/model"
)

// stepsOf reads the steps of lines.
func stepsOf(t rapid.TB, spec specification, lines []line) []step {
	rec, err := load(strings.NewReader(text(lines)))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := spec.steps(rec.operations)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// forPorcupine returns steps as porcupine takes them.
func forPorcupine(steps []step) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, s := range steps {
		ops = append(ops, porcupine.Operation{
			Input: s.input, Output: model.Outcome{Unknown: s.unknown}, Call: int64(s.call), Return: int64(s.ret),
		})
	}
	return ops
}

// traffics are histories of ten clients. A register has five values, as in most
// of Jepsen's tests, or fifty, which makes many kinds.
var traffics = []struct {
	name string
	spec specification
	make func(operations int, infos float64) []line
}{
	{"lock", owned, lockTraffic},
	{"register5", register, func(n int, infos float64) []line { return registerTraffic(5, n, infos) }},
	{"register50", register, func(n int, infos float64) []line { return registerTraffic(50, n, infos) }},
}

// BenchmarkDecide is the time of an operation, by their number and the share of
// those whose outcome is unknown.
func BenchmarkDecide(b *testing.B) {
	benchmark(b, []int{1_000, 10_000, 100_000}, func(b *testing.B, m porcupine.Model, steps []step) {
		if _, verdict, _ := decide(context.Background(), m, steps, beam); verdict != checker.Holds {
			b.Fatal(verdict)
		}
	})
}

// BenchmarkPorcupine is the same of porcupine, on the history as a whole. It
// comes to no end where outcomes are unknown.
func BenchmarkPorcupine(b *testing.B) {
	benchmark(b, []int{1_000, 10_000}, func(b *testing.B, m porcupine.Model, steps []step) {
		switch porcupine.CheckOperationsTimeout(m, forPorcupine(steps), searchLimit) {
		case porcupine.Illegal:
			b.Fatal("illegal")
		case porcupine.Unknown:
			b.Skip("no verdict within", searchLimit)
		}
	})
}

func benchmark(b *testing.B, sizes []int, judge func(*testing.B, porcupine.Model, []step)) {
	for _, tr := range traffics {
		for _, n := range sizes {
			for _, infos := range []float64{0, 0.01, 0.05} {
				b.Run(fmt.Sprintf("%s/operations=%d/infos=%g", tr.name, n, infos), func(b *testing.B) {
					steps, m := stepsOf(b, tr.spec, tr.make(n, infos)), tr.spec.model(Options{})
					for b.Loop() {
						judge(b, m, steps)
					}
					b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "operations/s")
				})
			}
		}
	}
}
