package files

import (
	"errors"
	"os"
)

// ErrHeld means that another process holds the directory.
var ErrHeld = errors.New("somebody else holds it")

// WriteWhole replaces a file as a whole: if it fails, the file is as it was before.
func WriteWhole(path string, text []byte) error {
	err := os.WriteFile(path+".new", text, 0o644)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		_ = os.Remove(path + ".new")
	}
	return err
}
