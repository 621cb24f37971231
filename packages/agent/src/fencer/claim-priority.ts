// Asks the kernel to run the fencer before other processes and never to end it for lack of memory. A container or a
// restricted unit may refuse; the fencer then works, but a starved machine may delay it.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

const NICE = -20
const FIFO_PRIORITY = '10'
const CHRT_MS = 2_000

/** Returns what was granted and what was refused. */
export function claimPriority(): { readonly granted: string[]; readonly refused: string[] } {
  const [granted, refused]: [string[], string[]] = [[], []]
  const claim = (name: string, request: () => void): void => {
    try {
      request()
      granted.push(name)
    } catch {
      refused.push(name)
    }
  }
  claim('oom_score_adj -1000', () => writeFileSync('/proc/self/oom_score_adj', '-1000'))
  claim(`nice ${NICE}`, () => setPriority(NICE))
  claim(`fifo ${FIFO_PRIORITY}`, requestFifo)
  return { granted, refused }
}

/** For all threads of this process, those of Node's runtime included. */
function requestFifo(): void {
  const args = ['-a', '-f', '-p', FIFO_PRIORITY, String(process.pid)]
  const { status } = spawnSync('chrt', args, { timeout: CHRT_MS, stdio: 'ignore' })
  if (status !== 0) throw new Error('FIFO scheduling was refused.')
}
