package wire

import "github.com/lockstorm/lockstorm/cluster/loopback"

// reserve returns an address on loopback that stays ours while nobody listens there: a proxy
// stops listening for a moment when it is led elsewhere, and any outgoing connection of the
// machine could take its port.
func reserve() (addr string, free func(), err error) {
	port, err := loopback.Reserve()
	if err != nil {
		return "", nil, err
	}
	return port.Addr(), port.Free, nil
}
