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

/** Process groups of lines that may have left something running. Empty groups are forgotten, because ids are used again. */
const groups = new Set<number>()

/** Kills what lines have left running. */
export function endGroups(): void {
  for (const group of groups) signal(group, 'SIGKILL')
  groups.clear()
}

/** Sends a signal to a process group, or none with 0; false if the group has no process. */
function signal(group: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, name)
  } catch {
    return false
  }
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
  const { pid } = child
  for (const group of groups) if (!signal(group, 0)) groups.delete(group)
  if (pid !== undefined) groups.add(pid)
  const timer = setTimeout(() => pid !== undefined && signal(pid, 'SIGKILL'), deadlineMs)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const printed = await text(child.stdout)
  const status = await ended
  clearTimeout(timer)
  return { printed, status, seconds: (performance.now() - startedAt) / 1000 }
}
