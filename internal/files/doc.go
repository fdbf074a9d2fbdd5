// Package files writes files that others may read, or write, at the same time, and sums them up.
package files
