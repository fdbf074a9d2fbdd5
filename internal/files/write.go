package files

import (
	"errors"
	"os"
)

// ErrHeld is that somebody else holds a directory.
var ErrHeld = errors.New("somebody else holds it")

// WriteWhole writes a file that is there with all of its text, or as it was before.
func WriteWhole(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
