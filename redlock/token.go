package redlock

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Tokens is how the token of a try is made, which has to differ from every other.
type Tokens uint8

// The ways that the algorithm's page proposes.
const (
	// RandomTokens are 20 bytes from a good source, in hexadecimal.
	RandomTokens Tokens = iota
	// TimeTokens are the time of day in microseconds and [Config.Client]. They
	// differ only as long as no two tries of a client begin in the same
	// microsecond, and its wall clock is never stepped back: two tries of one
	// token release each other's locks.
	TimeTokens

	tokensEnd
)

// tokenBytes is the length of a random token.
const tokenBytes = 20

func (c Config) validateTokens() error {
	switch {
	case c.Tokens >= tokensEnd:
		return fmt.Errorf("%w: unknown way to make tokens, %d", ErrConfig, c.Tokens)
	case c.Tokens == TimeTokens && c.Client == "":
		return fmt.Errorf("%w: tokens of time and client, and no client is named", ErrConfig)
	}
	return nil
}

func (m *Mutex) newToken() string {
	if m.config.Tokens == TimeTokens {
		return strconv.FormatInt(int64(m.runtime.Now(env.Wall))/int64(time.Microsecond), 10) + "-" + m.config.Client
	}
	var raw [tokenBytes]byte
	m.runtime.Random(raw[:])
	var text [2 * tokenBytes]byte
	hex.Encode(text[:], raw[:])
	return string(text[:])
}
