// One line of a walk, run by a shell in the clone as a person would; never longer than its deadline.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

export interface Ran {
  /** Both streams, in the order in which they were written. */
  readonly printed: string
  readonly status: number | null
  readonly seconds: number
}

export interface Shell {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
}

export async function runLine({ folder, env }: Shell, line: string, deadlineMs: number): Promise<Ran> {
  const begun = performance.now()
  // In a group of its own, so that the end of its time is also that of what it started.
  const child = spawn('bash', ['-c', `exec 2>&1\n${line}`], {
    ...{ cwd: folder, env, detached: true },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const timer = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), deadlineMs)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const printed = await text(child.stdout)
  const status = await ended
  clearTimeout(timer)
  return { printed, status, seconds: (performance.now() - begun) / 1000 }
}
