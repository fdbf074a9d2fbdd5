package cases

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Version is the version of the file format.
const Version = 1

// content is the content of a file, in its order.
type content struct {
	Version int    `yaml:"version"`
	Replay  string `yaml:"replay"`
	Case    `yaml:",inline"`
}

// maxText limits the size of a case.
const maxText = 33 << 20

// Load reads a case from a file. Errors name the file and, if known, the line.
func Load(path string) (Case, error) {
	file, err := os.Open(path)
	if err != nil {
		return Case{}, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxText))
	if err != nil {
		return Case{}, err
	}
	c, err := Parse(text)
	if err != nil {
		return Case{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Parse is [Load] for a text without a name.
func Parse(text []byte) (Case, error) {
	if err := recognise(text); err != nil {
		return Case{}, err
	}
	if !ended(text) {
		return Case{}, fmt.Errorf("the last line is not %q: the file is truncated, or not a case", strings.TrimSpace(tail))
	}
	var f content
	if err := form.Decode(text, "case", &f); err != nil {
		return Case{}, err
	}
	c, err := f.complete()
	if err != nil {
		return Case{}, form.Locate(text, err)
	}
	return c, nil
}

// recognise returns an error for a text that is recognisably something else than a case of
// this version. A list of unknown fields would not help then.
func recognise(text []byte) error {
	if at := notText(text); at >= 0 {
		return fmt.Errorf("line %d: not a text file, so not a case", 1+bytes.Count(text[:at], []byte("\n")))
	}
	if bytes.HasPrefix(text, []byte(`{"format":"lockstorm-history"`)) {
		return errors.New("line 1: a history, not a case (see lockstorm check)")
	}
	var top map[string]yaml.Node
	if yaml.Unmarshal(text, &top) != nil {
		return nil // Decode reports the line
	}
	has := func(name string) bool { _, has := top[name]; return has }
	version := top["version"]
	switch {
	case has("trace_hash"):
		return errors.New("line 1: the record of a stored run, not a case (see lockstorm replay DIRECTORY)")
	case has("lock") && !has("scenario"):
		return errors.New("line 1: a scenario, not a case (see lockstorm run)")
	case len(top) > 0 && !has("version"):
		return fmt.Errorf("line 1: there is no version, so it is no case: want version: %d", Version)
	case has("version") && version.ShortTag() == "!!int" && version.Value != fmt.Sprint(Version):
		return fmt.Errorf("line %d: version %s of a case; this program reads version %d", version.Line, version.Value, Version)
	}
	return nil
}

// ended reports whether a text has the end mark of a case, or is empty. Most truncated cases
// would be valid otherwise, with fewer faults.
func ended(text []byte) bool {
	text = bytes.TrimRight(text, " \t\r\n")
	return len(text) == 0 || bytes.HasSuffix(text, []byte("\n"+strings.TrimSpace(tail)))
}

// notText returns the position of the first byte that is not text, or -1.
func notText(text []byte) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 || r == 0 {
			return at
		}
		at += size
	}
	return -1
}

// complete checks what depends on more than one field.
func (f content) complete() (Case, error) {
	c := f.Case
	if err := form.Check(&f); err != nil {
		return c, err
	}
	if err := c.Scenario.Validate(); err != nil {
		return c, form.In("scenario", err)
	}
	r, err := runner.ParseReplay(f.Replay)
	switch {
	case err != nil:
		return c, wrong("replay", "%w", err)
	case r.Scenario != c.Scenario.Name:
		return c, wrong("replay", "it is of the scenario %q, and that of the case is %q", r.Scenario, c.Scenario.Name)
	case r.Generator != nil:
		return c, wrong("replay", "it generates faults, and a case has a plan")
	}
	c.Seed, c.Course, c.Trace = r.Seed, r.Course, r.Trace
	return c, c.check()
}

// check returns an error if the case is invalid.
func (c Case) check() error {
	switch {
	case c.Shows != checker.Violated && c.Shows != checker.Holds:
		return wrong("shows", "%v: want %v or %v", c.Shows, checker.Violated, checker.Holds)
	case c.Scenario.Generate != nil:
		return wrong("scenario.generate", "not allowed in a case, which has a plan: remove it")
	case c.Scenario.Expect != nil:
		return wrong("scenario.expect", "not allowed in a case, whose expectation is shows: remove it")
	}
	return nil
}

func wrong(path, format string, args ...any) error {
	return &nemesis.FieldError{Path: path, Err: fmt.Errorf(format, args...)}
}

// head is the first line of a case.
const head = "# A run that was kept. To run it again: lockstorm replay FILE [--trace]\n"

// tail is the last line: YAML's mark for the end of a document.
const tail = "...\n"

// Write writes the case in the format of [Load].
func (c Case) Write(to io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(head)
	b.WriteString(fmt.Sprintf("version: %d\nreplay: %s\nproperty: %s\nshows: %s\n", Version, c.Replay(), c.Property, c.Shows))
	for _, t := range []struct{ name, text string }{{"story", c.Story}, {"notes", c.Notes}} {
		if t.text == "" {
			continue
		}
		text, err := wrapped(t.name, t.text)
		if err != nil {
			return err
		}
		b.WriteString(text)
	}
	b.WriteString("scenario:\n")
	var scenario strings.Builder
	if err := c.Scenario.Print(&scenario); err != nil {
		return err
	}
	for l := range strings.Lines(scenario.String()) {
		b.WriteString("  " + l)
	}
	b.WriteString(tail)
	_, err := io.WriteString(to, b.String())
	return err
}

// width is the width of a line of the story, without its indentation.
const width = 90

// wrapped formats a field with a long text: folded into lines, which YAML joins again, or
// quoted if folding would change it.
func wrapped(name, text string) (string, error) {
	var b strings.Builder
	b.WriteString(name + ": >-\n")
	for i, paragraph := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString("\n") // an empty line is a line break
		}
		for _, l := range textfmt.Lines(paragraph, width) {
			b.WriteString("  " + l + "\n")
		}
	}
	var back map[string]string
	if err := yaml.Unmarshal([]byte(b.String()), &back); err == nil && back[name] == text {
		return b.String(), nil
	}
	quoted, err := yaml.Marshal(map[string]*yaml.Node{name: {Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}})
	return string(quoted), err
}
