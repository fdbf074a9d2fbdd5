package campaign

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Build identifies a program by what can change its results.
type Build struct {
	Version string `json:"version"` // of the module; "(devel)" if unknown
	Sum     string `json:"sum"`     // of the sources or of the executable
	Go      string `json:"go"`      // as in "go1.26.0"
	Arch    string `json:"arch"`    // as in "amd64"
}

// ID returns a short hash of the build, as in "3f9a01c2".
func (b Build) ID() string {
	text, err := json.Marshal(b)
	if err != nil { // strings are always encoded
		panic(err)
	}
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:4])
}

// String describes the build for people.
func (b Build) String() string {
	return fmt.Sprintf("%s (%s %s, sources %s, %s)", b.ID(), cmp.Or(b.Version, "(devel)"), b.Arch, cmp.Or(b.Sum, "unknown"), b.Go)
}
