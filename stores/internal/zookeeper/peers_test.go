//go:build linux

package zookeeper

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/env"
)

func creation(key string) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreCreate, Key: key, Value: "v"}
}

// A member that is cut off carries out nothing, whether it led or not. The others go on, with another
// leader; sessions last.
func TestMemberIsCutOff(t *testing.T) {
	f := openFleet(t, 3)
	session := f.OpenSession(maxSession)
	for node := range f.Servers { // one of them leads
		f.CutOff(node+1, true, creation, env.StoreRequest{Op: env.StoreList, Key: "a/"})
	}
	if reply := f.Insist(env.StoreRequest{Op: env.StoreKeep, Session: session}); !reply.Done {
		t.Error("the session is over")
	}
}

// A connection for elections begins with the id of its sender alone.
func TestWithoutAddress(t *testing.T) {
	const addr = "127.0.0.1:3888"
	sent := binary.BigEndian.AppendUint64(nil, 1<<64-65536)
	sent = binary.BigEndian.AppendUint64(sent, 3)
	sent = binary.BigEndian.AppendUint32(sent, uint32(len(addr)))
	sent = append(append(sent, addr...), "rest"...)
	got, err := io.ReadAll(withoutAddress(bytes.NewReader(sent)))
	if want := "\x00\x00\x00\x00\x00\x00\x00\x03rest"; err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{"", "short", strings.Repeat("\xff", 20), strings.Repeat("x", 100)} {
		if got, err := io.ReadAll(withoutAddress(strings.NewReader(bad))); err == nil {
			t.Errorf("%q passes as %q", bad, got)
		}
	}
}
