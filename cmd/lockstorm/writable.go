package main

import (
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

// writableFile is writableDir for a file, which may exist.
func writableFile(flag, path string) error {
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
		err = appendable(path)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", flag, path, err)
	}
	return nil
}

func holds(dir string) error {
	at := filepath.Clean(dir)
	for _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at); _, err = os.Stat(at) {
		at = filepath.Dir(at)
	}
	f, err := os.CreateTemp(at, ".lockstorm-*")
	if err != nil {
		return bare(err)
	}
	_ = f.Close()
	return os.Remove(f.Name())
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
