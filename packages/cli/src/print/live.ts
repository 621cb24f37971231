// Progress: on a terminal the same lines again and again in their place, elsewhere each line once when it is new.

import { report, type Terminal } from '../terminal/terminal.ts'
import { cutTo } from './fit.ts'

export interface Live {
  show(lines: readonly string[]): void
}

export function createLive(terminal: Terminal): Live {
  return terminal.errIsTerminal ? redrawing(terminal) : plainly(terminal)
}

function plainly(terminal: Terminal): Live {
  let before: readonly string[] = []
  return {
    show(lines) {
      for (const line of lines) if (!before.includes(line)) report(terminal, line)
      before = lines
    },
  }
}

/** Moves up over what it drew last and clears line by line: nothing above is touched, nothing is left behind. */
function redrawing(terminal: Terminal): Live {
  let drawn = 0
  return {
    show(lines) {
      const cut = lines.map((line) => cutTo(line, Math.max(1, terminal.columns() - 1)))
      const up = drawn === 0 ? '' : `\u001b[${drawn}A`
      terminal.err(`${up}${cut.map((line) => `\u001b[2K${line}\n`).join('')}\u001b[0J`)
      drawn = cut.length
    },
  }
}
