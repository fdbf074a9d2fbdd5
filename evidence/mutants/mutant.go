package mutants

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/lockstorm/lockstorm/checker"
)

//go:embed planted/*.diff
var planted embed.FS

// Mutant is a defect that can be planted.
type Mutant struct {
	// Number is its number in the catalogue of defects, as in 7a; from 101, see [Mutant.Unseen].
	Number string
	// Title is a short name of the defect. What describes it in a sentence or two.
	Title, What string
	// Names are the properties that the defect should break: at least one of them.
	Names []checker.Property
	// Sources are public reports or repairs of such a defect, as in owner/repository#12, as far as
	// they are known.
	Sources []string
	// Outside says why no hunt can find it, and what does. Empty: it is hunted.
	Outside string
	// Lock is the kind of the lock to hunt.
	Lock string
	// Functions are the changed functions, with their package, as in redlock.(*Hold).Release.
	Functions []string

	file  string // the file of the diff
	edits []edit
}

// firstUnseen is the first number of a defect that the hunt has not been changed for.
const firstUnseen = 101

// Unseen reports whether the defect was planted by somebody who tried the project from outside,
// and the hunt has not been changed for it. How many of these are caught says how good the hunt
// is. For the defects of the catalogue the hunt was widened until it caught them.
func (m Mutant) Unseen() bool { return leading(m.Number) >= firstUnseen }

// names reports whether the property is named for the mutant.
func (m Mutant) names(p checker.Property) bool { return slices.Contains(m.Names, p) }

// Codes returns the codes of the named properties.
func (m Mutant) Codes() string {
	var codes []string
	for _, p := range m.Names {
		codes = append(codes, p.Code())
	}
	return strings.Join(codes, ", ")
}

// All returns the mutants in the order of their numbers.
func All() ([]Mutant, error) {
	entries, err := planted.ReadDir("planted")
	if err != nil {
		return nil, err
	}
	var all []Mutant
	for _, e := range entries {
		name := path.Join("planted", e.Name())
		text, err := planted.ReadFile(name)
		if err != nil {
			return nil, err
		}
		m, err := parse(text)
		if err == nil && m.Number == "" {
			err = errors.New("the lines before the diff are missing")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m.file = name
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Mutant) int { return compareNumbers(a.Number, b.Number) })
	return all, nil
}

// compareNumbers orders 7a after 7 and before 7b and 10.
func compareNumbers(a, b string) int {
	if n, m := leading(a), leading(b); n != m {
		return n - m
	}
	return strings.Compare(a, b)
}

// leading returns the leading digits of a mutant's number.
func leading(number string) int {
	n, _ := strconv.Atoi(strings.TrimRight(number, "abcdefghijklmnopqrstuvwxyz"))
	return n
}

// Load reads a mutant from a file: a diff, as git diff makes it, of redlock, or one in the format of those that are
// planted. Of the former nothing is known, so any property may be violated.
func Load(path string) (Mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Mutant{}, err
	}
	m, err := parse(text)
	if m.file = path; err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// parse reads a mutant: lines with keys, or none of them, and then the diff.
func parse(text []byte) (m Mutant, err error) {
	files, preamble, err := gitdiff.Parse(bytes.NewReader(text))
	if err != nil {
		return m, err
	}
	if !strings.Contains(preamble, keys[0]+": ") { // it is git's
		m.Lock, m.Names = "redlock", checker.Properties()
	} else if m, err = parsePreamble(preamble); err != nil {
		return m, err
	}
	m.edits, err = editsOf(files)
	return m, err
}

