// Error codes of healthCheck. One check gets at most one of these codes: command missing, type inert, type unsupported.

import { type CatalogueSection, markdown } from './entry.ts'

export const healthCheckCodes = {
  healthcheck_command_missing: {
    status: 422,
    field: 'healthCheck.command',
    expected: 'a list with the whole command line as one string, or with one string per argument',
    why: 'A check of type exec runs a command inside the container, and the command is missing.',
    doc: markdown(
      '`type` is `exec` and `command` is absent, an empty list, or holds only blanks.',
      '',
      '**What to do.** Give the command that exits with 0 when the container is healthy. One element is run by the',
      'shell: `["curl -fs http://localhost:8080/health || exit 1"]`. Several elements are run as they are:',
      '`["pg_isready", "-U", "postgres"]`. The program must be in the image.',
    ),
    capability: 'deployments',
  },
  healthcheck_retries_below_floor: {
    status: 422,
    field: 'healthCheck.retries',
    expected: 'a whole number of at least {floor}, or no retries field',
    why: 'With fewer retries a single slow check would mark the whole deployment as Degraded.',
    doc: markdown(
      '`retries` is below the minimum of this platform.',
      '',
      '**What to do.** Raise the number, or leave the field out for the default of the container engine. To detect a',
      'fault sooner, shorten `interval` instead.',
    ),
    capability: 'deployments',
  },
  healthcheck_timeout_below_floor: {
    status: 422,
    field: 'healthCheck.timeout',
    expected: 'a duration of at least {floor}, or no timeout field for the default of 30s',
    why: 'A check that exceeds its timeout is killed with SIGKILL, so a short timeout turns a busy moment into a failure.',
    doc: markdown(
      '`timeout` is a valid duration but shorter than the minimum. A text that is not a duration, such as `10` or `1.5s`,',
      'is `field_type_invalid`.',
      '',
      '**What to do.** Use the minimum or more, for example `"timeout": "10s"`, or leave the field out. A command that',
      'should respond faster can limit itself, as in `curl --max-time 2`.',
    ),
    capability: 'deployments',
  },
  healthcheck_type_inert: {
    status: 422,
    field: 'healthCheck.type',
    expected: 'exec, with a command',
    why: 'This declaration would run no check, yet dependents and rolling updates would treat the container as healthy.',
    doc: markdown(
      'The check has no `type`, an empty one or `none`, or the first element of `command` is `NONE`, which disables the',
      'check of a container. A named type that Holdfast does not run is `healthcheck_type_unsupported`.',
      '',
      '**What to do.** Set `"type": "exec"` with a command, or leave `healthCheck` out: a container without a check is',
      'ready after it has run for a few seconds. The health check of the image is ignored.',
    ),
    capability: 'deployments',
  },
  healthcheck_type_unsupported: {
    status: 422,
    field: 'healthCheck.type',
    expected: 'exec',
    why: 'Holdfast runs checks of type exec only.',
    doc: markdown(
      '`type` names a kind of check that does not exist here, such as `http`, `tcp` or `grpc`. A type that means "no',
      'check" is `healthcheck_type_inert`.',
      '',
      '**What to do.** Write the check as a command. Instead of an HTTP check:',
      '`{"type": "exec", "command": ["curl", "-fs", "http://localhost:8080/health"]}`.',
    ),
    capability: 'deployments',
  },
} satisfies CatalogueSection
