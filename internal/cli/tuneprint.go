package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/internal/measure/tune"
	"github.com/lockstorm/lockstorm/internal/show/picture"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// printTuning prints an advice for a person. dir is the directory in which it is stored; "": none.
func printTuning(out io.Writer, a tune.Advice, dir string) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
	if a.Refusal != "" {
		p("no setting is recommended\n\n")
		printProse(out, a.Refusal)
	} else {
		printRecommended(out, a)
	}
	printRejected(out, a)
	printChoice(out, a)
	switch {
	case dir != "" && a.Refusal == "" && a.Validation == nil:
		p("\nnot stored in %s, because it is not complete\n", dir)
	case dir != "":
		p("\nstored in %s\n", dir)
	}
	if a.Validation != nil {
		p("\n")
		printProse(out, report.TryOnServers(dir))
	}
}

// printRejected prints the settings that runs contradicted.
func printRejected(out io.Writer, a tune.Advice) {
	for _, r := range a.Rejected {
		_, _ = fmt.Fprintf(out, "\nrejected: a TTL of %v, extended: %s, retries after %v to %v\n", r.TTL, report.ReadableInterval(r.ExtendEvery), r.RetryMin, r.RetryMax)
		for _, c := range r.Contradictions {
			_, _ = fmt.Fprintf(out, "  %s\n", c)
		}
	}
}

// printRecommended prints the setting and what it rests on.
func printRecommended(out io.Writer, a tune.Advice) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
	width := terminal.On(out).Prose()
	switch {
	case a.Validation == nil:
		p("recommended by the model, not validated by runs: %s\n\n", a.Unvalidated)
	case a.Unvalidated != "":
		p("recommended, validated in part\n")
		printProse(out, a.Unvalidated)
		p("\n")
	default:
		p("recommended\n\n")
	}
	for _, b := range a.Basis {
		p("%-26s %s\n", b.Figure, b.Value)
	}
	if s := a.Shorter; s != nil {
		p("\n")
		printProse(out, fmt.Sprintf("With an extension every %v, a TTL of %v is as good according to the model, and a crashed holder blocks the others for at most %v. Set longest_ttl to %v to get this recommendation.",
			s.ExtendEvery, s.TTL, textfmt.Duration(s.BlockedByDead), s.TTL))
	}
	p("\nassumption and certainty of each figure\n")
	for _, b := range a.Basis {
		p("\n%s: %s\n", b.Figure, b.Sure)
		for _, l := range textfmt.Lines("if: "+b.Rests, width-2) {
			p("  %s\n", l)
		}
		for _, l := range textfmt.Lines(b.How, width-2) {
			p("  %s\n", l)
		}
	}
	if a.Validation == nil {
		return
	}
	p("\nvalidated by runs with seeds %d to %d\n", a.Validation.Seeds.First, a.Validation.Seeds.Last)
	for _, t := range a.Validation.Trials {
		what := "run"
		if t.PerGrant {
			what = "grant"
		}
		text := fmt.Sprintf("%s: %s. %d of %s violated %s exclusion", t.Name, t.What, t.K, textfmt.Count(t.N, what), t.Property)
		if t.Control {
			text += ", as they have to"
		} else {
			text += fmt.Sprintf(": %.2g to %.2g at 95 %%, at most %.2g according to the model", t.Low, t.High, t.Predicted)
		}
		for n, l := range textfmt.Lines(text, width-4) {
			p("%s%s\n", []string{"  ", "    "}[min(n, 1)], l)
		}
	}
}

// frontLines is the largest number of printed settings of the front.
const frontLines = 16

// printChoice prints the alternatives: beside a recommended setting those of the front that differ
// in TTL and extension, or in timeout and retry delay; otherwise some of the front, evenly spaced.
// front.csv has all of them.
func printChoice(out io.Writer, a tune.Advice) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
	p("\n")
	printProse(out, report.Alternatives(a))
	if len(a.Front) == 0 {
		return
	}
	if a.Recommended == nil {
		p("\n")
		printFront(out, thinned(a.Front), nil)
		return
	}
	r := *a.Recommended
	var terms, paces []tune.Weighed
	for _, w := range a.Front {
		if w.NodeTimeout == r.NodeTimeout && w.RetryMax == r.RetryMax {
			terms = append(terms, w)
		}
		if w.TTL == r.TTL && w.ExtendEvery == r.ExtendEvery {
			paces = append(paces, w)
		}
	}
	p("\nother TTLs and extensions\n")
	printFront(out, thinned(terms), &r)
	p("\nother timeouts and retry delays\n")
	printFront(out, thinned(paces), &r)
}

