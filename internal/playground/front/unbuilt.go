//go:build !playground

package front

import "io/fs"

// Files returns the files of the page. ok is false if the program was built without them.
func Files() (files fs.FS, ok bool) { return nil, false }
