package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// line names a line of the benchmark: a lock in a network with a number of clients.
type line struct{ net, clients, lock string }

// rounds are all figures, by their line and unit, round after round.
type rounds map[line]map[string][]float64

func read(from io.Reader) (rounds, error) {
	all := rounds{}
	lines := benchfmt.NewReader(from, "the benchmarks' output")
	for lines.Scan() {
		result, ok := lines.Result().(*benchfmt.Result)
		if !ok {
			return nil, fmt.Errorf("no line of a benchmark: %v", lines.Result())
		}
		l := named(result.Name)
		if all[l] == nil {
			all[l] = map[string][]float64{}
		}
		for _, v := range result.Values {
			all[l][v.Unit] = append(all[l][v.Unit], v.Value)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there are no benchmarks in the input")
	}
	return all, lines.Err()
}

func named(name benchfmt.Name) (l line) {
	_, parts := name.Parts()
	for _, part := range parts {
		key, value, _ := strings.Cut(strings.TrimPrefix(string(part), "/"), "=")
		switch key {
		case "net":
			l.net = value
		case "clients":
			l.clients = value
		case "lock":
			l.lock = value
		}
	}
	return l
}

// summary is the median with its interval. It leaves the values in the order of the rounds, in
// which they are compared.
func summary(values []float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), 0.95)
}

// cell is a figure as it stands in a table, – if there is none.
func (r rounds) cell(l line, unit string) string {
	values := r[l][unit]
	if len(values) == 0 {
		return "–"
	}
	return shown(summary(values))
}

// ratio is that of a figure in one line to the same in another, round by round.
func (r rounds) ratio(unit string, of, to line) benchmath.Summary {
	above, below := r[of][unit], r[to][unit]
	var ratios []float64
	for i := range min(len(above), len(below)) {
		ratios = append(ratios, above[i]/below[i])
	}
	return summary(ratios)
}

// shown is a median with the bounds of its interval, in three digits or whole.
func shown(s benchmath.Summary) string {
	return fmt.Sprintf("%s (%s–%s)", digits(s.Center), digits(s.Lo), digits(s.Hi))
}

func digits(x float64) string {
	if x >= 100 || x == float64(int(x)) {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
