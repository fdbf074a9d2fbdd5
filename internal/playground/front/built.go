//go:build playground

package front

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files returns the files of the page. ok is false if the program was built without them.
func Files() (files fs.FS, ok bool) {
	files, err := fs.Sub(dist, "dist")
	return files, err == nil
}
