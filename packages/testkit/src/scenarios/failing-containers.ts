// The usual ways in which a new container fails, each with the texts that users see about it. On every supported engine
// line the words are the same, except where the engine itself states the error.

import { type BusyboxImage, FOREIGN_PROGRAM } from '../images/busybox-image.ts'
import { inRun } from '../long-run.ts'
import type { ApiClient } from '../platform/api-client.ts'
import { waitUntil } from '../wait-until.ts'
import { askEngine } from './ask-engine.ts'

export interface Failing {
  readonly name: string
  /** Fields of the deployment besides its name, image, node and replicas. */
  readonly spec: object
  readonly image?: BusyboxImage
  /** The image is removed from the registry before a node pulls it. */
  readonly isImageGone?: true
  /** The container is killed from outside, each time it runs. */
  readonly isKilled?: true
  /** The cause in the status, the event, `why` and `--wait`. */
  readonly cause: RegExp
  /** The column LAST EXIT of `describe`. */
  readonly lastExit: RegExp
  /** Such a failure needs so long that only a long run waits for it. */
  readonly isSlow?: true
  /** A log line that `--wait` shows. */
  readonly log?: string
  readonly placement: object
}

const MIB = 2 ** 20
const shell = (script: string) => ({ command: ['/bin/sh', '-c', script], stopGracePeriod: '1s' })
/** A check that never passes and never fails the container, so that the container is not ready before it exits. */
const NEVER = { type: 'exec', command: ['test -e /never'], interval: '5s', startPeriod: '1h', retries: 3 }
const failingCheck = (command: string[]) => ({
  ...shell("trap 'exit 0' TERM; echo serving; sleep 1000 & wait"),
  healthCheck: { type: 'exec', command, interval: '5s', timeout: '10s', retries: 3 },
})
const EXIT_SECONDS = inRun(2, 20)
const NOT_FOUND = 'executable file not found in $PATH'
const quoted = (text: string): RegExp => new RegExp(text.replaceAll(/[$()"/.]/g, String.raw`\$&`))

export const FAILING: readonly Failing[] = [
  {
    name: 'exit-1',
    spec: shell('echo no configuration >&2; exit 1'),
    cause: /exited with code 1\b/,
    lastExit: /\b1, \d+s ago/,
    log: 'no configuration',
    placement: { lastExit: { code: 1 } },
  },
  {
    name: 'exit-42',
    spec: { ...shell(`echo serving; sleep ${EXIT_SECONDS}; exit 42`), healthCheck: NEVER },
    cause: /exited with code 42/,
    lastExit: /\b42, \d+s ago/,
    log: 'serving',
    placement: { lastExit: { code: 42 } },
  },
  {
    name: 'killed',
    spec: { ...shell('echo serving; exec sleep 1000'), healthCheck: NEVER },
    isKilled: true,
    cause: /killed by SIGKILL/,
    lastExit: /SIGKILL, \d+s ago/,
    log: 'serving',
    placement: { lastExit: { code: 137, signal: 'SIGKILL' } },
  },
  {
    name: 'oom',
    spec: {
      ...shell('echo loading; exec dd if=/dev/zero of=/dev/null bs=30M count=2'),
      limits: { memoryBytes: 6 * MIB },
      healthCheck: NEVER,
    },
    cause: /OOM-killed at 6 MiB/,
    lastExit: /OOM-killed at 6 MiB, \d+s ago/,
    log: 'loading',
    placement: { lastExit: { oomKilled: true, oomLimitBytes: 6 * MIB } },
  },
  {
    name: 'no-program',
    spec: { command: ['nope'] },
    cause: quoted(`cannot start: exec: "nope": ${NOT_FOUND}`),
    lastExit: quoted(`cannot start: exec: "nope": ${NOT_FOUND}`),
    placement: { reason: 'start_failed', cause: `exec: "nope": ${NOT_FOUND}` },
  },
  {
    name: 'no-permission',
    spec: { command: ['/www/index.html'] },
    cause: quoted('cannot start: exec: "/www/index.html": permission denied'),
    lastExit: quoted('cannot start: exec: "/www/index.html": permission denied'),
    placement: { reason: 'start_failed' },
  },
  {
    name: 'no-architecture',
    image: { files: [FOREIGN_PROGRAM] },
    spec: { command: ['/bin/foreign'] },
    cause: /exited with code (?:1|255): exec format error: .*another architecture/,
    lastExit: /\b(?:1|255), \d+s ago/,
    placement: {},
  },
  {
    name: 'no-image',
    spec: { update: { progressDeadline: '5s' } },
    isImageGone: true,
    cause: /image pull failed: .*(?:not found|manifest unknown)/,
    lastExit: /image pull failed: /,
    placement: { reason: 'image_pull_failed' },
  },
  {
    name: 'check-missing',
    spec: failingCheck(['wget', '-q', 'http://127.0.0.1:8080']),
    cause: quoted(`health check failed: exec: "wget": ${NOT_FOUND}`),
    lastExit: quoted(`check failed: exec: "wget": ${NOT_FOUND}`),
    log: 'serving',
    placement: { reason: 'unhealthy', cause: `exec: "wget": ${NOT_FOUND}` },
  },
  {
    name: 'check-slow',
    spec: failingCheck(['sleep 30']),
    isSlow: true,
    cause: /health check failed: .*(?:exceeded timeout|no end within 10 s)/,
    lastExit: /check failed: .*(?:exceeded timeout|no end within 10 s)/,
    log: 'serving',
    placement: { reason: 'unhealthy' },
  },
]

interface Listed {
  readonly containerId: string | null
  readonly state: string
}

const KILLS = 3

/** Kills the container's first process each time it runs, as another program of the machine would. */
export async function killWhileUp(api: ApiClient, name: string, socketPath: string): Promise<void> {
  const killed = new Set<number>()
  const containerOf = async (): Promise<string | undefined> => {
    const { body } = await api.get(`/api/v1/deployments/${name}/placements`)
    return (body as { items?: Listed[] }).items?.[0]?.containerId ?? undefined
  }
  while (killed.size < KILLS) {
    const pid = await waitUntil(
      async () => {
        const id = await containerOf()
        const found = id === undefined ? 0 : await pidOf(socketPath, id)
        return found === 0 || killed.has(found) ? undefined : found
      },
      { what: `${name} runs` },
    )
    killed.add(pid)
    process.kill(pid, 'SIGKILL')
  }
}

/** The id of a container's first process on the machine; 0 if it does not run. */
async function pidOf(socketPath: string, containerId: string): Promise<number> {
  const { State } = Object(await askEngine({ socketPath }, `/containers/${containerId}/json`))
  return Number(Object(State).Pid ?? 0)
}
