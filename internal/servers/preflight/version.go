package preflight

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is a version of Redis: that of its protocol, where another server implements it.
type Version struct{ Major, Minor int }

// LeastVersion is the oldest Redis that a lock can use. HELLO, by which connections
// begin, and users came with 6.0; UNLINK with 4.0, the rest with 2.6.
var LeastVersion = Version{6, 0}

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Before reports whether v is older.
func (v Version) Before(other Version) bool {
	return v.Major < other.Major || v.Major == other.Major && v.Minor < other.Minor
}

// ParseVersion reads a version as in "7.0.15"; what is behind the second number does not
// matter.
func ParseVersion(text string) (Version, error) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) < 2 {
		return Version{}, fmt.Errorf("%q is no version", text)
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return Version{}, fmt.Errorf("%q is no version", text)
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil {
		return Version{}, fmt.Errorf("%q is no version", text)
	}
	return Version{major, minor}, nil
}
