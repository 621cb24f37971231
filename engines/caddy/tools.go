//go:build tools
package tools
import (
	_ "github.com/caddyserver/caddy/v2/cmd/caddy"
)
