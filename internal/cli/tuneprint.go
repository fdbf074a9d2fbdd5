package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/internal/measure/tune"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// printTuning prints an advice for a person. dir is the directory in which it is stored; "": none.
func printTuning(out io.Writer, a tune.Advice, dir string) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
	prose := func(before, text string) {
		p("%s", before)
		printProse(out, text)
	}
	if a.Refusal != "" {
		p("no setting is recommended\n\n")
		for reason := range strings.SplitSeq(a.Refusal, "\n") {
			printProse(out, reason)
		}
	} else {
		p("%s\n\n", a.Confidence())
	}
	if warning := a.Warning(); warning != "" {
		printProse(out, warning)
		p("\n")
	}
	for _, b := range a.Basis {
		p("%-26s %s\n", b.Figure, b.Value)
	}
	if a.Fencing != "" {
		prose("\nDo you need fencing?\n", a.Fencing)
		p("\nassumption and certainty of each figure\n")
	}
	for _, b := range a.Basis {
		prose(fmt.Sprintf("\n%s: %s\n", b.Figure, b.Sure), "if "+b.Rests)
		printProse(out, b.How)
	}
	if v := a.Validation; v != nil {
		p("\nvalidated by runs with seeds %d to %d\n", v.FirstSeed, v.LastSeed)
		for _, t := range v.Trials {
			prose("- ", fmt.Sprintf("%s: %s. %s", t.Name, t.What, t.Outcome()))
		}
	}
	for _, r := range a.Rejected {
		prose("\nrejected: ", r)
	}
	prose("\n", report.Alternatives(a))
	printFront(out, a)
	switch {
	case dir != "" && a.Refusal == "" && a.Validation == nil:
		p("\nnot stored in %s, because it is not complete\n", dir)
	case dir != "":
		p("\nstored in %s\n", dir)
	}
	if a.Validation != nil {
		prose("\n", report.TryOnServers(dir))
	}
}

const frontLines = 12 // settings that are printed, at most

// printFront prints the recommended setting, marked, and the others of the front that share its timing or its
// TTL and extension; without a recommendation all of them. Of too many it prints some, evenly spaced.
func printFront(out io.Writer, a tune.Advice) {
	t := &textfmt.Table{Head: []string{"", "TTL", "extended", "timeout", "retry", "availability", "acquire p99", "violations/10⁹ ≤", "requests/s"}}
	add := func(mark string, w tune.Weighed) {
		t.Add(mark, textfmt.Whole(w.TTL), report.ReadableInterval(w.ExtendEvery), w.NodeTimeout.String(), fmt.Sprintf("%v–%v", w.RetryMin, w.RetryMax),
			fmt.Sprintf("%.6f", w.Availability), textfmt.Duration(w.AcquireP99), fmt.Sprintf("%.3g", w.PerBillion()),
			fmt.Sprintf("%.3g", w.RequestsPerSecond))
	}
	if a.Recommended != nil {
		add("→", *a.Recommended)
	}
	var list []tune.Weighed
	for _, w := range a.Front {
		if r := a.Recommended; r == nil || w != *r && (w.NodeTimeout == r.NodeTimeout && w.RetryMax == r.RetryMax || w.TTL == r.TTL && w.ExtendEvery == r.ExtendEvery) {
			list = append(list, w)
		}
	}
	for i := 0; i < len(list); i += (len(list) + frontLines - 1) / frontLines {
		add("", list[i])
	}
	if a.Recommended != nil || len(list) > 0 {
		_, _ = fmt.Fprintln(out)
		printTable(out, t)
	}
}

// storeAdvice writes an advice into a directory.
func storeAdvice(dir string, a tune.Advice) error {
	files := map[string]func(io.Writer) error{tune.AdviceFile: func(w io.Writer) error { return writeJSON(w, a) }}
	for name, s := range a.Scenarios {
		files[name] = s.Print
	}
	err := os.MkdirAll(dir, 0o755)
	for name, write := range files {
		var f *os.File
		if err == nil {
			f, err = os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		}
		if err == nil {
			err = errors.Join(write(f), f.Close())
		}
	}
	return err
}
