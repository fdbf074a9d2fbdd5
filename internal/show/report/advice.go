package report

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/measure/tune"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Advice adds the question, the recommended setting, what it is based on, and the
// Pareto-optimal alternatives. dir is the directory in which the advice is stored, or empty.
func (r *Report) Advice(a tune.Advice, dir string) error {
	blocks := []document.Block{verdictOn(a)}
	if warning := a.Warning(); warning != "" {
		blocks = append(blocks, document.Notice{Mark: document.Bad, Text: warning})
	}
	if a.Fencing != "" {
		blocks = append(blocks, document.Heading("Do you need fencing?"), document.Prose(a.Fencing))
	}
	for _, rejected := range a.Rejected {
		blocks = append(blocks, document.Notice{Mark: document.Open, Text: "Rejected: " + rejected})
	}
	if len(a.Basis) > 0 {
		t := document.Table{Cards: true, Columns: document.Named("figure", "value", "confidence", "based on", "method")}
		for _, b := range a.Basis {
			t.Add(document.Text(b.Figure), document.Text(b.Value), document.Text(b.Sure), document.Text(b.Rests), document.Text(b.How))
		}
		blocks = append(blocks, document.Heading("The recommendation, and the basis of each figure"), t)
	}
	if v := a.Validation; v != nil {
		blocks = append(blocks, document.Heading(fmt.Sprintf("Validated by runs with seeds %d to %d", v.FirstSeed, v.LastSeed)), trialTable(*v))
	}
	if len(a.Front) > 0 || a.Recommended != nil {
		blocks = append(blocks, document.Heading("Alternatives"), document.Prose(Alternatives(a)), document.Fold{Summary: "all Pareto-optimal settings", Blocks: []document.Block{frontTable(a)}})
	}
	if a.Validation != nil {
		blocks = append(blocks, document.Heading("Try it on real Redis"), document.Prose(TryOnServers(dir)))
	}
	asked, err := yaml.Marshal(a.Question)
	if err != nil {
		return err
	}
	blocks = append(blocks, document.Heading("The question"), document.Code(asked))
	r.Add("Advice", blocks...)
	r.addFoot(fmt.Sprintf("The advice, %s a trial, seed %d", textfmt.Count(a.Runs, "run"), a.Seed), nil,
		textfmt.Command("tune", "FILE", "--runs", fmt.Sprint(a.Runs), "--seed", fmt.Sprint(a.Seed))+", with the question in FILE,")
	return nil
}

// Alternatives says how many there are, and where their figures come from.
func Alternatives(a tune.Advice) string {
	text := fmt.Sprintf("Of %[2]d settings, %[1]d are long enough for 99 %% of the holds and Pareto-optimal: no other is better in one figure and worse in none.", len(a.Front), a.WeighedSettings)
	if len(a.Front) > 0 {
		text += " Scouted p99 is the acquire p99 of scouting runs, with shortened holds; requests/s are those of a client that waits all the time, and of a holder that extends."
	}
	return text
}

// TryOnServers says how the recommended setting is tried on real Redis. dir is the directory of the advice,
// or empty if it is not stored.
func TryOnServers(dir string) string {
	store := ""
	if dir == "" {
		dir, store = "DIR", " --out DIR stores both files."
	}
	return fmt.Sprintf("Try the setting on real Redis: \"lockstorm run --backend process %s/restart.yaml --runs 10\" has to find that lease exclusion holds, and with restart-too-early.yaml, its control, that it is violated.%s", dir, store)
}

// verdictOn says whether a setting is recommended.
func verdictOn(a tune.Advice) document.Block {
	switch {
	case a.Refusal != "":
		return document.Notice{Mark: document.Bad, Text: "No setting is recommended: " + a.Refusal}
	case a.Recommended == nil:
		return document.Notice{Mark: document.Open, Text: "Stopped before a setting was chosen."}
	}
	s, mark := a.Recommended, document.Good
	if a.Unvalidated != "" {
		mark = document.Open
	}
	return document.Notice{Mark: mark, Text: fmt.Sprintf("%s: a TTL of %v, a drift factor of %g (an allowance of %v) and %s; extended: %s; node timeout %v; retries after %v to %v.",
		textfmt.Sentence(a.Confidence()), textfmt.Whole(s.TTL), s.DriftFactor, textfmt.Duration(s.Allowance()), restartDelay(s.Setting), ReadableInterval(s.ExtendEvery), s.NodeTimeout, s.RetryMin, s.RetryMax)}
}

func restartDelay(s tune.Setting) string {
	if s.RestartDelay == 0 {
		return "no restart delay"
	}
	return fmt.Sprintf("a restart delay of %v", textfmt.Whole(s.RestartDelay))
}

// trialTable has a line for each trial of a validation.
func trialTable(v tune.Validation) document.Table {
	t := document.Table{Cards: true, Columns: document.Named("trial", "what", "property", "outcome")}
	for _, trial := range v.Trials {
		t.Add(document.Text(trial.Name), document.Text(trial.What), document.Text(trial.Property.Code()+" "+trial.Property.Title()), document.Text(trial.Outcome()))
	}
	return t
}

// frontTable has a line for each Pareto-optimal setting, the recommended one marked.
func frontTable(a tune.Advice) document.Table {
	t := document.Table{Filters: true, Columns: document.Named("", "TTL", "extended", "timeout", "retry", "availability", "scouted p99", "violations/10⁹ at most", "requests/s", "blocked by a death")}
	for _, w := range a.Front {
		mark := document.Cell{}
		if a.Recommended != nil && w == *a.Recommended {
			mark = document.Cell{Text: "recommended", Mark: document.Good}
		}
		seconds := func(text string, v float64) document.Cell { return document.Number(v, text) }
		t.Add(mark, seconds(textfmt.Whole(w.TTL), w.TTL.Seconds()), seconds(ReadableInterval(w.ExtendEvery), w.ExtendEvery.Seconds()), seconds(w.NodeTimeout.String(), w.NodeTimeout.Seconds()),
			seconds(fmt.Sprintf("%v–%v", w.RetryMin, w.RetryMax), w.RetryMax.Seconds()), document.Number(w.Availability, a.Question.ShownAvailability(w.Figures)),
			seconds(textfmt.Duration(w.AcquireP99), w.AcquireP99.Seconds()), document.Number(w.PerBillion(), fmt.Sprintf("%.3g", w.PerBillion())),
			document.Number(w.RequestsPerSecond, fmt.Sprintf("%.3g", w.RequestsPerSecond)), seconds(textfmt.Duration(w.BlockedByDead), w.BlockedByDead.Seconds()))
	}
	return t
}

// ReadableInterval prints how often a hold is extended.
func ReadableInterval(d time.Duration) string {
	if d == 0 {
		return "never"
	}
	return textfmt.Whole(d)
}
