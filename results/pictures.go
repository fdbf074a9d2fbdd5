package results

import (
	"errors"
	"io"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/counterexample"
	"github.com/lockstorm/lockstorm/internal/files"
)

// Drawn is a picture in a file.
type Drawn struct {
	Properties []checker.Property `json:"properties"` // that it is about
	Path       string             `json:"path"`
}

// PictureFile is the file name of a picture beside its history.
func PictureFile(name string) string { return "counterexample-" + name + ".html" }

// WritePicture writes the page of a picture, and replaces an existing file only when it is
// complete.
func WritePicture(path string, page []byte) error { return files.WriteWhole(path, page) }

// Draw draws a picture of each property that the report finds violated or undecided, into the file
// that path returns for its name; an existing file is replaced. open opens the uncompressed
// history. The error joins those of all pictures that could not be drawn or written.
func Draw(r checker.Report, open func() (io.ReadCloser, error), path func(name string) string) ([]Drawn, error) {
	var all []Drawn
	var wrong []error
	for _, p := range counterexample.Of(r) {
		page, err := p.Page(open)
		file := path(p.Name)
		if err == nil {
			err = WritePicture(file, page)
		}
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		all = append(all, Drawn{p.Properties(), file})
	}
	return all, errors.Join(wrong...)
}
