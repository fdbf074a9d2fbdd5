//go:build !simulated

package cli

import _ "gocloud.dev/blob/fileblob" // buckets in a directory