// thinned returns evenly spaced elements of a list.
func thinned(list []tune.Weighed) (some []tune.Weighed) {
	step := max(1, (len(list)+frontLines-1)/frontLines)
	for i := 0; i < len(list); i += step {
		some = append(some, list[i])
	}
	return some
}

// printFront prints settings, the recommended one first and marked.
func printFront(out io.Writer, list []tune.Weighed, recommended *tune.Weighed) {
	t := &textfmt.Table{Head: []string{"", "TTL", "extended", "timeout", "retry", "availability", "acquire p99", "violations/10⁹ ≤", "requests/s"}}
	add := func(mark string, w tune.Weighed) {
		t.Add(mark, w.TTL.String(), report.ReadableInterval(w.ExtendEvery), w.NodeTimeout.String(), fmt.Sprintf("%v–%v", w.RetryMin, w.RetryMax),
			fmt.Sprintf("%.6f", w.Availability), textfmt.Duration(w.AcquireP99), fmt.Sprintf("%.3g", w.Risk.PerBillion()),
			fmt.Sprintf("%.3g", w.RequestsPerSecond))
	}
	if recommended != nil {
		add("→", *recommended)
	}
	for _, w := range list {
		if recommended == nil || w != *recommended {
			add("", w)
		}
	}
	printTable(out, t)
}

// storeAdvice writes an advice into a directory.
func storeAdvice(dir string, a tune.Advice) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string]func(io.Writer) error{
		tune.AdviceFile: func(w io.Writer) error { return writeJSON(w, a) },
		"front.csv":     func(w io.Writer) error { return writeFront(w, a.Front) },
	}
	for i, s := range a.Scenarios {
		files[fmt.Sprintf("%s-seed-%d.yaml", s.Name, a.Seeds[i])] = s.Print
	}
	if len(a.OnServers) > 0 {
		if err := os.Mkdir(filepath.Join(dir, serversDir), 0o755); err != nil {
			return err
		}
	}
	for _, s := range a.OnServers {
		files[filepath.Join(serversDir, s.Name+".yaml")] = func(w io.Writer) error { return writeOnServers(w, a, s) }
	}
	for name, write := range files {
		if err := writeNew(filepath.Join(dir, name), write); err != nil {
			return err
		}
	}
	if len(a.Front) == 0 && a.Recommended == nil {
		return nil
	}
	drawn, err := picture.Front(a)
	if err != nil {
		return err
	}
	return drawn.Save(dir, "front")
}

// serversDir is the directory of an advice for the scenarios that are for real servers.
const serversDir = "servers"

// writeOnServers writes a scenario for real servers, with comments that say what it is for.
func writeOnServers(out io.Writer, a tune.Advice, s tune.OnServers) error {
	r := a.Recommended
	_, err := fmt.Fprintf(out, `# The recommended setting on real Redis: lockstorm run --backend process FILE --runs 10
#
# Client 1 is granted the lock by a bare quorum, the partition keeps the other nodes from it. Then
# nodes of the quorum crash. Client 2 asks for the lock from the middle of the lease on, and again
# after their return.
# This scenario %s.
#
# ttl, drift_factor, node_timeout: as recommended. So are persistence, and in restart.yaml restart_delay.
# margin, retry: not the recommended ones (%v, %v to %v), so that no gap is missed. No extensions: each
# lease is as long as the first.
#
# To try another ttl, change work, start, think and horizon in the same proportion, and name and summary:
# work has to last for longer than the lease. To try another restart_delay, change think, too: client 2
# asks again after it.
`, s.Comment, r.Margin, r.RetryMin, r.RetryMax)
	if err != nil {
		return err
	}
	return s.Print(out)
}

// writeNew writes a file that is not there yet.
func writeNew(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// writeFront writes the front as CSV: durations in milliseconds.
func writeFront(out io.Writer, front []tune.Weighed) error {
	w := csv.NewWriter(out)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	ms := func(d time.Duration) string { return number(float64(d) / float64(time.Millisecond)) }
	_ = w.Write([]string{"ttl_ms", "drift_factor", "extend_every_ms", "node_timeout_ms", "retry_min_ms", "retry_max_ms", "restart_delay_ms",
		"availability", "acquire_p99_ms", "violations_per_billion", "late", "blocked_by_dead_ms", "requests_per_second"})
	for _, f := range front {
		_ = w.Write([]string{ms(f.TTL), number(f.DriftFactor), ms(f.ExtendEvery), ms(f.NodeTimeout), ms(f.RetryMin), ms(f.RetryMax), ms(f.RestartDelay),
			number(f.Availability), ms(f.AcquireP99), number(f.Risk.PerBillion()), number(f.Late), ms(f.BlockedByDead), number(f.RequestsPerSecond)})
	}
	w.Flush()
	return w.Error()
}
