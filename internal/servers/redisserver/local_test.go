package redisserver

import (
	"strings"
	"testing"
)

func TestMissingLibraryIsOneLineThatHelps(t *testing.T) {
	defer func(before []string) { libraries = before }(libraries)
	libraries = []string{"/nowhere/libfaketime.so.1"}
	_, err := FindFakeTime()
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "apt-get install libfaketime") {
		t.Errorf("got: %v", err)
	}
}
