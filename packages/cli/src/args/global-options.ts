// Options that every command accepts.

import type { OptionSpec } from '../command.ts'
import { DURATION, HTTP_URL } from './forms.ts'

export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: '--context <name>', summary: 'context to use instead of the current one (HOLDFAST_CONTEXT)' },
  { flags: '--url <address>', summary: 'address of the platform (HOLDFAST_URL)', form: HTTP_URL },
  {
    flags: '--token <token>',
    summary: 'access token; prefer HOLDFAST_TOKEN, because other users of the machine can see command lines',
  },
  {
    flags: '--tenant <name>',
    summary: 'tenant to act in, by name or id, for platform administrators (HOLDFAST_TENANT)',
  },
  {
    flags: '--ca-file <path>',
    summary: 'PEM file of the certificate authorities to trust instead of the system ones (HOLDFAST_CA_FILE)',
  },
  { flags: '--timeout <duration>', summary: 'timeout of a request (default: 30s)', form: DURATION },
  {
    flags: '--verbose',
    summary: 'print each request (method, path, status, request id, time) and each default that was applied',
  },
  { flags: '--no-color', summary: 'print without colors (NO_COLOR)' },
]
