// `holdfast status`: an overview of the tenant, redrawn on a terminal. Every end of the command restores the terminal.

import type { Failure, Result } from '@holdfast/client'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { outArea } from '../print/area.ts'
import { paint } from '../print/color.ts'
import { printFailure } from '../print/failure.ts'
import { cutTo } from '../print/fit.ts'
import { pause } from '../terminal/pause.ts'
import type { Terminal } from '../terminal/terminal.ts'

const POLL_MS = 2000
/** Escape codes that switch to the alternate screen and hide the cursor, and those that undo both. */
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'

export const status: OnlineCommand = {
  name: 'status',
  summary: 'show an overview of the tenant: deployments, nodes, quotas, latest events',
  details:
    'Deployments and nodes with trouble come first. On a terminal it refreshes every two seconds until Ctrl-C. With --once, or if the output is not a terminal, it is printed once.',
  options: [{ flags: '--once', summary: 'print the overview once, with all rows' }],
  examples: [
    ['holdfast status', 'Shows the overview until Ctrl-C.'],
    ['holdfast status --once', 'Prints the overview and exits.'],
  ],
  online: true,
  async run({ terminal, flag }, client) {
    const { overviewLines, readOverview } = await import('../overview.ts')
    const isOnce = flag('once') || !terminal.outIsTerminal
    const read = async (): Promise<Result<readonly string[]>> => {
      const found = await readOverview(client)
      if (!found.ok) return found
      const area = { nowMs: terminal.now(), ...outArea(terminal) }
      return {
        ok: true,
        value: overviewLines(found.value, isOnce ? area : { ...area, rows: roomOf(terminal) }),
      }
    }
    const first = await read()
    if (!first.ok) return printFailure(terminal, first.failure)
    if (isOnce) {
      terminal.out(`${first.value.join('\n')}\n`)
      return EXIT.ok
    }
    const ended = await redraw(terminal, first.value, read)
    return ended === undefined ? EXIT.interrupted : printFailure(terminal, ended)
  },
}

/** Lines above the foot of the screen and the empty line before it. */
const roomOf = (terminal: Terminal): number => Math.max(1, terminal.rows() - 2)

type ReadLines = () => Promise<Result<readonly string[]>>

/** Redraws the overview until Ctrl-C, or until a request fails; returns the failure of that request. */
async function redraw(
  terminal: Terminal,
  first: readonly string[],
  read: ReadLines,
): Promise<Failure | undefined> {
  terminal.out(ENTER)
  try {
    draw(terminal, first)
    while (await pause(POLL_MS, terminal.interrupted)) {
      const current = await read()
      if (current.ok) draw(terminal, current.value)
      else if (current.failure.kind !== 'interrupted') return current.failure
    }
    return undefined
  } finally {
    terminal.out(LEAVE)
  }
}

/** Draws as many lines as fit on the terminal. The last line shows the time of the refresh and how to exit. */
function draw(terminal: Terminal, lines: readonly string[]): void {
  const time = new Date(terminal.now()).toISOString().slice(11, 19)
  const foot = paint(`${time} UTC, refreshes every ${POLL_MS / 1000} s; Ctrl-C exits`, 'gray', terminal.color)
  const shown = [...lines.slice(0, roomOf(terminal)), '', foot].map((line) => cutTo(line, terminal.columns()))
  terminal.out(`\u001b[H${shown.map((line) => `${line}\u001b[K`).join('\n')}\u001b[0J`)
}
