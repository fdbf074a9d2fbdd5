package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/shlex"
	"github.com/spf13/cobra"
)

// completions returns the completions of a command line whose last word is incomplete.
func completions(t *testing.T, words ...string) (names []string, directive string) {
	t.Helper()
	code, out, problems := command(t, append([]string{cobra.ShellCompNoDescRequestCmd}, words...)...)
	want(t, "exit code "+problems, code, exitAsExpected)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

const (
	filesToo = ":0"
	nothing4 = ":4"
	goesOn   = ":6"
	onlyDirs = ":16"
)

func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		line, directive string
		names           string // some of those that are offered
	}{
		{"run crash-r", filesToo, "crash-restart"},
		{"run crash-restart ", nothing4, ""},
		{"run @p", filesToo, "@published"},
		{"list f", nothing4, "faults failover"},
		{"list r", nothing4, "rows"},
		{"debate calm c", nothing4, "crash-restart"},
		{"report --format ", nothing4, "html text"},
		{"ci --suite cases,", goesOn, "cases,tests cases,debate cases,explore cases,hunt"},
		{"sweep calm --vary lock.wat", goesOn, "lock.watchdog.every= lock.watchdog.limit="},
		{"tune cra", ":2", "crashes.node_every= crashes.persistence="},
		{"tune hol", ":2", "hold="},
		{"rare calm --property ", nothing4, "lease section"},
		{"hunt --property lease,fen", goesOn, "lease,fence"},
		{"run calm --faults crash,parti", goesOn, "crash,partition"},
		{"run calm --out ", onlyDirs, ""},
		{"compare --lock redlock,single", goesOn, "redlock,single-node"},
		{"hunt --lock single", nothing4, "single-node"},
		{"completion b", nothing4, "bash"},
		{"deb", nothing4, "debate"},
	} {
		names, directive := completions(t, strings.Split(c.line, " ")...)
		want(t, "what the shell does with "+c.line, directive, c.directive)
		for _, n := range strings.Fields(c.names) {
			if !slices.Contains(names, n) {
				t.Errorf("%s: no %s among %v", c.line, n, names)
			}
		}
		if c.names == "" && len(names) > 0 || slices.Contains(names, "calm") {
			t.Errorf("%s: offers %v", c.line, names)
		}
	}
}

// Law: a command accepts every value that is offered for one of its flags.
func TestOfferedValuesAreAccepted(t *testing.T) {
	elsewhere(t)
	usual := map[string]string{ // what else the command needs
		"run": "calm", "sweep": "calm --vary lock.ttl=1s,2s", "rare": "calm", "explore": "calm", "debate": "calm", "check": "none.jsonl",
		"hunt": "calm", "tune": "none.yaml", "report": "none", "test": "-- true", "doctor": "127.0.0.1:1",
	}
	stopped, stop := context.WithCancel(t.Context())
	stop() // what is accepted need not be done
	offered := 0
	walk(newRoot(), func(c *cobra.Command) {
		if c.Parent() != c.Root() {
			return
		}
		for name := range flagChoices {
			of, is := c.GetFlagCompletionFunc(name)
			if !is {
				continue
			}
			values, _ := of(c, nil, "")
			for _, v := range values {
				value := nameOf(v)
				if name == "lock" || name == "vary" || value == asProcesses { // need more than a value
					continue
				}
				if name == colourFlag && c.Name() != "list" { // it is one flag of all commands
					continue
				}
				offered++
				var problems bytes.Buffer
				args := append([]string{c.Name(), "--" + name, value}, strings.Fields(usual[c.Name()])...)
				if value == asMarkdown && c.Name() == "run" {
					args[len(args)-1] = "@debate"
				}
				execute(stopped, args, strings.NewReader(""), io.Discard, &problems)
				if strings.Contains(problems.String(), "impossible here") { // which depends on the scenario
					continue
				}
				if strings.Contains(problems.String(), "--"+name) || strings.Contains(problems.String(), strconv.Quote(value)) {
					t.Errorf("%s --%s %s: %s", c.Name(), name, value, &problems)
				}
			}
		}
	})
	if offered < 100 {
		t.Errorf("%d values were offered", offered)
	}
}

func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, below := range c.Commands() {
		walk(below, visit)
	}
}

// Law: the help of every command has an example of it. Its lines are understood, and fit into 100 columns.
func TestEveryCommandHasAnExample(t *testing.T) {
	walk(newRoot(), func(c *cobra.Command) {
		mine := false
		for l := range strings.Lines(strings.ReplaceAll(c.Example, "\\\n", " ")) {
			for _, part := range strings.FieldsFunc(l, func(r rune) bool { return r == '|' || r == '&' }) {
				part = strings.TrimSpace(os.Expand(part, func(string) string { return "1" })) // a variable of a CI system
				if !strings.HasPrefix(part, "lockstorm ") {
					continue
				}
				if problem := understood(part); problem != "" {
					t.Errorf("%s: %s: %s", c.CommandPath(), part, problem)
				}
				mine = mine || strings.HasPrefix(part+" ", c.CommandPath()+" ")
			}
		}
		if !mine {
			t.Errorf("%s: no example is of it:\n%s", c.CommandPath(), c.Example)
		}
		for l := range strings.Lines(c.Example + "\n" + c.Long) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > 100 && c.GroupID != "" {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, l)
			}
		}
	})
}

// chosen are words of pages for what a reader chooses, with what stands for them here.
var chosen = strings.NewReplacer(" …", " all", "…", "", "...", "", "[", "", "]", "", "<kind>", "crash", "KIND", "redlock", "LINK", "'x#/run?'")

// understood parses a command line, and returns what is wrong with it; of arguments, behind "lockstorm: ".
func understood(line string) string {
	line, _, _ = strings.Cut(line, "   ") // and a remark
	words, err := shlex.Split(chosen.Replace(line))
	if err != nil {
		return err.Error()
	}
	if end := slices.IndexFunc(words, func(w string) bool { return strings.ContainsAny(w[:min(1, len(w))], "|>&;#") }); end >= 0 {
		words = words[:end]
	}
	sub, rest, err := newRoot().Find(words[1:])
	if err != nil {
		return err.Error()
	}
	if err := sub.ParseFlags(rest); err != nil {
		return err.Error()
	}
	if err := checkCommon(sub); err != nil {
		return err.Error()
	}
	if err := sub.ValidateArgs(sub.Flags().Args()); err != nil {
		return "lockstorm: " + err.Error()
	}
	return ""
}
