package results

import (
	"errors"
	"io"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/counterexample"
	"github.com/lockstorm/lockstorm/internal/files"
)

// Drawn is a picture that stands in a file.
type Drawn struct {
	Properties []checker.Property `json:"properties"` // that it is about
	Path       string             `json:"path"`
}

// PictureFile is what the picture of a name is called beside its history.
func PictureFile(name string) string { return "counterexample-" + name + ".html" }

// WritePicture writes the page of a picture whole, in place of the one that may stand there.
func WritePicture(path string, page []byte) error { return files.WriteWhole(path, page) }

// Draw draws what the report of a history calls for: a picture of each property that is
// violated or open, into the file that path gives for its name, in place of the one that
// may stand there. open opens the history, plain. What could not be drawn, or written, is
// told beside what was.
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
