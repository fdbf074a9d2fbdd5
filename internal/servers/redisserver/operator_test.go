package redisserver

import (
	"strings"
	"testing"
)

func TestNothingButLoopbackIsSpokenTo(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.8.9.10": true, "::1": true, "localhost": true,
		"172.17.0.1": false, "192.0.2.1": false, "0.0.0.0": false, "example.org": false, "": false,
	} {
		if err := CheckLoopback(host); (err == nil) != want {
			t.Errorf("%q: %v", host, err)
		}
	}
	// 192.0.2.1 belongs to nobody: dialling it would take long.
	if _, err := Dialer.Dial("tcp", "192.0.2.1:6379"); err == nil || !strings.Contains(err.Error(), "is not a loopback address") {
		t.Errorf("got %v", err)
	}
}
