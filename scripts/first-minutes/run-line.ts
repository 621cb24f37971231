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
  /** The command that enters another machine, in which the shell then starts in its own folder; absent: this machine. */
  readonly enter?: readonly string[]
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

const beginning = ({ enter, folder }: Shell): string => (enter === undefined ? '' : `cd ${folder}\n`)

/** `onPrinted` is called when the line has printed something, and when it has ended. */
export async function runLine(
  shell: Shell,
  line: string,
  deadlineMs: number,
  onPrinted: () => void = () => {},
): Promise<Ran> {
  const startedAt = performance.now()
  const [program = '', ...words] = [
    ...(shell.enter ?? []),
    'bash',
    '-c',
    `exec 2>&1\n${beginning(shell)}${line}`,
  ]
  // The command gets its own process group, so that the deadline kills its child processes too.
  const child = spawn(program, words, {
    ...(shell.enter === undefined ? { cwd: shell.folder } : {}),
    env: shell.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { pid } = child
  for (const group of groups) if (!signal(group, 0)) groups.delete(group)
  if (pid !== undefined) groups.add(pid)
  const timer = setTimeout(() => pid !== undefined && signal(pid, 'SIGKILL'), deadlineMs)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.stdout.once('readable', onPrinted)
  const printed = await text(child.stdout)
  const status = await ended
  clearTimeout(timer)
  return { printed, status, seconds: (performance.now() - startedAt) / 1000 }
}
