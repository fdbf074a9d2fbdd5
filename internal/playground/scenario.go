package playground

import (
	"errors"
	"regexp"
	"strconv"

	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/scenarios"
)

// ScenarioText is the argument of calls that are about a scenario.
type ScenarioText struct {
	Scenario string `json:"scenario"` // YAML
}

// Checked is a scenario that was read.
type Checked struct {
	Name     string     `json:"name"` // "" if there are problems
	Summary  string     `json:"summary"`
	Expected []Expected `json:"expected"`
	Problems []Problem  `json:"problems"` // none: it can be run
}

// Problem is a mistake in a text.
type Problem struct {
	Line int    `json:"line"` // from 1; 0: unknown
	Text string `json:"text"`
}

// Check reads a scenario and lists all mistakes.
func Check(q ScenarioText) (Checked, error) {
	e, err := prepare(q.Scenario)
	if err != nil {
		return Checked{Problems: problemsOf(err), Expected: []Expected{}}, nil
	}
	s := e.Scenario()
	return Checked{Name: s.Name, Summary: s.Summary, Expected: expectedOf(s), Problems: []Problem{}}, nil
}

// numbered matches an error that names its line.
var numbered = regexp.MustCompile(`(?s)^line (\d+): (.*)$`)

func problemsOf(err error) []Problem {
	list := []error{err}
	var mistakes form.Mistakes
	if errors.As(err, &mistakes) {
		list = mistakes
	}
	problems := make([]Problem, len(list))
	for i, one := range list {
		problems[i] = Problem{Text: one.Error()}
		if m := numbered.FindStringSubmatch(one.Error()); m != nil {
			line, _ := strconv.Atoi(m[1])
			problems[i] = Problem{line, m[2]}
		}
	}
	return problems
}

// simulator is the backend of all runs.
var simulator = simulated.Backend()

// last is the experiment that was prepared last: most calls are about the same scenario as the one
// before. A worker makes one call at a time.
var last struct {
	text       string
	experiment runner.Experiment
}

// prepare reads a scenario and makes it ready to be run.
func prepare(text string) (runner.Experiment, error) {
	if text == last.text && text != "" {
		return last.experiment, nil
	}
	s, err := scenarios.Parse([]byte(text))
	if err != nil {
		return runner.Experiment{}, err
	}
	e, err := runner.Prepare(simulator, s)
	if err != nil {
		return e, form.Locate([]byte(text), err)
	}
	last.text, last.experiment = text, e.WithEventLimit(maxEvents)
	return last.experiment, nil
}

// maxEvents bounds a run. A longer one would look like a page that hangs.
const maxEvents = 2_000_000
