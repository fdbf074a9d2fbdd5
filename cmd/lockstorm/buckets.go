//go:build !simulated

package main

import _ "gocloud.dev/blob/fileblob" // buckets in a directory
