package jepsen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

const histories = "testdata/histories.txt"

// cases returns the histories of testdata, each with its name and its findings.
func cases(t testing.TB) [][3]string {
	t.Helper()
	text, err := os.ReadFile(histories)
	if err != nil {
		t.Fatal(err)
	}
	var list [][3]string
	for _, part := range strings.Split(string(text), "\n== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		history, found, divided := strings.Cut(rest, "--\n")
		if !divided {
			t.Fatalf("%s: %q has no -- at its end", histories, name)
		}
		list = append(list, [3]string{name, history, found})
	}
	return list
}

func (r Report) told() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d operations, %d of unknown outcome, keys %d\n", r.Workload, r.Operations, r.Infos, r.Keys)
	for _, f := range r.Findings {
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Model, f.Verdict, f.Story)))
	}
	return b.String()
}

// Law: the findings for the histories of testdata stay the same.
func TestGolden(t *testing.T) {
	var all strings.Builder
	for _, c := range cases(t) {
		report, err := Judge(context.Background(), strings.NewReader(c[1]), Options{Limit: time.Minute})
		if err != nil {
			t.Fatalf("%s: %v", c[0], err)
		}
		if name, _, _ := strings.Cut(c[0], ":"); name != report.Workload {
			t.Errorf("%s: taken for %s", c[0], report.Workload)
		}
		fmt.Fprintf(&all, "\n== %s\n%s--\n%s", c[0], c[1], report.told())
	}
	testkit.GoldenFile(t, histories, all.String(), "Histories of Jepsen are now judged or told otherwise.")
}

