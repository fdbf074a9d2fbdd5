package cases

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Extension is how the name of a case's file ends.
const Extension = ".yaml"

// mostKinds is how many kinds of faults the name of a file tells.
const mostKinds = 3

// Save writes the case into a file of its own under dir, which is made if it is not
// there, and returns its path. The name says the lock, the property and what goes wrong,
// with a number behind it if another case has that name: no file is written over. A case
// that is there already is not kept twice. The file is there whole or not at all.
func Save(dir string, c Case) (path string, err error) {
	var text bytes.Buffer
	if err := c.Write(&text); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	part, err := os.CreateTemp(dir, ".case-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	_, err = part.Write(text.Bytes())
	if err = errors.Join(err, part.Chmod(0o644), part.Close()); err != nil {
		return "", err
	}
	return link(part.Name(), filepath.Join(dir, c.name()), text.Bytes())
}

// link gives a file the first name of path, path-2, path-3, … that is free or that of a
// file with the same text, and returns that. To link fails where a file is there, unlike
// to rename.
func link(part, path string, text []byte) (string, error) {
	for free, n := path+Extension, 2; ; n++ {
		err := os.Link(part, free)
		if !errors.Is(err, fs.ErrExist) {
			return free, err
		}
		if there, err := os.ReadFile(free); err == nil && bytes.Equal(there, text) {
			return free, nil
		}
		free = fmt.Sprintf("%s-%d%s", path, n, Extension)
	}
}

// name is what a file with the case is called, as in "redlock-lease-crash-partition".
func (c Case) name() string {
	kinds := c.Scenario.Plan.Kinds()
	switch {
	case len(kinds) == 0:
		kinds = []nemesis.Kind{"calm"}
	case len(kinds) > mostKinds:
		kinds = append(kinds[:mostKinds], "more")
	}
	words := []string{c.Scenario.Lock.Kind, c.Property.String()}
	for _, k := range kinds {
		words = append(words, string(k))
	}
	return strings.ReplaceAll(strings.Join(words, "-"), "_", "-")
}
