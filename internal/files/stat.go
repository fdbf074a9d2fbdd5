package files

import (
	"errors"
	"io/fs"
	"os"
)

// Stat is [os.Stat] for a path that a user wrote: its error names the path and no system call.
func Stat(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(name)
	}
	return info, err
}

// missing is the path of a file that does not exist.
type missing string

func (m missing) Error() string {
	if m == "" {
		return `the file "" does not exist`
	}
	return string(m) + " does not exist"
}

func (m missing) Is(target error) bool { return target == fs.ErrNotExist }
