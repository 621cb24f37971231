// Progress output. A terminal shows the current lines in place; a pipe gets each new line once.

import { report, type Terminal } from '../terminal/terminal.ts'
import { cutTo } from './fit.ts'

export interface Live {
  show(lines: readonly string[]): void
}

export function createLive(terminal: Terminal): Live {
  return terminal.errIsTerminal ? redrawing(terminal) : appending(terminal)
}

function appending(terminal: Terminal): Live {
  let before: readonly string[] = []
  return {
    show(lines) {
      for (const line of lines) if (!before.includes(line)) report(terminal, line)
      before = lines
    },
  }
}

/** Progress on a terminal: moves the cursor up and overwrites the previous progress lines. Lines above stay unchanged. */
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
