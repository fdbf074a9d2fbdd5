package redisnode

import "testing"

// The commands of a server follow from its product and version. Valkey states a version of Redis, too.
func TestNativeCommandsOfAVersion(t *testing.T) {
	for info, want := range map[string]nativeCommands{
		"redis_version:7.0.15":                          {},
		"redis_version:8.2.9":                           {},
		"redis_version:8.4.0":                           {"delex", true},
		"redis_version:8.10.1":                          {"delex", true},
		"redis_version:10.0":                            {"delex", true},
		"redis_version:255.255.255":                     {"delex", true}, // built from source
		"redis_version:7.2.4\r\nvalkey_version:8.0.9":   {},
		"redis_version:7.2.4\r\nvalkey_version:8.1.0":   {"", true},
		"redis_version:7.2.4\r\nvalkey_version:9.0.0":   {"delifeq", true},
		"redis_version:9.0.0\r\nvalkey_version:8.0.0":   {},
		"redis_version:7.4.0\r\ndragonfly_version:df-1": {},
		"redis_version:new":                             {},
		"":                                              {},
	} {
		if got := nativeOf("# Server\r\n" + info + "\r\n"); got != want {
			t.Errorf("%q: %+v, want %+v", info, got, want)
		}
	}
}

// A run that has rejected a native command gets none any more, until its next run. Errors that pass change
// nothing.
func TestRejectedCommands(t *testing.T) {
	s := newServers([]string{"one:1"})
	const version = "redis_version:8.4.0\r\nrun_id:"
	step := func(what string, err error, want nativeCommands) {
		t.Helper()
		if got := s.native(1); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", what, got, err, want)
		}
	}
	all := nativeCommands{"delex", true}
	step("before the first connection", nil, nativeCommands{})
	step("first run", s.register(1, version+"a"), all)
	s.rejected(1, refusal("OOM command not allowed"))
	step("out of memory", nil, all)
	s.rejected(1, refusal("ERR unknown command 'DELEX'"))
	step("rejected", nil, nativeCommands{})
	step("another connection to this run", s.register(1, version+"a"), nativeCommands{})
	step("the next run", s.register(1, version+"b"), all)
	s.rejected(1, refusal("NOPERM this user has no permissions"))
	step("not permitted", nil, nativeCommands{})
	step("a third run", s.register(1, version+"c"), all)
	step("a server that tells nothing", s.register(1, ""), nativeCommands{})
}
