// What every command takes.

import type { OptionSpec } from '../command.ts'
import { DURATION, HTTP_URL } from './forms.ts'

export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: '--context <name>', summary: 'the context to use instead of the current one (HOLDFAST_CONTEXT)' },
  { flags: '--url <address>', summary: 'the address of the platform (HOLDFAST_URL)', form: HTTP_URL },
  {
    flags: '--token <token>',
    summary: 'the token; HOLDFAST_TOKEN is better, since others can see what is typed here',
  },
  { flags: '--tenant <id>', summary: 'for platform administrators: the tenant to act in (HOLDFAST_TENANT)' },
  {
    flags: '--ca-file <path>',
    summary:
      'the certificates, in PEM form, of the authorities to trust instead of the usual ones (HOLDFAST_CA_FILE)',
  },
  { flags: '--timeout <duration>', summary: 'how long a request may take (default: 30s)', form: DURATION },
  { flags: '--verbose', summary: 'show each request: method, path, status, request id and time' },
  { flags: '--no-color', summary: 'no colours (NO_COLOR)' },
]
