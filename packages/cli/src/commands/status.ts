// The tenant at a glance, drawn again and again. The terminal is left as it was, however it ends.

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
/** Another screen, without a cursor; and back. */
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'

export const status: OnlineCommand = {
  name: 'status',
  summary: 'show the tenant at a glance: deployments, nodes, quotas, what happened last',
  details: 'On a terminal it is drawn again every two seconds until Ctrl-C. Elsewhere it is printed once.',
  examples: [['holdfast status', 'Ctrl-C ends it.']],
  online: true,
  async run({ terminal }, client) {
    const { overviewLines } = await import('../overview.ts')
    const { colored } = outArea(terminal)
    const look = () => overviewLines(client, { nowMs: terminal.now(), colored })
    const first = await look()
    if (!first.ok) return printFailure(terminal, first.failure)
    if (!terminal.outIsTerminal) {
      terminal.out(`${first.value.join('\n')}\n`)
      return EXIT.ok
    }
    const ended = await redraw(terminal, first.value, look)
    return ended === undefined ? EXIT.interrupted : printFailure(terminal, ended)
  },
}

type Look = () => Promise<Result<readonly string[]>>

/** Until Ctrl-C, or until it cannot be looked any more: then why. */
async function redraw(
  terminal: Terminal,
  first: readonly string[],
  look: Look,
): Promise<Failure | undefined> {
  terminal.out(ENTER)
  try {
    draw(terminal, first)
    while (await pause(POLL_MS, terminal.interrupted)) {
      const looked = await look()
      if (looked.ok) draw(terminal, looked.value)
      else if (looked.failure.kind !== 'interrupted') return looked.failure
    }
    return undefined
  } finally {
    terminal.out(LEAVE)
  }
}

/** As much as there is room for; the last line says since when it stands so, and how to leave. */
function draw(terminal: Terminal, lines: readonly string[]): void {
  const time = new Date(terminal.now()).toISOString().slice(11, 19)
  const foot = paint(`${time} UTC, again every ${POLL_MS / 1000} s; Ctrl-C ends it`, 'gray', terminal.color)
  const room = Math.max(1, terminal.rows() - 2)
  const shown = [...lines.slice(0, room), ...(lines.length < room ? ['', foot] : [foot])].map((line) =>
    cutTo(line, terminal.columns()),
  )
  terminal.out(`\u001b[H${shown.map((line) => `${line}\u001b[K`).join('\n')}\u001b[0J`)
}
