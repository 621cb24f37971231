// Runs one command line in a shell, with a deadline.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

export interface Ran {
  /** The output of the command: stdout and stderr in the order of writing. */
  readonly printed: string
  readonly status: number | null
  readonly seconds: number
}

export interface Shell {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
}

export async function runLine({ folder, env }: Shell, line: string, deadlineMs: number): Promise<Ran> {
  const startedAt = performance.now()
  // The command gets its own process group, so that the deadline kills its child processes too.
  const child = spawn('bash', ['-c', `exec 2>&1\n${line}`], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const timer = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), deadlineMs)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const printed = await text(child.stdout)
  const status = await ended
  clearTimeout(timer)
  return { printed, status, seconds: (performance.now() - startedAt) / 1000 }
}
