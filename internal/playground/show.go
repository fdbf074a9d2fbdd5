package playground

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/jepsen"
	"github.com/lockstorm/lockstorm/internal/packed"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/runpage"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// RunRequest asks for one run.
type RunRequest struct {
	Scenario string `json:"scenario"` // YAML
	Seed     uint64 `json:"seed,string"`
	Replay   string `json:"replay"` // the replay string of a run that departs from its seed; "": it does not
	Anchor   string `json:"anchor"` // prefix of the anchors on the page, if it shows several runs
}

// Shown is a run, or a judged history, as a piece of a page.
type Shown struct {
	Title    string  `json:"title"`
	HTML     string  `json:"html"`    // what happened, the timeline, the messages, the verdicts; all texts are escaped
	Found    []Found `json:"found"`   // in the order of the properties
	Trace    string  `json:"trace"`   // hash of what happened; "" of a history
	Command  string  `json:"command"` // of the command line that repeats it; "" if that needs a file
	Sentence string  `json:"sentence"`
}

// Found is a verdict.
type Found struct {
	Property Property        `json:"property"`
	Verdict  checker.Verdict `json:"verdict"`
	Expected checker.Verdict `json:"expected,omitempty"` // missing: none
}

// Show makes a run and shows it.
func Show(q RunRequest) (Shown, error) {
	run, blocks, err := drawn(q)
	if err != nil {
		return Shown{}, err
	}
	return shown(run, blocks)
}

// drawn makes a run, and draws it.
func drawn(q RunRequest) (runpage.Shown, []document.Block, error) {
	run, err := runOf(q)
	if err != nil {
		return run, nil, err
	}
	messages, err := run.Messages(simulator)
	if err != nil {
		return run, nil, err
	}
	blocks, err := run.Blocks(q.Anchor, messages...)
	return run, blocks, err
}

func runOf(q RunRequest) (runpage.Shown, error) {
	e, err := course(q.Scenario, q.Replay)
	if err != nil {
		return runpage.Shown{}, err
	}
	command := ""
	switch {
	case q.Replay != "":
		command = textfmt.Command("replay", q.Replay)
	case inTable(e.Scenario().Name, q.Scenario):
		command = fmt.Sprintf("%s --seed %d", textfmt.Command("run", e.Scenario().Name), q.Seed)
	}
	return runpage.Replayed(context.Background(), e, q.Seed, command)
}

// course prepares a scenario. If there is a replay string, its runs take the course of that.
func course(scenario, replay string) (runner.Experiment, error) {
	e, err := prepare(scenario)
	if err != nil || replay == "" {
		return e, err
	}
	r, err := runner.ParseReplay(replay)
	return e.WithCourse(r.Course), err
}

// inTable reports whether a text is the scenario of its name in the table.
func inTable(name, text string) bool {
	known, err := scenarios.Find(name)
	if err != nil {
		return false
	}
	own, err := printed(known)
	return err == nil && own == text
}

// shown renders a run.
func shown(run runpage.Shown, blocks []document.Block) (Shown, error) {
	var html strings.Builder
	for _, b := range blocks {
		text, err := b.HTML()
		if err != nil {
			return Shown{}, err
		}
		html.WriteString(string(text))
	}
	s := Shown{Title: run.Title, HTML: html.String(), Trace: run.Run.TraceHash, Command: run.Command, Found: []Found{}, Sentence: run.Sentence()}
	for _, f := range run.Run.Report.Findings {
		want, _ := run.Run.Scenario.Expect.Want(f.Property)
		s.Found = append(s.Found, Found{propertyOf(f.Property), f.Verdict, want})
	}
	return s, nil
}

// JudgeRequest asks for the verdicts on a history, which is the payload of the call.
type JudgeRequest struct {
	Name string `json:"name"` // of the file
	Live bool   `json:"live"` // the run goes on: what is missing at the end is no mistake
}

// Judge judges a history (JSON lines, compressed or not) and shows it. Nothing of it is kept.
func Judge(q JudgeRequest, payload []byte) (Shown, error) {
	text, err := unpacked(payload)
	if err != nil {
		return Shown{}, fmt.Errorf("%s: %w", q.Name, err)
	}
	if jepsen.Looks(text[:min(len(text), 512)]) {
		return Shown{}, fmt.Errorf("%s is a history of Jepsen: lockstorm check judges it", q.Name)
	}
	if q.Live {
		if text, err = soFar(text); err != nil {
			return Shown{}, fmt.Errorf("%s: %w", q.Name, err)
		}
	}
	run, err := runpage.Judged(q.Name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
	if err != nil {
		return Shown{}, fmt.Errorf("%s: %w", q.Name, err)
	}
	blocks, err := run.Blocks("")
	if err != nil {
		return Shown{}, err
	}
	return shown(run, blocks)
}

// maxHistory bounds an unpacked history: a tab has 4 GiB of memory at most.
const maxHistory = 1 << 30

func unpacked(payload []byte) ([]byte, error) {
	r, err := packed.Opened(io.NopCloser(bytes.NewReader(payload)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(io.LimitReader(r, maxHistory+1))
	if err == nil && len(text) > maxHistory {
		err = errors.New("longer than 1 GiB: lockstorm check judges it")
	}
	return text, err
}
