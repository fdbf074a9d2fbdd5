package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	alternatives := report.Alternatives(a)
	if len(a.Front) > 0 {
		alternatives += " One is listed for each TTL and extension, of many only some."
	}
	prose("\n", alternatives)
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

// printFront prints the recommended setting, marked, and one setting for each other TTL and extension of the
// front: the one whose retry delay is nearest to that of the recommended one, or without a recommendation the
// longest. Of too many it prints some, evenly spaced.
func printFront(out io.Writer, a tune.Advice) {
	t := &textfmt.Table{Head: []string{"", "TTL", "extended", "timeout", "retry", "availability", "scouted p99", "violations/10⁹ ≤", "requests/s"}}
	add := func(mark string, w tune.Weighed) {
		t.Add(mark, textfmt.Whole(w.TTL), report.ReadableInterval(w.ExtendEvery), w.NodeTimeout.String(), fmt.Sprintf("%v–%v", w.RetryMin, w.RetryMax),
			a.Question.ShownAvailability(w.Figures), textfmt.Duration(w.AcquireP99), fmt.Sprintf("%.3g", w.PerBillion()),
			fmt.Sprintf("%.3g", w.RequestsPerSecond))
	}
	same := func(a, b tune.Weighed) bool { return a.TTL == b.TTL && a.ExtendEvery == b.ExtendEvery }
	list, retry := slices.Clone(a.Front), time.Duration(math.MaxInt64)
	if r := a.Recommended; r != nil {
		add("→", *r)
		list, retry = slices.DeleteFunc(list, func(w tune.Weighed) bool { return same(w, *r) }), r.RetryMax
	}
	slices.SortStableFunc(list, func(a, b tune.Weighed) int {
		return cmp.Or(cmp.Compare(a.TTL, b.TTL), cmp.Compare(a.ExtendEvery, b.ExtendEvery), cmp.Compare((a.RetryMax-retry).Abs(), (b.RetryMax-retry).Abs()))
	})
	list = slices.CompactFunc(list, same)
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
