// The texts of the fields of healthCheck.

import type { FieldTexts } from '../shapes/shape.ts'

export const healthCheckTexts = {
  type: {
    meaning: 'The kind of check. exec runs a command inside the container; there is no HTTP or TCP check.',
    range: 'exec',
    example: 'exec',
  },
  command: {
    meaning:
      'The command of the check. Exit code 0 means healthy. A list with one element is a command line for the shell: ["wget -q -O - http://127.0.0.1:8080 || exit 1"]. A list with several elements is a program and its arguments, run without a shell: ["pg_isready", "-U", "postgres"]. The program must be in the image, and the shell form needs /bin/sh.',
    range: '1 to {commandElements} strings without NUL characters; the first one not blank',
    example: ['pg_isready', '-U', 'postgres'],
  },
  retries: {
    meaning:
      'How many checks must fail in a row until a container is unhealthy. An unhealthy container keeps running; the deployment is Degraded, and an update fails.',
    default: 3,
    range: 'a whole number from {healthCheckRetriesFloor} to 2147483647',
    example: 5,
  },
  timeout: {
    meaning: 'A check that takes longer is killed and has failed.',
    default: '30s',
    range: 'a duration from {healthCheckTimeoutFloorMs} to {durationMs}',
    example: '10s',
  },
  interval: {
    meaning:
      'The time between two checks. A new container does not wait for it: until the check first passes, it runs in quick succession.',
    default: '30s',
    range: 'a duration from {healthCheckIntervalFloorMs} to {durationMs}',
    example: '10s',
  },
  startPeriod: {
    meaning:
      'Failed checks in this time after the start of a container are not counted. Use it for programs that start slowly.',
    default: '0s',
    range: 'a duration of at most {durationMs}',
    example: '60s',
  },
} satisfies FieldTexts
