package cli

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/scenarios"
)

const (
	usualSteps = 11 // values of a range
	inSeconds  = "s"
)

// varied is a field of a scenario and its values in a sweep.
type varied struct {
	path    string
	values  []string
	numbers []float64 // the values on an axis; nil: words, which have no order
	unit    string    // of the numbers
}

// parseVaried reads a flag --vary: PATH=FROM..TO, PATH=FROM..TO:STEPS or PATH=VALUE,VALUE,…
func parseVaried(text string) (v varied, err error) {
	path, values, ok := strings.Cut(text, "=")
	if !ok || path == "" || values == "" {
		return v, fmt.Errorf("--vary %q: want PATH=FROM..TO, PATH=FROM..TO:STEPS or PATH=VALUE,VALUE", text)
	}
	v = varied{path: path, values: strings.Split(values, ",")}
	if from, to, isRange := strings.Cut(values, ".."); isRange {
		v.values, err = evenly(from, to)
	}
	if err == nil && len(slices.Compact(slices.Sorted(slices.Values(v.values)))) < len(v.values) {
		err = errors.New("a value occurs twice")
	}
	if err != nil {
		return v, fmt.Errorf("--vary %q: %w", text, err)
	}
	v.numbers, v.unit = axis(v.values)
	return v, nil
}

// evenly returns evenly spaced values of a range, which are durations or numbers.
func evenly(from, to string) (values []string, err error) {
	steps := usualSteps
	if end, number, given := strings.Cut(to, ":"); given {
		if steps, err = strconv.Atoi(number); err != nil || steps < 2 || steps > mostPoints {
			return nil, fmt.Errorf("%q steps: want 2 to %d", number, mostPoints)
		}
		to = end
	}
	if low, high, err := both(from, to, duration); err == nil {
		return each(steps, low.Seconds(), high.Seconds(), func(x float64) string { return rounded(x, high-low, steps).String() })
	}
	low, high, err := both(from, to, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
	if err != nil {
		return nil, fmt.Errorf("%s..%s: want two durations or two numbers", from, to)
	}
	whole := low == math.Trunc(low) && high == math.Trunc(high) && !strings.ContainsAny(from+to, ".e")
	return each(steps, low, high, func(x float64) string {
		if whole {
			x = math.Round(x)
		}
		return strconv.FormatFloat(x, 'g', 12, 64)
	})
}

// duration reads a duration; a bare 0 is one.
func duration(text string) (time.Duration, error) { return time.ParseDuration(text) }

func both[T any](from, to string, parse func(string) (T, error)) (low, high T, err error) {
	if low, err = parse(from); err == nil {
		high, err = parse(to)
	}
	return low, high, err
}

// rounded returns a duration of so many seconds, rounded to whole milliseconds where the steps are
// long enough for that: TTLs are whole milliseconds.
func rounded(seconds float64, width time.Duration, steps int) time.Duration {
	d := time.Duration(math.Round(seconds * float64(time.Second)))
	if width/time.Duration(steps) >= time.Millisecond {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Microsecond)
}

// each prints evenly spaced numbers, without repetitions.
func each(steps int, low, high float64, text func(float64) string) (values []string, err error) {
	if !(low < high) {
		return nil, errors.New("want a range from a lower to a higher value")
	}
	for i := range steps {
		values = append(values, text(low+(high-low)*float64(i)/float64(steps-1)))
	}
	return slices.Compact(values), nil
}

// axis returns values as numbers: durations in seconds, as in a formula.
func axis(values []string) (numbers []float64, unit string) {
	var seconds []float64
	for _, text := range values {
		if d, err := duration(text); err == nil {
			seconds = append(seconds, d.Seconds())
		}
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			numbers = append(numbers, n)
		}
	}
	switch {
	case len(numbers) == len(values):
		return numbers, ""
	case len(seconds) == len(values):
		return seconds, inSeconds
	}
	return nil, ""
}

