package mutants

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// edit replaces a passage of a file of the checkout by another.
type edit struct {
	file     string // from the module's root, with slashes
	old, new string // whole lines
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

// editOf leaves out what a diff shows behind the end of the function: the comment of
// the next one may change.
func editOf(file string, hunk *gitdiff.TextFragment) edit {
	e := edit{file: file}
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

// MovedOnError says that the source is no longer what a mutant changes.
type MovedOnError struct {
	Mutant Mutant
	File   string // from the module's root
}

func (e *MovedOnError) Error() string {
	return fmt.Sprintf("mutant %s (%s): %s has moved on: what %s replaces does not stand in it exactly once; plant the defect anew (CONTRIBUTING.md)",
		e.Mutant.Number, strings.Join(e.Mutant.Functions, ", "), e.File, e.Mutant.file)
}

// sources returns the mutated files of the checkout at root by their names from there.
// A passage may have moved within its file; not a character of it may have changed.
func (m Mutant) sources(root string) (map[string]string, error) {
	mutated := map[string]string{}
	for _, e := range m.edits {
		text, ok := mutated[e.file]
		if !ok {
			original, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
			if errors.Is(err, os.ErrNotExist) {
				return nil, &MovedOnError{m, e.file}
			}
			if err != nil {
				return nil, err
			}
			text = string(original)
		}
		if strings.Count(text, e.old) != 1 {
			return nil, &MovedOnError{m, e.file}
		}
		mutated[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return mutated, nil
}
