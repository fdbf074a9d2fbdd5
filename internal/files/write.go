package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
)

// ErrHeld means that another process holds the directory.
var ErrHeld = errors.New("somebody else holds it")

// WriteWhole replaces a file as a whole: if it fails, the file is as it was before. Of several
// processes that write it at the same time, one wins.
func WriteWhole(path string, text []byte) error {
	return replace(path, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// replace replaces a file by what write writes. A second writer would write into a new file whose name
// it knows, so the name is random.
func replace(path string, write func(*os.File) error) error {
	f, err := beside(path)
	if err != nil {
		return err
	}
	if err = errors.Join(write(f), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// beside creates a file beside another one, with the permissions of a new file, which
// [os.CreateTemp] would not give it.
func beside(path string) (f *os.File, err error) {
	for range 100 {
		f, err = os.OpenFile(fmt.Sprintf("%s.%08x.new", path, rand.Uint32()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}