// variedSweep makes a sweep over a scenario. The first field with numbers is the axis; the others
// distinguish curves. Without numbers each setting is a curve of one point, and their order is the
// axis. A formula predicts the points, if there is one.
func variedSweep(s scenarios.Scenario, p checker.Property, fields []varied, expression string) (sweep.Sweep, error) {
	points := 1
	for _, v := range fields {
		if points *= len(v.values); points > mostPoints {
			return sweep.Sweep{}, fmt.Errorf("--vary: more than %d points", mostPoints)
		}
	}
	if first := slices.IndexFunc(fields, func(v varied) bool { return v.numbers != nil }); first >= 0 {
		fields = slices.Concat(fields[first:first+1], fields[:first], fields[first+1:])
	}
	name := strings.ReplaceAll(s.Name, "_", "-")
	made := sweep.Sweep{Name: name, Summary: fmt.Sprintf("%s by %s", s.Name, varying(fields)), Property: p, Formula: expression}
	for _, v := range fields {
		if v.numbers != nil {
			made.Params = append(made.Params, sweep.Param{Name: paramName(v.path), Unit: v.unit, Summary: "the field " + v.path})
		}
	}
	onlyWords := len(made.Params) == 0
	if onlyWords {
		made.Params = []sweep.Param{{Name: "setting", Summary: "the settings in their order"}}
	}
	var predict formula
	if expression != "" {
		var err error
		if predict, err = parseFormula(expression, made.Params); err != nil {
			return sweep.Sweep{}, err
		}
	}
	add := func(choice []int) error {
		point, err := pointAt(s, fields, choice)
		if onlyWords {
			point.At = []float64{float64(len(made.Points) + 1)}
		}
		point.Scenario.Name = fmt.Sprintf("%.*s-%d", 64-6, name, len(made.Points)+1)
		if err == nil && expression != "" {
			var p float64
			p, err = predict.at(point.At)
			point.Predicted = &p
		}
		made.Points = append(made.Points, point)
		return err
	}
	return made, product(fields, add)
}

func varying(fields []varied) string {
	var paths []string
	for _, v := range fields {
		paths = append(paths, inStory(v.path))
	}
	return strings.Join(paths, ", ")
}

var plannedFault = regexp.MustCompile(`^plan\[(\d+)\]\.`)

// inStory turns a path into words as a run's story has them, which numbers faults from 1.
func inStory(path string) string {
	m := plannedFault.FindStringSubmatch(path)
	if m == nil {
		return path
	}
	i, _ := strconv.Atoi(m[1])
	return fmt.Sprintf("fault %d %s", i+1, path[len(m[0]):])
}

// paramName turns a path into the name of a parameter.
func paramName(path string) string {
	return strings.Trim(strings.ToLower(strings.NewReplacer("[", "_", "]", "", ".", "_", "-", "_", " ", "_").Replace(inStory(path))), "_")
}

// product calls do with every choice of one value for each field. The first field varies fastest, so
// that the points of a curve follow each other.
func product(fields []varied, do func(choice []int) error) error {
	for choice := make([]int, len(fields)); ; {
		if err := do(choice); err != nil {
			return err
		}
		i := 0
		for ; i < len(fields); i++ {
			if choice[i]++; choice[i] < len(fields[i].values) {
				break
			}
			choice[i] = 0
		}
		if i == len(fields) {
			return nil
		}
	}
}

// pointAt returns the point of a choice of values.
func pointAt(s scenarios.Scenario, fields []varied, choice []int) (point sweep.Point, err error) {
	var curve []string
	for i, v := range fields {
		if v.numbers != nil {
			point.At = append(point.At, v.numbers[choice[i]])
		}
		if i > 0 || v.numbers == nil {
			curve = append(curve, inStory(v.path)+"="+v.values[choice[i]])
		}
		if s, err = s.With(v.path, v.values[choice[i]]); err != nil {
			return point, fmt.Errorf("--vary: %w", err)
		}
	}
	point.Curve, point.Scenario = strings.Join(curve, ", "), s
	if point.Curve == "" {
		point.Curve = s.Name
	}
	return point, nil
}
