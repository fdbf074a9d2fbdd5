package packed

import "io"

// Opened returns the plain bytes of an opened file, as [Reader] does; its Close closes both. On an
// error nothing stays open.
func Opened(raw io.ReadCloser) (io.ReadCloser, error) {
	plain, err := Reader(raw)
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return opened{plain, raw}, nil
}

// opened closes what is read and what that is read from.
type opened struct {
	io.ReadCloser
	from io.Closer
}

func (o opened) Close() error {
	_ = o.ReadCloser.Close()
	return o.from.Close()
}