// Law: without the time to search nothing is decided that has anything to
// search for, and it is said how far the judge came.
func TestUnknown(t *testing.T) {
	for _, c := range cases(t) {
		report, err := Judge(context.Background(), strings.NewReader(c[1]), Options{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			if f.Verdict == checker.NotApplicable {
				continue
			}
			if f.Verdict != checker.Unknown || !strings.Contains(f.Story, "undecided after 0 of ") || !strings.Contains(f.Story, "keys are decided") {
				t.Errorf("%s: %s %s %s", c[0], f.Model, f.Verdict, f.Story)
			}
		}
	}
}

// Law: who stops the judge gets an error and no verdict.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Judge(ctx, strings.NewReader(cases(t)[0][1]), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Law: what is violated or unknown has a picture, with the operations of the
// window and what the nemesis did; what holds has none.
func TestPicture(t *testing.T) {
	for _, c := range cases(t) {
		for _, limit := range []time.Duration{1, time.Minute} {
			report, err := Judge(context.Background(), strings.NewReader(c[1]), Options{Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range report.Findings {
				drawn(t, c[0], f)
			}
		}
	}
}

func drawn(t *testing.T, name string, f Finding) {
	var page strings.Builder
	err := f.Picture(&page, "history.edn")
	if f.Verdict == checker.Holds || f.Verdict == checker.NotApplicable {
		if !errors.Is(err, ErrNoPicture) {
			t.Errorf("%s: %s %s: %v", name, f.Model, f.Verdict, err)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	accused, _, _ := strings.Cut(strings.TrimPrefix(f.Story, f.window.of()), " (process")
	shown := []string{"<html", "lines ", "<title>history.edn: ", f.Model + ": " + f.Verdict.String(), `"process `, `"look":0`}
	if f.Verdict == checker.Violated {
		shown = append(shown, strings.ReplaceAll(fmt.Sprintf("cannot have happened: %s", accused), `"`, `\"`))
	}
	if name == "lock: two hold it" {
		shown = append(shown, "start-partition", ":majority")
	}
	for _, s := range shown {
		if !strings.Contains(page.String(), s) {
			t.Errorf("%s: the picture of %s shows no %q", name, f.Model, s)
		}
	}
	if regexp.MustCompile(`"process \d+ \(`).MatchString(page.String()) {
		t.Errorf("%s: a process has two rows", name)
	}
}

// Law: what a history says cannot become part of the page: neither where
// porcupine's script reads text as HTML, nor by an end of the script.
func TestPictureEscapes(t *testing.T) {
	const evil = `</script><img src=x onerror=alert(1)>`
	for _, history := range []string{
		`{:type :invoke :f :write :process 0 :value "EVIL"} {:type :ok :f :write :process 0 :value "EVIL"}
		 {:type :info :f :start :process "EVIL" :value "EVIL" :error "EVIL"} {:type :info :f "start EVIL" :process :nemesis :value "EVIL"}
		 {:type :invoke :f :read :process 1} {:type :ok :f :read :process 1 :value "EVIL again"}`,
		`{:type :invoke :f :write :process 0 :value ["EVIL" "EVIL"]} {:type :ok :f :write :process 0 :value ["EVIL" "EVIL"]}
		 {:type :invoke :f :read :process 1 :value ["EVIL" nil]} {:type :ok :f :read :process 1 :value ["EVIL" 1]}`,
		`{:type :invoke :f :acquire :process 0} {:type :ok :f :acquire :process 0 :value {:client "EVIL"}}
		 {:type :invoke :f :acquire :process 1} {:type :ok :f :acquire :process 1 :value {:client "EVIL too"}}`,
	} {
		report, err := Judge(context.Background(), strings.NewReader(strings.ReplaceAll(history, "EVIL", evil)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		f := report.Findings[len(report.Findings)-1]
		if report.Workload == "lock" {
			f = report.Findings[1] // the ownerless mutex knows no name
		}
		var page strings.Builder
		if err := f.Picture(&page, "history.edn"); err != nil {
			t.Fatalf("%s: %v", f.Verdict, err)
		}
		if strings.Contains(page.String(), "<img") {
			t.Errorf("%s: the page has the history's HTML", report.Workload)
		}
		states := regexp.MustCompile(`"StateDescription":"([^"\\]|\\.)*"`).FindAllString(page.String(), -1)
		if !strings.Contains(strings.Join(states, ""), "onerror") {
			t.Errorf("%s: no state shows the value", report.Workload)
		}
		for _, s := range states {
			if strings.Contains(s, `\u003cimg`) {
				t.Errorf("%s: the script would read %s as HTML", report.Workload, s)
			}
		}
	}
}

// Law: the initial value of a register is the one that is given, or else one that was found before
// it can have been written, which the story says.
func TestInitial(t *testing.T) {
	const history = "{:type :invoke :f :read :process 0} {:type :ok :f :read :process 0 :value 0}"
	const cas = "{:type :invoke :f :cas :process 0 :value [0 1]} {:type :ok :f :cas :process 0 :value [0 1]}"
	const nilThen0 = "{:type :invoke :f :cas :process 0 :value [nil 1]} {:type :ok :f :cas :process 0 :value [nil 1]} {:type :invoke :f :read :process 0} {:type :ok :f :read :process 0 :value 0}"
	for _, c := range []struct {
		history, initial string
		want             checker.Verdict
		said             bool
	}{
		{history, "", checker.Holds, true},
		{history, "0", checker.Holds, false},
		{history, "0N", checker.Holds, false},
		{history, "0.0", checker.Violated, false},
		{cas, "", checker.Holds, true},
		{cas + history, "", checker.Violated, true},
		{"{:type :invoke :f :write :process 1 :value 0}" + history, "", checker.Holds, false}, // it may have been written
		{nilThen0, "", checker.Violated, false},
	} {
		report, err := Judge(context.Background(), strings.NewReader(c.history), Options{Initial: c.initial})
		if err != nil {
			t.Fatal(err)
		}
		f := report.Findings[0]
		if said := strings.Contains(f.Story, "held 0 at first"); f.Verdict != c.want || said != c.said {
			t.Errorf("%s from %q: %s (%s), want %s", c.history, c.initial, f.Verdict, f.Story, c.want)
		}
	}
	if _, err := Judge(context.Background(), strings.NewReader(history), Options{Initial: "{"}); err == nil {
		t.Error("an initial value that is no EDN is taken")
	}
}
