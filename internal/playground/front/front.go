// Package front is the playground's front end: the sources of the page, and the built page
// (scripts/playground.sh), if that was there when the program was built.
package front

import (
	"embed"
	"io/fs"
)

// The directory has a file of its own, .keep, so that a program can be built before the page.
//
//go:embed all:dist
var dist embed.FS

// Files returns the files of the page. ok is false if the program was built without them.
func Files() (files fs.FS, ok bool) {
	if _, err := fs.Stat(dist, "dist/index.html"); err != nil {
		return nil, false
	}
	files, err := fs.Sub(dist, "dist")
	return files, err == nil
}
