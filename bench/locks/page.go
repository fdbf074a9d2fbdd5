package locks

func (b *Board) Write(string, int, int) error { return nil }
