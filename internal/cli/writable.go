package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// writableDir returns an error if files cannot be written to the directory that a flag names, so
// that this is known before hours of work. A directory that does not exist yet is made with the
// first file; its nearest parent is checked.
func writableDir(flag, dir string) error {
	if dir == "" {
		return nil
	}
	if err := holds(dir); err != nil {
		return fmt.Errorf("%s %s: %w", flag, dir, err)
	}
	return nil
}

// writableFile is writableDir for a file, which is replaced if it exists.
func writableFile(flag, path string) error {
	return writable(flag, path, func() error { return holds(filepath.Dir(path)) })
}

// appendableFile is writableDir for a file that grows if it exists.
func appendableFile(flag, path string) error {
	return writable(flag, path, func() error { return appendable(path) })
}

// writable returns an error if a file cannot be written. existing checks a file that exists.
func writable(flag, path string, existing func() error) error {
	if path == "" {
		return nil
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		err = holds(filepath.Dir(path))
	case info.IsDir():
		err = errors.New("is a directory")
	case !info.Mode().IsRegular():
		err = errors.New("exists and is not a regular file")
	default:
		err = existing()
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", flag, path, err)
	}
	return nil
}

// room is how much is written to a directory to see whether it holds what a command writes. A full disk
// still has empty files.
const room = 64 << 10

func holds(dir string) error {
	at := filepath.Clean(dir)
	for _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at); _, err = os.Stat(at) {
		at = filepath.Dir(at)
	}
	f, err := os.CreateTemp(at, ".lockstorm-*")
	if err != nil {
		return bare(err)
	}
	return errors.Join(fill(f), os.Remove(f.Name()))
}

func fill(f *os.File) error {
	_, err := f.Write(make([]byte, room))
	return bare(cmp.Or(err, f.Close()))
}

func appendable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return bare(err)
	}
	return f.Close()
}

// bare returns an error without its path.
func bare(err error) error {
	if why := new(fs.PathError); errors.As(err, &why) {
		return why.Err
	}
	return err
}
