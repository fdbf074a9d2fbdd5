package history_test

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
)

func seeds(f *testing.F) {
	f.Add(encode(history.Log{{Time: 1, Kind: history.Acquire, Client: 1, Token: "a"}, {Time: 2, Kind: history.End}}))
	f.Add(goodHeader + `{"t":1,"kind":"step","detail":"\u00e9\"` + "\xff" + `"}` + "\r\n" + `{"kind":"end" , "t":1}`)
	f.Add(goodHeader + `{"t":1,"kind":"end"}` + "\n" + goodHeader)
	f.Add(`{"format":"lockstorm-history","version":1,"nodes":2,"clients":1,"votes":[1,2],"bounds":{"tries":1}}` + "\n")
}

// No input makes the reader panic, nor take memory out of proportion.
func FuzzReader(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = decode(text)
		runtime.ReadMemStats(&after)
		// decode keeps every event; what a reader takes at first is the rest.
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 4<<20+200*uint64(len(text)) {
			t.Errorf("%d bytes are allocated for %d", allocated, len(text))
		}
	})
}

// A history that was read is the same after it was written and read again.
func FuzzRoundTrip(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		log, err := decode(text)
		if err != nil {
			return
		}
		r, err := history.NewReader(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		written := historytest.Text(r.Header(), log)
		again, err := decode(written)
		if err != nil || !reflect.DeepEqual(again, log) {
			t.Errorf("read %+v\nwritten as %s\nread %+v, %v", log, written, again, err)
		}
	})
}