func parsePreamble(text string) (m Mutant, err error) {
	values := map[string]string{}
	key := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch before, value, found := strings.Cut(line, ": "); {
		case line == "":
			continue
		case strings.HasPrefix(line, "  ") && key != "": // goes on
			values[key] += " " + strings.TrimSpace(line)
		case !found || !slices.Contains(keys, before):
			return m, fmt.Errorf("%q: want a line that begins with one of %s", line, strings.Join(keys, ", "))
		default:
			key, values[before] = before, value
		}
	}
	for _, k := range keys {
		if values[k] == "" && k != "Source" && k != "Outside" {
			return m, fmt.Errorf("the line %q is missing", k+": …")
		}
	}
	m = Mutant{Number: values["Number"], Title: values["Title"], What: values["What"], Outside: values["Outside"], Lock: values["Lock"], Functions: strings.Split(values["Function"], ", ")}
	for code := range strings.SplitSeq(values["Property"], ", ") {
		i := slices.IndexFunc(checker.Properties(), func(p checker.Property) bool { return p.Code() == code })
		if i < 0 {
			return m, fmt.Errorf("property %q: there is none of that code", code)
		}
		m.Names = append(m.Names, checker.Properties()[i])
	}
	if values["Source"] != "" {
		m.Sources = strings.Split(values["Source"], ", ")
	}
	for _, s := range m.Sources {
		if !source.MatchString(s) {
			return m, fmt.Errorf("source %q: want one like owner/repository#12", s)
		}
	}
	return m, nil
}

// keys are the keys of the lines before a diff; Source and Outside may be missing. A line that begins with two
// spaces continues the one before.
var keys = []string{"Number", "Title", "What", "Property", "Source", "Outside", "Lock", "Function"}

// source is an issue or a pull request on GitHub.
var source = regexp.MustCompile(`^[\w-]+/[\w.-]+#[1-9]\d*$`)

// edit replaces a passage of a file of the checkout.
type edit struct {
	file     string // from the module's root, with slashes
	old, new string // whole lines
	hunk     string // its header in the diff
}

func editsOf(files []*gitdiff.File) (list []edit, err error) {
	for _, f := range files {
		if f.OldName == "" || f.OldName != f.NewName || f.IsBinary {
			return nil, fmt.Errorf("%q becomes %q: want changes of a file that stays", f.OldName, f.NewName)
		}
		for _, hunk := range f.TextFragments {
			list = append(list, editOf(f.OldName, hunk))
		}
	}
	if len(list) == 0 {
		return nil, errors.New("there is no diff in it")
	}
	return list, nil
}

// editOf leaves out the context after the end of the function, since the comment of the next
// function may change.
func editOf(file string, hunk *gitdiff.TextFragment) edit {
	e := edit{file: file, hunk: strings.TrimSpace(hunk.Header())}
	lines := hunk.Lines
	context := lines[len(lines)-int(hunk.TrailingContext):]
	if end := slices.IndexFunc(context, func(l gitdiff.Line) bool { return l.Line == "}\n" || l.Line == ")\n" }); end >= 0 {
		lines = lines[:len(lines)-len(context)+end+1]
	}
	for _, line := range lines {
		if line.Old() {
			e.old += line.Line
		}
		if line.New() {
			e.new += line.Line
		}
	}
	return e
}

// MovedOnError says that a diff does not apply, as when the source has changed.
type MovedOnError struct {
	Mutant Mutant
	File   string // from the module's root
	Hunk   string // its header
	Found  int    // how often the lines that it replaces stand in the file
}

func (e *MovedOnError) Error() string {
	text := fmt.Sprintf("%s: %s: the hunk %s does not apply: the lines that it replaces stand in the file %d times, not once", e.Mutant.file, e.File, e.Hunk, e.Found)
	if e.Mutant.Number == "" {
		return text + "; make the diff of this checkout with git diff -W, and undo the change"
	}
	return fmt.Sprintf("mutant %s (%s) has moved on: %s; plant the defect anew (docs/extend.md)", e.Mutant.Number, strings.Join(e.Mutant.Functions, ", "), text)
}

// sources returns the mutated files of the checkout by their names. A passage may have moved
// within its file, but must not have changed.
func (m Mutant) sources(root string) (map[string]string, error) {
	mutated := map[string]string{}
	for _, e := range m.edits {
		text, ok := mutated[e.file]
		if !ok {
			original, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
			if errors.Is(err, os.ErrNotExist) {
				return nil, &MovedOnError{m, e.file, e.hunk, 0}
			}
			if err != nil {
				return nil, err
			}
			text = string(original)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, &MovedOnError{m, e.file, e.hunk, n}
		}
		mutated[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return mutated, nil
}
