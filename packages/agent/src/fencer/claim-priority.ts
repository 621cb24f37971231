// Asks the kernel to run the fencer before other processes and never to end it for lack of memory. A container or a
// restricted unit may refuse; the fencer then works, but a starved machine may delay it.

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const NICE = -20
const FIFO_PRIORITY = '10'
const CHRT_MS = 2_000
const OOM_FILE = '/proc/self/oom_score_adj'
const OOM_SCORE = '-1000'

/** Returns what was granted and what was refused. */
export function claimPriority(): { readonly granted: string[]; readonly refused: string[] } {
  const [granted, refused]: [string[], string[]] = [[], []]
  const claim = (name: string, request: () => unknown): void => {
    try {
      request()
      granted.push(name)
    } catch {
      refused.push(name)
    }
  }
  claim(`oom_score_adj ${OOM_SCORE}`, requestOomScore)
  claim(`nice ${NICE}`, () => getPriority() === NICE || setPriority(NICE))
  claim(`fifo ${FIFO_PRIORITY}`, requestFifo)
  return { granted, refused }
}

/** The unit grants all three before the program starts and then takes away the right to ask for them. */
function requestOomScore(): void {
  if (readFileSync(OOM_FILE, 'utf8').trim() !== OOM_SCORE) writeFileSync(OOM_FILE, OOM_SCORE)
}

/** Field 40 of the file is the real-time priority; the command in parentheses may contain spaces. */
const hasFifo = (): boolean =>
  readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')[37] === FIFO_PRIORITY

/** For all threads of this process, those of Node's runtime included. */
function requestFifo(): void {
  if (hasFifo()) return
  const args = ['-a', '-f', '-p', FIFO_PRIORITY, String(process.pid)]
  const { status } = spawnSync('chrt', args, { timeout: CHRT_MS, stdio: 'ignore' })
  if (status !== 0) throw new Error('FIFO scheduling was refused.')
}
