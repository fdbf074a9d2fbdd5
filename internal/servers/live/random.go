package live

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"sync"
)

// random is one of the world's streams of randomness. It is safe for
// concurrent use.
type random struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

// newRandom returns the stream of that name, which follows from the seed and
// is independent of all others.
func newRandom(seed uint64, name string) *random {
	key := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(name), seed))
	return &random{source: rand.NewChaCha8(key)}
}

// become makes the stream one of another name, from its beginning.
func (r *random) become(seed uint64, name string) {
	fresh := newRandom(seed, name)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.source = fresh.source
}

// fill is [env.Runtime]'s Random.
func (r *random) fill(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.source.Read(p) // never fails
}

// bits draws 64 of them.
func (r *random) bits() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.Uint64()
}

// draws gives 64 random bits at a time, of the stream of that name. It may be called by
// several goroutines at a time, as the rules of faults want it.
func draws(seed uint64, name string) func() uint64 { return newRandom(seed, name).bits }
