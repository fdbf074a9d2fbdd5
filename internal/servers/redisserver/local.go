package redisserver

import (
	"errors"
	"path/filepath"
)

// libraries are where distributions keep libfaketime.
var libraries = []string{
	"/usr/lib/*/faketime/libfaketime.so.1",
	"/usr/lib64/faketime/libfaketime.so.1",
	"/usr/lib/faketime/libfaketime.so.1",
}

// libc has to be loaded again before the allocator of Redis, jemalloc, which would
// otherwise ask libfaketime for the time before that has found the C library, and hang.
var libcs = []string{"/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"}

// FindFakeTime is what makes a server on this machine run under libfaketime: the files to
// preload, with colons between them.
func FindFakeTime() (preload string, err error) {
	library, libc := first(libraries), first(libcs)
	if library == "" || libc == "" {
		return "", errors.New("there is no libfaketime, without which a server's clock cannot be set: install it (apt-get install libfaketime; dnf install libfaketime)")
	}
	return library + ":" + libc, nil
}

func first(patterns []string) string {
	for _, p := range patterns {
		if found, err := filepath.Glob(p); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
